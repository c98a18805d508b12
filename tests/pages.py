"""Pages that run: python blocks are executed in order, one process to a page, and what they print is held to what the page shows.

A python block may be followed by a text block: what it printed. `python tests/pages.py --write` runs the pages again and rewrites
these blocks and the pictures that the pages save; `python tests/pages.py docs/tutorial.md` only looks whether they are as shown.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

SHOWN = (
    "docs/tutorial.md",
    "docs/howto-images.md",
    "docs/howto-points.md",
    "docs/howto-physics.md",
    "docs/howto-layers.md",
    "docs/howto-ci.md",
    "docs/howto-large.md",
    "docs/faq.md",
)
"""Pages whose blocks all show what they print."""

TOLERANCE = 0.05
"""Relative difference up to which two printed numbers are one: rounding differs between machines, and training makes it larger."""

ROUNDING = 1e-10
"""Numbers below this are all rounding."""

PAIR = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\s*^```text\n(?P<shown>.*?)^```$)?",
    flags=re.DOTALL | re.MULTILINE,
)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
PICTURE = re.compile(r"\]\(images/([\w-]+\.png)\)")

DRIVER = """
import contextlib, io, json, sys
names = {"__name__": "__main__"}
printed = []
for line, code in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\\n" * line + code, sys.argv[1], "exec"), names)
    printed.append(out.getvalue())
print(json.dumps(printed))
"""
"""What runs in the page's process; lines are those of the page, so that an error names them."""


@dataclass(frozen=True)
class Block:
    """A python block of a page.

    Attributes:
        line: lines of the page before its code.
        code: what runs.
        shown: what the page says it prints; None if it says nothing.
    """

    line: int
    code: str
    shown: str | None


def blocks(text: str) -> list[Block]:
    """Python blocks of a page, each with the text block that follows it."""
    return [
        Block(text[: found.start("code")].count("\n"), found["code"], found["shown"])
        for found in PAIR.finditer(text)
    ]


def run(page: str, folder: Path) -> list[str]:
    """Run a page's blocks in a process of their own, warnings as errors, and return what each of them printed.

    Args:
        page: path below the repository.
        folder: where the code runs and leaves its files.

    Raises:
        AssertionError: a block failed; the message is its traceback, with the lines of the page.
    """
    given = json.dumps(
        [(block.line, block.code) for block in blocks((ROOT / page).read_text(encoding="utf-8"))]
    )
    command = [sys.executable, "-W", "error", "-c", DRIVER, page]
    alone = os.environ | {
        "OMP_NUM_THREADS": "1"
    }  # small models are no faster with more, and much slower where cores are shared
    done = subprocess.run(
        command, input=given, capture_output=True, encoding="utf-8", cwd=folder, env=alone
    )
    if done.returncode:
        raise AssertionError(f"{page} fails:\n{done.stderr}")
    return json.loads(done.stdout)


def difference(shown: str, printed: str) -> str:
    """Why two texts are not the same: other words, or a number that is off; empty if they are. Spaces do not count.

    >>> difference("3 symmetries, up to 0.0140", "3 symmetries,  up to 0.0143")
    ''
    >>> difference("3 symmetries, up to 0.0140", "4 symmetries, up to 0.0140")
    "the page shows '3', the code prints '4'"
    """
    words = [" ".join(NUMBER.sub("#", text).split()) for text in (shown, printed)]
    if words[0] != words[1]:
        at = next(
            (i for i, (a, b) in enumerate(zip(*words, strict=False)) if a != b),
            min(map(len, words)),
        )
        place = slice(max(0, at - 40), at + 60)
        return f"the page shows {words[0][place]!r}, the code prints {words[1][place]!r}"
    for one, other in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        low, high = sorted((abs(float(one)), abs(float(other))))
        same = float(one) * float(other) >= 0 and high - low < TOLERANCE * high
        if not (same or high < ROUNDING or low == high == 0):
            return f"the page shows {one!r}, the code prints {other!r}"
    return ""


def check(page: str, printed: list[str]) -> None:
    """Fail unless every text block of a page shows what the block before it printed."""
    for block, said in zip(blocks((ROOT / page).read_text(encoding="utf-8")), printed, strict=True):
        if block.shown is not None and (why := difference(block.shown, said)):
            raise AssertionError(
                f"{page}, after line {block.line}: {why}. To show what it prints now: python tests/pages.py --write"
            )


def rewritten(text: str, printed: list[str]) -> str:
    """The page with every text block replaced by what was printed; a block that prints and has none gets one."""
    left = iter(printed)

    def replaced(found: re.Match[str]) -> str:
        said = "\n".join(line.rstrip() for line in next(left).splitlines())
        code = f"```python\n{found['code']}```"
        return f"{code}\n\n```text\n{said}\n```" if said else code

    return PAIR.sub(replaced, text)


def pictures(page: str) -> list[str]:
    """Pictures that a page shows and its own code has to make, by name."""
    stem = Path(page).stem
    return [
        name
        for name in PICTURE.findall((ROOT / page).read_text(encoding="utf-8"))
        if name.startswith(stem)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the pages that show what their code prints.")
    parser.add_argument(
        "pages", nargs="*", default=SHOWN, help="such as docs/tutorial.md; by default all"
    )
    parser.add_argument(
        "--write", action="store_true", help="rewrite the text blocks and the pictures"
    )
    given = parser.parse_args()
    for page in given.pages:
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            printed = run(page, Path(folder))
            if given.write:
                path = ROOT / page
                path.write_text(
                    rewritten(path.read_text(encoding="utf-8"), printed), encoding="utf-8"
                )
                for name in pictures(page):
                    (ROOT / "docs" / "images" / name).write_bytes(
                        (Path(folder) / name).read_bytes()
                    )
            else:
                check(page, printed)
            print(f"{page}: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
