# SPDX-License-Identifier: Apache-2.0

"""What is known of Fernet keys: when each has signed, and on which nodes."""
