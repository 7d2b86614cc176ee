# SPDX-License-Identifier: Apache-2.0

"""History of the use of Fernet keys, on this and other nodes."""
