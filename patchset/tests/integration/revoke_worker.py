# SPDX-License-Identifier: Apache-2.0

"""One worker process that revokes and checks tokens, by Keystone's manager.

On standard input, one JSON object for each line: first the options, as
``{section: {option: value}}``; then the commands, each a new request:

``{"check": VALUES}``
    answers ``"revoked"``, ``"valid"``, or ``"failed: REASON"``
``{"revoke": ATTRIBUTES}``
    records an event, and answers null or ``"failed: REASON"``
``{"rows": null}``
    answers how many rows the replica holds, or null while it holds none
``{"invalidate": null}``
    changes the stamp alone, as a process does that wrote its row elsewhere
``{"clock": SECONDS}``
    sets its wall clock ahead of the machine's, or back if negative
``{"forge": ID}``
    changes the stamp so that it names a row, there or not
``{"wait": BOOL}``
    off, no read waits for what other nodes of a Galera cluster committed
``{"revoke_for": SECONDS}``
    records events until then, every second of them expired, and answers how
    many live ones, how many expired ones, and a list of failures
``{"prune": LIMIT}``
    deletes one batch, and answers found, deleted, and why it was given up
``{"prune_for": SECONDS}``
    deletes batches until then, and answers how many events, and how many
    batches were given up
``{"pruned": null}``
    answers how many batches and events were deleted after revocations
``{"hold": LIMIT}``
    deletes one batch; answers ``"holding"`` before it commits, and after one
    more line of input what ``prune`` answers
``{"cost": LIMIT}``
    deletes one batch, and answers what the database did for it: of MariaDB,
    how many rows were read; of PostgreSQL, the plans; and the settings that
    the connection is left with

The answers are one JSON value for each line on standard output.
"""

import datetime
import json
import sys
import time
import uuid

from oslo_utils import timeutils
import sqlalchemy

from keystone import exception
from keystone.cmd.revocation import batches
from keystone.common import cache
from keystone.common import sql
from keystone.common.cache import request_local
import keystone.conf
from keystone.models import revoke_model
from keystone.revoke import core
from keystone.revoke import stamp
from keystone.revoke.backends import base
from keystone.revoke.backends import sql as revoke_sql

CONF = keystone.conf.CONF

utcnow = timeutils.utcnow

# Of an event that has expired.
AGE = datetime.timedelta(days=30)


class Worker:
    def __init__(self):
        self.manager = core.Manager()

    def check(self, values):
        # Before any event of the test, however slow the machine is.
        issued_at = timeutils.utcnow() - datetime.timedelta(days=1)
        token = {**revoke_model.blank_token_data(issued_at), **values}
        try:
            self.manager.check_token(token)
        except exception.TokenNotFound:
            return 'revoked'
        except Exception as error:
            return f'failed: {type(error).__name__}'
        return 'valid'

    def revoke(self, attributes):
        try:
            self.manager.revoke(revoke_model.RevokeEvent(**attributes))
        except Exception as error:
            return f'failed: {type(error).__name__}'

    def rows(self, _):
        replica = self.manager.token_check.replica(self.manager.driver)
        return replica.view and len(replica.view.copy)

    def invalidate(self, _):
        core.REVOKE_REGION.invalidate()

    def clock(self, seconds):
        shift = datetime.timedelta(seconds=seconds)
        timeutils.utcnow = lambda *args: utcnow(*args) + shift

    def forge(self, row_id):
        forged = stamp.Row(row_id, utcnow().replace(microsecond=0))
        stamp.SharedStamp(core.REVOKE_REGION).note_row(forged)
        core.REVOKE_REGION.invalidate()

    def wait(self, wait):
        if wait:
            del self.manager.driver._is_galera
        else:
            self.manager.driver._is_galera = lambda connection: False

    def revoke_for(self, seconds):
        end = time.monotonic() + seconds
        count = [0, 0]
        failures = []
        while time.monotonic() < end:
            expired = sum(count) % 2
            moment = timeutils.utcnow() - expired * AGE
            failure = self.revoke(
                {'user_id': uuid.uuid4().hex, 'revoked_at': moment}
            )
            if failure:
                failures.append(failure)
            else:
                count[expired] += 1
        return [*count, failures]

    def pruned(self, _):
        counts = self.manager.pruning.counts
        return [counts['batches'], counts['deleted']]

    def prune(self, limit, driver=None):
        batch = (driver or self.manager.driver).prune_events(
            base.revoked_before_cutoff_time(), limit
        )
        return [batch.found, batch.deleted, batch.given_up]

    def prune_for(self, seconds):
        end = time.monotonic() + seconds
        deleted = given_up = 0
        while time.monotonic() < end:
            run = batches.Batches(
                self.manager.driver,
                base.revoked_before_cutoff_time(),
                100,
                max_time=end - time.monotonic(),
            )
            for _batch in run:
                pass
            deleted += run.deleted
            given_up += run.given_up
        return [deleted, given_up]

    def hold(self, limit):
        return self.prune(limit, Holding())

    def cost(self, limit):
        with sql.session_for_write() as session:
            engine = session.get_bind()
        driver = COSTS[engine.dialect.name]()
        self.prune(limit, driver)
        with engine.connect() as connection:
            left = [
                list(row)
                for row in connection.exec_driver_sql(driver.settings)
            ]
        return [driver.found, left]


class Holding(revoke_sql.Revoke):
    """Waits for a line of input before it commits a batch."""

    def _delete(self, *args):
        deleted = super()._delete(*args)
        print(json.dumps('holding'), flush=True)
        sys.stdin.readline()
        return deleted


class MariaDBCost(revoke_sql.Revoke):
    """Counts the rows that MariaDB reads for a batch."""

    settings = (
        'SELECT @@innodb_lock_wait_timeout, @@lock_wait_timeout, '
        '@@tx_isolation'
    )

    def _prune(self, connection, *args):
        before = self._read(connection)
        batch = super()._prune(connection, *args)
        after = self._read(connection)
        self.found = {name: after[name] - before[name] for name in after}
        return batch

    def _read(self, connection):
        rows = connection.exec_driver_sql(
            "SHOW SESSION STATUS LIKE 'Handler_read%%'"
        )
        return {name: int(value) for name, value in rows}


class PostgreSQLCost(revoke_sql.Revoke):
    """Asks PostgreSQL for the plans of a batch."""

    settings = (
        "SELECT current_setting('lock_timeout'), "
        "current_setting('enable_sort'), current_setting('enable_seqscan')"
    )

    def _prune(self, connection, *args):
        self.found = []
        event = (connection, 'before_cursor_execute', self._explain)
        sqlalchemy.event.listen(*event)
        try:
            return super()._prune(connection, *args)
        finally:
            sqlalchemy.event.remove(*event)

    def _explain(self, _connection, cursor, statement, parameters, *_):
        analyze = 'ANALYZE, ' if statement.startswith('SELECT') else ''
        cursor.execute(
            f'EXPLAIN ({analyze}FORMAT JSON) {statement}', parameters
        )
        self.found.append(cursor.fetchone()[0][0]['Plan'])


COSTS = {'mysql': MariaDBCost, 'postgresql': PostgreSQLCost}


def configure(options):
    keystone.conf.configure()
    sql.initialize()
    keystone.conf.set_external_opts_defaults()
    CONF([], project='keystone', default_config_files=[])
    for section, values in options.items():
        for name, value in values.items():
            CONF.set_override(name, value, section)
    cache.configure_cache(region=core.REVOKE_REGION)
    cache.configure_invalidation_region()
    with sql.session_for_write() as session:
        engine = session.get_bind()
    revoke_sql.RevocationEvent.__table__.create(engine, checkfirst=True)


def main():
    configure(json.loads(sys.stdin.readline()))
    worker = Worker()
    print(json.dumps('ready'), flush=True)
    for line in sys.stdin:
        ((command, argument),) = json.loads(line).items()
        request_local.begin({})
        print(json.dumps(getattr(worker, command)(argument)), flush=True)


if __name__ == '__main__':
    main()
