# SPDX-License-Identifier: Apache-2.0

"""Tokens whose id is created when it is accessed.

A gateway that has Keystone verify a signed request receives the identity of
the user but not the token. Encrypting an id for it would be wasted.
"""

from oslo_utils import timeutils

from keystone.common import provider_api
from keystone.common import utils
from keystone.models import token_model

PROVIDERS = provider_api.ProviderAPIs


class Token(token_model.TokenModel):
    """A token that gets its id from the token provider on first access.

    The time of issue, which the id may contain, is then that time.
    """

    _id = None

    @property
    def id(self):
        """The id; None until the token is minted."""
        if self._id is None and self.issued_at is not None:
            driver = PROVIDERS.token_provider_api.driver
            self._id, self.issued_at = driver.generate_id_and_issued_at(self)
        return self._id

    @id.setter
    def id(self, token_id):
        self._id = token_id


def mint(token):
    """Accept a token, as of now.

    :param token: a :class:`Token`
    :raises: errors of :meth:`keystone.models.token_model.TokenModel.mint`
    """
    # In whole seconds, as in the ids of Fernet tokens.
    now = timeutils.utcnow().replace(microsecond=0)
    token.mint(None, utils.isotime(at=now, subsecond=True))
