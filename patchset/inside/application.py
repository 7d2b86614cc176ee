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

"""Stock Keystone's WSGI application, ready for several threads.

The first policy check makes the policy enforcer, and makes it visible
before it has its rules. Other threads that check a policy meanwhile find
no rule and answer 403. Here it is made before any thread serves. The topic
enforcer-complete makes this needless.
"""

from keystone.common.rbac_enforcer import enforcer
from keystone.wsgi import api

enforcer.RBACEnforcer()._enforcer.load_rules()

application = api.application
