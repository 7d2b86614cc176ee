# SPDX-License-Identifier: Apache-2.0

"""``./ks cluster`` and what it notes, without servers."""

import pathlib
import types

import fixtures
import testtools

from patchset import errors
from patchset import state
from patchset.cluster import layout
from patchset.commands import cluster
from patchset.tests.unit import test_commands


class WordsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        folder = self.useFixture(fixtures.TempDir()).path
        path = pathlib.Path(folder)
        self.useFixture(fixtures.MonkeyPatch('patchset.paths.BUILD', path))

    def assertRefused(self, code, message, *words):
        given, text = test_commands.run('cluster', *words)
        self.assertEqual(code, given, text)
        self.assertIn(message, text)

    def test_wrong_words(self):
        self.assertRefused(2, 'drain and ready take a node', 'drain')
        self.assertRefused(2, 'drain and ready take a node', 'up', 'node1')
        self.assertRefused(2, 'not allowed', 'up', '--mixed', '--stock')
        self.assertRefused(2, 'more than one region', 'up', '--rtt', '100')
        self.assertRefused(2, 'invalid choice', 'up', '--cache', 'none')
        self.assertRefused(2, 'not between', 'up', '--port', '65536')

    def test_nothing_runs(self):
        for words in (['status'], ['down'], ['drain', 'node1']):
            self.assertRefused(1, 'no cluster is running', *words)


class RecordTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        build = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.MonkeyPatch('patchset.paths.BUILD', build))
        self.folder = build / 'cluster'

    def cluster(self):
        """What a record reads of a cluster."""
        path = self.folder
        nodes = [
            types.SimpleNamespace(
                name=f'node{number}', region=number - 1, is_stock=number == 2,
                port=1000 + number, pid=number, log=path / f'{number}.log',
                openrc=path / 'openrc',
            )
            for number in (1, 2)
        ]  # fmt: skip
        balancer = types.SimpleNamespace(
            statistics='http://127.0.0.1:8/', runtime=path / 'runtime'
        )
        return types.SimpleNamespace(
            layout=layout.Layout(nodes=2, regions=2, rtt=100),
            url='http://127.0.0.1:9/v3',
            balancer=balancer,
            nodes=nodes,
        )

    def test_written_read_and_gone(self):
        reader = cluster.Record()
        with cluster.Record() as one:
            self.assertRaises(errors.Error, reader.read)
            known = one.write(self.cluster())
            self.assertEqual(known, reader.read())
        self.assertRaises(errors.Error, reader.read)

    def test_what_a_killed_cluster_left_is_not_believed(self):
        with cluster.Record() as one:
            known = one.write(self.cluster())
        kept = state.State(self.folder)
        kept.note(known)
        reader = cluster.Record()
        self.assertRaises(errors.Error, reader.read)

    def test_one_at_a_time(self):
        with cluster.Record():
            second = cluster.Record()
            self.assertRaises(errors.Error, second.__enter__)

    def test_text(self):
        self.useFixture(
            fixtures.MonkeyPatch(
                'patchset.services.haproxy.states',
                lambda path: {'node1': 'UP', 'node2': 'DOWN'},
            )
        )
        with cluster.Record() as one:
            text = '\n'.join(cluster.status(one.write(self.cluster())))
        for words in (
            '2 region(s), 100 ms round trip time between regions',
            'node1   UP     region 1, patched, http://127.0.0.1:1001,',
            'node2   DOWN   region 2, stock, http://127.0.0.1:1002,',
            'http://127.0.0.1:8/',
        ):
            self.assertIn(words, text)
