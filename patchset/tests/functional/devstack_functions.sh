#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Functions that DevStack promises to its plugins, as far as this project's
# plugin calls them. Those on ini files do the real thing; setup_develop
# writes down what it was asked to install.

function is_service_enabled {
    [[ ,$ENABLED_SERVICES, == *,$1,* ]]
}

function define_plugin {
    :
}

function echo_summary {
    echo "$@"
}

# Both take a line number first, and warn the message as one word.
function _complain {
    if [[ ! "$2" =~ ^[0-9]+$ ]]; then
        echo "$1 without the number of a line: $2" >&2
        exit 99
    fi
    echo "[$1] line $2: $3" >&2
}

# With the exit code that it finds, as DevStack's
function die {
    local code=$?
    _complain ERROR "$1" "${*:2}"
    exit $((code ? code : 1))
}

# Returns the exit code that it finds, as DevStack's
function warn {
    local code=$?
    _complain WARNING "$1" "$2"
    return "$code"
}

function setup_develop {
    echo "$1" >>"$SETUP_DEVELOP_LOG"
}

# The lines of an option: file section option
function _ini_lines {
    awk -v section="[$2]" -v option="$3" '
        /^\[/ { inside = ($0 == section) }
        inside && $0 ~ "^" option "[ \t]*=" { print }' "$1"
}

function ini_has_option {
    [[ -n "$(_ini_lines "$@")" ]]
}

# The shell gets its hands on the value, as it does in DevStack's
function iniget {
    local value
    value=$(_ini_lines "$@" | sed 's/^[^=]*=//')
    # shellcheck disable=SC2086
    echo $value
}

function inidelete {
    local kept
    kept=$(awk -v section="[$2]" -v option="$3" '
        /^\[/ { inside = ($0 == section) }
        !(inside && $0 ~ "^" option "[ \t]*=") { print }' "$1")
    echo "$kept" >"$1"
}

# Where the option has a line already, DevStack's puts an ampersand into
# sed's hands
function iniset {
    local value=$4 old set
    old=$(_ini_lines "$1" "$2" "$3")
    inidelete "$1" "$2" "$3"
    grep -qxF "[$2]" "$1" || echo "[$2]" >>"$1"
    if [[ -n "$old" ]]; then
        value=${value//&/${old%%=*}=}
    fi
    set=$(LINE="$3 = $value" awk -v section="[$2]" '
        { print }
        $0 == section { print ENVIRON["LINE"] }' "$1")
    echo "$set" >"$1"
}
