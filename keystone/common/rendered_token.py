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
