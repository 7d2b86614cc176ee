# SPDX-License-Identifier: Apache-2.0

"""The parts of ``./ks test``.

Each is a module whose docstring says what it runs. ``PACKAGES`` names the
profiles of ``bindep.txt`` that it needs, and ``run`` takes a
:class:`patchset.test_parts.options.Options` and returns a
:class:`patchset.test_parts.results.Result`.
"""
