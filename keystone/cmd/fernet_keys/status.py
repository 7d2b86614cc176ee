# SPDX-License-Identifier: Apache-2.0

from keystone.cmd.fernet_keys import figures
from keystone.cmd.fernet_keys import formats
from keystone.cmd.revocation import command
from keystone.cmd.revocation import monitoring
from keystone.cmd.upgrade_checks import findings
from keystone.common.key_history import outlook
from keystone.common.key_history import repository


class FernetStatus(monitoring.Status):
    """Show the role of each Fernet key and whether a rotation is safe."""

    name = 'fernet_status'
    formats = formats

    @classmethod
    def add_arguments(cls, parser):
        super().add_arguments(parser)
        parser.add_argument(
            '--forget',
            metavar='NODE',
            help='Stop expecting reports from a node that was removed.',
        )

    def run(self, options):
        found = []
        for one in repository.repositories():
            try:
                if options.forget:
                    outlook.forget(one, options.forget)
                looked = outlook.look(one)
                found.append(figures.of(looked, self._credentials(one)))
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                raise command.Stop(monitoring.UNKNOWN, error) from None
        if not found:
            raise command.Stop(monitoring.UNKNOWN, 'no keys found')
        code = max(one['code'] for one in found)
        print(self.text(options, {'code': code, 'repositories': found}))
        return code

    def _credentials(self, one):
        if one.config_group != repository.CREDENTIALS:
            return None
        return self.read(figures.credentials_by_key, one)


@findings.check('All nodes have the same keys.')
def check():
    """Compare the keys of this node with those of other nodes."""
    for one in repository.repositories():
        try:
            told = figures.of(outlook.look(one))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            yield findings.FAILURE, f'{one.config_group}: {error}.'
            continue
        words = f'{formats.verdict(told)}.'
        if told['code'] == monitoring.CRITICAL:
            yield findings.FAILURE, words
        elif told['code'] == monitoring.WARNING:
            yield findings.WARNING, words
