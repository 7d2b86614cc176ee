# SPDX-License-Identifier: Apache-2.0

"""Measurements of stock and patched Keystone, side by side in one run."""
