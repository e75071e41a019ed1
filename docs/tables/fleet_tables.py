"""Tables of bench/fleet_merge (bench/results/fleet_merge.json) and bench/fleet_scaling (bench/results/<device>/fleet_scaling*.json)."""
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


def fleet_scaling(root):
    text = ""
    for path in sorted(root.glob("bench/results/*/fleet_scaling*.json")):
        result = common.read_object(path)
        lines = []
        for row in result["rows"]:
            shard_s = ", ".join(common.number(task["command_s"]) for task in row["alone"])
            lines.append([str(row["gpus"]), f"{row['problems']:,}", f"{common.number(row['one_by_one_s'])} ({shard_s})", common.number(row["together_s"]), common.number(row["merge_s"]),
                          *(f"{common.number(row[name])}x" for name in ("speedup", "speedup_with_merge", "speedup_over_single_task"))])
        text += f"{result['device']['name']}, driver {result['driver']}, {result['date']}, content `{result['content']}`\n\n" + common.table(
            [("GPUs and shards", True), ("problems", True), ("tasks one after the other, s", True), ("at once, s", True), ("merge, s", True),
             ("speed-up", True), ("with the merge", True), ("over one task", True)], lines) + "\n"
    return text or "Not recorded yet.\n"
