# SPDX-License-Identifier: Apache-2.0

"""Scripts that run with Keystone's environment, not with the tooling's.

Each is started by its path, is not imported, and imports nothing
from the tooling.
"""
