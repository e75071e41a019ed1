#!/usr/bin/env python3
"""Prints where the CPU seconds of a build went: tools/build_times.sh says how it is called."""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True  # the script may lie in a tree that is not to change
import build_machine

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OURS = ("tuner", "db", "tools", "tests", "bench", "examples")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def steps(folder):
    """(seconds, what was made) of each compiler and linker call."""
    found = []
    with open(os.path.join(folder, "cpu.log"), encoding="utf-8") as lines:
        for line in lines:
            user, system, *made = line.split(" ", 2)
            found.append((float(user) + float(system), made[0].strip() if made else ""))
    return found


def name_of(made):
    """"tuner/session: Unity/unity_0_cxx.cxx" of "tuner/session/CMakeFiles/attune_session.dir/Unity/unity_0_cxx.cxx.o"."""
    match = re.match(r"(.*?)/?CMakeFiles/[^/]+\.dir/(.*)\.o$", made)
    return f"{match[1]}: {match[2]}" if match else made


def print_steps(found):
    """Prints what compiling and linking took; returns the figures."""
    compiled = [(s, made) for s, made in found if made.endswith(".o")]
    linked = [(s, made) for s, made in found if made and not made.endswith(".o")]
    figures = {"files": len(compiled), "compile_s": round(sum(s for s, _ in compiled), 1), "links": len(linked),
               "link_s": round(sum(s for s, _ in linked), 1)}
    print("\n{files} files compiled in {compile_s:.0f} CPU seconds, {links} linked in {link_s:.0f}\n".format(**figures))
    folders = collections.Counter()
    for seconds, made in compiled:
        folders["/".join(made.split("CMakeFiles")[0].strip("/").split("/")[:2]) or "."] += seconds
    print("CPU s  folder")
    for folder, seconds in folders.most_common():
        print(f"{seconds:5.1f}  {folder}")
    print("\nCPU s  compiled file")
    for seconds, made in sorted(compiled, reverse=True)[:40]:
        print(f"{seconds:5.1f}  {name_of(made)}")
    figures["folders"] = [{"folder": folder, "cpu_s": round(seconds, 1)} for folder, seconds in folders.most_common()]
    return figures


def users(folder):
    """How many compiled files read each file, by path."""
    seen = collections.Counter()
    text = subprocess.run(["ninja", "-C", folder, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        if line.startswith("    "):
            seen[os.path.normpath(os.path.join(folder, line.strip()))] += 1
    return seen


def named_headers():
    """Every header that a source of ours names, as it names it."""
    names = set()
    for top in OURS:
        for where, _, files in os.walk(os.path.join(ROOT, top)):
            for file in files:
                if file.endswith((".cpp", ".hpp")):
                    with open(os.path.join(where, file), encoding="utf-8") as text:
                        names.update(INCLUDE.findall(text.read()))
    return sorted(names)


def compile_flags(folder):
    """A command that finds every header: with the include folders of all compiled files."""
    with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as text:
        commands = [shlex.split(entry["command"]) for entry in json.load(text)]
    flags, compiler = [], None
    for words in commands:
        at = next((i for i, word in enumerate(words) if "cpu_time.sh" in word), -1) + 1
        if "nvcc" in words[at]:
            continue
        compiler = words[at]
        for i, word in enumerate(words):
            pair = [word, words[i + 1]] if word in ("-isystem", "-I") else [word]
            if word.startswith(("-I", "-isystem")) and pair not in flags:
                flags.append(pair)
    return [compiler, "-std=gnu++20", "-fsyntax-only", "-x", "c++"] + [word for pair in flags for word in pair]


def cost_of(command, header):
    """CPU seconds of a file that includes this header alone, and its path; None where it cannot be included alone."""
    kind, name = header
    line = f"#include <{name}>\n" if kind == "<" else f'#include "{name}"\n'
    child = ("import resource, subprocess, sys\n"
             "p = subprocess.run(sys.argv[1:], input=sys.stdin.read(), text=True, capture_output=True)\n"
             "r = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
             "print(p.returncode, r.ru_utime + r.ru_stime)\nprint(p.stderr)")
    answer = subprocess.run([sys.executable, "-c", child] + command + ["-H", "-"], input=line, text=True, capture_output=True,
                            cwd=ROOT, check=True).stdout.split("\n", 1)
    code, seconds = answer[0].split()
    first = next((text for text in answer[1].splitlines() if text.startswith(". ")), None)
    if code != "0" or first is None:
        return None
    return header, float(seconds), os.path.normpath(os.path.join(ROOT, first[2:]))


def print_headers(folder):
    """Prints the twenty dearest headers; returns their rows."""
    command, seen = compile_flags(folder), users(folder)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        costs = [cost for cost in pool.map(lambda header: cost_of(command, header), named_headers()) if cost]
    rows = sorted(({"header": name, "one_s": round(seconds, 3), "files": seen[path], "cpu_s": round(seconds * seen[path], 1)}
                   for (_, name), seconds, path in costs), key=lambda row: -row["cpu_s"])[:20]
    print("\nThe dearest headers: what one takes to read, with everything that it includes, times the compiled files that read it.")
    print("CPU s in all  one  files  header")
    for row in rows:
        print(f"{row['cpu_s']:12.1f} {row['one_s']:5.2f} {row['files']:5d}  {row['header']}")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="the build folder")
    parser.add_argument("--preset", default="")
    parser.add_argument("--no-headers", action="store_true")
    parser.add_argument("--output", help="also write the figures to this file, as JSON")
    arguments = parser.parse_args()
    figures = {"bench": "build_times", "preset": arguments.preset, **build_machine.machine(), **print_steps(steps(arguments.folder))}
    figures["headers"] = [] if arguments.no_headers else print_headers(arguments.folder)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(json.dumps(figures, indent=1) + "\n")


main()
