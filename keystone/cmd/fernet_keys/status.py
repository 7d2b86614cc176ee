# SPDX-License-Identifier: Apache-2.0

import collections
import datetime

from oslo_upgradecheck import upgradecheck
import prettytable
import sqlalchemy

from keystone.cmd.revocation import command
from keystone.common.key_history import outlook
from keystone.common.key_history import repository
from keystone.common import sql
from keystone.credential.backends import sql as credential_sql
from keystone.credential.providers import fernet as credential_fernet


class FernetStatus(command.Status):
    """Show the role of each Fernet key and whether a rotation is safe."""

    name = 'fernet_status'
    title = 'FERNET KEYS'
    prefix = 'keystone_fernet'

    @classmethod
    def add_arguments(cls, parser):
        super().add_arguments(parser)
        parser.add_argument(
            '--forget',
            metavar='NODE',
            help='Stop expecting reports from a node that was removed.',
        )

    def run(self, options):
        found = []
        for one in repository.repositories():
            try:
                if options.forget:
                    outlook.forget(one, options.forget)
                looked = outlook.look(one)
                found.append(assess(looked, self._credentials(one)))
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                raise command.Stop(command.UNKNOWN, error) from None
        if not found:
            raise command.Stop(command.UNKNOWN, 'no keys found')
        code = max(one['code'] for one in found)
        print(self.text(options, {'code': code, 'repositories': found}))
        return code

    def _credentials(self, one):
        if one.config_group != repository.CREDENTIALS:
            return {}
        return self.read(_credentials_by_key, one)

    def table(self, figures):
        """The status line, and a table of each repository."""
        found = figures['repositories']
        line = self.line(figures['code'], '; '.join(map(verdict, found)))
        return '\n\n'.join((line, *map(described, found)))

    def gauges(self, figures):
        found = collections.defaultdict(list)
        for one in figures['repositories']:
            labels = {'repository': one['section']}
            values = _values(one)
            for key in one['keys']:
                of_key = {**labels, 'key': key['index'], 'role': key['role']}
                for name, words in _OF_KEYS.items():
                    found[f'key_{name}', words].append((of_key, key[name]))
            for name, words in _OF_REPOSITORIES.items():
                found[name, words].append((labels, values[name]))
        for (name, words), samples in found.items():
            yield name, words, samples


def described(one):
    """The keys of a repository, and the effect of a rotation on them.

    :param one: result of :func:`assess`
    :returns: str
    """
    table = prettytable.PrettyTable(
        ['Key', 'Role', 'Name', 'Age', 'Last signed', 'Valid until',
         'Next rotation']
    )  # fmt: skip
    table.align = 'l'
    table.add_rows([_row(key) for key in one['keys']])
    lines = [
        f'{one["section"]}: {one["repository"]}, max_active_keys = '
        f'{one["max_active_keys"]}',
        table.get_string(),
    ]
    lines.extend(f'  not safe: {reason}' for reason in one['reasons'])
    for name, other in sorted(one['nodes'].items()):
        lines.append(f'  {name}: {_node(other)}')
    return '\n'.join(lines)


# Descriptions of gauges.
_OF_KEYS = {
    'age': 'Seconds since the key was created.',
    'last_signed': 'Latest time at which the key may have signed.',
    'until': 'Time at which everything the key signed has expired.',
    'cut': 'Whether a rotation now would delete the key too early.',
}
_OF_REPOSITORIES = {
    'rotation_safe': 'Whether a rotation now is safe.',
    'rotation_earliest_timestamp_seconds': (
        'Earliest time at which a rotation deletes no key too early.'
    ),
    **{
        f'nodes_{what}': f'Number of other nodes that are or have: {what}.'
        for what in ('ready', 'silent', 'unreadable', 'missing', 'extra')
    },
    'nodes_without_staged': (
        'Number of other nodes that do not have the staged key yet.'
    ),
}


def _values(one):
    """The values of the gauges of a repository, by name."""
    values = collections.Counter()
    for other in one['nodes'].values():
        values[f'nodes_{other["state"]}'] += 1
        values['nodes_missing'] += bool(other['missing'])
        values['nodes_extra'] += bool(other['extra'])
        values['nodes_without_staged'] += not other['staged']
    values['rotation_safe'] = one['safe']
    values['rotation_earliest_timestamp_seconds'] = one['earliest']
    return values


def findings():
    """Compare the keys of this node with those of other nodes.

    :returns: iterator of an :class:`upgradecheck.Code` and a sentence, for
        each problem
    """
    for one in repository.repositories():
        try:
            told = assess(outlook.look(one))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            yield upgradecheck.Code.FAILURE, f'{one.config_group}: {error}.'
            continue
        if told['code'] != command.OK:
            # OK, WARNING and CRITICAL have the values of their codes.
            yield upgradecheck.Code(told['code']), f'{verdict(told)}.'


def assess(found, credentials=None):
    """The figures of a repository.

    :param found: an :class:`~keystone.common.key_history.outlook.Outlook`
    :param credentials: result of :func:`_credentials_by_key`, or None
    :returns: dict of plain values; times are seconds since the epoch
    """
    credentials = credentials or {}
    reasons = list(found.reasons())
    others = sum(
        number
        for index, number in credentials.items()
        if index != max(found.names)
    )
    if others:
        reasons.append(
            f'{others} credentials are not encrypted with the primary key: '
            'run credential_migrate'
        )
    return {
        'section': found.repository.config_group,
        'repository': found.repository.key_repository,
        'max_active_keys': found.repository.max_active_keys,
        'node': found.repository.node,
        'now': found.now,
        'keys': [
            {**found.key(index), 'credentials': credentials.get(index)}
            for index in sorted(found.names)
        ],
        'nodes': found.others(),
        'safe': not reasons,
        'reasons': reasons,
        'earliest': found.earliest(),
        'code': _code(found),
    }


def _code(found):
    if next(found.differences(), None):
        return command.CRITICAL
    others = found.others().values()
    if (
        found.unknown
        or found.earliest() is None
        or repository.STAGED not in found.names
        or any(one['state'] != 'ready' or not one['staged'] for one in others)
    ):
        return command.WARNING
    return command.OK


def _credentials_by_key(repository):
    """Count the credentials encrypted with each key.

    :returns: {index: number}; index -1 stands for missing keys
    :raises oslo_db.exception.DBError: the database is unreachable
    """
    model = credential_sql.CredentialModel
    with sql.session_for_read() as session:
        rows = session.execute(
            sqlalchemy.select(
                model.key_hash, sqlalchemy.func.count(model.id)
            ).group_by(model.key_hash)
        ).all()
    indexes = {
        credential_fernet.primary_key_hash([key]): index
        for index, key in repository.read().items()
    }
    numbers = collections.Counter(dict.fromkeys(indexes.values(), 0))
    for key_hash, number in rows:
        numbers[indexes.get(key_hash, -1)] += number
    return numbers


def verdict(one):
    """Whether a rotation is safe, in one phrase.

    :returns: str
    """
    if one['safe']:
        return f'{one["section"]}: rotation is safe'
    words = one['reasons'][0]
    if one['earliest'] is not None and one['earliest'] > one['now']:
        words += f', until {moment(one["earliest"])}'
    return f'{one["section"]}: rotation is not safe: {words}'


def _row(key):
    if key['credentials'] is not None:
        until = f'{key["credentials"]:,} credentials'
    elif key['role'] == 'primary' and key['until']:
        until = f'{moment(key["until"])}, increasing'
    else:
        until = moment(key['until'])
    return [
        key['index'], key['role'], key['name'],
        datetime.timedelta(seconds=round(key['age'])),
        moment(key['last_signed']),
        until + (' (assumed)' if key['assumed'] else ''), _fate(key),
    ]  # fmt: skip


def _fate(key):
    """The effect of a rotation on a key."""
    if key['removed']:
        return 'deleted: still needed' if key['cut'] else 'deleted'
    return {'staged': 'primary', 'primary': 'secondary'}.get(
        key['role'], 'unchanged'
    )


def _node(other):
    words = [other['state']]
    for name in ('missing', 'extra'):
        if other[name]:
            words.append(f'{name} {", ".join(n[:8] for n in other[name])}')
    if other['state'] == 'ready' and not other['staged']:
        words.append('staged key missing')
    return '; '.join(words)


def moment(seconds):
    """Format a time for people.

    :param seconds: since the epoch; 0 or None for none
    :returns: str
    """
    utc = seconds and datetime.datetime.fromtimestamp(
        seconds, datetime.timezone.utc
    )
    return command.moment(utc)
