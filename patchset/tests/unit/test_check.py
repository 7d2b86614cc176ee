# SPDX-License-Identifier: Apache-2.0

"""Each way in which patches and overlay can be out of order is told."""

import dataclasses
import shutil
import sys

from patchset import errors
from patchset import sizes
from patchset import upstream
from patchset.commands import check
from patchset.tests.unit import base


class CheckTestCase(base.RepositoryTestCase):
    def check(self):
        return check.check(self.pin, self.source, sys.executable, self.root)

    def refused(self, *parts):
        error = self.assertRaises(errors.Error, self.check)
        for part in parts:
            self.assertIn(part, str(error))
        self.assertNotIn('\n', str(error))

    def test_hunk_moved_by_one_line(self):
        self.few()
        topic = self.with_hunks()
        old = int(topic.diff.split('@@ -')[1].split(',')[0])
        self.substitute(
            topic.path, rf'^@@ -{old},(\d+) \+\d+,', rf'@@ -{old + 1},\1 +1,'
        )
        self.refused(topic.path.name, f'-{old},', 'offset')

    def test_context_that_is_not_there(self):
        topic = self.with_hunks()
        self.substitute(topic.path, r'^ (?=\s*[a-z]).*$', ' not in the file')
        self.refused(topic.path.name, 'does not apply')

    def test_patch_listed_twice(self):
        name = self.topics()[-1].path.name
        with open(self.series, 'a') as listed:
            listed.write(f'{name}\n')
        self.refused('lists', name, 'twice')

    def test_patch_that_is_not_there(self):
        with open(self.series, 'a') as listed:
            listed.write('nowhere.patch\n')
        self.refused('no such patch: nowhere.patch')

    def test_orphaned_patch(self):
        for folder in (self.patches, self.series.parent):
            lost = folder / 'lost.patch'
            lost.write_bytes(self.topics()[0].path.read_bytes())
            self.refused('orphan: lost.patch')
            lost.unlink()

    def test_patch_without_mail_headers(self):
        topic = self.with_hunks()
        topic.path.write_text(topic.diff)
        self.refused(topic.path.name, 'git format-patch form')

    def test_overlay_file_that_upstream_has(self):
        path = self.root / 'keystone' / 'revoke' / 'core.py'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('')
        self.refused('keystone/revoke/core.py: upstream has a file')

    def test_missing_adds(self):
        topic = next(topic for topic in self.topics() if topic.adds)
        name = next(n for n in topic.adds if n.startswith('keystone/'))
        self.substitute(topic.path, f'^Adds: {name}\n', '')
        self.refused(f"{name} is in no topic's Adds")

    def test_adds_a_file_that_is_not_there(self):
        topic = self.topics()[0]
        self.substitute(
            topic.path, '^Forwarded: ', 'Adds: keystone/gone.py\nForwarded: '
        )
        self.refused(topic.path.name, 'Adds: keystone/gone.py: no such file')

    def test_added_by_two_topics(self):
        first, second = self.topics()[:2]
        self.substitute(
            second.path, '^Forwarded: ', f'Adds: {first.adds[0]}\nForwarded: '
        )
        self.refused(second.path.name, first.adds[0], first.name)

    def test_depends_on_nothing_known(self):
        topic = self.topics()[0]
        self.substitute(
            topic.path, '^Forwarded: ', 'Depends: dreams\nForwarded: '
        )
        self.refused(topic.path.name, 'Depends: dreams: no such topic')

    def test_depends_on_a_later_topic(self):
        first, *others = self.topics()
        second = next(topic for topic in others if not topic.depends)
        self.substitute(
            first.path, '^Forwarded: ', f'Depends: {second.name}\nForwarded: '
        )
        self.refused(first.path.name, second.name, 'later')

    def test_circle(self):
        topic = self.topics()[0]
        self.substitute(
            topic.path, '^Forwarded: ', f'Depends: {topic.name}\nForwarded: '
        )
        self.refused(topic.path.name, 'a circle')

    def test_missing_depends(self):
        self.few()
        needy = next(topic for topic in self.topics() if topic.depends)
        self.substitute(needy.path, '^Depends: .*\n', '', count=0)
        self.refused(needy.name, 'depends on')

    def test_depends_that_nothing_needs(self):
        self.few()
        first, *_, last = self.topics()
        self.substitute(
            last.path, '^Forwarded: ', f'Depends: {first.name}\nForwarded: '
        )
        self.refused(f'{last.path.name}: Depends: {first.name}: neither')

    def test_depends_with_a_reason(self):
        self.few()
        first, *_, last = self.topics()
        self.substitute(
            last.path,
            '^Forwarded: ',
            f'Depends: {first.name} (it says so)\nForwarded: ',
        )
        self.check()

    def test_depends_on_another_stack(self):
        topics = self.topics()
        needy = next(t for t in topics if t.stack == 'revocation')
        name = next(t.name for t in topics if t.stack == 'correctness')
        self.substitute(
            needy.path, '^Forwarded: ', f'Depends: {name}\nForwarded: '
        )
        self.refused(f'{needy.path.name}: Depends: {name}: it is of the stack')

    def test_depends_on_too_many(self):
        many = [t.name for t in self.topics() if t.stack == 'base']
        needy = next(t for t in self.topics() if t.stack == 'correctness')
        lines = ''.join(f'Depends: {name} (so)\n' for name in many)
        self.substitute(needy.path, '^Forwarded: ', f'{lines}Forwarded: ')
        self.refused(
            f'{needy.name} depends on {len(many)} topics; of correctness'
        )

    def test_module_that_does_not_import(self):
        self.few()
        topic = next(topic for topic in self.topics() if topic.adds)
        name = next(n for n in topic.adds if n.endswith('.py'))
        with open(self.root / name, 'a') as module:
            module.write('import keystone.dreams\n')
        self.refused('importing', 'keystone.dreams')

    def test_topic_of_another_release(self):
        self.few()
        other = self.patches.parent / '2000.1'
        shutil.copytree(self.patches, other)
        topic = self.topics()[-1]
        topic.path.unlink()
        self.substitute(self.series, f'^{topic.name}.patch\n', '')
        self.refused(f'no {topic.name}, which 2000.1 has', '# without')

        with open(self.series, 'a') as listed:
            listed.write(f'# without {topic.name}: there is no\n#   need\n')
        self.check()

    def test_added_by_different_topics_of_two_releases(self):
        other = self.patches.parent / '2000.1'
        shutil.copytree(self.patches, other)
        first, second = self.topics()[:2]
        self.substitute(
            other / second.stack / second.path.name,
            '^Forwarded: ',
            f'Adds: {first.adds[0]}\nForwarded: ',
        )
        self.refused('of 2000.1', second.path.name, first.adds[0], first.name)

    def test_topic_that_is_there_and_left_out(self):
        topic = self.topics()[0]
        with open(self.series, 'a') as listed:
            listed.write(f'# without {topic.name}: never\n')
        self.refused(f'with and without {topic.name}')

    def test_leaving_out_what_nobody_has(self):
        with open(self.series, 'a') as listed:
            listed.write('# without dreams: never\n')
        self.refused('without dreams: no release has it')

    def test_long_subject(self):
        topic = self.topics()[0]
        self.substitute(topic.path, r'^(Subject: .*)$', r'\1' + ' long' * 9)
        self.refused(topic.path.name, 'characters, more than 50')

    def test_topic_not_as_refresh_writes_it(self):
        self.few()
        topic = self.with_hunks()
        self.substitute(
            topic.path, '^index [0-9a-f]{12}', 'index 0123456789ab'
        )
        self.refused(topic.path.name, 'run ./ks refresh')

    def test_wrong_sha256(self):
        pin = dataclasses.replace(self.pin, sha256='0' * 64)
        error = self.assertRaises(errors.Error, upstream.ensure, pin)
        self.assertIn('wrong sha256', str(error))
        self.assertIn('0' * 64, str(error))
        self.assertIn(self.pin.sha256, str(error))
        self.assertTrue(self.source.is_dir())


class CommandTestCase(base.RepositoryTestCase):
    def test_failure_is_one_line_and_exit_1(self):
        (self.patches / 'lost.patch').write_bytes(
            self.topics()[0].path.read_bytes()
        )
        done = self.ks('check')
        self.assertEqual(1, done.returncode)
        self.assertEqual(
            'ks: error: orphan: lost.patch is in no series line\n', done.stderr
        )

    def test_in_order_and_sizes_are_printed(self):
        self.only('revocation-events-api')
        done = self.ks('check')
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(
            done.stdout,
            rf'^{self.pin.release}: {len(self.topics())} topics; '
            r'[1-9]\d* lines changed in upstream code; '
            r'(\d+ lines changed in upstream documentation; )?'
            r'[1-9]\d* lines in keystone; \d+ lines in patchset; '
            r'\d+ lines in bench$',
        )

    def test_limit_of_sizes(self):
        small = dict.fromkeys(sizes.LIMITS, 0)
        sizes.verify(small)
        for name, limit in sizes.LIMITS.items():
            self.assertRaisesRegex(
                errors.Error,
                f'^{limit + 1} {name}, more than the limit of {limit} ',
                sizes.verify,
                {**small, name: limit + 1},
            )
