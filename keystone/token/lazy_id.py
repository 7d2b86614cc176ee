# SPDX-License-Identifier: Apache-2.0

"""Tokens whose id is made when somebody asks for it.

A gateway that has Keystone check a signed request is told whose it is, and is
not given the token. Its id is then not worth the encryption, nor the token a
place in the cache, where it can be found by its id alone.
"""

from oslo_utils import timeutils

from keystone.common import provider_api
from keystone.common import utils
from keystone.models import token_model

PROVIDERS = provider_api.ProviderAPIs


class Token(token_model.TokenModel):
    """A token that has its id from the token provider at the first reading.

    It is then issued at that time, which the id may contain.
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
    :raises: what :meth:`keystone.models.token_model.TokenModel.mint` raises
    """
    # To the second, as in the ids of Fernet tokens.
    now = timeutils.utcnow().replace(microsecond=0)
    token.mint(None, utils.isotime(at=now, subsecond=True))
