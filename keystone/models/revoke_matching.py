# SPDX-License-Identifier: Apache-2.0

"""Matching of revocation events and tokens.

An event revokes a token if every attribute of the event matches the token and
the token was issued no later than ``event.issued_before``. The result does not
depend on any filtering by the driver.

Token values are the dictionary of :func:`.revoke_model.build_token_values`;
missing values are treated as None. Times are naive UTC datetimes.
"""

import functools
import operator

from oslo_log import log

LOG = log.getLogger(__name__)


def _whole_seconds(moment):
    # Some databases store events without fractions, so a token with a fraction
    # would not match events of the same second.
    return moment and moment.replace(microsecond=0)


def _any_of(*names):
    return lambda values: map(values.get, names)


def _expiry(values):
    return (_whole_seconds(values.get('expires_at')),)


def _chain(values):
    # The first token of a chain, its root, has no parent.
    return (values.get('audit_chain_id') or values.get('audit_id'),)


def _domain_scope(values):
    # With a project, the assignment domain is the project's.
    if values.get('project_id') is not None:
        return ()
    return (values.get('assignment_domain_id'),)


def _roles(values):
    return values.get('roles') or ()


#: For each event attribute, a function from the token's values to those of
#: which one must equal the attribute. The most selective attributes come
#: first.
CANDIDATES = {
    'audit_chain_id': _chain,
    'audit_id': _any_of('audit_id'),
    'user_id': _any_of('user_id', 'trustor_id', 'trustee_id'),
    'project_id': _any_of('project_id'),
    'trust_id': _any_of('trust_id'),
    'consumer_id': _any_of('consumer_id'),
    'access_token_id': _any_of('access_token_id'),
    'expires_at': _expiry,
    'domain_id': _any_of('identity_domain_id', 'assignment_domain_id'),
    'domain_scope_id': _domain_scope,
    'role_id': _roles,
}


# There is no column for the domain scope.
_COLUMNS = tuple(name for name in CANDIDATES if name != 'domain_scope_id')
_values_of = operator.attrgetter(*_COLUMNS)


def named(event):
    """List the attributes of an event.

    A domain with an expiry refers to the domain scope of one token, and is
    listed as ``domain_scope_id`` instead of ``domain_id``.

    :param event: a RevokeEvent, or a row of the table
    :returns: {key of :data:`CANDIDATES`: value}, in that order
    """
    values = dict(zip(_COLUMNS, _values_of(event)))
    if values['expires_at'] is not None:
        values['expires_at'] = _whole_seconds(values['expires_at'])
        values['domain_scope_id'] = values.pop('domain_id')
    return {
        name: values[name]
        for name in CANDIDATES
        if values.get(name) is not None
    }


def spellings(event):
    """List the attributes of an event, in each form that may be meant.

    Keystone generates ids in lower case. MySQL and MariaDB also find a user or
    project by an id in upper case or with trailing blanks, which the event
    then has.

    :param event: a RevokeEvent, or a row of the table
    :returns: list of one or two results of :func:`named`
    """
    exact = named(event)
    if event.user_id is None and event.project_id is None:
        return [exact]
    plain = exact | {
        name: exact[name].rstrip(' ').lower()
        for name in ('user_id', 'project_id')
        if name in exact
    }
    return [exact] if plain == exact else [exact, plain]


# A warning per check would flood the log.
@functools.lru_cache(maxsize=16)
def warn_of_blank_event(issued_before):
    """Warn of an event without attributes, once per event."""
    LOG.warning(
        'A revocation event without attributes revokes every token issued '
        'up to %s UTC.',
        issued_before,
    )


def matches(event, token_values):
    """Whether an event revokes a token.

    :param event: a RevokeEvent
    :param token_values: dictionary of the token's values
    :returns: True if the event revokes the token
    :raises KeyError: if the values lack ``issued_at``
    """
    found = spellings(event)
    if not any(_match(attributes, token_values) for attributes in found):
        return False
    if event.issued_before < _whole_seconds(token_values['issued_at']):
        return False
    if not any(found):
        warn_of_blank_event(event.issued_before)
    return True


def _match(attributes, token_values):
    return all(
        value in CANDIDATES[name](token_values)
        for name, value in attributes.items()
    )
