"""Kernel arguments: what T1 says of them, and their contents as .npy files."""
import hashlib
import io
import math
from pathlib import Path

TYPES = {"bool": "bool", "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16", "int32": "int32", "uint32": "uint32", "int64": "int64",
         "uint64": "uint64", "float16": "half", "bfloat16": "bfloat16", "float32": "float", "float64": "double", "complex64": "float2", "complex128": "double2"}
SAMPLE = 1 << 16


def is_array(value):
    return hasattr(value, "shape") and hasattr(value, "dtype") and len(getattr(value, "shape", ())) > 0


def host_array(value):
    """An array of NumPy's with what the value holds: arrays of CuPy and PyTorch are copied to the host."""
    import numpy
    for way in ("get", "cpu", "numpy"):
        if hasattr(value, way) and not isinstance(value, numpy.ndarray):
            value = getattr(value, way)()
    return numpy.asarray(value)


def is_fortran(array):
    return array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous


def fill_of(array):
    """zeros, constant, random (numbers of no order that another seed could have drawn) or other."""
    import numpy
    if array.size == 0 or array.dtype.kind not in "biuf":
        return "other"
    flat = array.reshape(-1)
    if (flat == flat[0]).all():
        return "other" if not numpy.isfinite(flat[0]) else "zeros" if flat[0] == 0 else "constant"
    some = flat[::max(1, flat.size // SAMPLE)]
    steps = numpy.diff(some.astype(numpy.float64))
    if (steps >= 0).all() or (steps <= 0).all():
        return "other"  # sorted: offsets, ranges
    if array.dtype.kind == "f":
        odd = (some != numpy.floor(some)).mean() if numpy.isfinite(some).all() else 0
        return "random" if len(numpy.unique(some)) > some.size // 2 and odd > 0.5 else "other"
    bounds = numpy.iinfo(array.dtype) if array.dtype.kind in "iu" else None
    whole = bounds is not None and float(some.max()) - float(some.min()) >= 0.9 * (float(bounds.max) - float(bounds.min))
    return "random" if whole else "other"


class Contents:
    """Writes contents of arrays, each once, however many calls use them."""

    def __init__(self, folder, largest_bytes):
        self.folder, self.largest_bytes, self.written = folder, largest_bytes, {}

    def write(self, array, wish):
        """The file's path in the folder, or nothing where the array is too large."""
        import numpy
        if array.nbytes > self.largest_bytes or array.dtype.hasobject:
            return None
        ordered = numpy.ascontiguousarray(array)
        key = (str(array.dtype), array.shape, hashlib.sha256(memoryview(ordered.reshape(-1).view("u1"))).hexdigest())
        if key not in self.written:
            path = self.folder / wish
            path.parent.mkdir(parents=True, exist_ok=True)
            text = io.BytesIO()
            numpy.lib.format.write_array_header_1_0(text, {"descr": numpy.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": array.shape})
            with open(path, "wb") as file:
                file.write(text.getvalue())
                ordered.tofile(file)
            self.written[key] = wish
        return self.written[key]


def has_answer(answer):
    return isinstance(answer, (list, tuple)) and any(one is not None for one in answer)


def of_array(value, name, wish, contents, notes, checked):
    """`checked`: whether results are compared with an answer, which only these very numbers have: else other random numbers will do."""
    array = host_array(value)
    if is_fortran(array):
        notes.append(f"{name}: the array is in Fortran order; it is kept as it lies in memory, its shape the other way round")
        array = array.T
    kind = fill_of(array)
    told = {"Name": name, "Type": TYPES.get(array.dtype.name, "custom"), "MemoryType": "Vector", "Size": int(array.size)}
    if kind in ("zeros", "constant"):
        told.update(FillType="Constant", FillValue=array.reshape(-1)[0].item())
    else:
        told.update(FillType="Random" if kind == "random" else "BinaryRaw")
        needed = checked or kind != "random"
        file = contents.write(array, wish) if needed else None
        if file is not None:
            told["DataSource"] = file
        elif needed and contents.largest_bytes > 0:  # else nobody wants any
            notes.append(f"{name}: its {array.nbytes} bytes are not kept, since arrays of more than {contents.largest_bytes} are left out")
    told.update(DType=array.dtype.name, Shape=list(array.shape), Fill=kind)
    bounds = [array.min().item(), array.max().item()] if array.size and array.dtype.kind in "iuf" else []
    if bounds and all(map(math.isfinite, bounds)):
        told.update(Minimum=bounds[0], Maximum=bounds[1])
    if told["Type"] == "custom":
        notes.append(f"{name}: elements of type {array.dtype.name} have no type in T1")
    return told


def of_scalar(value, name, declared, notes):
    if hasattr(value, "dtype"):
        kind, number = value.dtype.name, value.item()
    else:
        number = value
        kind = "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"
        notes.append(f"{name}: a Python {type(value).__name__}, taken as {kind}; Kernel Tuner asks for a type of NumPy")
    return {"Name": name, "Type": TYPES.get(kind, "custom"), "MemoryType": "Scalar", "FillType": "Constant", "FillValue": number, "DType": kind, "AccessType": "ReadOnly"}


def access(declared, answered, any_answers):
    """How the kernel uses an array: what is const, or has no answer while others do, is input."""
    if declared and "const" in declared.split("*")[0].split() and "*" in declared:
        return "ReadOnly"
    if any_answers:
        return "ReadWrite" if answered else "ReadOnly"
    return "ReadWrite"


def of_arguments(arguments, answer, declared, prefix, contents, notes, first_configuration, checked):
    """T1's Arguments, and reasons why they cannot be arguments of a template. `checked`: as of_array has it."""
    if declared is not None and len(declared) != len(arguments):
        notes.append(f"the kernel has {len(declared)} parameters and is given {len(arguments)} arguments; they are named by their number")
        declared = None
    told, problems = [], []
    listed = list(answer) if isinstance(answer, (list, tuple)) else []
    for index, value in enumerate(arguments):
        name, text = declared[index] if declared is not None else (f"argument_{index}", "")
        if hasattr(value, "select_for_configuration"):
            problems.append(f"{name}: a {type(value).__name__}, whose contents depend on the configuration")
            value = value.select_for_configuration(dict(first_configuration))
        if is_array(value):
            one = of_array(value, name, f"{prefix}{index}.npy", contents, notes, checked)
            one["AccessType"] = access(text, index < len(listed) and listed[index] is not None, has_answer(answer))
            one["Const"] = "const" in text.split("*")[0].split()
            told.append(one)
        elif hasattr(value, "dtype") or isinstance(value, (bool, int, float)):
            told.append(of_scalar(value, name, text, notes))
        else:
            problems.append(f"{name}: a {type(value).__name__} is neither an array nor a number")
            told.append({"Name": name, "Type": "custom", "MemoryType": "Scalar"})
    return told, problems


def of_symbols(symbols, prefix, contents, notes, checked):
    told = []
    for name, value in (symbols or {}).items():
        array = value if is_array(value) else None
        if array is None and hasattr(value, "reshape"):
            array = value.reshape(1)
        if array is None:
            notes.append(f"constant memory {name}: a {type(value).__name__}, not taken")
            continue
        one = of_array(array, name, f"{prefix}{Path(name).name}.npy", contents, notes, checked)
        one.update(MemoryType="Symbol", MemType="Constant", AccessType="ReadOnly")
        told.append(one)
    return told


def laid_like(array, argument):
    """The array in the order in which the argument lies in memory: Kernel Tuner compares them index by index."""
    argument = host_array(argument) if is_array(argument) else array
    return array.reshape(argument.shape).T if is_fortran(argument) and array.size == argument.size else array


def of_type(array, argument, name, notes):
    """The array in the argument's type where that says the same: numbers of NumPy's are of 64 bits easily, and are compared all the same."""
    import numpy
    kind = host_array(argument).dtype if is_array(argument) else array.dtype
    if array.dtype == kind or array.dtype.kind not in "iuf" or kind.kind not in "iuf":
        return array
    with numpy.errstate(all="ignore"):
        there = array.astype(kind)
    if kind.kind == "f" or numpy.array_equal(there, array):
        notes.append(f"answer of {name}: {array.dtype.name}, taken as {kind.name} as the argument is")
        return there
    return array


def of_answer(answer, arguments, declared_names, prefix, contents, notes, uncomputed):
    """What the results are checked against: an entry for each argument that has one. `uncomputed`: why answers are none, by their places."""
    told = []
    if answer is not None and not isinstance(answer, (list, tuple)):
        notes.append(f"answer: a {type(answer).__name__}, not taken; Kernel Tuner asks for a list")
    for index, value in enumerate(answer if isinstance(answer, (list, tuple)) else []):
        if value is None:
            continue
        name = declared_names[index] if index < len(declared_names) else f"argument_{index}"
        if hasattr(value, "select_for_configuration"):
            notes.append(f"answer of {name}: a {type(value).__name__}, not taken")
        elif index in uncomputed:
            told.append({"Argument": index, "Name": name, "NotComputed": uncomputed[index]})
        elif is_array(value):
            argument = arguments[index] if index < len(arguments) else value
            array = of_type(laid_like(host_array(value), argument), argument, name, notes)
            one = {"Argument": index, "Name": name, "DType": array.dtype.name, "Shape": list(array.shape), "Fill": fill_of(array)}
            file = contents.write(array, f"{prefix}{index}.npy")
            if file is not None:
                one["File"] = file
            elif contents.largest_bytes > 0:
                notes.append(f"answer of {name}: its {array.nbytes} bytes are not kept, since arrays of more than {contents.largest_bytes} are left out")
            told.append(one)
        else:
            number = value.item() if hasattr(value, "item") else value
            told.append({"Argument": index, "Name": name, "Value": number if isinstance(number, (int, float)) and math.isfinite(number) else str(number)})
    return told
