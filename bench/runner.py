# SPDX-License-Identifier: Apache-2.0

"""Runs the experiments of a command line, and writes the results."""

import json
import os
import shlex
import traceback

from bench import cloud
from bench import experiments
from bench import machine
from bench import plan
from bench import steal_time
from patchset import child
from patchset import environment
from patchset import errors
from patchset import paths
from patchset import pins
from patchset import progress
from patchset import system


def measure_all(pin, args):
    """Run all experiments, even if some fail, and write the report.

    :raises patchset.errors.Error: some failed; lists them
    """
    names = [name for name in experiments.ALL if installed(name)]
    failed = {}
    for number, name in enumerate(names, 1):
        progress.step(f'experiment {number} of {len(names)}: {name}')
        try:
            measure(pin, name, args)
        except errors.Error as error:
            failed[name] = error
        except Exception as error:
            traceback.print_exc()
            failed[name] = repr(error)
        if name in failed:
            progress.step(f'{name} failed: {failed[name]}')
    if len(failed) < len(names):
        report(args.out)
    if failed:
        raise errors.Error(
            f'{len(failed)} of {len(names)} experiments failed: '
            + '; '.join(f'{name} ({why})' for name, why in failed.items())
        )


def installed(name):
    """Whether the additional packages of an experiment are installed.

    Installs them as root; otherwise reports that the experiment is skipped.
    """
    profile = getattr(experiments.ALL[name], 'PACKAGES', None)
    try:
        if profile:
            system.ensure(profile)
    except errors.NotInstalled as error:
        progress.step(f'skipping {name}: {error}')
        return False
    return True


def report(folder):
    """Write the report about the results in a folder."""
    if not list(folder.glob('*.json')):
        raise errors.Error(f'{folder} has no results')
    venv = environment.Environment(pins.newest(), 'bench').ensure()
    path = folder / 'report.html'
    child.run(
        [venv.python, '-P', '-m', 'bench.report', folder, path],
        env=venv.variables(paths.ROOT),
        what='creating the report',
    )
    progress.say(path)


def databases_of(name, args):
    """Names of the databases of an experiment: a tuple."""
    if args.database:
        return (args.database,)
    chosen = getattr(experiments.ALL[name], 'DATABASES', {})
    return chosen.get(args.scale, ('mariadb',))


def command(name, args):
    """The command line that repeats a run, except for its folder.

    :param name: the experiment
    """
    words = ['./ks', 'bench', name]
    if not args.against:
        words += ['--release', args.release]
    words += ['--scale', args.scale]
    for option in (
        'kind', 'case', 'rate', 'database', 'delay', 'nodes', 'against',
    ):  # fmt: skip
        values = getattr(args, option) or []
        for value in values if isinstance(values, list) else [values]:
            text = f'{value:g}' if option == 'rate' else str(value)
            words += [f'--{option}', shlex.quote(text)]
    if args.no_token_caching:
        words.append('--no-token-caching')
    return ' '.join(words)


def measure(pin, name, args):
    """Run one experiment, and write and show its results.

    :param name: the experiment
    """
    args.out.mkdir(parents=True, exist_ok=True)
    system.ensure('load' if args.against else 'bench')
    chosen = plan.Plan(
        pin=pin,
        scale=args.scale,
        caching=not args.no_token_caching,
        kinds=tuple(dict.fromkeys(args.kind)),
        cases=tuple(dict.fromkeys(args.case)),
        rates=tuple(dict.fromkeys(args.rate)),
        databases=databases_of(name, args),
        delays=tuple(dict.fromkeys(args.delay)),
        nodes=args.nodes or plan.Plan.nodes,
        against=account_of(args),
    )
    result = {
        'experiment': name,
        **machine.facts(chosen),
        'scale': chosen.scale,
        'command': command(name, args),
        'load_average': os.getloadavg()[0],
    }
    with steal_time.Meter() as meter:
        points = experiments.ALL[name].run(chosen)
    result.update(steal=round(meter.share, 3), points=points)
    words = [name, pin.release, chosen.scale, *chosen.databases]
    words += [f'{args.nodes}nodes'] if args.nodes else []
    words += [f'{delay}ms' for delay in chosen.delays]
    words += [*chosen.cases, *(f'{rate:g}' for rate in chosen.rates)]
    if args.against:
        words = [name, 'against', chosen.scale]
    elif not chosen.caching:
        words.append('no-token-caching')
    write(args.out / f'{"-".join(words)}.json', result)


def write(path, result):
    """Write the results of a run, and print them."""
    path.write_text(json.dumps(result, indent=2) + '\n')
    experiment = experiments.ALL[result['experiment']]
    progress.say(experiment.text(result['points']))
    if result['steal'] >= 0.01:
        progress.say(
            f'{result["steal"]:.0%} of the CPU time was stolen by the host; '
            'disturbed time slices were measured again'
        )
    progress.say(path)


def account_of(args):
    """The :class:`bench.cloud.Account` of an existing Keystone, or None."""
    if not args.against:
        return None
    return cloud.Account(cloud.normalise(args.against), dict(os.environ))
