# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""One worker process that revokes and checks tokens, by Keystone's manager.

On standard input, one JSON object for each line: first the options, as
``{section: {option: value}}``; then the commands, each a new request:

``{"check": VALUES}``
    answers ``"revoked"``, ``"valid"``, or ``"failed: REASON"``
``{"revoke": ATTRIBUTES}``
    records an event, and answers null or ``"failed: REASON"``
``{"status": null}``
    answers what the replica holds: rows, distinct events, age
``{"invalidate": null}``
    changes the stamp alone, as a process does that wrote its row elsewhere
``{"wait": BOOL}``
    off, no read waits for what other nodes of a Galera cluster committed

The answers are one JSON value for each line on standard output.
"""

import datetime
import json
import sys

from oslo_utils import timeutils

from keystone import exception
from keystone.common import cache
from keystone.common import sql
from keystone.common.cache import request_local
import keystone.conf
from keystone.models import revoke_model
from keystone.revoke import core
from keystone.revoke.backends import sql as revoke_sql

CONF = keystone.conf.CONF


class Worker:
    def __init__(self):
        self.manager = core.Manager()

    def check(self, values):
        issued_at = timeutils.utcnow() - datetime.timedelta(minutes=1)
        token = {**revoke_model.blank_token_data(issued_at), **values}
        try:
            self.manager.check_token(token)
        except exception.TokenNotFound:
            return 'revoked'
        except Exception as error:
            return f'failed: {type(error).__name__}'
        return 'valid'

    def revoke(self, attributes):
        try:
            self.manager.revoke(revoke_model.RevokeEvent(**attributes))
        except Exception as error:
            return f'failed: {type(error).__name__}'

    def status(self, _):
        replica = self.manager.token_check.replica(self.manager.driver)
        status = replica.status()
        return status and [status['rows'], status['distinct'], status['age']]

    def invalidate(self, _):
        core.REVOKE_REGION.invalidate()

    def wait(self, wait):
        if wait:
            del self.manager.driver._is_galera
        else:
            self.manager.driver._is_galera = lambda connection: False


def configure(options):
    keystone.conf.configure()
    sql.initialize()
    keystone.conf.set_external_opts_defaults()
    CONF([], project='keystone', default_config_files=[])
    for section, values in options.items():
        for name, value in values.items():
            CONF.set_override(name, value, section)
    cache.configure_cache(region=core.REVOKE_REGION)
    cache.configure_invalidation_region()
    with sql.session_for_write() as session:
        engine = session.get_bind()
    revoke_sql.RevocationEvent.__table__.create(engine, checkfirst=True)


def main():
    configure(json.loads(sys.stdin.readline()))
    worker = Worker()
    print(json.dumps('ready'), flush=True)
    for line in sys.stdin:
        ((command, argument),) = json.loads(line).items()
        request_local.begin({})
        print(json.dumps(getattr(worker, command)(argument)), flush=True)


if __name__ == '__main__':
    main()
