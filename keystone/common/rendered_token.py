# SPDX-License-Identifier: Apache-2.0

from keystone.common import render_token


class RenderedToken(dict):
    """A token as the API shows it, with the token model it was made from.

    The authentication middleware hands a token on as a dictionary. Whoever
    receives this one has the token model of that very dictionary at hand,
    without a second validation and without any state shared by requests.

    :param model: a validated :class:`~keystone.models.token_model.TokenModel`
    :param render: function from the model to the dictionary
    """

    def __init__(
        self, model, render=render_token.render_token_response_from_model
    ):
        super().__init__(render(model))
        self.model = model
