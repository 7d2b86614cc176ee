# SPDX-License-Identifier: Apache-2.0

"""The commands of ``./ks``.

Each is a module whose docstring is its help. ``add_arguments`` adds its
arguments to a parser, beside ``--release``, and ``run`` takes what that
returns; the exit code is what it returns, or 0. A command for which
``--release`` means something else has an ``add_release`` of its own.
"""
