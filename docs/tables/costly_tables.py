"""Table of bench/costly_kernels and bench/costly_kernels_peer.py: bench/results/<device>/costly_kernels.json."""
from common import MISSING, number, provenance, results, rows_of, table


def figure(value, unit=1):
    """Counts as they are."""
    if isinstance(value, int) and unit == 1:
        return str(value)
    return number(value / unit) if isinstance(value, (int, float)) else MISSING


def seeds(values, unit=1):
    """What each seed gave, in their order."""
    return ", ".join(figure(value, unit) for value in values)


def costly_kernels(root):
    text = ""
    for path, result in results(root, "costly_kernels"):
        groups = {}
        for row in rows_of(path, result):
            peer = row.get("peer", MISSING)
            name = f"{peer}, compared on the {row['compare']}" if "compare" in row else peer
            groups.setdefault((row.get("kernel", MISSING), name), []).append(row)
        lines = []
        for (kernel, peer), rows in sorted(groups.items()):
            of_all = [[row.get(key) for row in rows] for key in ("command_s", "decided", "verified", "best_us")]
            lines.append([kernel, peer, figure(rows[0].get("budget_s")), seeds(of_all[0]), seeds(of_all[1]), figure(rows[0].get("space")),
                          seeds(of_all[2]), seeds(of_all[3], 1000)])
        text += provenance(result)
        if "peer" in result:
            text += f"; {result['peer'].get('peer_version', MISSING)}, {result['peer'].get('date', MISSING)}"
        text += "\n\n"
        text += table([("kernel", False), ("tuner", False), ("budget, s", True), ("command, s", True), ("decided", True), ("of", True),
                       ("verified", True), ("best, ms", True)], lines) + "\n"
    return text.rstrip("\n") + "\n" if text else "Not recorded yet.\n"
