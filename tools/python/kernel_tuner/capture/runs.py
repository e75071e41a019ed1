"""Calls of run_kernel, which runs nothing here: what it gives back is marked, so that what a script makes of it is known not to be computed."""
import functools
import hashlib
import json
import math

from . import sources
from .arguments import access, host_array, is_array
from .values import plain

CHUNK, DEEPEST = 1 << 20, 64
FRESH = {"empty_like", "full_like", "ones_like", "zeros_like"}  # they take the shape and no contents


@functools.lru_cache(maxsize=None)
def marked_type():
    """The class of marked arrays. NumPy may not be there, so that it is made where the first array is marked."""
    import numpy

    class Marked(numpy.ndarray):
        """`run`: the call that it comes from. Views, copies and what functions of NumPy's make of it are marked too, single numbers are not."""

        def __array_finalize__(self, origin):
            self.run = getattr(origin, "run", None)

        def __array_wrap__(self, made, *_):
            made = super().__array_wrap__(made)
            return made.view(numpy.ndarray)[()] if made.ndim == 0 else made

        def __array_function__(self, function, types, arguments, keywords):
            made = super().__array_function__(function, types, arguments, keywords)
            if getattr(function, "__name__", "") in FRESH:
                if isinstance(made, Marked):
                    made.run = None
                return made.view(numpy.ndarray)
            return tuple(marked(one, self.run) for one in made) if type(made) is tuple else marked(made, self.run)

        def __repr__(self):
            return repr(self.view(numpy.ndarray))

        def __reduce_ex__(self, protocol):
            return self.view(numpy.ndarray).__reduce_ex__(protocol)

    return Marked


def marked(value, run):
    """A view of the array with a mark; anything else, arrays of other classes among them, as it is."""
    import numpy
    if run is None or type(value) not in (numpy.ndarray, marked_type()) or value.ndim == 0:
        return value
    found = value.view(marked_type())
    found.run = run
    return found


def digest(value):
    """The same for arrays of the same numbers in the same order, of whatever shape and type: copies of an array may lose its mark."""
    import numpy
    flat = numpy.ascontiguousarray(host_array(value)).reshape(-1)
    kind = {"b": "f8", "i": "f8", "u": "f8", "f": "f8", "c": "c16"}.get(flat.dtype.kind)
    if kind is None:
        return None
    found = hashlib.sha256(str(flat.size).encode())
    for begin in range(0, flat.size, CHUNK):
        found.update(memoryview(flat[begin:begin + CHUNK].astype(kind)).cast("B"))
    return found.digest()


class Run:
    """One call of run_kernel."""

    def __init__(self, kernel_name, kernel_source, size, arguments, params, grid, others):
        self.kernel_name, self.size, self.arguments, self.params, self.grid, self.others = str(kernel_name), size, list(arguments), dict(params), grid, others
        try:
            self.source = sources.read(kernel_source, self.kernel_name, self.params)
        except Exception:  # a source that cannot be read, or is no source, stops nobody who runs nothing
            self.source = None
        self.digests = set()

    def results(self):
        """The arguments as they were given, in copies: marked where the kernel may write them."""
        declared = sources.signature(self.source.text, self.kernel_name) if self.source else None
        if declared is None or len(declared) != len(self.arguments):
            declared = [("", "")] * len(self.arguments)
        return [self.result(value, text) for value, (_, text) in zip(self.arguments, declared)]

    def result(self, value, declared):
        if is_array(value) and access(declared, False, False) != "ReadOnly":
            self.digests.add(digest(value))
            value = marked(value, self)  # before it is copied: plain views of memory that is its own lead back to it
        return value.copy() if hasattr(value, "copy") else value

    def why(self, by_contents):
        call = f'run_kernel of "{self.kernel_name}"'
        what = f"its numbers are those that went into {call}" if by_contents else f"it is made of what {call} gives"
        return f"{what}, which is not run here; give the template a reference that launches it"

    def how(self, source, space, names, arguments):
        """How the script launched it, in words; with the reference that launches it from the template, where the sources are the same and all is plain."""
        params = ", ".join(f"{name}={value}" for name, value in self.params.items())
        text = f"the script launched it with {params or 'no parameters'}"
        divisors = [f"in {axis} by {' * '.join(map(str, given))}" for axis, given in zip("xyz", self.grid) if isinstance(given, (list, tuple)) and given]
        text += f", the grid divided {', '.join(divisors)}" if divisors else ""
        if self.source is None or self.source.content != source.content:
            return text + ", from another source"
        step = self.step(space, names, arguments)
        return text + (f': {json.dumps({"launches": [step]})}' if step else "")

    def step(self, space, names, arguments):
        """The launch in template.json, with the block and what follows from it by the parameters' names: macros of the source have their values."""
        sizes = [plain(one) for one in (self.size.tolist() if hasattr(self.size, "tolist") else self.size if isinstance(self.size, (list, tuple)) else [self.size])]
        passed = [self.passed(place, names, arguments) for place in range(len(self.arguments))]
        if self.others or None in passed or not all(isinstance(one, int) for one in sizes):
            return None
        blocks = ["block_size_x", "block_size_y", "block_size_z"]
        block = [self.factor(name, space) if name in self.params else default for name, default in zip(blocks, (256, 1, 1))]
        grid = []
        for size, given, name in zip(sizes + [1] * (3 - len(sizes)), self.grid, blocks):
            divisors = [name] * (name in self.params) if given is None else given if isinstance(given, (list, tuple)) else [given]
            grid.append(self.quotient(size, [self.factor(one, space) for one in divisors]))
        if None in grid or None in block:
            return None
        dimensions = 3 if block[2] != 1 else 2 if block[1] != 1 else 1
        return {"kernel": self.kernel_name, "grid": grid[:max(1, len(sizes))], "block": block[:dimensions], "args": passed}

    def factor(self, one, space):
        """A number, or a parameter that is tuned as well by its name; nothing of anything else."""
        if isinstance(one, str) and one in self.params:
            return one if one in space.values else plain(self.params[one]) if isinstance(plain(self.params[one]), int) else None
        return plain(one) if isinstance(plain(one), int) else None

    @staticmethod
    def quotient(size, divisors):
        if None in divisors or 0 in divisors:
            return None
        number, named = math.prod(one for one in divisors if isinstance(one, int)), [one for one in divisors if isinstance(one, str)]
        if not named:
            return -(-size // number)
        return size if size == 1 else f"ceil_div({size}, {' * '.join(named + [str(number)] * (number != 1))})"

    def passed(self, place, names, arguments):
        """What the tuned kernel calls the argument; nothing where it has none that is the same."""
        value = self.arguments[place]
        for name, other in zip(names, arguments):
            if other is value:
                return name
        other = arguments[place] if place < len(arguments) else None
        same = not is_array(value) and type(other) is type(value) and not hasattr(value, "__len__") and bool(other == value)
        return names[place] if same else None


def marked_by(value, runs):
    """The call of run_kernel whose mark an array has, or another that it is a view of; nothing where there is none."""
    for _ in range(DEEPEST if runs else 0):
        found = next((run for run in runs if getattr(value, "run", None) is run), None)
        value = getattr(value, "base", None)
        if found is not None or value is None:
            return found
    return None


def not_computed(answer, runs):
    """Of the answers that come from a call of run_kernel, by their places: the call, and why they are none. One that has lost its mark is known by its
    numbers: they are what went into the call."""
    found = {}
    for place, value in enumerate(answer if runs and isinstance(answer, (list, tuple)) else []):
        if not is_array(value):
            continue
        run = marked_by(value, runs)
        numbers = digest(value) if run is None and any(one.digests for one in runs) else None
        same = next((one for one in runs if numbers is not None and numbers in one.digests), None)
        if run is not None or same is not None:
            found[place] = (run or same, (run or same).why(run is None))
    return found
