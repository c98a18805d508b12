"""Judge a series of traps in several processes and store one row per case, to try rules on.

Series 0 is for choosing thresholds; the error rates of `liegg reproduce traps` are of another one.
"""

import argparse
import json
import os
import time
from pathlib import Path

from liegg.studies.error_rates.parallel import starmap
from liegg.studies.error_rates.tally import Row
from liegg.studies.error_rates.traps_catalog import TRAP_FAMILIES, cases, judged
from liegg.studies.traps import summary, table
from result_files import store


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=0, help="seed of the series")
    parser.add_argument("--each", type=int, help="cases of each family; by default the full form")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument(
        "--families", nargs="*", default=[], help="only those whose name has a word"
    )
    parser.add_argument("--out", type=Path, default=Path("traps.json"))
    given = parser.parse_args()
    chosen = [
        family
        for family in TRAP_FAMILIES
        if not given.families or any(word in family for word in given.families)
    ]
    keys = [key for key in cases(given.series, each=given.each) if key.family in chosen]
    begin = time.perf_counter()
    partial = given.out.with_suffix(".jsonl")  # complete lines remain after an interruption
    with partial.open("w", encoding="utf-8") as lines:

        def keep(row: Row) -> None:
            lines.write(json.dumps(row) + "\n")
            lines.flush()

        asked = [(key,) for key in keys]
        rows = starmap(judged, asked, processes=given.processes, finished=keep)
    results = {"seeds": [given.series], "cases": rows, **summary(rows)}
    command = f"python benchmarks/traps.py --series {given.series}"
    store(results, given.out, command, begin=begin)
    partial.unlink()
    print(table(results))
    print(f"{len(rows)} cases in {time.perf_counter() - begin:.0f} s: {given.out}")


if __name__ == "__main__":
    main()
