"""The blocks of docs/howto-packages.md that need other packages, run in the environment that has these, and compared with the page."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = "docs/howto-packages.md"


def check(part: str) -> None:
    """Run the blocks of a part of the page.

    Args:
        part: the environment, such as `ani`.

    Raises:
        AssertionError: a block fails, or prints something else than the page shows.
    """
    sys.path.insert(0, str(ROOT / "tests"))
    import pages  # pyright: ignore[reportMissingImports]

    with tempfile.TemporaryDirectory() as folder:
        pages.check(PAGE, pages.run(PAGE, Path(folder), part), part)
    print(f"{PAGE}: the blocks of {part!r} print what the page shows")
