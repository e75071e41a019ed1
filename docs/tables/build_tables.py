"""The tables of docs/building.md: bench/results/builds/builds.json (tools/measure_builds.py) and build_times.json (tools/build_times.sh)."""
import common


def seconds(value):
    return f"{int(value) // 60} min {int(value) % 60:02d} s" if value >= 60 else f"{value:.1f} s"


def where(result):
    return f"{result['cores']} cores of {result['processor']}, {result['compiler']}, {result['date']}\n\n"


def load(root, name):
    return common.read_object(root / "bench/results/builds" / name)


def builds(root):
    result = load(root, "builds.json")
    lines = [[row["what"], seconds(row["wall_s"]), seconds(row["cpu_s"])] for row in result["rows"]]
    return where(result) + common.table([("what", False), ("time", True), ("CPU time", True)], lines)


def slow_tests(root):
    result = load(root, "builds.json")
    return common.table([("test", False), ("time", True)], [[row["test"], seconds(row["wall_s"])] for row in result["tests"][:12]])


def build_folders(root):
    result = load(root, "build_times.json")
    lines = [[row["folder"], common.number(row["cpu_s"])] for row in result["folders"][:14]]
    text = where(result) + f"Preset {result['preset']}: {result['files']} files compiled in {result['compile_s']:.0f} CPU seconds, " \
        f"{result['links']} linked in {result['link_s']:.0f}.\n\n"
    return text + common.table([("folder", False), ("CPU s", True)], lines)


def build_headers(root):
    result = load(root, "build_times.json")
    lines = [[f"`{row['header']}`", f"{row['one_s']:.2f}", str(row["files"]), f"{row['cpu_s']:.0f}"] for row in result["headers"]]
    return common.table([("header", False), ("CPU s to read", True), ("compiled files that read it", True), ("CPU s in all", True)], lines)


def before_and_after(root):
    result = load(root, "before_and_after.json")

    def shown(values):
        ordered, half = sorted(values), len(values) // 2
        middle = ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2
        return f"{common.number(middle)} ({common.number(ordered[0])} to {common.number(ordered[-1])})"

    lines = [[row["what"], row["unit"], shown(row["before"]), shown(row["after"])] for row in result["rows"]]
    return f"{result['device']['name']}, driver {result['driver']}, CUDA {result['cuda']}, {result['date']}, content `{result['before_content']}` " \
        f"before, `{result['content']}` after; {result['method']}; median (least to greatest)\n\n" \
        + common.table([("what", False), ("", False), ("before", True), ("after", True)], lines)
