# SPDX-License-Identifier: Apache-2.0

"""Steps of a walk, the registered operations, and their random choice."""

import collections.abc
import dataclasses
import inspect

from patchset.walk import names


@dataclasses.dataclass(frozen=True)
class Step:
    """One operation on both clouds.

    :param operation: name of an :class:`Operation`
    :param arguments: {name: value}, all of them strings or None
    :param node: number of the node that receives the requests
    """

    operation: str
    arguments: dict
    node: int = 0

    def __str__(self):
        words = ' '.join(f'{k}={v}' for k, v in self.arguments.items())
        return f'{self.operation} {words} (node {self.node + 1})'

    @property
    def names(self):
        """Names of the resources that it affects: a set."""
        values = filter(None, self.arguments.values())
        return {part for value in values for part in value.split(':')}


@dataclasses.dataclass(frozen=True)
class Operation:
    """One kind of step.

    :param name: its name in a :class:`Step`
    :param do: called with a side and the step's arguments; returns an
        :class:`patchset.client.Answer`, or None
    :param kind: name by which it can be excluded
    :param weight: relative frequency
    :param choices: {argument: possible values}
    :param processes: whether it starts or ends processes of the testbed
    """

    name: str
    do: collections.abc.Callable
    kind: str
    weight: int
    choices: dict
    processes: bool = False


OPERATIONS: dict[str, Operation] = {}
TOKEN = 'name of a token in the pool'
NEW_TOKEN = 'unused name of a token'
NUMBER = 'number of the step'
# What a parameter is chosen from, by its name: values, or one of the above.
CHOICES = {
    'user': names.USERS, 'group': names.GROUPS, 'project': names.PROJECTS,
    'domain': names.DOMAINS, 'role': names.ROLES, 'trust': names.TRUSTS,
    'credential': names.CREDENTIALS, 'key': names.KEYS,
    'consumer': names.CONSUMERS, 'access': names.ACCESS_TOKENS,
    'receipt': names.RECEIPTS, 'service': names.SERVICES,
    'endpoint': names.ENDPOINTS, 'interface': names.INTERFACES,
    'provider': names.PROVIDERS, 'caller': names.CALLERS,
    'token': NEW_TOKEN, 'number': NUMBER,
}  # fmt: skip


def operation(kind, weight=2, processes=False, **choices):
    """Decorator that registers a function as an :class:`Operation`.

    :param choices: for parameters of the function that are not chosen from
        what is usual for their names
    """

    def register(function):
        found = _choices(function, choices)
        _add(function.__name__, function, kind, weight, found, processes)
        return function

    return register


def _choices(function, given):
    _, *parameters = inspect.signature(function).parameters
    return {name: {**CHOICES, **given}[name] for name in parameters}


def _add(name, *values):
    OPERATIONS[name] = Operation(name, *values)


def put_and_delete(kind, weights, **choices):
    """Decorator that registers PUT and DELETE for a function of a path.

    :param weights: {name: weight} of the two operations, first that of PUT
    """

    def register(path):
        methods = zip(('PUT', 'DELETE'), weights.items(), strict=True)
        for method, (name, weight) in methods:

            def do(side, method=method, **arguments):
                return side.request(method, path(side, **arguments))

            _add(name, do, kind, weight, _choices(path, choices))
        return path

    return register


# Changed attributes by the verb of the operation.
_UPDATES = {
    'rename': lambda name, number: {'name': f'{name}-{number}'},
    'describe': lambda name, number: {'description': number},
    'disable': lambda name: {'enabled': False},
    'enable': lambda name: {'enabled': True},
}
_NUMBERED = ('rename', 'describe')  # updates that use a number


def usual_operations(kind, resource, values=None, **weights):
    """Register operations that create, update or delete a resource.

    :param resource: its type, as in paths, for example ``user``
    :param values: function of a side and a name: the attributes of a new one,
        in addition to its name
    :param weights: {verb: weight} of the operations
    """
    for verb, weight in weights.items():

        def do(side, *, verb=verb, **arguments):
            name = arguments.pop(resource)
            if verb == 'create':
                own = values(side, name) if values else {}
                return side.create(resource, name, name=name, **own)
            if verb == 'delete':
                return side.delete(f'/{resource}s/{side.id(name)}', name)
            return side.update(
                resource, name, **_UPDATES[verb](name, **arguments)
            )

        used = (resource, 'number') if verb in _NUMBERED else (resource,)
        found = {name: CHOICES[name] for name in used}
        _add(f'{verb}_{resource}', do, kind, weight, found)


def kinds():
    """Kinds of operations: a sorted list."""
    return sorted({one.kind for one in OPERATIONS.values()})


# More frequent by this factor if few tokens are valid.
_VALIDATING = ('issue', 'enable_user', 'enable_project', 'enable_domain')
_FACTOR = 10


class NotApplicable(Exception):
    """A resource that a step needs does not exist: the step is skipped.

    :param answer: response to a user who cannot sign in, or None
    """

    def __init__(self, name, answer=None):
        super().__init__(name)
        self.answer = answer


class Generator:
    """Chooses steps at random.

    :param random: a :class:`random.Random`
    :param without: kinds of operations that are excluded
    """

    def __init__(self, random, without=()):
        self._random = random
        self._operations = [
            one for one in OPERATIONS.values() if one.kind not in without
        ]

    def step(self, number, tokens, few_valid=False):
        """A step.

        :param number: number of previous steps
        :param tokens: names of the tokens in the pool: a list, not empty
        :param few_valid: whether few of them are valid
        """
        weights = [
            one.weight
            * (_FACTOR if few_valid and one.name in _VALIDATING else 1)
            for one in self._operations
        ]
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
