# SPDX-License-Identifier: Apache-2.0

"""The operations of a walk; importing the modules registers them."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f'{__name__}.{_module.name}')
