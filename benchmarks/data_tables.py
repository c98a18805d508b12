"""Tables of docs/data-sets.md from stored results."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "data-sets.md"


def write_tables(
    found: dict[str, Any], tables: Mapping[str, Callable[[dict[str, Any]], list[str]]]
) -> None:
    """Put tables between their marks in the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in tables.items():
        begin = f"<!-- table: {name} -->\n"
        before, rest = text.split(begin)
        after = rest[rest.index("<!-- end -->") :]
        text = before + begin + "\n" + "\n".join(lines(found)) + "\n\n" + after
    PAGE.write_text(text, encoding="utf-8")
