"""Table of bench/fleet_merge: bench/results/fleet_merge.json."""
import common


def cost(row, name):
    value = row.get(name)
    if not isinstance(value, dict):
        return ["-", "-", "-"]
    return [common.number(value["wall_s"]), common.number(value["cpu_s"]), common.number(value["peak_bytes"] / 2**20)]


def fleet_merge(root):
    path = root / "bench/results/fleet_merge.json"
    if not path.exists():
        return "Not recorded yet.\n"
    result = common.read_object(path)
    lines = []
    for row in result["rows"]:
        lines.append([str(row["shards"]), f"{row['records']:,}", common.number(row["merged_bytes"] / 1e9), *cost(row, "fleet_merge"), *cost(row, "db_merge")])
    return f"{result['cores']} processors, {result['date']}, content `{result['content']}`\n\n" + common.table(
        [("shards", True), ("records", True), ("merged, GB", True), ("fleet merge, s", True), ("CPU s", True), ("most memory, MiB", True),
         ("db merge of all at once, s", True), ("CPU s", True), ("most memory, MiB", True)], lines)
