"""Table of bench/peers.py: bench/results/<device>/peers.json."""
from common import MISSING, number, provenance, results, rows_of, table


def found(tuner):
    """Configurations decided, the seconds of the search, and the time of the best one."""
    if not tuner:
        return [MISSING] * 3
    decided = str(tuner["decided"]) + (f" ({tuner['failed']} failed)" if tuner.get("failed") else "")
    return [decided, number(tuner.get("command_s")), number(tuner.get("best_us"))]


def reason(told):
    """The last line that names an error; what compilers and interpreters print around it is no use to a reader."""
    lines = [line.strip() for line in told.strip().splitlines()]
    named = [line for line in lines if "error:" in line.lower()]
    return (named or lines)[-1]


def peers(root):
    text = ""
    for path, result in results(root, "peers"):
        columns = [("script", False), ("kernel", False), ("space", True), ("answer", False), ("Kernel Tuner: decided", True), ("s", True), ("best, us", True),
                   ("attune: decided", True), ("s", True), ("best, us", True), ("attune / Kernel Tuner", True)]
        lines = []
        for row in rows_of(path, result):
            if "failed" in row:
                lines.append([row["script"], "failed"] + [MISSING] * (len(columns) - 2))
                continue
            ours = row.get("attune") or {}
            over = row.get("over_peer")
            lines.append([row["script"], row["kernel"], str(ours.get("space", MISSING)), row.get("answer") or MISSING, *(["failed", MISSING, MISSING] if "peer_error" in row else found(row.get("kernel_tuner"))), *found(row.get("attune")),
                          f"{over:.3f}" if isinstance(over, float) else MISSING])
        policy = f"; attune tunes for times of {result['policy']}" if "policy" in result else ""
        text += f"{provenance(result)}; {result.get('peer_version', MISSING)}, {result.get('seconds', MISSING)} s each{policy}\n\n"
        text += table(columns, lines) + "\n"
        stopped = [f"- {row['script']}: `{reason(row['peer_error'])}`\n" for row in rows_of(path, result) if row.get("peer_error")]
        text += "Where Kernel Tuner failed:\n\n" + "".join(stopped) + "\n" if stopped else ""
    return text.rstrip("\n") + "\n" if text else "Not recorded yet.\n"
