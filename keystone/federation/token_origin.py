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

"""Whether the one who vouched for a token's user is still trusted."""

from keystone.common import provider_api
from keystone import exception

PROVIDERS = provider_api.ProviderAPIs


def assert_trusted(token):
    """Refuse a federated token that would not be issued any more.

    The errors are of the kind that a token meets whose project is gone.

    :param token: a :class:`keystone.models.token_model.TokenModel`
    :raises keystone.exception.IdentityProviderNotFound: the identity provider
        that the user has signed in through was deleted or is disabled
    :raises keystone.exception.FederatedProtocolNotFound: the protocol that
        the user has signed in through was deleted
    """
    if not token.is_federated:
        return
    idp_id = token.identity_provider_id
    idp = PROVIDERS.federation_api.get_idp(idp_id)
    PROVIDERS.federation_api.get_protocol(idp_id, token.protocol_id)
    if idp.get('enabled') is not True:
        raise exception.IdentityProviderNotFound(idp_id=idp_id)
