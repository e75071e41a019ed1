"""Functions that cannot be read are tried at every point, and what comes out is said as conditions."""
import itertools

from . import NotTaken
from .space import TABULATED

LONGEST, LONGEST_OF_ALL, ORDERS = 12000, 100000, 24


class Missing(Exception):
    """A function looked at a parameter that it had not looked at before."""


class Narrow(dict):
    """A configuration of some parameters only."""

    def __missing__(self, name):
        raise Missing(name)

    def get(self, name, default=None):
        return self[name]


def used_parameters(function, space):
    seen = set()
    for point in itertools.islice(space.points_to_check(()), 2000):
        seen |= function.looks_at(point)
    return [name for name in space.names if name in seen]


def at_every_point(function, space, names):
    """Whether the function holds, in the order of the product of these parameters, and how often it divided by zero."""
    by_dictionary = function.by_name is None and function.by_position is None
    table, zero = bytearray(), 0
    for point in space.all_points(names):
        try:
            table.append(bool(function(Narrow(point) if by_dictionary else point)))
        except ZeroDivisionError:
            table.append(True)
            zero += 1
    return bytes(table), zero


def tabulated(function, space):
    """Names and table of a function, and a note on divisions by zero; the names are those it really depends on."""
    try:
        names = used_parameters(function, space)
    except Exception as error:
        raise NotTaken(f"it fails: {type(error).__name__}: {error}") from None
    while True:
        if space.size(names) > TABULATED:
            raise NotTaken(f"it depends on {', '.join(names)}: {space.size(names)} combinations, more than the {TABULATED} that are tried")
        try:
            table, zero = at_every_point(function, space, names)
            break
        except Missing as missing:
            names = [name for name in space.names if name in names or name == missing.args[0]]
            if missing.args[0] not in space.values:
                raise NotTaken(f"it looks at {missing.args[0]!r}, which is no parameter") from None
        except Exception as error:
            raise NotTaken(f"it fails: {type(error).__name__}: {error}") from None
    note = f"it divides by zero at {zero} of {len(table)} combinations, which are kept, as Kernel Tuner keeps them" if zero else None
    for name in list(names):
        moved, rest = first(table, space, names, name)
        if len(set(slices(moved, len(space.values[name])))) <= 1 and len(names) > 1:
            table, names = slices(moved, len(space.values[name]))[0], rest
    return names, table, note


def slices(table, count):
    length = len(table) // count
    return [table[start:start + length] for start in range(0, len(table), length)]


def first(table, space, names, name):
    """The table with this parameter as the slowest one, and the other names."""
    return reordered(table, space, names, [name] + [one for one in names if one != name]), [one for one in names if one != name]


def reordered(table, space, names, order):
    if order == names:
        return table
    lengths = [len(space.values[name]) for name in names]
    strides = [1] * len(names)
    for index in range(len(names) - 2, -1, -1):
        strides[index] = strides[index + 1] * lengths[index + 1]
    steps = [[strides[names.index(name)] * value for value in range(len(space.values[name]))] for name in order]
    return bytes(table[sum(steps_of)] for steps_of in itertools.product(*steps))


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def among(name, chosen, values):
    """That a parameter has one of the chosen of its values."""
    if len(chosen) == 1:
        return f"{name} == {chosen[0]!r}"
    others = [value for value in values if value not in chosen]
    if len(others) == 1:
        return f"{name} != {others[0]!r}"
    if all(map(is_number, values)):
        low, high = min(chosen), max(chosen)
        if all(value in chosen for value in values if low <= value <= high):
            if low == min(values):
                return f"{name} <= {high!r}"
            return f"{name} >= {low!r}" if high == max(values) else f"{low!r} <= {name} and {name} <= {high!r}"
    return f"{name} in ({', '.join(map(repr, chosen))})"


def groups(table, name, space):
    """Values of the slowest parameter under which the rest of the table is the same."""
    found = {}
    for value, part in zip(space.values[name], slices(table, len(space.values[name]))):
        found.setdefault(part, []).append(value)
    return found


def said(table, names, space):
    """A condition that says the table; True or False where it is that everywhere."""
    if 0 not in table:
        return True
    if 1 not in table:
        return False
    found, terms = groups(table, names[0], space), []
    if len(found) == 1:
        return said(next(iter(found)), names[1:], space)
    for part, chosen in found.items():
        rest = said(part, names[1:], space)
        if rest is True:
            terms.append(among(names[0], chosen, space.values[names[0]]))
        elif rest is not False:
            terms.append(f"{among(names[0], chosen, space.values[names[0]])} and ({rest})")
    return " or ".join(f"({term})" if " and " in term and len(terms) > 1 else term for term in terms)


def conditions(table, names, space):
    """Conditions that say the table together: a list of texts."""
    orders = itertools.islice(itertools.permutations(names), ORDERS if len(table) <= 1 << 16 else 1)
    tables = [(reordered(table, space, names, list(order)), list(order)) for order in orders]
    texts = [(said(changed, order, space), changed, order) for changed, order in tables]
    best, table, names = min(texts, key=lambda one: len(str(one[0])))
    if best is True:
        return []
    if best is False:
        return [f"{names[0]} != {names[0]}"] if names else ["1 == 0"]
    if len(best) <= LONGEST:
        return [best]
    parts = []
    for part, chosen in groups(table, names[0], space).items():
        rest = said(part, names[1:], space)
        if rest is not True:
            outside = f"not ({among(names[0], chosen, space.values[names[0]])})"
            parts.append(outside if rest is False else f"{outside} or {rest}")
    if max(map(len, parts)) > LONGEST or sum(map(len, parts)) > LONGEST_OF_ALL:
        raise NotTaken(f"it depends on {', '.join(names)} in no way that a condition of {LONGEST} characters could say")
    return parts
