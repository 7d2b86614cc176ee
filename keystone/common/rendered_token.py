# SPDX-License-Identifier: Apache-2.0

from keystone.common import render_token


class RenderedToken(dict):
    """A token as rendered by the API, with its token model.

    The authentication middleware passes a token on as a dictionary. This one
    also provides the token model, without a second validation and without
    state shared between requests.

    :param model: a validated :class:`~keystone.models.token_model.TokenModel`
    :param render: function from the model to the dictionary
    """

    def __init__(
        self, model, render=render_token.render_token_response_from_model
    ):
        super().__init__(render(model))
        self.model = model
