"""The parameters of a script, the points of their product, and functions at these points."""
import inspect
import itertools
import math
import random

from . import NotTaken

CHECKED, CHECKED_OF_THE_USED, TABULATED = 10000, 1 << 16, 1 << 22


class Recorder(dict):
    """A configuration that writes down which parameters were looked at."""

    def __init__(self, configuration, seen):
        super().__init__(configuration)
        self.seen = seen

    def __getitem__(self, name):
        self.seen.add(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        self.seen.add(name)
        return super().get(name, default)

    def __contains__(self, name):
        return super().__contains__(name)

    def __iter__(self):
        self.seen.update(super().keys())
        return super().__iter__()

    def keys(self):
        self.seen.update(super().keys())
        return super().keys()

    def values(self):
        self.seen.update(super().keys())
        return super().values()

    def items(self):
        self.seen.update(super().keys())
        return super().items()


class Space:
    """Named lists of values; `values` has plain numbers, truth values and texts."""

    def __init__(self, values):
        self.values, self.names = values, list(values)

    def size(self, names=None):
        return math.prod(len(self.values[name]) for name in (self.names if names is None else names))

    def all_points(self, names=None):
        names = self.names if names is None else names
        return (dict(zip(names, point)) for point in itertools.product(*(self.values[name] for name in names)))

    def random_points(self, count):
        chance = random.Random(1)
        return ({name: chance.choice(values) for name, values in self.values.items()} for _ in range(count))

    def points_to_check(self, used):
        """All points of a small space; of a large one 10,000, and each combination of the few parameters that are used."""
        if self.size() <= CHECKED:
            yield from self.all_points()
            return
        yield from self.random_points(CHECKED)
        used = [name for name in self.names if name in used]
        if self.size(used) <= CHECKED_OF_THE_USED:
            for point, rest in zip(self.all_points(used), self.random_points(CHECKED_OF_THE_USED)):
                yield {**rest, **point}


class Function:
    """A function of the script over configurations, however it wants to be called: with the dictionary, or with parameters as arguments."""

    def __init__(self, function, space, names=None):
        self.function, self.space, self.by_name, self.by_position = function, space, None, None
        if names is not None:
            self.takes(list(names))
            return
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return
        own = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
        required = [one.name for one in parameters if one.name in own and one.default is one.empty]
        if any(one.kind == one.VAR_KEYWORD for one in parameters):
            self.by_name = space.names
        elif any(one.kind == one.VAR_POSITIONAL for one in parameters):
            self.by_position = space.names
        elif required and all(name in space.values for name in required):
            self.by_name = [name for name in own if name in space.values]
        elif len(required) > 1 and len(required) == len(space.names):
            self.by_position = space.names
        elif len(required) > 1:
            unknown = [name for name in required if name not in space.values]
            raise NotTaken(f"it takes {', '.join(unknown)}, which {'is no parameter' if len(unknown) == 1 else 'are no parameters'}")

    def takes(self, names):
        unknown = [name for name in names if name not in self.space.values]
        if unknown:
            raise NotTaken(f"it takes {unknown[0]!r}, which is no parameter")
        try:
            arguments = [one.name for one in inspect.signature(self.function).parameters.values()]
        except (TypeError, ValueError):
            arguments = []
        if set(arguments) == set(names):
            self.by_name = names
        else:
            self.by_position = names

    def __call__(self, configuration):
        if self.by_name is not None:
            return self.function(**{name: configuration[name] for name in self.by_name})
        if self.by_position is not None:
            return self.function(*[configuration[name] for name in self.by_position])
        return self.function(configuration)

    def unknowns(self, dictionary, name):
        """Arguments for a reading: the dictionary or the names in its place."""
        if self.by_name is not None:
            return [], {one: name(one) for one in self.by_name}
        if self.by_position is not None:
            return [name(one) for one in self.by_position], {}
        return [dictionary], {}

    def looks_at(self, configuration):
        """The parameters that the function looks at there."""
        seen = set()
        if self.by_name is not None or self.by_position is not None:
            return set(self.by_name or self.by_position)
        try:
            self.function(Recorder(configuration, seen))
        except ZeroDivisionError:
            pass
        return seen
