"""Python functions over tunable parameters to expressions: their source is read with `ast` and worked out with the parameters as unknowns.

What comes out has only names of parameters, literals, and or not, comparisons, `in (...)`, + - * / // % **, min, max, abs and int. Whatever else
the function does must come out as a constant (variables around it, helpers with known arguments), or it is not translated. Callers compare a
translation with the function itself before they trust it: a translation is a proposal.
"""
import ast
import builtins
import inspect
import linecache
import types
from itertools import chain

from . import NotTaken
from .operations import asked_of_parameters, called, compared, computed, inverted, is_of_library, looked_up, name_of, signed
from .values import AllParameters, Items, Known, constant, either, items_of, joined, node_of, plain

MOST_STEPS, DEEPEST = 20000, 12


class Bind:
    """A statement of our own: gives a name of the function its value."""

    def __init__(self, target, value):
        self.target, self.value = target, value


def parsed(function):
    """The nodes of the source that may be this function: several lambdas may begin in one line."""
    code = function.__code__
    text = "".join(linecache.getlines(code.co_filename))
    if not text:
        raise NotTaken("its source is not at hand")
    try:
        tree = ast.parse(text)
    except SyntaxError:
        raise NotTaken("its source cannot be read") from None
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) == (function.__name__ == "<lambda>") and isinstance(node, (ast.Lambda, ast.FunctionDef)):
            line = min([node.lineno] + [one.lineno for one in getattr(node, "decorator_list", [])])
            names = [argument.arg for argument in node.args.posonlyargs + node.args.args]
            if line == code.co_firstlineno and names == list(code.co_varnames[:code.co_argcount]):
                found.append(node)
    if not found:
        raise NotTaken("its source is not at hand")
    return found


class Reading:
    """Works out one function. `choice`: which of the nodes in the function's line is taken, where there are several."""

    def __init__(self, parameters, choice=0):
        self.parameters, self.choice, self.steps = parameters, choice, 0

    def call(self, function, arguments, keywords, truth, depth=0):
        if depth > DEEPEST:
            raise NotTaken("its helpers call each other too deeply")
        nodes = parsed(function)
        node = nodes[self.choice] if depth == 0 else nodes[0]
        if len(nodes) > 1 and depth > 0:
            raise NotTaken("several lambdas stand in the line of a helper")
        try:
            bound = inspect.signature(function).bind(*arguments, **keywords)
        except TypeError as error:
            raise NotTaken(f"it cannot be called: {error}") from None
        scope = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if name in bound.arguments:
                value = bound.arguments[name]
                if parameter.kind == parameter.VAR_POSITIONAL:
                    value = Items(list(value))
                elif parameter.kind == parameter.VAR_KEYWORD:
                    raise NotTaken("it takes any keywords")
                scope[name] = value
            elif parameter.default is not parameter.empty:
                scope[name] = Known(parameter.default)
        around = inspect.getclosurevars(function)
        outer = {**vars(builtins), **function.__globals__, **around.nonlocals}
        if isinstance(node, ast.Lambda):
            return self.value(node.body, scope, outer, truth, depth)
        return self.block(node.body, scope, outer, truth, depth)

    def block(self, statements, scope, outer, truth, depth):
        """What the function returns from here on."""
        scope, statements = dict(scope), list(statements)
        while statements:
            self.count()
            one = statements.pop(0)
            if isinstance(one, ast.Return):
                return Known(None) if one.value is None else self.value(one.value, scope, outer, truth, depth)
            if isinstance(one, Bind):
                self.bind(one.target, one.value, scope)
            elif isinstance(one, (ast.Assign, ast.AnnAssign)):
                for target in one.targets if isinstance(one, ast.Assign) else [one.target]:
                    self.bind(target, self.value(one.value, scope, outer, False, depth), scope)
            elif isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
                sum_of = ast.BinOp(ast.Name(one.target.id, ast.Load()), one.op, one.value)
                scope[one.target.id] = self.value(sum_of, scope, outer, False, depth)
            elif isinstance(one, ast.If):
                test = self.value(one.test, scope, outer, True, depth)
                if isinstance(test, Known):
                    statements = (one.body if test.value else one.orelse) + statements
                    continue
                branches = [self.block(branch + statements, scope, outer, truth, depth) for branch in (one.body, one.orelse)]
                return either(node_of(test), branches[0], branches[1], truth)
            elif isinstance(one, ast.For) and not one.orelse and not any(isinstance(node, (ast.Break, ast.Continue)) for node in ast.walk(one)):
                turns = [[Bind(one.target, item)] + one.body for item in items_of(self.value(one.iter, scope, outer, False, depth))]
                statements = list(chain.from_iterable(turns)) + statements
            elif not (isinstance(one, ast.Pass) or isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
                raise NotTaken(f"it has a statement in line {one.lineno} that is no assignment, if, for or return")
        return Known(None)

    def bind(self, target, value, scope):
        if isinstance(target, ast.Name):
            scope[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(items_of(value)):
            for one, item in zip(target.elts, items_of(value)):
                self.bind(one, item, scope)
        else:
            raise NotTaken("it assigns to what is no name")

    def count(self):
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise NotTaken("it is too long")

    def value(self, node, scope, outer, truth, depth):
        self.count()
        method = getattr(self, "of_" + type(node).__name__, None)
        if method is None:
            raise NotTaken(f"it has a {type(node).__name__} in line {getattr(node, 'lineno', 0)}")
        return method(node, scope, outer, truth, depth)

    def of_Constant(self, node, scope, outer, truth, depth):
        return Known(node.value)

    def of_Name(self, node, scope, outer, truth, depth):
        if node.id in scope:
            return scope[node.id]
        if node.id in outer:
            return Known(outer[node.id])
        raise NotTaken(f"it uses {node.id}, which is not known")

    def of_Attribute(self, node, scope, outer, truth, depth):
        owner = self.value(node.value, scope, outer, False, depth)
        if isinstance(owner, Known):
            return Known(getattr(owner.value, node.attr))
        raise NotTaken(f"it uses .{node.attr} of what depends on the parameters")

    def sequence(self, node, scope, outer, truth, depth):
        items = [self.value(one, scope, outer, False, depth) for one in node.elts]
        return Known(tuple(item.value for item in items)) if all(isinstance(item, Known) for item in items) else Items(items)

    of_Tuple = of_List = of_Set = sequence

    def comprehension(self, node, scope, outer, truth, depth):
        if len(node.generators) != 1:
            raise NotTaken("it has nested comprehensions")
        loop, found = node.generators[0], []
        for item in items_of(self.value(loop.iter, scope, outer, False, depth)):
            inner = dict(scope)
            self.bind(loop.target, item, inner)
            tests = [self.value(test, inner, outer, True, depth) for test in loop.ifs]
            if not all(isinstance(test, Known) for test in tests):
                raise NotTaken("it chooses items by the parameters")
            if all(test.value for test in tests):
                found.append(self.value(node.elt, inner, outer, False, depth))
        return Items(found)

    of_ListComp = of_GeneratorExp = of_SetComp = comprehension

    def of_Subscript(self, node, scope, outer, truth, depth):
        owner, index = (self.value(one, scope, outer, False, depth) for one in (node.value, getattr(node.slice, "value", node.slice) if type(node.slice).__name__ == "Index" else node.slice))
        return looked_up(owner, index, self.parameters)

    def of_BoolOp(self, node, scope, outer, truth, depth):
        either_way, kept = isinstance(node.op, ast.Or), []
        for one in node.values:
            value = self.value(one, scope, outer, truth, depth)
            if isinstance(value, Known):
                if bool(value.value) == either_way:
                    if not kept:
                        return value
                    kept.append(constant(either_way))
                    break
            else:
                kept.append(node_of(value))
        return joined(type(node.op), kept) if kept else Known(not either_way)

    def of_UnaryOp(self, node, scope, outer, truth, depth):
        value = self.value(node.operand, scope, outer, isinstance(node.op, ast.Not), depth)
        return inverted(value) if isinstance(node.op, ast.Not) else signed(node.op, value)

    def of_BinOp(self, node, scope, outer, truth, depth):
        left, right = (self.value(one, scope, outer, False, depth) for one in (node.left, node.right))
        return computed(left, node.op, right)

    def of_Compare(self, node, scope, outer, truth, depth):
        values = [self.value(one, scope, outer, False, depth) for one in [node.left] + node.comparators]
        terms = [compared(left, operation, right, self.parameters) for left, operation, right in zip(values, node.ops, values[1:])]
        if any(isinstance(term, Known) and not term.value for term in terms):
            return Known(False)
        terms = [term for term in terms if not isinstance(term, Known)]
        return joined(ast.And, terms) if terms else Known(True)

    def of_IfExp(self, node, scope, outer, truth, depth):
        test = self.value(node.test, scope, outer, True, depth)
        if isinstance(test, Known):
            return self.value(node.body if test.value else node.orelse, scope, outer, truth, depth)
        return either(node_of(test), *(self.value(one, scope, outer, truth, depth) for one in (node.body, node.orelse)), truth)

    def of_Call(self, node, scope, outer, truth, depth):
        if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
            raise NotTaken("it hands arguments on with a star")
        arguments = [self.value(one, scope, outer, False, depth) for one in node.args]
        keywords = {one.arg: self.value(one.value, scope, outer, False, depth) for one in node.keywords}
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value, scope, outer, False, depth)
            if isinstance(owner, AllParameters):
                return asked_of_parameters(node.func.attr, arguments, self.parameters)
        function = self.value(node.func, scope, outer, False, depth)
        if not isinstance(function, Known):
            raise NotTaken("it calls what depends on the parameters")
        if all(isinstance(one, Known) for one in chain(arguments, keywords.values())):
            return Known(plain(function.value(*[one.value for one in arguments], **{name: one.value for name, one in keywords.items()})))
        if isinstance(function.value, types.FunctionType) and not is_of_library(function.value):
            return self.call(function.value, arguments, keywords, truth, depth + 1)
        if keywords:
            raise NotTaken(f"it calls {name_of(function.value)} with keywords")
        return called(function.value, arguments)


def proposals(function, arguments, keywords, parameters, truth):
    """Each way to read the function: a value as above. Several where lambdas share a line. The last failure is raised where nothing comes out."""
    failure = NotTaken("its source is not at hand")
    for choice in range(len(parsed(function))):
        try:
            yield Reading(parameters, choice).call(function, arguments, keywords, truth)
        except NotTaken as error:
            failure = error
        except RecursionError:
            failure = NotTaken("it is too deep")
        except Exception as error:  # what the script's own code raises while a constant of it is worked out
            failure = NotTaken(f"{type(error).__name__}: {error}")
    raise failure


def from_text(text, parameters, truth):
    """The same for a text that Python would evaluate with the parameters as names."""
    try:
        tree = ast.parse(" ".join(text.split()), mode="eval")
    except (SyntaxError, ValueError):
        raise NotTaken("it is no Python expression") from None
    scope = {name: ast.Name(name, ast.Load()) for name in parameters}
    try:
        return Reading(parameters).value(tree.body, scope, vars(builtins), truth, 0)
    except NotTaken:
        raise
    except Exception as error:
        raise NotTaken(f"{type(error).__name__}: {error}") from None
