# SPDX-License-Identifier: Apache-2.0

"""Less work for a Python whose tests make an application each.

A folder for the module path: Python runs this when it starts. A tenth of the
time of upstream's unit tests goes into looking for garbage among the objects
of their applications, a seventh into functions that are compiled for each of
its routes, the same each time, to make URLs of, a tenth into statements that
are compiled for each of their databases.
"""

import functools
import gc

STATEMENTS = 5000  # which is more than there are, but for a loop's


def remembered(compile_builder):
    """Werkzeug's compiler of such functions, which keeps what it made.

    A function finds the converters of its values in the rule that it is
    called with; of the rule it is made for, it has just what the key has.
    """
    made = {}

    @functools.wraps(compile_builder)
    def wrapper(rule, append_unknown=True):
        if rule.defaults:
            return compile_builder(rule, append_unknown)
        key = (rule.rule, tuple(rule._trace), append_unknown)
        if key not in made:
            made[key] = compile_builder(rule, append_unknown)
        return made[key]

    return wrapper


class Statements(dict):
    """Compiled statements of all databases in SQLite of this process.

    SQLAlchemy keeps those of one. Its keys begin with the dialect, an object
    of each engine: two of one class and with one version compile alike.
    """

    def get(self, key, default=None):
        """What was compiled for a statement, on any engine."""
        return super().get(self._any(key), default)

    def __setitem__(self, key, compiled):
        if len(self) >= STATEMENTS:
            self.clear()
        super().__setitem__(self._any(key), compiled)

    @staticmethod
    def _any(key):
        return type(key[0]), *key[1:]


gc.set_threshold(100_000, 20, 50)
try:
    from werkzeug.routing import rules
except ImportError:
    pass
else:
    rules.Rule._compile_builder = remembered(rules.Rule._compile_builder)
try:
    import sqlalchemy
    from sqlalchemy import event
except ImportError:
    pass
else:
    _STATEMENTS = Statements()

    @event.listens_for(sqlalchemy.Engine, 'engine_connect')
    def _connected(connection):
        if connection.dialect.name == 'sqlite':
            connection.execution_options(compiled_cache=_STATEMENTS)
