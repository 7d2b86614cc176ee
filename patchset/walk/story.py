# SPDX-License-Identifier: Apache-2.0

"""Steps of a story, and the dice that choose them."""

import collections.abc
import dataclasses


@dataclasses.dataclass(frozen=True)
class Step:
    """One thing that happens on both clouds.

    :param operation: name of an :class:`Operation`
    :param arguments: {name: value}, all of them strings or None
    :param node: number of the node that is asked to do it
    """

    operation: str
    arguments: dict
    node: int = 0

    def __str__(self):
        words = ' '.join(f'{k}={v}' for k, v in self.arguments.items())
        return f'{self.operation} {words} (node {self.node + 1})'

    @property
    def names(self):
        """Names of all that it is about: a set."""
        values = filter(None, self.arguments.values())
        return {part for value in values for part in value.split(':')}


@dataclasses.dataclass(frozen=True)
class Operation:
    """What can happen.

    :param do: called with a side and the step's arguments; returns an
        :class:`patchset.client.Answer`, or None
    :param kind: what can be left out by name
    :param weight: how often it is chosen, relative to the others
    :param choices: {argument: what to choose from}
    :param processes: whether it starts or ends processes of the rig
    """

    do: collections.abc.Callable
    kind: str
    weight: int
    choices: dict
    processes: bool = False

    @property
    def name(self):
        """Name of the operation."""
        return self.do.__name__


OPERATIONS: dict[str, Operation] = {}
TOKEN = 'one of the pool'
NEW_TOKEN = 'a name that no token has'
NUMBER = 'a number that no step has'


def operation(kind, weight=2, processes=False, **choices):
    """Make a function an operation; see :class:`Operation`.

    A choice is a collection of values, or ``TOKEN``, ``NEW_TOKEN``,
    ``NUMBER``.
    """

    def register(function):
        OPERATIONS[function.__name__] = Operation(
            function, kind, weight, choices, processes
        )
        return function

    return register


def pair(kind, names, **choices):
    """Make a function of a path two operations: one adds by PUT, one DELETEs.

    :param names: {name: weight}, first of the operation that adds
    """

    def register(path):
        methods = zip(('PUT', 'DELETE'), names.items(), strict=True)
        for method, (name, weight) in methods:

            def do(side, method=method, **arguments):
                return side.ask(method, path(side, **arguments))

            do.__name__ = name
            operation(kind, weight, **choices)(do)
        return path

    return register


# What is changed of one thing, by the verb of the operation.
_CHANGES = {
    'rename': lambda name, number: {'name': f'{name}-{number}'},
    'describe': lambda name, number: {'description': number},
    'disable': lambda name: {'enabled': False},
    'enable': lambda name: {'enabled': True},
}
_NUMBERED = ('rename', 'describe')  # whose changes need a number


def changes(kind, what, names, **weights):
    """Make operations on one thing: rename or delete it, for example.

    :param what: what it is, as in paths: ``user``
    :param names: names of those that there may be
    :param weights: {verb: weight} of the operations
    """
    for verb, weight in weights.items():

        def do(side, *, verb=verb, **arguments):
            name = arguments.pop(what)
            if verb == 'delete':
                return side.remove(f'/{what}s/{side.id(name)}', name)
            return side.change(what, name, **_CHANGES[verb](name, **arguments))

        do.__name__ = f'{verb}_{what}'
        number = {'number': NUMBER} if verb in _NUMBERED else {}
        operation(kind, weight, **{what: names}, **number)(do)


def kinds():
    """Kinds of operations: a sorted list."""
    return sorted({one.kind for one in OPERATIONS.values()})


# What makes tokens good, and how much likelier it is when few of them are.
_OF_LIFE = ('issue', 'enable_user', 'enable_project', 'enable_domain')
_MORE = 10


class Absent(Exception):
    """A step is about something that is not there: nothing happens.

    :ivar answer: Keystone's answer that says so, or None
    """

    answer = None


class Refused(Absent):
    """A user who takes a step cannot sign in."""

    def __init__(self, answer):
        super().__init__(answer.status)
        self.answer = answer


class Dice:
    """Chooses steps.

    :param random: a :class:`random.Random`
    :param without: kinds of operations to leave out
    """

    def __init__(self, random, without=()):
        self._random = random
        self._operations = [
            one for one in OPERATIONS.values() if one.kind not in without
        ]
        self._weights = [one.weight for one in self._operations]
        self._lively = [
            one.weight * (_MORE if one.name in _OF_LIFE else 1)
            for one in self._operations
        ]

    def step(self, number, tokens, dull=False):
        """A step.

        :param number: how many there were before
        :param tokens: names of the tokens in the pool: a list, not empty
        :param dull: whether few of them are good
        """
        weights = self._lively if dull else self._weights
        one = self._random.choices(self._operations, weights)[0]
        arguments = {
            name: self._value(choice, number, tokens)
            for name, choice in one.choices.items()
        }
        return Step(one.name, arguments, self._random.randrange(2))

    def _value(self, choice, number, tokens):
        if choice == NUMBER:
            return str(number)
        if choice == NEW_TOKEN:
            return f't{number}'
        if choice == TOKEN:
            return self._random.choice(tokens)
        return self._random.choice(list(choice))
