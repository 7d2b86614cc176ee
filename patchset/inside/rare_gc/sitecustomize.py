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

"""Cyclic garbage is collected seldom.

A folder for the module path: Python runs this when it starts. Upstream's unit
tests make an application each, and a tenth of their time goes into looking
for garbage among its objects.
"""

import gc

gc.set_threshold(100_000, 20, 50)
