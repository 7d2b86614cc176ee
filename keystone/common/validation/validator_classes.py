# SPDX-License-Identifier: Apache-2.0

"""Validator classes of jsonschema that are created once.

jsonschema creates classes with attrs, which compiles their methods: this takes
longer than most validations.
"""

from collections.abc import Callable
from typing import Any

from jsonschema import validators

_classes: dict[Any, type] = {}


def extended(validator_class: type, functions: dict[str, Callable]) -> type:
    """Extend a class, like :func:`jsonschema.validators.extend`.

    :param functions: {keyword: function}; instead of a bound method, that of
        another instance of its class may be called
    """
    if not functions:
        return validator_class
    plain = (
        (keyword, getattr(function, '__func__', function))
        for keyword, function in functions.items()
    )
    key = validator_class, *plain
    if key not in _classes:
        _classes[key] = validators.extend(validator_class, functions)
    return _classes[key]
