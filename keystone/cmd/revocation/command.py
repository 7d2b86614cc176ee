# SPDX-License-Identifier: Apache-2.0

"""Base classes of the commands."""

import argparse
import datetime
import json
import logging
import math
import sys

from oslo_db import exception as db_exception
from oslo_log import log
from sqlalchemy import exc

from keystone.common import manager
import keystone.conf
from keystone.revoke.backends import db_errors
from keystone.revoke.backends import incremental
from keystone.revoke.backends import prune

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

#: Exceptions that database access may raise.
DATABASE_ERRORS = (db_exception.DBError, exc.DBAPIError)

#: Naive UTC datetimes before and after every event.
FIRST = datetime.datetime(1970, 1, 1)
LAST = datetime.datetime(9999, 12, 31)

#: Exit codes that a monitoring system interprets as states.
OK = 0
WARNING = 1
CRITICAL = 2
UNKNOWN = 3

_STATES = ('OK', 'WARNING', 'CRITICAL', 'UNKNOWN')


def number(kind, least):
    """The type of an argument that is a number, neither less nor infinite."""

    def parse(text):
        try:
            parsed = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f'{text!r} is not a number'
            ) from None
        if not least <= parsed < math.inf:
            raise argparse.ArgumentTypeError(
                f'{text}: must be {least} or greater'
            )
        return parsed

    return parse


def moment(utc):
    """Format a datetime in UTC, or None, for people."""
    return f'{utc:%Y-%m-%d %H:%M:%S} UTC' if utc else '-'


class Stop(Exception):
    """Ends a command with an exit code and a one-line reason."""

    def __init__(self, code, line):
        super().__init__(line)
        self.code = code


class Command:
    """Base class of a ``keystone-manage`` command.

    Subclasses have the class method ``add_arguments``, which takes the parser,
    and ``run``, which takes the arguments and returns the exit code.
    """

    name: str
    #: Exit code for invalid arguments.
    wrong_arguments = 2
    #: Exit code if the database is unreachable.
    no_database = 3
    #: Exit code for any other error.
    failed = 255

    @classmethod
    def add_argument_parser(cls, subparsers):
        parser = subparsers.add_parser(
            cls.name, help=cls.__doc__.splitlines()[0]
        )
        parser.set_defaults(cmd_class=cls)
        parser.error = lambda message: cls.end(
            Stop(cls.wrong_arguments, message)
        )
        parse_known_args = parser.parse_known_args

        def parse(*args, **kwargs):
            # The parser of keystone-manage would always exit with 2.
            options, unknown = parse_known_args(*args, **kwargs)
            if unknown:
                parser.error(f'unrecognized arguments: {" ".join(unknown)}')
            return options, unknown

        parser.parse_known_args = parse
        cls.add_arguments(parser)
        return parser

    @classmethod
    def main(cls):
        # Fail at once: retries would be silent.
        CONF.set_override('max_retries', 0, group='database')
        _log_elsewhere()
        try:
            code = cls().run(CONF.command)
        except Stop as stop:
            cls.end(stop)
        except Exception as error:
            # Python would exit with 1, which does not mean failure here.
            LOG.exception('Failed to run %s.', cls.name)
            # The error message may contain credentials.
            cls.end(Stop(cls.failed, f'{type(error).__name__}, see the log'))
        raise SystemExit(code)

    @classmethod
    def end(cls, stop):
        """Print the reason and exit."""
        print(f'keystone-manage {cls.name}: error: {stop}', file=sys.stderr)
        raise SystemExit(stop.code)

    def driver(self):
        """The ``[revoke] driver``.

        :raises Stop: the driver lacks an interface that the command needs
        """
        driver = manager.load_driver('keystone.revoke', CONF.revoke.driver)
        for ability in (incremental.IncrementalRead, prune.Prune):
            if not isinstance(driver, ability):
                raise Stop(
                    self.wrong_arguments,
                    f'[revoke] driver = {CONF.revoke.driver} does not '
                    f'implement {ability.__name__}',
                )
        return driver

    def read(self, function, *args):
        """Call a function that reads from the database.

        :raises Stop: the database is unreachable
        """
        try:
            return function(*args)
        except DATABASE_ERRORS as error:
            line = db_errors.first_line(error)
            raise Stop(
                self.no_database, f'cannot read the database: {line}'
            ) from None


class Status(Command):
    """Base class of a command whose output a monitoring system may use.

    Subclasses have two methods, which take the figures, a dict: ``table``
    returns a str, and ``gauges`` yields (name, description, samples), where a
    sample is (dict of labels, number or None).
    """

    #: With which the status line starts.
    title: str
    #: Of the names of gauges.
    prefix: str
    # A monitoring system would interpret any other code as a state.
    wrong_arguments = no_database = failed = UNKNOWN

    @classmethod
    def add_arguments(cls, parser):
        parser.add_argument(
            '--format',
            choices=('json', 'prometheus', 'table'),
            help='Output format. (Default: table)',
        )

    @classmethod
    def end(cls, stop):
        # Monitoring systems show what is on standard output.
        print(cls.line(stop.code, stop))
        raise SystemExit(stop.code)

    @classmethod
    def line(cls, code, words):
        """The status line for an exit code, a str."""
        return f'{cls.title} {_STATES[code]} - {words}'

    def text(self, options, figures):
        """The figures, a dict, in the format that was asked for."""
        if options.format == 'json':
            return json.dumps(
                figures,
                indent=2,
                sort_keys=True,
                default=lambda moment: f'{moment.isoformat()}Z',
            )
        if options.format == 'prometheus':
            return '\n'.join(self._exposition(figures))
        return self.table(figures)

    def _exposition(self, figures):
        # For the textfile collector of Prometheus's node exporter.
        for name, words, samples in self.gauges(figures):
            name = f'{self.prefix}_{name}'
            yield f'# HELP {name} {words}'
            yield f'# TYPE {name} gauge'
            for labels, value in samples:
                pairs = ','.join(f'{k}="{v}"' for k, v in labels.items())
                if value is not None:
                    # True and False are 1 and 0.
                    yield f'{name}{pairs and f"{{{pairs}}}"} {+value}'


def _log_elsewhere():
    # Standard output is reserved for results, which programs may parse.
    for handler in logging.getLogger().handlers:
        if getattr(handler, 'stream', None) is sys.stdout:
            handler.setStream(sys.stderr)
