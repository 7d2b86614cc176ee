# SPDX-License-Identifier: Apache-2.0

"""What the commands have in common."""

import datetime
import logging
import sys

from oslo_db import exception as db_exception
from sqlalchemy import exc

from keystone.common import manager
import keystone.conf
from keystone.revoke.backends import incremental
from keystone.revoke.backends import prune

CONF = keystone.conf.CONF

#: What a database may raise.
DATABASE_ERRORS = (db_exception.DBError, exc.DBAPIError)

#: Naive UTC datetimes before and after every event.
FIRST = datetime.datetime(1970, 1, 1)
LAST = datetime.datetime(9999, 12, 31)


class Stop(Exception):
    """Ends a command: exit code, and one line that says why."""

    def __init__(self, code, line):
        super().__init__(line)
        self.code = code


class Command:
    """A command of ``keystone-manage``; a subclass says what it does."""

    name = None
    #: Exit code for arguments that make no sense.
    wrong_arguments = 2
    #: Exit code if the database cannot be read.
    no_database = 3

    @classmethod
    def add_argument_parser(cls, subparsers):
        parser = subparsers.add_parser(
            cls.name, help=cls.__doc__.splitlines()[0]
        )
        parser.set_defaults(cmd_class=cls)
        parser.error = lambda message: cls.end(
            Stop(cls.wrong_arguments, message)
        )
        cls.add_arguments(parser)
        return parser

    @classmethod
    def main(cls):
        # A command that waits for a database to come back does not say so.
        CONF.set_override('max_retries', 0, group='database')
        _log_elsewhere()
        try:
            code = cls().run(CONF.command)
        except Stop as stop:
            cls.end(stop)
        raise SystemExit(code)

    @classmethod
    def end(cls, stop):
        """Say why the command ends, and end it."""
        print(f'keystone-manage {cls.name}: error: {stop}', file=sys.stderr)
        raise SystemExit(stop.code)

    @classmethod
    def add_arguments(cls, parser):
        """Add what the command takes."""
        raise NotImplementedError

    def run(self, options):
        """Do it.

        :param options: namespace of the arguments
        :returns: exit code
        :raises Stop: it cannot be done
        """
        raise NotImplementedError

    def driver(self):
        """The ``[revoke] driver``.

        :raises Stop: it has not what the commands need
        """
        driver = manager.load_driver('keystone.revoke', CONF.revoke.driver)
        for ability in (incremental.IncrementalRead, prune.Prune):
            if not isinstance(driver, ability):
                raise Stop(
                    self.wrong_arguments,
                    f'[revoke] driver = {CONF.revoke.driver} has no '
                    f'{ability.__name__}',
                )
        return driver

    def read(self, function, *args):
        """Call a function that reads the database.

        :raises Stop: the database cannot be read
        """
        try:
            return function(*args)
        except DATABASE_ERRORS as error:
            raise Stop(
                self.no_database, f'cannot read the database: {line(error)}'
            ) from None


def _log_elsewhere():
    # Standard output is for the answer, which programs may read.
    for handler in logging.getLogger().handlers:
        if getattr(handler, 'stream', None) is sys.stdout:
            handler.setStream(sys.stderr)


def line(error):
    """What a database's error says, on one line."""
    return str(error).partition('\n')[0]
