# SPDX-License-Identifier: Apache-2.0

"""Many Keystones behind HAProxy: started, disturbed, and checked."""
