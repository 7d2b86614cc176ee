# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Which chain of tokens is revoked together with one of them.

A token names itself and the first token of its chain, its root. Whether
another token of the chain was rescoped from it cannot be told.
"""

import keystone.conf

CONF = keystone.conf.CONF


def revoked_root(token):
    """Find the root of the chain that is revoked with a token.

    :param token: a TokenModel
    :returns: audit id of the token itself, if it is the root of its chain;
        None if it was rescoped, since no token names it as its root then;
        with ``[revoke] whole_chain``, the root of its chain in either case
    """
    if token.parent_audit_id:
        return token.parent_audit_id if CONF.revoke.whole_chain else None
    return token.audit_id
