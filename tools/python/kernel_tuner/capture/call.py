"""One call of tune_kernel as a T1 file. The order of what is written is that of the T1 files that Kernel Tuner reads."""
import json
import math
import os
import re
import sys
from pathlib import Path

from . import NotTaken
from . import arguments as argument_parts
from . import conditions, runs, sources
from .space import Space
from .values import plain

BLOCK_NAMES = ["block_size_x", "block_size_y", "block_size_z"]
BLOCK_DEFAULTS = ["256", "1", "1"]  # what Kernel Tuner launches where the parameter is not there
LARGEST_BLOCK = 1024
AXES = "XYZ"


class Session:
    """What all calls of a script share: the folder, the names used in it, and what was caught."""

    def __init__(self):
        self.calls, self.runs, self.folder, self.contents, self.files, self.stems = [], [], None, None, {}, set()

    def open(self):
        if self.folder is None:
            self.folder = Path(os.environ.get("ATTUNE_IMPORT_FOLDER") or "attune-import").resolve()
            self.folder.mkdir(parents=True, exist_ok=True)
            self.contents = argument_parts.Contents(self.folder, int(os.environ.get("ATTUNE_IMPORT_LARGEST_ARRAY") or 256 << 20))

    def stem(self, kernel_name):
        base = sources.file_name(kernel_name)
        name, number = base, 1
        while name in self.stems:
            number += 1
            name = f"{base}_{number}"
        self.stems.add(name)
        return name

    def keep(self, name, content):
        """The path in the folder of a file of this content, under this name or, where another has it, with a number."""
        path, number = Path(name), 1
        while self.files.get(path, content) != content:
            number += 1
            path = Path(name).with_name(f"{Path(name).stem}_{number}{Path(name).suffix}")
        if path not in self.files:
            self.files[path] = content
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_bytes(content)
        return path.as_posix()


SESSION = Session()


class Call:
    """What became of one call: the T1 file, `notes` on what was changed or left out, `problems` that keep it from being a template."""

    def __init__(self, kernel_name):
        self.kernel_name, self.notes, self.problems, self.taken, self.file, self.combinations, self.conditions = kernel_name, [], [], [], None, 0, 0

    def told(self):
        return {"kernel": self.kernel_name, "file": self.file, "combinations": self.combinations, "conditions": self.conditions, "taken": self.taken,
                "notes": self.notes, "problems": self.problems}


def value_type(values):
    if all(isinstance(value, bool) for value in values):
        return "bool"
    if all(isinstance(value, int) for value in values):
        return "int"
    return "float" if all(isinstance(value, (int, float)) for value in values) else "string"


def space_of(tune_params, call):
    """The parameters with plain values."""
    found = {}
    for name, values in dict(tune_params).items():
        if str(name).startswith("nvml_"):
            call.notes.append(f"parameter {name}: clocks and power limits are not tuned; left out")
            continue
        listed = [plain(value) for value in (values.tolist() if hasattr(values, "tolist") else values)]
        kept = list(dict.fromkeys((type(value), value) if isinstance(value, (bool, int, float, str)) else (str, str(value)) for value in listed))
        if len(kept) < len(listed):
            call.notes.append(f"parameter {name}: {len(listed) - len(kept)} values stand there twice")
        found[str(name)] = [value for _, value in kept]
        kinds = {bool: "truth values", str: "texts"}
        if len({kinds.get(type(value), "numbers") for value in found[str(name)]}) > 1:
            call.problems.append(f"parameter {name}: its values are of several kinds ({', '.join(map(repr, found[str(name)]))})")
        if not found[str(name)]:
            call.problems.append(f"parameter {name}: it has no values")
        if not str(name).isidentifier():
            call.problems.append(f"parameter {name}: its name is no identifier")
        if "loop_unroll_factor" in str(name):
            call.notes.append(f"parameter {name}: Kernel Tuner makes a constexpr int of it, and drops its #pragma unroll where it is 0; here it is a macro")
    return Space(found)


def conditions_of(restrictions, space, call):
    listed = [] if restrictions is None else list(restrictions) if isinstance(restrictions, list) else [restrictions]
    found = []
    for one in listed:
        name = conditions.described(one)
        try:
            taken = conditions.of_restriction(one, space)
        except NotTaken as error:
            call.problems.append(f"restriction {name}: not taken; {error}")
            continue
        how = {"as it is": "taken", "read": "read from its source", "tried": "tried at every combination"}[taken.how]
        call.taken.append(f"restriction {name}: {how}, {len(taken.expressions)} condition{'s' if len(taken.expressions) != 1 else ''}")
        if taken.note:
            call.notes.append(f"restriction {name}: {taken.note}")
        found += taken.expressions
    return list(dict.fromkeys(found))


def block_names(given, space):
    """The names of the block's sizes: given ones filled up, or the defaults in whatever case the parameters have them."""
    if given:
        return (list(given) + BLOCK_NAMES[len(given):])[:3]
    other_case = sorted((name for name in space.names if name.lower() in BLOCK_NAMES and name not in BLOCK_NAMES), key=str.casefold)
    return other_case + BLOCK_NAMES[len(other_case):]


def block_condition(names, space, found):
    """That a block has no more threads than a device allows, where the space has larger ones."""
    used = [name for name in names if name in space.values]
    if not used or any(value_type(space.values[name]) not in ("int", "float") for name in used) or math.prod(max(space.values[name]) for name in used) <= LARGEST_BLOCK:
        return []
    text = f"{' * '.join(used)} <= {LARGEST_BLOCK}"
    return [] if conditions.shape_of(text) in map(conditions.shape_of, found) else [text]


def divisors(given, default, space, call, axis):
    """What divides the problem in one dimension. Readers of T1 take no divisors for the default ones: where the default would be wrong, it is one."""
    none = ["1"] if f"block_size_{axis.lower()}" in space.values else []
    if given is None:
        return [default] if default in space.values else none
    found = []
    for one in list(given) if isinstance(given, (list, tuple)) else [given]:
        try:
            number = conditions.number(one, space)
        except NotTaken as error:
            call.problems.append(f"grid_div_{axis.lower()}: not taken; {error}")
            continue
        for each in number if isinstance(number, list) else [number]:
            found.append(str(each))
    return [one for one in found if one != "1"] or none


def problem_size(given, space, call):
    try:
        if callable(given):
            found = conditions.numbers(given, space)
            return found if isinstance(found, list) else [found]
        listed = given.tolist() if hasattr(given, "tolist") else given
        return [conditions.number(one, space) for one in (listed if isinstance(listed, (list, tuple)) else [listed])]
    except (NotTaken, TypeError, ValueError) as error:
        call.problems.append(f"problem_size: not taken; {error}")
        return []


def shared_memory(smem_args, space, call):
    size = (smem_args or {}).get("size")
    if size is None:
        return 0
    try:
        return conditions.number(size, space)
    except NotTaken as error:
        call.problems.append(f"smem_args: not taken; {error}")
        return 0


def macros(text, names, space, defines, call):
    """Macros beside the parameters that Kernel Tuner would give the source, as far as the source uses them."""
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    if defines is not None:
        found = {}
        for name, value in defines.items():
            try:
                found[name] = f"({conditions.number(value, space, cut=False)})" if callable(value) else str(value)
            except NotTaken as error:
                call.problems.append(f"defines {name}: not taken; {error}")
        return found
    found = {name: default for name, default in zip(names, BLOCK_DEFAULTS) if name not in space.values and name in words}
    if "kernel_tuner" in words:
        found["kernel_tuner"] = "1"
    grid = sorted(words & {"grid_size_x", "grid_size_y", "grid_size_z"})
    if grid:
        call.problems.append(f"the source uses {', '.join(grid)}, which Kernel Tuner defines for each configuration")
    return found


def first_valid(space, texts):
    """The first configuration that satisfies the conditions; the first one where none of 2^22 does."""
    tests = [conditions.compiled(text) for text in texts]
    for _, point in zip(range(1 << 22), space.all_points()):
        try:
            if all(test(point) for test in tests):
                return point
        except ArithmeticError:
            pass
    return next(space.all_points(), {})


def options_of(given, call):
    """The compiler's options, and the folders that it would look for headers in: those are no options, since headers are copied."""
    options, folders, words = [], [], [str(one) for one in given] if isinstance(given, (list, tuple)) else [str(given)] if given else []
    while words:
        one = words.pop(0)
        if one in ("-I", "--include-path") and words:
            folders.append(Path(words.pop(0)))
        elif one.startswith(("-I", "--include-path=")):
            folders.append(Path(one[2:] if one.startswith("-I") else one.split("=", 1)[1]))
        else:
            options.append(one)
    if folders:
        call.notes.append(f"compiler options: {', '.join('-I' + str(folder) for folder in folders)} left out; headers that the source includes from there are copied")
    return options, folders


def taken_arguments(session, call, source, arguments, cmem_args, answer, prefix, space, first):
    """T1's Arguments, and the answers for them."""
    uncomputed = runs.not_computed(answer, session.runs)
    checked = argument_parts.has_answer(answer) and any(one is not None and place not in uncomputed for place, one in enumerate(answer))
    declared = sources.signature(source.text, call.kernel_name)
    told, problems = argument_parts.of_arguments(arguments, answer, declared, f"args/{prefix}", session.contents, call.notes, first, checked)
    call.problems += problems
    told += argument_parts.of_symbols(cmem_args, f"args/{prefix}", session.contents, call.notes, checked)
    names = [one["Name"] for one in told]
    for name, value in zip(names, arguments):
        run = runs.marked_by(value, session.runs)
        if run is not None:
            call.notes.append(f'{name}: it comes from run_kernel of "{run.kernel_name}", which is not run here; its contents are made of what went into that')
    for place, (run, why) in uncomputed.items():
        name = names[place] if place < len(names) else f"argument_{place}"
        call.notes.append(f"answer of {name}: {why}; {run.how(source, space, names, arguments)}")
    reasons = {place: why for place, (_, why) in uncomputed.items()}
    return told, argument_parts.of_answer(answer, arguments, names, f"answer/{prefix}", session.contents, call.notes, reasons)


def take(kernel_name, kernel_source, size, arguments, tune_params, grid=(None, None, None), restrictions=None, answer=None, atol=1e-6, verify=None, lang=None,
         smem_args=None, cmem_args=None, texmem_args=None, compiler_options=None, defines=None, block_size_names=None):
    """Writes the T1 file of a call; returns the call, the space and the first valid configuration."""
    session, call = SESSION, Call(str(kernel_name))
    session.open()
    stem, kernel_name = session.stem(call.kernel_name), call.kernel_name
    space = space_of(tune_params, call)
    texts = conditions_of(restrictions, space, call)
    names = block_names(block_size_names, space)
    largest = block_condition(names, space, texts)
    if largest:
        call.notes.append(f"condition {largest[0]}: added, as Kernel Tuner adds it for a device of {LARGEST_BLOCK} threads a block")
    first = first_valid(space, texts + largest)
    source = sources.read(kernel_source, kernel_name, first)
    call.problems += source.problems
    language = sources.language(lang, source.text)
    if language != "CUDA":
        call.problems.append(f"the kernel is {language}, not CUDA" + (": host code that Kernel Tuner calls" if language.upper() == "C" else ""))
    options, folders = options_of(compiler_options, call)
    file = keep_source(session, source, folders, call)
    prefix = "" if not session.calls else f"{stem}-"
    told, answers = taken_arguments(session, call, source, list(arguments), cmem_args, answer, prefix, space, first)
    if texmem_args:
        call.problems.append(f"texture memory ({', '.join(texmem_args)}) is not taken")
    if verify is not None:
        call.notes.append(f"verify: {conditions.described(verify)} is not taken; results are compared with the answer element by element, or not at all")
    shape = problem_size(size, space, call)
    extra = macros(source.text, names, space, defines, call)
    divided = {f"GridDiv{axis}": divisors(given, name, space, call, axis) for axis, given, name in zip(AXES, grid, names)}
    document = {
        "General": {"FormatVersion": 1, "TimeUnit": "Milliseconds"},
        "ConfigurationSpace": {
            "TuningParameters": [{"Name": name, "Type": value_type(values), "Values": values, **({"Default": first[name]} if name in first else {})}
                                 for name, values in space.values.items()],
            "Conditions": [{"Expression": text, "Parameters": conditions.names_in(text, space)} for text in texts + largest]},
        "KernelSpecification": {
            "Language": language, "KernelName": kernel_name, "KernelFile": file, "CompilerOptions": options,
            "ProblemSize": shape, "GlobalSizeType": "CUDA",
            "LocalSize": {axis: name if name in space.values else default for axis, name, default in zip(AXES, names, BLOCK_DEFAULTS)},
            **divided, "SharedMemory": shared_memory(smem_args, space, call), "Arguments": told},
        "Import": {"from": "Kernel Tuner script", "script": Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "",
                   "answer": {"given": argument_parts.has_answer(answer), "arguments": answers}, "atol": plain(atol),
                   "macros": extra, "macros_of_parameters": defines is None, "first_configuration": first, "importable": not call.problems, "problems": call.problems,
                   "notes": call.notes}}
    call.file = f"{stem}.json"
    (session.folder / call.file).write_text(json.dumps(document, indent=2, allow_nan=True) + "\n", encoding="utf-8")
    call.combinations, call.conditions = space.size(), len(texts + largest)
    session.calls.append(call)
    return call, space, first


def keep_source(session, source, folders, call):
    """Copies the source and what it includes; the source's name in the folder."""
    found, missing = sources.included(source.content, [source.beside] + folders)
    for path in source.others:
        try:
            found[Path(path.name)] = path.read_bytes()
        except OSError as error:
            call.problems.append(f"{path}: {error.strerror or error}")
    for path, content in found.items():
        if session.keep(path, content) != path.as_posix():
            call.problems.append(f"{path}: two files of this name are included by kernels of the script")
    for name in missing:
        call.notes.append(f'#include "{name}": not found beside the kernel, not copied')
    return session.keep(source.name, source.content)
