"""Restrictions to conditions, and numbers that depend on parameters to expressions: read where that can be done, tried at every point where not."""
import ast
import re

from . import NotTaken
from .space import Function
from .tables import conditions as said_by_table
from .tables import tabulated
from .translate import from_text, proposals
from .values import AllParameters, Items, Known, constant, joined, negated, node_of, plain, text_of

LONGEST = 12000
NAMES = re.compile(r"[A-Za-z_]\w*")
FUNCTIONS = {"min": min, "max": max, "abs": abs, "int": int}


class Taken:
    """Conditions of one restriction, and how they came about: "as it is", "read" or "tried"."""

    def __init__(self, expressions, how, note=None):
        self.expressions, self.how, self.note = expressions, how, note


def shape_of(text):
    """The same for texts that differ in blanks and brackets only."""
    return ast.dump(ast.parse(text, mode="eval"))


def names_in(text, space):
    used = set(NAMES.findall(text))
    return [name for name in space.names if name in used]


def compiled(text):
    code = compile(text, "<expression>", "eval")
    return lambda point: eval(code, {"__builtins__": FUNCTIONS}, point)


class Text:
    """A restriction that is a text, which is evaluated with the parameters as names."""

    def __init__(self, text, space):
        self.text, self.by_name, self.by_position = text, names_in(text, space), None
        self.code = compile(" ".join(text.split()), "<restriction>", "eval")

    def __call__(self, point):
        return eval(self.code, dict(point))

    def looks_at(self, point):
        return set(self.by_name)


def parts_of(node):
    """The conditions that a condition asks for all together."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [part for value in node.values for part in parts_of(value)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and isinstance(node.operand, ast.BoolOp) and isinstance(node.operand.op, ast.Or):
        return [part for value in node.operand.values for part in parts_of(negated(value))]
    return [node]


def as_condition(node):
    """The same, but no bare number where a truth value is meant."""
    if isinstance(node, ast.BoolOp):
        return joined(type(node.op), [as_condition(value) for value in node.values])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return negated(as_condition(node.operand))
    if isinstance(node, (ast.BinOp, ast.Name, ast.Call, ast.UnaryOp)):
        return ast.Compare(node, [ast.NotEq()], [ast.Constant(0)])
    return node


def agrees(texts, original, space):
    """Whether the conditions hold where the restriction does, and can be computed everywhere, one by one."""
    tests = [compiled(text) for text in texts]
    used = set().union(*[names_in(text, space) for text in texts]) if texts else set()
    for point in space.points_to_check(used):
        try:
            if all([bool(test(point)) for test in tests]) != bool(original(point)):
                return False
        except (ArithmeticError, TypeError, ValueError):
            return False
    return True


def read(value, original, space):
    """Conditions of what a reading came to; nothing where they do not agree with the restriction."""
    if isinstance(value, Known):
        texts = [] if value.value else ["1 == 0"]
        return texts if agrees(texts, original, space) else None
    whole = as_condition(node_of(value))
    for nodes in (parts_of(whole), [whole]):
        texts = list(dict.fromkeys(text_of(node) for node in nodes))
        if max(map(len, texts)) <= LONGEST and agrees(texts, original, space):
            return texts
    return None


def of_text(text, space):
    try:
        original = Text(text, space)
    except (SyntaxError, ValueError):
        raise NotTaken("it is no Python expression") from None
    try:
        value = from_text(text, space.names, True)
        texts = read(value, original, space)
        if texts is not None:
            own = " ".join(text.split())
            return Taken([own] if [shape_of(own)] == [shape_of(one) for one in texts] else texts, "as it is")
    except NotTaken:
        pass
    return tried(original, space)


def tried(original, space):
    names, table, note = tabulated(original, space)
    nodes = [part for text in said_by_table(table, names, space) for part in parts_of(ast.parse(text, mode="eval").body)]
    return Taken([text_of(node) for node in nodes], "tried", note)


def of_function(function, space, names=None):
    original = Function(function, space, names)
    arguments, keywords = original.unknowns(AllParameters(), lambda name: ast.Name(name, ast.Load()))
    if hasattr(function, "__code__"):
        try:
            for value in proposals(function, arguments, keywords, space.names, True):
                texts = read(value, original, space)
                if texts is not None:
                    return Taken(texts, "read")
        except NotTaken:
            pass
    return tried(original, space)


def of_restriction(restriction, space):
    """Conditions of one restriction, in any form that Kernel Tuner takes."""
    if isinstance(restriction, str):
        return of_text(restriction, space)
    if isinstance(restriction, (tuple, list)) and len(restriction) in (2, 3) and callable(restriction[0]) and isinstance(restriction[1], (list, tuple)):
        return of_function(restriction[0], space, restriction[1])
    if type(restriction).__module__.split(".")[0] == "constraint":
        raise NotTaken(f"it is a {type(restriction).__name__} of python-constraint; write it as a text or a function")
    if callable(restriction):
        return of_function(restriction, space)
    raise NotTaken(f"it is a {type(restriction).__name__}, neither text nor function")


def described(restriction):
    """A name for messages."""
    if isinstance(restriction, str):
        return repr(" ".join(restriction.split()))
    function = restriction[0] if isinstance(restriction, (tuple, list)) and restriction else restriction
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", type(function).__name__)
    return f"{'the lambda' if name == '<lambda>' else name}" + (f" in line {code.co_firstlineno}" if code else "")


def whole(value):
    """The int of a whole number, the number itself otherwise."""
    value = plain(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def number(value, space, cut=True):
    """A number that may depend on parameters: an int, or an expression as a text. `cut`: what comes out of a text is cut to an integer."""
    value = plain(value)
    if isinstance(value, str):
        return number_of_text(value, space, cut)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return whole(value)
    if callable(value):
        found = numbers(value, space)
        if isinstance(found, list):
            raise NotTaken("the function returns several numbers")
        return found
    raise NotTaken(f"it is a {type(value).__name__}")


def number_of_text(text, space, cut):
    value = from_text(text, space.names, False)
    if isinstance(value, Known):
        return int(value.value) if cut else whole(value.value)
    own, original = " ".join(text.split()), Text(text, space)
    node = node_of(value)
    found = text_of(node) if ast.dump(node) != ast.dump(ast.parse(own, mode="eval").body) else own
    if cut and any(isinstance(one, ast.Div) or isinstance(one, ast.Constant) and isinstance(one.value, float) for one in ast.walk(node)) and not found.startswith("int("):
        found = f"int({found})"
    test = compiled(found)
    for point in space.points_to_check(names_in(found, space)):
        if test(point) != (int(original(point)) if cut else original(point)):
            raise NotTaken("its translation does not agree with it")
    return found


def whole_expression(found, space):
    """The same, cut to an integer where it divides and is a whole number everywhere: a quotient is no integer to those who read it."""
    if not isinstance(found, str) or found.startswith("int(") or not any(isinstance(node, ast.Div) for node in ast.walk(ast.parse(found, mode="eval"))):
        return found
    test = compiled(found)
    return f"int({found})" if all(float(test(point)).is_integer() for point in space.points_to_check(names_in(found, space))) else found


def numbers(function, space):
    """What a function of the configuration returns: a number or an expression, or a list of them."""
    original, failure = Function(function, space), None
    arguments, keywords = original.unknowns(AllParameters(), lambda name: ast.Name(name, ast.Load()))
    if hasattr(function, "__code__"):
        try:
            for value in proposals(function, arguments, keywords, space.names, False):
                found = of_values(value)
                if same_numbers(found, original, space):
                    return [whole_expression(one, space) for one in found] if isinstance(found, list) else whole_expression(found, space)
                failure = NotTaken("its translation does not agree with it")
        except NotTaken as error:
            failure = error
    first = next(space.all_points())
    constants = original(first)
    if all(same(original(point), constants) for point in space.points_to_check(space.names)) and space.size() <= 10000:
        return [whole(one) for one in constants] if isinstance(constants, (tuple, list)) else whole(constants)
    raise failure or NotTaken("its source is not at hand")


def same(one, other):
    return type(one) in (tuple, list) and list(one) == list(other) if isinstance(other, (tuple, list)) else plain(one) == plain(other)


def of_values(value):
    if isinstance(value, Items):
        return [of_values(item) for item in value.items]
    if isinstance(value, Known) and isinstance(value.value, (tuple, list)):
        return [whole(item) for item in value.value]
    if isinstance(value, Known):
        constant(value.value)
        return whole(value.value)
    return text_of(node_of(value))


def same_numbers(found, original, space):
    listed = found if isinstance(found, list) else [found]
    tests = [compiled(one) if isinstance(one, str) else (lambda point, one=one: one) for one in listed]
    used = set().union(*[names_in(one, space) for one in listed if isinstance(one, str)])
    try:
        for point in space.points_to_check(used):
            real = original(point)
            real = list(real) if isinstance(real, (tuple, list)) else [real]
            if [test(point) for test in tests] != [plain(one) for one in real]:
                return False
    except (ArithmeticError, TypeError, ValueError):
        return False
    return True
