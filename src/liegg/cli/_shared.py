"""What the commands share: their options, how mistakes and interruptions end, progress bars."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer

from liegg._utils.errors import LieggError

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress bars and no text, only results.")
]

MISTAKE, INTERRUPTED = 2, 130
"""Exit codes; see `liegg --help`."""

PLAIN = "interrupted."
RESUMABLE = "interrupted. Type the same again to go on from there."


def print_json(value: dict[str, Any]) -> None:
    """A result on standard output."""
    from json import dumps

    typer.echo(dumps(value, indent=1, allow_nan=False))


@contextmanager
def mistakes(interrupted: str = PLAIN) -> Iterator[None]:
    """A user's mistake ends with its message and exit code 2, Ctrl-C with a word and 130; neither with a traceback.

    Args:
        interrupted: what to say at Ctrl-C.
    """
    try:
        yield
    except LieggError as error:
        fail(str(error))
    except KeyboardInterrupt:
        typer.echo(f"liegg: {interrupted}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def fail(message: str) -> NoReturn:
    """End with a message."""
    typer.echo(f"liegg: {message}", err=True)
    raise typer.Exit(MISTAKE)


@contextmanager
def bar(label: str, total: int, unit: str, *, hidden: bool) -> Iterator[Callable[[int], object]]:
    """Progress bar on a terminal's standard error; nothing when piped or asked to be quiet."""
    with named_bars(hidden, unit) as progress:
        yield lambda done: progress(label, done, total)


@contextmanager
def named_bars(hidden: bool, unit: str = "") -> Iterator[Callable[[str, int, int], object]]:
    """Progress bar whose label may change on the way, with the rate and the time left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(rate(task.finished_speed or task.speed, unit), style="progress.data.speed")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns,
        console=Console(stderr=True),
        disable=hidden or not sys.stderr.isatty(),
        transient=True,
    ) as shown:
        task = shown.add_task("", total=None)

        def advance(label: str, done: int, total: int) -> None:
            if (
                shown.tasks[0].total != total or shown.tasks[0].finished
            ):  # another piece of work begins
                shown.reset(task, total=total)
            shown.update(task, description=label, advance=done)

        yield advance


def rate(speed: float | None, unit: str) -> str:
    """A speed in words; empty while it is not known.

    >>> rate(12345.6, "samples"), rate(3.21, ""), rate(None, "samples")
    ('12,346 samples/s', '3.2/s', '')
    """
    if speed is None:
        return ""
    return f"{speed:,.{0 if speed >= 10 else 1}f}{f' {unit}' if unit else ''}/s"
