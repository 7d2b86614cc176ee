#!/usr/bin/env bash
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

# DevStack's dispatcher: sourced with a mode, and a phase for mode "stack".
#
# DevStack installs and configures Keystone before the plugins' install phase
# and starts it before their post-config phase: all is done in install.

REVCACHE_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=devstack/lib/revcache
source "$REVCACHE_DIR/devstack/lib/revcache"

if is_service_enabled keystone; then
    if [[ "$1" == "stack" && "$2" == "install" ]]; then
        echo_summary "Applying the revocation and caching topics to Keystone"
        check_revcache_options
        install_revcache
        configure_revcache
    elif [[ "$1" == "unstack" || "$1" == "clean" ]]; then
        cleanup_revcache
    fi
fi
