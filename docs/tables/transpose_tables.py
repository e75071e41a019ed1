"""Tables of bench/transpose_vs_copy: bench/results/<device>/transpose_vs_copy.json."""
from common import MISSING, Malformed, number, provenance, ratio_text, results, rows_of, short_configuration, table


def share(part, whole):
    both = all(isinstance(value, (int, float)) and value > 0 for value in (part, whole))
    return f"{part / whole:.3f}" if both else MISSING


def transpose_vs_copy(root):
    text = ""
    for path, result in results(root, "transpose_vs_copy"):
        lines = []
        for row in rows_of(path, result):
            problem = row.get("problem")
            if not isinstance(problem, dict):
                raise Malformed(f"failed reading {path}: a row has no 'problem'")
            lines.append([problem.get("T", MISSING), f"{problem.get('rows', MISSING)} x {problem.get('columns', MISSING)}",
                          number(row.get("attune_us")), number(row.get("peer_us")), ratio_text(row),
                          share(row.get("peer_us"), row.get("default_us")), short_configuration(row.get("configuration"))])
        text += f"{provenance(result)}; {result.get('configurations', MISSING)} random configurations of each problem beside the default\n\n"
        text += table([("type", False), ("rows x columns", True), ("transpose, us", True), ("copy, us", True), ("copy / transpose", True),
                       ("copy / default", True), ("winner", False)], lines) + "\n"
    return text.rstrip("\n") + "\n" if text else "Not recorded yet.\n"
