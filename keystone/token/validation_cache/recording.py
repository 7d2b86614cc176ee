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

"""Which answers may be kept, and for how long."""

import datetime
import time

from oslo_utils import timeutils

from keystone.common.cache import lifetimes
from keystone.common.cache import shared
from keystone.common import provider_api
import keystone.conf
from keystone.models import revoke_model
from keystone.models import token_model
from keystone.token.validation_cache import answer as answers
from keystone.token.validation_cache import entry as entries

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs

_ACTIONS = {'GET': 'identity:validate_token', 'HEAD': 'identity:check_token'}

# Where the request keeps the token it was asked about; see note_subject().
_SUBJECT = 'keystone.validated_subject'
# Where the authentication middleware keeps the caller's.
_CALLER = 'keystone.token_info'

# The sections whose values an answer shows, or a decision rests on. Each has
# its own bound for a change that was not made through Keystone.
_SECTIONS = (
    'application_credential',
    'catalog',
    'federation',
    'identity',
    'resource',
    'role',
    'token',
)

# Drivers whose values change through Keystone only, and never with time.
_DRIVERS = {
    'application_credential_api': (
        'keystone.application_credential.backends.sql'
    ),
    'assignment_api': 'keystone.assignment.backends.sql',
    'catalog_api': 'keystone.catalog.backends.sql',
    'federation_api': 'keystone.federation.backends.sql',
    'identity_api': 'keystone.identity.backends.sql',
    'resource_api': 'keystone.resource.backends.sql',
    'role_api': 'keystone.assignment.role_backends.sql',
    'shadow_users_api': 'keystone.identity.shadow_backends.sql',
}


class NotKept(Exception):
    """An answer is not to be kept; the reason is its argument, one word."""


def note_subject(environ, token, rendered):
    """Note the token that a request was asked about, and what it was shown as.

    :param environ: WSGI environment of the request
    :param token: a :class:`~keystone.models.token_model.TokenModel`
    :param rendered: dictionary of the token as the API shows it
    """
    environ[_SUBJECT] = (token, rendered['token'])


def lifetime():
    """How long an answer may be kept.

    :returns: seconds; 0 if none may be kept
    """
    conf = CONF.token
    if not (conf.validation_cache and shared.is_shared()):
        return 0
    bounds = [conf.validation_cache_time]
    for section in _SECTIONS:
        if not CONF[section].caching:
            return 0
        bound = getattr(CONF[section], 'cache_time', None)
        bounds.append(CONF.cache.expiration_time if bound is None else bound)
    return min(bounds)


def are_backends_settled():
    """Tell whether nothing changes but through Keystone.

    :returns: bool
    """
    return (
        not CONF.identity.domain_specific_drivers_enabled
        and CONF.security_compliance.disable_user_account_days_inactive is None
        and all(
            type(getattr(PROVIDERS, name).driver).__module__ == module
            for name, module in _DRIVERS.items()
        )
    )


def make(look, environ, recorder, body, policy_state, trace):
    """Make the entry of an answer.

    :param look: the :class:`~.entry.Look` before the answer was made
    :param environ: WSGI environment of the request, after it
    :param recorder: a :class:`~.recorder.Recorder`
    :param body: bytes
    :param policy_state: a :class:`~.policy_state.PolicyState`
    :param trace: the :class:`~keystone.common.cache.facts.Trace` of the
        request
    :returns: an :class:`~.entry.Entry`
    :raises NotKept: if the answer may not be given again
    """
    caller, shown_caller = _caller(environ)
    subject, shown_subject = environ.get(_SUBJECT) or (None, None)
    seconds = demand_followed(caller, subject)

    # The request may have loaded the rules, from the files as they were.
    policy = policy_state.read()
    action = _ACTIONS[environ['REQUEST_METHOD']]
    if not policy.stems_from(look.policy):
        raise NotKept('policy')
    if not policy_state.decides_alone(policy.rules, action):
        raise NotKept('policy')

    shown = [(caller, shown_caller)]
    if subject.id != caller.id:
        shown.append((subject, shown_subject))
    try:
        answer = answers.Answer(
            recorder.status,
            recorder.headers,
            body,
            environ['HTTP_X_SUBJECT_TOKEN'],
            subject.project_id,
        )
    except ValueError:
        raise NotKept('headers') from None
    return entry(look, policy, answer, shown, seconds, trace)


def demand_followed(*tokens):
    """Let pass what changes in ways that this module follows.

    :param tokens: each a :class:`~keystone.models.token_model.TokenModel`
    :returns: seconds that what rests on these tokens may be kept
    :raises NotKept: if it may not
    """
    seconds = lifetime()
    if not seconds:
        raise NotKept('off')
    if not are_backends_settled():
        raise NotKept('backend')
    for token in tokens:
        _demand_plain(token)
    return seconds


def entry(look, policy, answer, shown, seconds, trace):
    """Make the entry of what rests on tokens.

    :param look: the :class:`~.entry.Look` before it was made
    :param policy: the :class:`~.policy_state.State` that it rests on
    :param answer: what is kept
    :param shown: list with a (token, what it is shown as) for each
    :param seconds: what :func:`demand_followed` returned
    :param trace: the :class:`~keystone.common.cache.facts.Trace` in which it
        was made
    :returns: an :class:`~.entry.Entry`
    :raises NotKept: if there is nothing to check revocation by
    """
    replica = PROVIDERS.revoke_api.token_check.replica(
        PROVIDERS.revoke_api.driver
    )
    if replica is None:
        raise NotKept('revocation')
    ends = look.now + datetime.timedelta(seconds=seconds)
    until = min(ends, *(_expiry(token) for token, _shown in shown))
    # What is built on a cached value ends no later than that value.
    left = trace.until(lifetimes.expiry) - time.time()
    if left < seconds:
        until = min(until, look.now + datetime.timedelta(seconds=left))
    values = tuple(_revocation_values(*each) for each in shown)
    return entries.Entry(
        look, policy, answer, values, until, replica, trace.facts()
    )


def _caller(environ):
    rendered = environ.get(_CALLER)
    return getattr(rendered, 'model', None), rendered and rendered['token']


def _demand_plain(token):
    """Let no token pass whose state this module does not follow."""
    if type(token) is not token_model.TokenModel:
        raise NotKept('unknown')
    if token.is_federated or token.user.get('federated'):
        # Memberships of such users end with time.
        raise NotKept('federated')
    if token.trust_id:
        raise NotKept('trust')
    if token.access_token_id:
        raise NotKept('oauth')
    if getattr(token, 'oauth2_thumbprint', None):
        raise NotKept('certificate')
    if 'ec2credential' in token.methods:
        raise NotKept('ec2credential')
    if (
        token.application_credential_id
        and token.application_credential.get('access_rules') is not None
    ):
        raise NotKept('access_rules')


def _expiry(token):
    return timeutils.normalize_time(timeutils.parse_isotime(token.expires_at))


def _revocation_values(token, shown):
    values = revoke_model.build_token_values(token)
    values['roles'] = [role['id'] for role in shown.get('roles', ())]
    return {name: value for name, value in values.items() if value}
