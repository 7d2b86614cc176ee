# SPDX-License-Identifier: Apache-2.0

"""Run several keystone-manage commands, one after the other.

Keystone takes seconds to import and each command wants a configuration of
its own, so Keystone is imported once and each command is a fork.

On standard input, as JSON: ``arguments`` that precede each command,
``commands`` (a list of lists), ``environment`` (variables to add) and
``log``, the file that receives what the commands say. After a command that
fails its name is written on standard error and no other is run.
"""

import ctypes
import json
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main():
    request = json.load(sys.stdin)
    os.umask(0o077)
    # Keystone's and oslo.config's own variables would overrule the files.
    for name in [name for name in os.environ if name.startswith('OS_')]:
        del os.environ[name]
    os.environ.update(request['environment'])
    errors = os.dup(2)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    log = os.open(request['log'], flags, 0o600)
    for stream in (1, 2):
        os.dup2(log, stream)

    from keystone.cmd import cli

    for command in request['commands']:
        child = os.fork()
        if not child:
            run(cli, ['keystone-manage', *request['arguments'], *command])
        _, status = os.waitpid(child, 0)
        if status:
            os.write(errors, command[0].encode())
            sys.exit(1)


def run(cli, words):
    """Be the command: leave with its exit code."""
    # A command does not go on alone when this program is killed.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    sys.argv = words
    try:
        cli.main(argv=words)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int | None) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    else:
        code = 0
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


if __name__ == '__main__':
    main()
