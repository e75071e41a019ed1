#!/usr/bin/env python3
"""Generates the tables of README.md and docs/*.md from recorded results, so that no number is typed by hand.

A table stands between two marker lines:

    <!-- table:reduce_vs_cub -->
    ...
    <!-- /table -->

Each table is made by the function of its name in a module beside this one, whose first lines say which recorded results it reads:
reduce_tables, histogram_tables, dispatch_tables, tuning_tables, ladder_tables, histogram_ladder_tables, evidence_tables, build_tables,
promise_table, transpose_tables, again_tables, costly_tables, peers_tables, search_tables, readme_tables, fleet_tables.

    docs/tables/doc_tables.py            rewrites the files
    docs/tables/doc_tables.py --check    changes nothing; exit code 1 and the file's name when a table is not up to date
"""
import argparse
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the script may lie in a tree that is not to change
import again_tables
import build_tables
import costly_tables
import dispatch_tables
import histogram_ladder_tables
import histogram_tables
import ladder_tables
import peers_tables
import promise_table
import readme_tables
import reduce_tables
import evidence_tables
import fleet_tables
import search_tables
import transpose_tables
import tuning_tables
from common import Malformed

MARKED = re.compile(r"(<!-- table:([a-z0-9_]+) -->\n)(.*?)(<!-- /table -->)", re.DOTALL)
OPENING = re.compile(r"<!-- table:")
MADE_BY = (
    readme_tables.three_numbers, readme_tables.tune_reduce_short,
    reduce_tables.reduce_vs_cub, reduce_tables.reduce_ratios, reduce_tables.reproducible_cost, reduce_tables.read_ceiling,
    histogram_tables.histogram_vs_cub, histogram_tables.histogram_ratios,
    dispatch_tables.dispatch_random, dispatch_tables.ragged_sizes, dispatch_tables.dispatch_overhead,
    tuning_tables.search_quality, tuning_tables.renewal, tuning_tables.own_kernel, tuning_tables.tune_reduce, tuning_tables.tuning_rate, tuning_tables.winner_repeat,
    tuning_tables.large_search_repeats, tuning_tables.large_search_repeats_again, tuning_tables.large_search_finalists, again_tables.vs_cub_again,
    ladder_tables.ladder_rungs, ladder_tables.rules_of_thumb, histogram_ladder_tables.histogram_ladder, histogram_ladder_tables.histogram_rules,
    transpose_tables.transpose_vs_copy, costly_tables.costly_kernels, peers_tables.peers,
    search_tables.search_score, search_tables.search_score_files, search_tables.search_score_warm, search_tables.search_score_spaces,
    search_tables.search_score_peers,
    fleet_tables.fleet_merge, fleet_tables.fleet_scaling,
    evidence_tables.gpu_tests, evidence_tables.sanitizers, evidence_tables.fuzzers,
    build_tables.builds, build_tables.slow_tests, build_tables.build_folders, build_tables.build_headers, build_tables.before_and_after)
TABLES = {make.__name__: make for make in MADE_BY}
TABLES["promises"] = lambda root: promise_table.promise_table(root, {"dispatch_random": dispatch_tables.between_tuned_sizes})


def regenerate(root, path):
    """The file's text with every table as it should be."""
    text = path.read_text(encoding="utf-8")
    if len(MARKED.findall(text)) != len(OPENING.findall(text)):
        raise Malformed(f"failed reading {path}: a '<!-- table:NAME -->' line has no '<!-- /table -->' line after it")

    def replace(match):
        name = match.group(2)
        if name not in TABLES:
            raise Malformed(f"failed reading {path}: no table is called '{name}'; there are {', '.join(sorted(TABLES))}")
        try:
            return match.group(1) + TABLES[name](root) + match.group(4)
        except (AttributeError, LookupError, TypeError, ValueError, ZeroDivisionError) as error:
            raise Malformed(f"failed making the table '{name}' of {path}: a recorded result does not hold what it needs ({type(error).__name__}: {error})") from error

    return MARKED.sub(replace, text)


def main():
    parser = argparse.ArgumentParser(description="Generates the tables of README.md and docs/*.md from recorded results.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 when a table is not up to date")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="the repository")
    arguments = parser.parse_args()
    root = arguments.root
    stale = []
    try:
        for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
            if not path.exists():
                continue
            wanted = regenerate(root, path)
            if wanted == path.read_text(encoding="utf-8"):
                continue
            stale.append(path.relative_to(root))
            if not arguments.check:
                path.write_text(wanted, encoding="utf-8")
    except Malformed as error:
        print(f"doc_tables: {error}", file=sys.stderr)
        return 2
    for path in stale:
        print(f"{path}: a table differs from the recorded results; run docs/tables/doc_tables.py" if arguments.check
              else f"{path}: rewritten")
    return 1 if stale and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
