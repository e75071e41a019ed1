"""The kernel source of a call: copied byte for byte, with the files beside it that it includes."""
import re
from pathlib import Path

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
LIKE_CODE = ("__global__ ", "__kernel ", "void ", "float ")
EXTENSIONS = (".c", ".opencl", ".F", ".jl")
LANGUAGES = {"CUDA": "CUDA", "CUPY": "CUDA", "NVCUDA": "CUDA", "PYCUDA": "CUDA", "OPENCL": "OpenCL", "HIP": "HIP", "JULIA": "Julia"}


class Source:
    """`name`: its file's name; `others`: further files that the script names; `problems`: why it cannot become a template; `beside`: where its headers are."""

    def __init__(self, content, name, others, problems, beside):
        self.content, self.name, self.others, self.problems, self.beside = content, name, others, problems, beside
        self.text = content.decode("utf-8", "replace")


def is_file_name(text):
    """Whether Kernel Tuner takes the text for the name of a file rather than for code."""
    return len(text) <= 250 and not any(one in text for one in "();{}\\") and not any(one in text for one in LIKE_CODE) and any(one in text for one in EXTENSIONS)


def file_name(kernel_name):
    return re.sub(r"\W+", "_", kernel_name).strip("_") or "kernel"


def read(source, kernel_name, first_configuration):
    """The source of a call. OSError where its file cannot be read."""
    listed = list(source) if isinstance(source, (list, tuple)) else [source]
    main, problems, others = listed[0], [], [Path(str(one)) for one in listed[1:]]
    if callable(main) and not isinstance(main, Path):
        name = getattr(main, "__name__", type(main).__name__)
        problems.append(f"the kernel source is made by {name}() for each configuration; its text for the first one is beside this file")
        return Source(str(main(dict(first_configuration))).encode(), file_name(kernel_name) + ".cu", others, problems, Path.cwd())
    if isinstance(main, Path) or isinstance(main, str) and is_file_name(main):
        path = Path(main)
        return Source(path.read_bytes(), path.name, others, problems, path.resolve().parent)
    if isinstance(main, str):
        return Source(main.encode(), file_name(kernel_name) + ".cu", others, problems, Path.cwd())
    raise TypeError(f"the kernel source is a {type(main).__name__}, neither text, file nor function")


def language(named, text):
    if named is not None:
        return LANGUAGES.get(str(named).upper(), str(named))
    lower = text.lower()
    return "CUDA" if "__global__" in lower else "OpenCL" if "__kernel" in lower else "C"


def included(content, folders):
    """Files that the source includes by a name in quotes, and what they include, found in one of the folders: path to content; and the names that lead nowhere."""
    found, missing, waiting = {}, [], [(content, Path())]
    while waiting:
        text, folder = waiting.pop()
        for name in INCLUDE.findall(text):
            path = Path(name.decode("utf-8", "replace"))
            places = [(root, one) for one in (folder / path, path) for root in folders if not one.is_absolute() and ".." not in one.parts]
            root, inside = next(((root, one) for root, one in places if (root / one).is_file()), (None, None))
            if inside is None:
                missing.append(str(path))
            elif inside not in found:
                found[inside] = (root / inside).read_bytes()
                waiting.append((found[inside], inside.parent))
    return found, list(dict.fromkeys(missing))


def signature(text, kernel_name):
    """Names and declarations of the kernel's arguments; nothing where they cannot be found."""
    text = COMMENT.sub(" ", text)
    for match in re.finditer(rf"\b{re.escape(kernel_name.split('<')[0])}\s*\(", text):
        depth, start = 1, match.end()
        for at in range(start, len(text)):
            depth += (text[at] in "([<{") - (text[at] in ")]>}")
            if depth == 0:
                break
        else:
            continue
        if "__global__" not in text[max(0, match.start() - 400):match.start()] or not re.match(r"\s*\{", text[at + 1:]):
            continue
        declared, depth, piece = [], 0, ""
        for one in text[start:at]:
            depth += (one in "(<[") - (one in ")>]")
            if one == "," and depth == 0:
                declared.append(piece)
                piece = ""
            else:
                piece += one
        declared = [one for one in declared + [piece] if one.strip()]
        names = [re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^\]]*\]", "", one)) for one in declared]
        if all(names):
            return [(found[-1], " ".join(one.split())) for found, one in zip(names, declared)]
    return None
