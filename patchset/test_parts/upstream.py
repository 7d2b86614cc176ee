# SPDX-License-Identifier: Apache-2.0

"""Upstream's whole unit suite, with MariaDB and PostgreSQL.

On the patched tree, a test that passes on stock must pass: one that fails,
skips or is gone counts as failed.
"""

import re

from patchset import assemble
from patchset import environment
from patchset import progress
from patchset.services import mariadb
from patchset.services import postgresql
from patchset.test_parts import baseline
from patchset.test_parts import stestr
from patchset.test_parts import unit

PACKAGES = ('test', 'integration')
TESTS = 'keystone/tests/unit'


def run(options):
    venv = environment.Environment(options.pin.release, 'test').ensure()
    tree = assemble.ensure(options.pin, options.stock)
    ids = ()
    expression = options.expression
    if not options.record:
        pristine = assemble.ensure(options.pin, stock=True)
        stock = stestr.Suite(
            f'{options.label("upstream")}-ids', venv, pristine, folder=TESTS
        )
        ids = stock.ids(options.expression)
        # The part unit runs those of the topics.
        ours = '|'.join(map(re.escape, sorted(unit.added(tree, pristine))))
        if ours:
            expression = stestr.both(expression, rf'^(?!(?:{ours})\.)')
    progress.step('starting MariaDB and PostgreSQL')
    with mariadb.MariaDB() as mysql, postgresql.PostgreSQL() as postgres:
        databases = ['sqlite://', mysql.admin_url, postgres.admin_url]
        report = _suite(options, venv, databases).run(
            expression, concurrency=options.concurrency, ids=ids
        )

        def on_stock(stock, tests):
            return _suite(stock, venv, databases).run(
                concurrency=options.concurrency, ids=tests, listed=True
            )

        return baseline.judge(options, 'upstream', report, on_stock)


def _suite(options, venv, databases):
    return stestr.Suite(
        options.label('upstream'),
        venv,
        assemble.ensure(options.pin, options.stock),
        folder=TESTS,
        quick=True,
        variables={'OS_TEST_DBAPI_ADMIN_CONNECTION': ';'.join(databases)},
    )
