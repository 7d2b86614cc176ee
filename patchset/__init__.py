# SPDX-License-Identifier: Apache-2.0

"""The tooling behind ``./ks``: assemble, check, build, serve and test."""
