# SPDX-License-Identifier: Apache-2.0

"""Work that quick suites spare, and no other suite."""

from patchset.tests.unit import suites

_ROUTES = """
import unittest

from werkzeug import routing


class Converter(routing.BaseConverter):
    def __init__(self, map, sign):
        super().__init__(map)
        self.sign = sign

    def to_url(self, value):
        return f'{self.sign}{value}'


class Routes(unittest.TestCase):
    def built(self, sign, page):
        rules = [
            routing.Rule(f'/one/<own("{sign}"):name>', endpoint='one'),
            routing.Rule('/two/<own("+"):name>', endpoint='two'),
            routing.Rule('/page/', defaults={'page': page}, endpoint='page'),
            routing.Rule('/page/<int:page>', endpoint='page'),
        ]
        known = {'own': Converter}
        urls = routing.Map(rules, converters=known).bind('host')
        return rules, [
            urls.build('one', {'name': 'x', 'q': 'y z'}),
            urls.build('two', {'name': 'x'}),
            urls.build('page', {'page': 1}),
            urls.build('page', {'page': 2}),
        ]

    def test_urls(self):
        self.assertEqual(
            ['/one/-x?q=y+z', '/two/+x', '/page/', '/page/2'],
            self.built('-', 1)[1],
        )
        self.assertEqual(
            ['/one/!x?q=y+z', '/two/+x', '/page/1', '/page/'],
            self.built('!', 2)[1],
        )

    def test_compiled_each_time(self):
        one, two = self.built('-', 1)[0][1], self.built('-', 1)[0][1]
        self.assertIsNot(one._build.__func__, two._build.__func__)
"""
_STATEMENTS = """
import unittest

import sqlalchemy
from sqlalchemy.ext import compiler
from sqlalchemy.sql import functions

compiled = []


class counted(functions.GenericFunction):
    inherit_cache = True


@compiler.compiles(counted)
def compile(element, how, **options):
    compiled.append(element)
    return '2'


class Statements(unittest.TestCase):
    def test_compiled_each_time(self):
        for number in (1, 3):
            engine = sqlalchemy.create_engine('sqlite://')
            one = sqlalchemy.select(counted() + number)
            with engine.connect() as connection:
                self.assertEqual(2 + number, connection.scalar(one))
        self.assertEqual(2, len(compiled))
"""
_GARBAGE = """
import gc
import unittest


class Garbage(unittest.TestCase):
    def test_often(self):
        self.assertLess(gc.get_threshold()[0], 5000)
"""


class QuickTestCase(suites.SuiteTestCase):
    def assertSpared(self, text, total, each_time):
        """Of a module's tests, only one fails, and only where quick.

        :param total: number of tests in the module
        :param each_time: id in it of the test that work is done each time
        """
        self.write('small/test_work.py', text)
        failing = {f'small.test_work.{each_time}'}
        for quick, failed in ((False, set()), (True, failing)):
            report = self.suite(quick=quick).run('test_work')
            self.assertEqual(total, report.result.total)
            self.assertEqual(failed, set(report.failed))

    def test_garbage_is_collected_seldom(self):
        self.assertSpared(_GARBAGE, 1, 'Garbage.test_often')

    def test_routes_are_compiled_once(self):
        self.assertSpared(_ROUTES, 2, 'Routes.test_compiled_each_time')

    def test_statements_are_compiled_once(self):
        self.assertSpared(_STATEMENTS, 1, 'Statements.test_compiled_each_time')
