# SPDX-License-Identifier: Apache-2.0

"""Clusters of Keystone nodes behind HAProxy, for tests with faults."""
