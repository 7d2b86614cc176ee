# SPDX-License-Identifier: Apache-2.0

"""Run one keystone-manage command, or several in turn until one fails.

The arguments are --config-file FILE --config-dir FOLDER COMMAND ";" COMMAND
and so on. Several commands are forked from this process, so that Keystone is
only imported once; the exit code is the number of the one that failed.
"""

import gc
import itertools
import os
import sys

from keystone.cmd import manage


def main():
    options, words = sys.argv[1:5], sys.argv[5:]
    parts = itertools.groupby(words, ';'.__ne__)
    commands = [[*part] for is_command, part in parts if is_command]
    gc.freeze()  # for the forked processes to end quickly
    for number, command in enumerate(commands, 1):
        if len(commands) == 1 or not os.fork():
            sys.argv[1:] = [*options, *command]
            return manage.main()
        if os.wait()[1]:
            return number


if __name__ == '__main__':
    sys.exit(main())
