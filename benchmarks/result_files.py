"""Options that the benchmarks share, how they store their results, and how pages quote them."""

import argparse
import time
from pathlib import Path
from typing import Any

from liegg.studies.provenance import provenance, write_json

RESULTS, DOCS = (Path(__file__).parents[1] / name for name in ("results", "docs"))


def options(description: str | None, file: str, *, quick: str) -> argparse.ArgumentParser:
    """The options `--quick` and `--out`; results are stored as this file in `results` by default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--out", type=Path, default=RESULTS / file)
    return parser


def store(
    results: dict[str, Any], out: Path, command: str, *, begin: float, device: str = "cpu"
) -> None:
    """Write results with their provenance; `begin` is the value of `time.perf_counter` at the start."""
    origin = provenance(command, seconds=time.perf_counter() - begin, device=device)
    write_json(results | {"provenance": origin}, out)


def put_tables(page: Path, found: dict[str, str]) -> None:
    """Put tables between the comments of a page that name them."""
    text = page.read_text(encoding="utf-8")
    for name, table in found.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        start = text.index(begin) + len(begin)
        text = f"{text[:start]}{table}\n{text[text.index(end) :]}"
    page.write_text(text, encoding="utf-8")
