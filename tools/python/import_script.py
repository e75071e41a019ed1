#!/usr/bin/env python3
"""Runs a script of Kernel Tuner without a GPU and writes down what it would tune.

    import_script.py [--json] [--largest-array MIB] SCRIPT FOLDER [-- ARGUMENTS OF THE SCRIPT]

The package beside this file stands in for kernel_tuner; everything else of the script is run as it is, in its own folder. Each call of tune_kernel becomes
a T1 file in FOLDER, with its kernel source, `args` and `answer` beside it. What the script prints goes to the standard error output, and what it writes to
FOLDER/written: results of a search that never was must not take the place of real ones.

Exit codes: 0 something was caught that can become a template, 2 wrong arguments, or the script cannot be read or has a syntax error, 3 nothing was caught,
4 the script needs NumPy, which is not there, 5 something was caught, and nothing of it can become a template.
"""
import argparse
import builtins
import contextlib
import ctypes
import io
import json
import os
import runpy
import shutil
import signal
import sys
import tokenize
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
CAUGHT, UNREADABLE, NOTHING, NO_NUMPY, NO_TEMPLATE = 0, 2, 3, 4, 5


def arguments_of(words):
    parser = argparse.ArgumentParser(usage="import_script.py [--json] [--largest-array MIB] SCRIPT FOLDER [-- ARGUMENTS]", description=__doc__.split("\n", 1)[0])
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--largest-array", type=int, default=256, metavar="MIB", help="contents of larger arrays are not kept (default: %(default)s)")
    at = words.index("--") if "--" in words else len(words)
    return parser.parse_args(words[:at]), words[at + 1:]


def unreadable(script):
    """What keeps the script from being compiled; nothing where nothing does."""
    try:
        with tokenize.open(script) as file:
            compile(file.read(), str(script), "exec", dont_inherit=True)
    except SyntaxError as error:
        remedy = "mend it there"
        if "Missing parentheses in call to 'print'" in str(error.msg):
            remedy = "this is Python 2; `2to3 -w` makes Python 3 of it"
        return {"kind": "SyntaxError", "text": str(error.msg), "file": str(script), "line": error.lineno or 0, "column": error.offset or 0, "remedy": remedy}
    except (OSError, UnicodeDecodeError, ValueError) as error:
        return {"kind": type(error).__name__, "text": getattr(error, "strerror", None) or str(error), "file": str(script), "line": 0, "column": 0,
                "remedy": "name a Python script that can be read"}
    return None


class Report:
    """Where the result goes: standard output, which from now on nobody else has. What the script prints, programs that it starts too, now or when the
    interpreter ends, goes to the standard error output."""

    def __init__(self):
        sys.stdout.flush()
        self.kept, self.process = os.dup(1), os.getpid()
        os.set_inheritable(self.kept, False)
        os.dup2(2, 1)

    def write(self, text):
        if os.getpid() != self.process:
            os._exit(0)  # a process that the script made of this one, and let run on
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        with open(self.kept, "w", encoding="utf-8", errors="backslashreplace") as output:
            print(text, file=output)


class Writes:
    """Opens files for the script: those that it writes lie in a folder of their own, under the names by which it reads them again."""

    def __init__(self, folder):
        self.folder, self.open, self.copies = folder, io.open, {}
        self.ours = str(folder) + os.sep

    def place(self, file, mode):
        path = os.path.realpath(os.fsdecode(file))
        if path in self.copies:
            return self.copies[path]
        if not set(mode) & set("wax+") or path.startswith((self.ours, "/dev/", "/proc/")) or not os.path.isdir(os.path.dirname(path)):
            return file
        written = self.folder / "written"
        written.mkdir(parents=True, exist_ok=True)
        copy = str(written / f"{len(self.copies)}.{os.path.basename(path)}")
        if os.path.isfile(path) and ("a" in mode or "+" in mode) and "w" not in mode:
            shutil.copyfile(path, copy)
        if "x" in mode and os.path.lexists(path):
            return file  # which fails, as it should
        self.copies[path] = copy
        return copy

    def __call__(self, file, mode="r", *others, **named):
        if not isinstance(file, int) and isinstance(mode, str):
            file = self.place(file, mode)
        return self.open(file, mode, *others, **named)


def end_with_parent():
    """Linux ends this process when the one that started it is gone."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def place_of(error, script):
    """The line of the script in which the error came up."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(script)]
    return lines[-1] if lines else 0


def remedy_for(error):
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.split(".")[0]
        return f"install it with `{sys.executable} -m pip install {package}`, or take out of the script what needs {package}"
    if isinstance(error, FileNotFoundError):
        return "put the file where the script looks for it: the script runs in its own folder"
    return ""


def run(script, words):
    """Runs the script; what ended it, where that was an error."""
    sys.argv = [str(script)] + words
    sys.path.insert(1, str(script.parent))
    os.chdir(script.parent)
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            return {"kind": "SystemExit", "text": f"exit({end.code!r})", "file": str(script), "line": place_of(end, script), "column": 0, "remedy": ""}
    except BaseException as error:  # whatever a script raises, what it asked for before is told
        return {"kind": type(error).__name__, "text": str(error), "file": str(script), "line": place_of(error, script), "column": 0, "remedy": remedy_for(error),
                "package": (error.name or "").split(".")[0] if isinstance(error, ImportError) else ""}
    return None


def told_error(error):
    where = error["file"] + (f":{error['line']}" if error["line"] else "") + (f":{error['column']}" if error["column"] else "")
    return f"{where}: {error['kind']}: {error['text']}" + (f"; {error['remedy']}" if error["remedy"] else "")


def exit_code(calls, error):
    if any(not call["problems"] for call in calls):
        return CAUGHT
    if calls:
        return NO_TEMPLATE
    return NO_NUMPY if error and error.get("package") == "numpy" else NOTHING


def lines_of(told):
    for call in told["calls"]:
        yield f"{call['file']}: kernel {call['kernel']}, {call['combinations']} combinations, {call['conditions']} conditions"
        yield from (f"  {line}" for line in call["taken"])
        yield from (f"  note: {line}" for line in call["notes"])
        yield from (f"  no template: {line}" for line in call["problems"])
    if told["error"]:
        yield told_error(told["error"])
        if told["calls"]:
            yield "The script ended there; what it had asked for before is kept."
    if not told["calls"]:
        what = "it calls run_kernel only, which tunes nothing" if told["runs"] else "tune_kernel was not called"
        yield f"Nothing was caught: {what}" + ("." if not told["error"] else " before that.")


def report(told, as_json, output):
    text = json.dumps(told, indent=2, ensure_ascii=False) if as_json else "\n".join(lines_of(told))
    output.write(text.encode("utf-8", "replace").decode("utf-8"))  # a lone surrogate is in no text
    return told["exit_code"]


def main(words):
    given, script_words = arguments_of(words)
    end_with_parent()
    output = Report()
    script, folder = Path(given.script).resolve(), Path(given.folder).resolve()
    error = unreadable(script)
    if error:
        return report({"script": str(script), "folder": str(folder), "calls": [], "runs": 0, "error": error, "exit_code": UNREADABLE}, given.json, output)
    os.environ["ATTUNE_IMPORT_FOLDER"] = str(folder)
    os.environ["ATTUNE_IMPORT_LARGEST_ARRAY"] = str(given.largest_array << 20)
    from kernel_tuner.capture import call as capture
    builtins.open = io.open = Writes(folder)
    error = run(script, script_words)
    calls = [call.told() for call in capture.SESSION.calls]
    return report({"script": str(script), "folder": str(folder), "calls": calls, "runs": len(capture.SESSION.runs), "error": error, "exit_code": exit_code(calls, error)},
                  given.json, output)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
