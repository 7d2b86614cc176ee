# SPDX-License-Identifier: Apache-2.0

"""Tests of the tooling, and of servers that it starts."""
