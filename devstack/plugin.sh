#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

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
