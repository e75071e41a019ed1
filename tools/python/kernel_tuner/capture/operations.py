"""What Python's operators and functions make of values: a constant where all of them are constants, else an expression of the parameters."""
import ast
import operator

from . import NotTaken
from .values import AllParameters, Items, Known, is_truth, items_of, joined, negated, node_of, one_of, plain

ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
              ast.Mod: operator.mod, ast.Pow: operator.pow}
BITS = {ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift}
COMPARING = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
SIGNS = {ast.UAdd: operator.pos, ast.USub: operator.neg}


def inverted(value):
    return Known(not value.value) if isinstance(value, Known) else negated(node_of(value))


def signed(operation, value):
    if type(operation) not in SIGNS:
        raise NotTaken("it uses ~")
    return Known(SIGNS[type(operation)](value.value)) if isinstance(value, Known) else ast.UnaryOp(operation, node_of(value))


def computed(left, operation, right):
    """Arithmetic, and what of bits can be said without them."""
    kind = type(operation)
    if isinstance(left, Known) and isinstance(right, Known):
        return Known(plain({**ARITHMETIC, **BITS}[kind](left.value, right.value)))
    left, right = node_of(left), node_of(right)
    if kind in ARITHMETIC:
        return ast.BinOp(left, operation, right)
    if kind in (ast.BitAnd, ast.BitOr) and is_truth(left) and is_truth(right):
        return joined(ast.And if kind is ast.BitAnd else ast.Or, [left, right])
    if kind in (ast.LShift, ast.RShift):
        return ast.BinOp(left, ast.Mult() if kind is ast.LShift else ast.FloorDiv(), ast.BinOp(ast.Constant(2), ast.Pow(), right))
    raise NotTaken("it combines bits")


def compared(left, operation, right, parameters):
    kind = {ast.Is: ast.Eq, ast.IsNot: ast.NotEq}.get(type(operation), type(operation))
    if kind in (ast.In, ast.NotIn):
        return contained(left, right, kind is ast.In, parameters)
    if isinstance(left, Known) and isinstance(right, Known):
        return Known(bool(COMPARING[kind](left.value, right.value)))
    return ast.Compare(node_of(left), [kind()], [node_of(right)])


def contained(left, right, wanted, parameters):
    """`left in right`, or `left not in right` where it is not `wanted`."""
    if isinstance(right, AllParameters) and isinstance(left, Known):
        return Known((left.value in parameters) == wanted)
    if isinstance(left, Known) and isinstance(right, Known):
        return Known((left.value in right.value) == wanted)
    if isinstance(right, Known) and isinstance(right.value, str):
        raise NotTaken("it looks for a part of a text")
    found = one_of(node_of(left), items_of(right))
    if isinstance(found, Known):
        return Known(not wanted)
    return found if wanted else negated(found)


def looked_up(owner, index, parameters):
    """What `owner[index]` is."""
    if isinstance(owner, AllParameters) and isinstance(index, Known):
        return parameter(index.value, parameters)
    if isinstance(owner, Items) and isinstance(index, Known) and isinstance(index.value, int):
        return owner.items[index.value]
    if isinstance(owner, Known) and isinstance(index, Known):
        return Known(plain(owner.value[index.value]))
    raise NotTaken("it looks something up by the parameters")


def parameter(name, parameters):
    if name in parameters:
        return ast.Name(name, ast.Load())
    raise NotTaken(f"it uses {name!r}, which is no parameter")


def asked_of_parameters(method, arguments, parameters):
    """A method of the dictionary of parameters."""
    if method == "get" and arguments and isinstance(arguments[0], Known):
        if arguments[0].value in parameters:
            return parameter(arguments[0].value, parameters)
        return arguments[1] if len(arguments) > 1 else Known(None)
    if method in ("values", "keys") and not arguments:
        return Items([ast.Name(one, ast.Load()) if method == "values" else Known(one) for one in parameters])
    raise NotTaken(f"it calls .{method}() of the parameters")


def name_of(function):
    return getattr(function, "__name__", type(function).__name__)


def is_of_library(function):
    return (function.__module__ or "").split(".")[0] in ("numpy", "math")


def called(function, arguments):
    """A function of Python's own, of math or of numpy, not all of whose arguments are constants."""
    name, module = name_of(function), getattr(function, "__module__", "") or ""
    module = type(function).__module__.split(".")[0] if module == "" else module.split(".")[0]
    if module not in ("builtins", "math", "numpy"):
        raise NotTaken(f"it calls {name}")
    if name in ("all", "any", "sum", "prod", "min", "max", "len") and len(arguments) == 1:
        return of_all(name, items_of(arguments[0]))
    if name in ("min", "max") and arguments:
        return of_all(name, arguments)
    if name == "pow" and len(arguments) == 2:
        return ast.BinOp(node_of(arguments[0]), ast.Pow(), node_of(arguments[1]))
    if len(arguments) != 1:
        raise NotTaken(f"it calls {name}")
    one = node_of(arguments[0])
    if name in ("abs", "fabs", "absolute"):
        return ast.Call(ast.Name("abs", ast.Load()), [one], [])
    if name == "bool":
        return one if is_truth(one) else ast.Compare(one, [ast.NotEq()], [ast.Constant(0)])
    if name in ("float", "float32", "float64"):
        return ast.BinOp(one, ast.Mult(), ast.Constant(1.0))
    if name == "floor":
        return ast.BinOp(one, ast.FloorDiv(), ast.Constant(1))
    if name == "ceil":
        return ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), one), ast.FloorDiv(), ast.Constant(1)))
    if name == "int" or name.startswith(("int", "uint")) and module == "numpy":
        return ast.Call(ast.Name("int", ast.Load()), [one], [])
    raise NotTaken(f"it calls {name}")


def of_all(name, items):
    """`all`, `any`, `sum`, `prod`, `min`, `max` and `len` of items."""
    if name == "len":
        return Known(len(items))
    if not items and name in ("min", "max"):
        raise NotTaken(f"it takes the {name} of nothing")
    if not items:
        return Known({"all": True, "any": False, "sum": 0, "prod": 1}[name])
    nodes = [node_of(item) for item in items]
    if name in ("all", "any"):
        return joined(ast.And if name == "all" else ast.Or, nodes)
    if name in ("min", "max"):
        return nodes[0] if len(nodes) == 1 else ast.Call(ast.Name(name, ast.Load()), nodes, [])
    total = nodes[0]
    for node in nodes[1:]:
        total = ast.BinOp(total, ast.Add() if name == "sum" else ast.Mult(), node)
    return total
