# SPDX-License-Identifier: Apache-2.0

"""Stock Keystone's WSGI application, ready for several threads.

The first policy check makes the policy enforcer, and makes it visible
before it has its rules. Other threads that check a policy meanwhile find
no rule and answer 403. Here it is made before any thread serves. The topic
policy-rules makes this needless.
"""

from keystone.common.rbac_enforcer import enforcer
from keystone.wsgi import api

enforcer.RBACEnforcer()._enforcer.load_rules()

application = api.application
