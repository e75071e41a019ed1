"""Values of a reading: constants, lists and expressions, and how expressions are put together."""
import ast
import copy
import math
from itertools import chain

from . import NotTaken

INVERSE = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt}
MOST_ITEMS = 256


class Known:
    """A value that does not depend on the parameters."""

    def __init__(self, value):
        self.value = value


class Items:
    """A tuple or list whose items may depend on the parameters."""

    def __init__(self, items):
        self.items = items


class AllParameters:
    """The dictionary of parameters that a function is given."""


def plain(value):
    """The number, truth value or text that a value of numpy's stands for; other values as they are."""
    if type(value).__module__.split(".")[0] == "numpy" and getattr(value, "ndim", None) == 0:
        return value.item()
    return value


def constant(value):
    value = plain(value)
    if isinstance(value, bool) or isinstance(value, str):
        return ast.Constant(value)
    if isinstance(value, (int, float)) and math.isfinite(value):
        return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)
    raise NotTaken(f"it uses {type(value).__name__} {value!r:.40}, which is no number or text")


def node_of(value):
    if isinstance(value, Known):
        return constant(value.value)
    if isinstance(value, ast.expr):
        return value
    raise NotTaken("it uses a list or the dictionary of parameters as a number")


def items_of(value):
    """The items of a value that can be gone through."""
    if isinstance(value, Items):
        return value.items
    if isinstance(value, Known):
        try:
            found = [Known(plain(item)) for _, item in zip(range(MOST_ITEMS + 1), value.value)]
        except TypeError:
            raise NotTaken(f"it goes through {value.value!r:.40}") from None
        if len(found) <= MOST_ITEMS:
            return found
        raise NotTaken(f"it goes through more than {MOST_ITEMS} items")
    raise NotTaken("it goes through what depends on the parameters")


def is_truth(node):
    return isinstance(node, (ast.Compare, ast.BoolOp)) or isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) or isinstance(node, ast.Constant) and isinstance(node.value, bool)


def negated(node):
    """`not node`, without the `not` where a comparison can be turned round."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and is_truth(node.operand):
        return node.operand
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in INVERSE:
        return ast.Compare(node.left, [INVERSE[type(node.ops[0])]()], node.comparators)
    return ast.UnaryOp(ast.Not(), node)


def joined(operation, nodes):
    flat = list(chain.from_iterable(node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, operation) else [node] for node in nodes))
    return flat[0] if len(flat) == 1 else ast.BoolOp(operation(), flat)


def one_of(left, items):
    """`left in (...)`; items that depend on parameters are compared one by one."""
    if not items:
        return Known(False)
    if all(isinstance(item, Known) for item in items) and len(items) > 1:
        return ast.Compare(left, [ast.In()], [ast.Tuple([constant(item.value) for item in items], ast.Load())])
    return joined(ast.Or, [ast.Compare(left, [ast.Eq()], [node_of(item)]) for item in items])


def either_holds(test, then, other):
    """Whether `then if test else other` is true."""
    first, second = (bool(value.value) if isinstance(value, Known) else None for value in (then, other))
    if first is not None and second is not None:
        return Known(first) if first == second else test if first else negated(test)
    if first is not None:
        return joined(ast.Or, [test, node_of(other)]) if first else joined(ast.And, [negated(test), node_of(other)])
    if second is not None:
        return joined(ast.Or, [negated(test), node_of(then)]) if second else joined(ast.And, [test, node_of(then)])
    return joined(ast.Or, [joined(ast.And, [test, node_of(then)]), joined(ast.And, [negated(test), node_of(other)])])


def either(test, then, other, truth):
    """`then if test else other`, which the expressions do not have."""
    if truth:
        return either_holds(test, then, other)
    if all(isinstance(value, Known) and type(value.value) is type(None) for value in (then, other)):
        return Known(None)
    test = test if is_truth(test) else ast.Compare(test, [ast.NotEq()], [ast.Constant(0)])
    if isinstance(then, Items) and isinstance(other, Items) and len(then.items) == len(other.items):
        return Items([either(test, one, two, False) for one, two in zip(then.items, other.items)])
    nodes = [node_of(then), node_of(other)]
    if any(isinstance(node, ast.Constant) and isinstance(node.value, str) for node in nodes):
        raise NotTaken("it chooses between texts")
    zero = [isinstance(node, ast.Constant) and node.value == 0 for node in nodes]
    terms = [ast.BinOp(condition, ast.Mult(), node) for condition, node, none in ((test, nodes[0], zero[0]), (negated(test), nodes[1], zero[1])) if not none]
    return ast.BinOp(terms[0], ast.Add(), terms[1]) if len(terms) == 2 else terms[0] if terms else Known(0)


def text_of(node):
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(node)))
