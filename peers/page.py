"""The table of docs/peers.md, from results/peers.json and results/peers-graphs.json: `make test-peers STORE=--store` writes both."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MARK = "<!-- table -->\n"
HEAD = (
    "| network | weights | samples | derivatives | found | name | δ² found | next δ² | time | one forward and backward pass |",
    "|---|---|---|---|---|---|---|---|---|---|",
)


def rows(results: dict[str, Any]) -> list[str]:
    """A line to a network, as the page shows it."""
    return [
        f"| {title} | {row['parameters']:,} | {row['samples']} | {row['route']} | {row['nullity']} of {row['candidates']} | "
        f"{row['name'] if row['nullity'] else '-'} | {'-' if not row['nullity'] else format(row['largest_defect_found'], '.0e')} | "
        f"{row['next_defect']:.2f} | {row['seconds']:.1f} s | {row['forward_backward_seconds']:.2f} s |"
        for title, row in results["rows"].items()
    ]


def versions(results: dict[str, Any]) -> str:
    """What was run, in a sentence."""
    used = results["provenance"]["versions"]
    named = ", ".join(
        f"{name} {used[name].partition('+')[0]}"
        for name in ("transformers", "torch-geometric", "lgatr", "torch")
    )
    threads = results["provenance"]["threads"]
    return (
        f"Run with {named}, on {'one thread' if threads == 1 else f'{threads} threads'} of a CPU."
    )


def main() -> None:
    """Put the table and the versions into the page, between its two marks."""
    results, graphs = (
        json.loads((ROOT / "results" / f"{study}.json").read_text(encoding="utf-8"))
        for study in ("peers", "peers-graphs")
    )
    page = ROOT / "docs" / "peers.md"
    before, _, after = page.read_text(encoding="utf-8").split(MARK)
    table = "\n".join([versions(results), "", *HEAD, *rows(results), *rows(graphs)])
    page.write_text(f"{before}{MARK}\n{table}\n\n{MARK}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
