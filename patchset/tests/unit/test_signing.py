# SPDX-License-Identifier: Apache-2.0

"""Tests of what a signed series has in its messages."""

from patchset import errors
from patchset import pins
from patchset import signing
from patchset.tests.unit import base


class SigningTestCase(base.RepositoryTestCase):
    def test_signer(self):
        self.assertEqual(
            ('Zoë Müller', 'zoe@example.org'),
            signing.signer(' Zoë Müller <zoe@example.org>'),
        )
        for bad in (
            '',
            'Zoë',
            'Zoë zoe@example.org',
            '<zoe@example.org>',
            '. <zoe@example.org>',
            'Zoë <zoe>',
            'Zoë <zoe@example.org> and more',
            'Zoë\nMüller <zoe@example.org>',
            'Zoë <zoe@example.org>\nCloses-Bug: #1',
        ):
            self.assertRaises(errors.UsageError, signing.signer, bad)

    def test_change_id_is_the_same_in_each_release(self):
        found = {}
        for release in pins.releases():
            self.use(release)
            for topic in self.topics():
                change = signing.change_id(topic)
                self.assertRegex(change, '^I[0-9a-f]{40}$')
                found.setdefault(topic.name, set()).add(change)
        self.assertEqual([1], list({len(ids) for ids in found.values()}))
        self.assertEqual(len(found), len(set.union(*found.values())))

    def test_trailers_that_are_there(self):
        topic = self.with_hunks()
        self.substitute(
            topic.path,
            '^(?=Forwarded: )',
            f'Closes-Bug: #1\nChange-Id: I{"0" * 40}\n'
            'Signed-off-by: A <b@c>\nSigned-off-by: D <e@f>\n',
        )
        message = signing.message(self.with_hunks(), ('A', 'b@c'))
        self.assertTrue(
            message.endswith(
                f'\n\nCloses-Bug: #1\nChange-Id: I{"0" * 40}\n'
                'Signed-off-by: D <e@f>\nSigned-off-by: A <b@c>\n'
            ),
            message,
        )
