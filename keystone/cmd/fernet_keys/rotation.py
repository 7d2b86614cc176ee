# SPDX-License-Identifier: Apache-2.0

"""Refusal of key rotations that would invalidate valid tokens."""

import argparse
import contextlib
import math
import sys

from keystone.cmd.fernet_keys import status
from keystone.common.key_history import history as histories
from keystone.common.key_history import nodes
from keystone.common.key_history import outlook
from keystone.common.key_history import repository as repositories
import keystone.conf

CONF = keystone.conf.CONF

_REFUSED = 4


def guarded(*sections):
    """Add safety checks to a rotation command.

    :param sections: configuration sections whose keys it rotates
    :returns: decorator for a ``keystone-manage`` command
    """

    def decorate(command):
        add_argument_parser = command.add_argument_parser
        rotate = command.main

        def add_more(subparsers):
            parser = add_argument_parser(subparsers)
            _add_arguments(parser)
            return parser

        def main():
            _main(sections, rotate)

        command.add_argument_parser = staticmethod(add_more)
        command.main = staticmethod(main)
        return command

    return decorate


def _add_arguments(parser):
    parser.add_argument(
        '--safe',
        action=argparse.BooleanOptionalAction,
        help='Refuse a rotation that would delete a key that is still '
        'needed, or that another node is not ready for. (Default: '
        '[fernet_tokens] refuse_unsafe_rotation)',
    )
    parser.add_argument(
        '--explain',
        action='store_true',
        help='Print what a rotation would do, without rotating. The exit '
        'code is 4 if it would not be safe.',
    )


def _main(sections, rotate):
    safe, explain = CONF.command.safe, CONF.command.explain
    if safe is None:
        safe = CONF.fernet_tokens.refuse_unsafe_rotation
    # Locked until it has rotated, so that no other command rotates meanwhile.
    with contextlib.ExitStack() as stack:
        if safe or explain:
            _check(stack, sections, explain)
        rotate()
        with contextlib.suppress(OSError):
            stack.close()
    # Record the rotation and report it to other nodes. If this fails, the next
    # record assumes the worst case.
    for one in repositories.distinct(sections):
        with contextlib.suppress(OSError, ValueError):
            outlook.look(one)


def _check(stack, sections, explain):
    """Exit unless the rotation is safe, or if it is only explained."""
    try:
        told = [_assess(stack, one) for one in repositories.distinct(sections)]
    except (OSError, ValueError) as error:
        _end(f'not rotated: {error}')
    if explain:
        print('\n\n'.join(map(_explained, told)))
        raise SystemExit(0 if all(t['safe'] for t in told) else _REFUSED)
    if not all(one['safe'] for one in told):
        _end('\n'.join(_refusal(one) for one in told if not one['safe']))


def _assess(stack, one):
    history = stack.enter_context(histories.recorded(one))
    reports = nodes.Reports(one.config_group)
    return status.assess(outlook.Outlook(one, history, reports))


def _end(words):
    print(words, file=sys.stderr)
    raise SystemExit(_REFUSED)


def _refusal(one):
    lines = [f'{one["section"]}: not rotated:']
    lines.extend(f'  {reason}' for reason in one['reasons'])
    lines.append(f'  {_earliest(one)}')
    return '\n'.join(lines)


def _earliest(one):
    if one['earliest'] is None:
        return (
            'waiting does not help: set max_active_keys to 3 or more, and '
            'distribute the same keys to all nodes'
        )
    if one['earliest'] <= one['now']:
        return 'safe once the reasons above no longer apply'
    return f'earliest safe time: {status.moment(one["earliest"])}'


def _explained(one):
    outcome = 'Safe now.' if one['safe'] else f'{_earliest(one)}.'
    return '\n'.join((status.described(one), *_advice(one), outcome))


def _advice(one):
    """Recommended rotation intervals and numbers of keys."""
    lifetimes = repositories.Repository(one['section']).lifetimes()
    if not lifetimes:
        return
    seconds = max(sum(lifetime) for lifetime in lifetimes)
    hours = seconds / 3600
    yield f'What is signed now is valid for up to {hours:.1f} hours.'
    secondary = one['max_active_keys'] - 2
    if secondary > 0:
        yield (
            f'With {one["max_active_keys"]} keys, rotate at most once every '
            f'{hours / secondary:.1f} hours.'
        )
    else:
        yield 'With fewer than 3 keys, each rotation deletes a key in use.'
    for words, every in (('day', 86400), ('week', 604800)):
        keys = math.ceil(seconds / every) + 2
        yield f'To rotate every {words}, set max_active_keys to {keys}.'
