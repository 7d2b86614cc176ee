# SPDX-License-Identifier: Apache-2.0

"""Tell what a Keystone database holds, without importing Keystone.

On standard input, as JSON: ``url`` (SQLAlchemy) and ``timeout`` (seconds).
On standard output, as JSON: either ``error``, the driver's reason why it
cannot be reached, or ``revisions``, the schema revisions it stands at
(sorted, empty for a new database), and ``admin``, the id of the user
``admin`` of the domain ``default``, or null.
"""

import json
import os
import sys

import sqlalchemy
from sqlalchemy import exc


def main():
    request = json.load(sys.stdin)
    os.umask(0o077)
    try:
        answer = inspect(request['url'], request['timeout'])
    except exc.DBAPIError as error:
        answer = {'error': reason(error.orig)}
    except (exc.SQLAlchemyError, ValueError) as error:
        answer = {'error': str(error).partition('\n')[0]}
    json.dump(answer, sys.stdout)


def inspect(url, timeout):
    url = sqlalchemy.make_url(url)
    name = 'timeout' if url.drivername == 'sqlite' else 'connect_timeout'
    engine = sqlalchemy.create_engine(url, connect_args={name: timeout})
    with engine.connect() as connection:
        revisions = column(connection, 'version_num', 'alembic_version')
        where = "WHERE domain_id = 'default' AND name = 'admin'"
        admins = column(connection, 'user_id', 'local_user', where)
        return {
            'revisions': sorted(revisions),
            'admin': admins[0] if admins else None,
        }


def column(connection, name, table, where=''):
    if not sqlalchemy.inspect(connection).has_table(table):
        return []
    query = sqlalchemy.text(f'SELECT {name} FROM {table} {where}')
    return list(connection.execute(query).scalars())


def reason(error):
    """The driver's own words on one line, without its error number."""
    words = [word for word in error.args if isinstance(word, str)]
    text = words[-1] if words else type(error).__name__
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


if __name__ == '__main__':
    main()
