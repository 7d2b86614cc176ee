# SPDX-License-Identifier: Apache-2.0

"""What validations found out about tokens, used again while it is true.

``GET`` and ``HEAD`` of ``/v3/auth/tokens`` are nearly all of what Keystone is
asked, by many services about the same tokens. What one of them has found out
about a token is a record, which tells whoever asks: it is used while all that
it was made of can be shown to be unchanged, and made anew otherwise.
"""
