"""What the modules of tables share: reading results, and text of a table."""
import json
import math
from collections import Counter

MISSING = "not recorded"


class Malformed(Exception):
    """A file that cannot be made a table of; the text names it."""


def read_object(path):
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Malformed(f"failed reading {path}: {error}") from error
    if not isinstance(value, dict):
        raise Malformed(f"failed reading {path}: expected a JSON object")
    return value

def number(value):
    """Four significant digits without an exponent, as the reports write them."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return MISSING
    if value == 0:
        return "0"
    rounded = float(f"{value:.4g}")
    decimals = max(3 - math.floor(math.log10(abs(rounded))), 0)
    return f"{rounded:.{decimals}f}"


def count(value):
    """1048576 -> 2^20; other counts as they are."""
    if isinstance(value, int) and value >= 1024 and value & (value - 1) == 0:
        return f"2^{value.bit_length() - 1}"
    return str(value)


def short_configuration(text):
    """{"block_size":256,"items":4} -> block_size=256 items=4"""
    try:
        configuration = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return str(text)
    if not isinstance(configuration, dict):
        return MISSING if configuration is None else str(configuration)
    return " ".join(f"{name}={value if isinstance(value, str) else json.dumps(value)}"
                    for name, value in sorted(configuration.items()))


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(columns, rows):
    """columns: (title, is it a number?)"""
    lines = ["| " + " | ".join(title for title, _ in columns) + " |",
             "| " + " | ".join("---:" if right else "---" for _, right in columns) + " |"]
    lines += ["| " + " | ".join(cell(text) for text in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def provenance(result):
    device = result.get("device")
    name = device.get("name", MISSING) if isinstance(device, dict) else device or MISSING
    return (f"{name}, driver {result.get('driver', MISSING)}, CUDA {result.get('cuda', MISSING)}, "
            f"{result.get('date', MISSING)}, content `{result.get('content', MISSING)}`")


def results(root, bench):
    """(path, result) of every device that has this benchmark. bench may be a pattern: several files of a device."""
    return [(path, read_object(path)) for path in sorted((root / "bench" / "results").glob(f"*/{bench}.json"))]


def rows_of(path, result):
    rows = result.get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Malformed(f"failed reading {path}: 'rows' is no list of objects")
    return rows


def tiers(rows):
    """Where dispatch took the configurations of these rows from; nothing where no row tells it."""
    counted = Counter(row["tier"] for row in rows if isinstance(row.get("tier"), str))
    return "; dispatched from: " + ", ".join(f"{tier} {times}" for tier, times in counted.most_common()) if counted else ""


def error_text(row):
    reason = str(row["error"])
    return reason if reason.startswith("not measured") else f"not measured: {reason}"


def ratio_text(row):
    if not isinstance(row.get("ratio"), (int, float)):
        return MISSING
    spread = row.get("spread")
    # Either the relative half interval of the paired ratio, or those of both sides: independent ones add in squares.
    widths = [spread.get(side) for side in ("attune", "peer")] if isinstance(spread, dict) else [spread]
    if not all(isinstance(width, (int, float)) for width in widths):
        return f"{row['ratio']:.3f}"
    return f"{row['ratio']:.3f} ± {row['ratio'] * math.hypot(*widths):.3f}"


def geometric_mean(values):
    return f"{math.exp(sum(map(math.log, values)) / len(values)):.3f}" if values else MISSING


def percent(share):
    return f"{100 * share:.0f} %" if isinstance(share, (int, float)) else MISSING


def tenths(share):
    return f"{round(100 * share, 1) + 0.0:.1f} %" if isinstance(share, (int, float)) else MISSING  # + 0.0: no "-0.0 %"


def captured(root, command):
    """What the command itself printed on each device, word for word."""
    blocks = [path.read_text(encoding="utf-8").strip("\n") for path in sorted((root / "bench" / "results").glob(f"*/{command}.txt"))]
    return "".join(f"```text\n{block}\n```\n" for block in blocks) or "No output is recorded yet.\n"


def problem_text(problem):
    """What is the same in a whole table: everything but the size."""
    return ", ".join(f"{axis}={problem[axis]}" for axis in sorted(problem) if axis != "n")
