# SPDX-License-Identifier: Apache-2.0

"""Cache of the results of token validations.

``GET`` and ``HEAD`` of ``/v3/auth/tokens`` are nearly all requests to
Keystone, from many services for the same tokens. The result of a validation is
kept in a record and reused for any caller while the values it was computed
from are unchanged.
"""
