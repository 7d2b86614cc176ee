# SPDX-License-Identifier: Apache-2.0

"""Arguments that several commands share."""

import argparse
import dataclasses

from patchset import pins


def between(name, kind, least, most):
    """A parser of numbers, for the ``type`` of an argument.

    :param name: what the number is, for error messages
    :param kind: ``int`` or ``float``
    """

    def number(word):
        value = kind(word)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f'{value} is not between {least} and {most}'
            )
        return value

    number.__name__ = name
    return number


def of_fields(kind, args):
    """The arguments with the names of a dataclass's fields: a dict."""
    names = [field.name for field in dataclasses.fields(kind)]
    return {name: getattr(args, name) for name in names if name in args}


def add_release(parser, new=False):
    """Add ``--release``, for :func:`patchset.pins.load`.

    :param new: whether to accept a release that does not exist yet
    """
    known = ', '.join(pins.releases())
    parser.add_argument(
        '--release',
        metavar='R',
        default=pins.newest(),
        help=f'OpenStack release, one of: {known}'
        f'{", or a new one" if new else ""} (default: %(default)s)',
    )


def add_stock(parser):
    """Add ``--stock``."""
    parser.add_argument(
        '--stock',
        action='store_true',
        help='use unmodified upstream, without the patch set',
    )


def add_port(parser, what):
    """Add ``--port``.

    :param what: what the port is for
    """
    parser.add_argument(
        '--port',
        type=between('port', int, 1, 65535),
        default=5000,
        help=f'{what} (default: %(default)s)',
    )
