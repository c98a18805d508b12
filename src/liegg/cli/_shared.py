"""Shared by the commands: panels and options of the help, exit codes, progress bars."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from liegg._utils.errors import LieggError
from liegg._utils.interrupts import Terminated, terminated_as_interrupted
from liegg._utils.text import printable

INPUT, QUESTION, TRUST, OUTPUT, LARGE_RUNS = "Input", "Question", "Trust", "Output", "Large runs"
"""Panels of the help."""

ACTION_EXAMPLES = {
    "linear:3": "linear maps of a vector in 3 dimensions",
    "linear:5x2": "the same linear map of two vectors in 5 dimensions",
    "affine:3x20": "linear maps and translations of 20 points in space",
    "tensor:3:2:symmetric": "linear maps of space on a symmetric matrix, such as stress",
    "irrep:2": "rotations on the 5 components of degree 2",
    "image": "linear maps of the plane about the centre of an image",
    "image:affine": "linear maps and translations of the plane",
    "image:similarity": "rotation, scaling and translations",
    "image:euclidean": "rotation and translations",
    "image:affine:28x28": "the same for flattened images",
    "image+color": "the plane and the colours in one spectrum",
    "color": "affine maps of the colours",
    "volume": "linear maps of space, for volumes",
    "sequence": "stretching time about the middle",
    "sequence:affine": "stretching and shifting time",
}
"""What tab completion offers for an action."""


def option(
    panel: str,
    help: str,  # noqa: A002
    *names: str,
    choices: Mapping[str, str] | None = None,
) -> Any:
    """An option of a panel of the help.

    Args:
        panel: its title.
        help: the text.
        names: how it is written; by default as the parameter is called.
        choices: words that tab completion offers, and what each means.
    """

    def complete(incomplete: str) -> list[tuple[str, str]]:
        return [entry for entry in (choices or {}).items() if entry[0].startswith(incomplete)]

    return typer.Option(
        *names, help=help, rich_help_panel=panel, autocompletion=complete if choices else None
    )


Json = Annotated[bool, option(OUTPUT, "Print the result as JSON and nothing else.", "--json")]
Variance = Annotated[
    bool, option(OUTPUT, "Print the paper's symmetry variance as well.", "--variance")
]
Quiet = Annotated[bool, option(OUTPUT, "Print only the result, no progress bar.", "--quiet", "-q")]
Classes = Annotated[
    str | None,
    option(OUTPUT, "Names of the classes for the report: cat,dog,… or a .txt file, one per line."),
]

USER_ERROR, INTERRUPTED, TERMINATED = 2, 130, 143
"""Exit codes; see `liegg --help`."""

STOPPED = "interrupted."
RESUMABLE = "interrupted. Repeat the command to resume."
"""What is printed after Ctrl-C."""


def echo(text: str, *, newline: bool = True) -> None:
    """Print to standard output.

    Raises:
        LieggError: it cannot be written to, as on a full disk.
        BrokenPipeError: its reader is gone; typer ends the command without a word.
    """
    try:
        typer.echo(text, nl=newline)
    except BrokenPipeError:
        raise
    except OSError as error:
        with suppress(OSError, ValueError):  # what is still buffered would fail again at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise LieggError(
            f"standard output cannot be written: {error.strerror or error}. Free some space, or name "
            "another file."
        ) from error


def print_json(value: dict[str, Any]) -> None:
    """Print a result as JSON to standard output."""
    from json import dumps

    echo(dumps(value, indent=1, allow_nan=False))


INFINITESIMAL = (
    "The continuous motions alone, from derivatives, which do not see the finite elements above:"
)
"""What separates the continuous symmetries from the group, which may be finite where no motion is a symmetry."""


def print_result(
    sym: Any, layers: Any, short: str, *, json: bool, quiet: bool, variance: bool, group: Any = None
) -> None:
    """Print a result, with its group and its layers if these are not None.

    Args:
        sym: `Symmetries`.
        layers: `LayerSymmetries` or None.
        short: the text for --quiet.
        json: print JSON.
        quiet: print the short text.
        variance: print the paper's variance as well.
        group: `GroupSymmetries` or None.
    """
    from liegg.results.layers import first_question

    if json:
        more = {} if layers is None else {"layers": layers.to_dict()}
        if group is not None:  # its continuous part is what stands beside it
            more["group"] = group.to_dict() | {"continuous": None}
        print_json(sym.to_dict() | more)
    elif quiet:
        echo(short)
    else:
        parts = [sym.table(variance=variance)]
        if layers is not None:
            about = first_question(sym, layers) or None
            parts.append(layers.table(about, variance=variance))
        if group is not None:
            parts = [group.table(), f"{INFINITESIMAL}\n{parts[0]}", *parts[1:]]
        echo(printable("\n\n".join(parts)))


def deliver(
    results: tuple[Any, ...],
    say: Callable[[], None],
    store: Callable[[Path], Path],
    *,
    out: Path | None,
    hidden: bool,
) -> BrokenPipeError | None:
    """Print results and store them: what cannot be printed is stored, and what cannot be stored in its place, elsewhere.

    Args:
        results: what was found; None for parts that were not asked.
        say: prints them.
        store: writes them into a folder and returns the page.
        out: the folder; None if the result is only printed.
        hidden: whether nothing but the result is printed.

    Returns:
        The error if the reader of standard output is gone.

    Raises:
        LieggError: something could not be printed or stored; the message says where the results are.
    """
    from liegg._utils.errors import RecordError, ReportError
    from liegg.results.run_folder import save_elsewhere

    unprinted = None
    try:
        say()
    except (LieggError, BrokenPipeError) as error:
        unprinted = error
    if out is not None:
        try:
            page = store(out)
        except ReportError:
            raise
        except RecordError as error:
            raise RecordError(f"{error} {save_elsewhere(*results)}") from error
        if not hidden and unprinted is None:
            echo(f"\nRun folder: {out}\nReport: {page}")
    if isinstance(unprinted, LieggError):
        place = save_elsewhere(*results) if out is None else f"The result is stored in {out}."
        raise LieggError(f"{unprinted} {place}")
    return unprinted


IN_PYTHON = (
    (r"(?<!')\b(?:liegg\.)?Linear\((\d+), copies=(\d+)[^)]*\)", r"linear:\1x\2"),
    (r"(?<!')\b(?:liegg\.)?Affine\((\d+), copies=(\d+)[^)]*\)", r"affine:\1x\2"),
    (r"(?<!')\b(?:liegg\.)?Linear\((\d+)\)", r"linear:\1"),
    (r"(?<!')\b(?:liegg\.)?Affine\((\d+)\)", r"affine:\1"),
    (r"\bliegg\.Image\(\)", "image"),
    (r"\bat=(?=['\"\s])", "--at "),
    (r"\b(outputs|output|question|target|task|seed|checkpoint|timeout|bottom|route)=", r"--\1 "),
    (r"\bbatch_size=", "--batch-size "),
    (r"\bcontrol_draws=", "--control-draws "),
    (r"\bcheckpoint_every=", "--checkpoint-every "),
    (r"\bheld_out=?", "--held-out "),
)
"""Python expressions in messages of the library, and the command-line option for each; text in quotes is left as typed."""


def print_error(message: str) -> None:
    """Print a message to standard error, in the words of the command line; it cannot steer the terminal."""
    for python, words in IN_PYTHON:
        message = re.sub(python, words, message)
    with suppress(OSError):  # standard error is full or closed; the exit code remains
        typer.echo(f"liegg: {printable(message)}", err=True)


@contextmanager
def exit_codes(interrupted: str = STOPPED) -> Iterator[None]:
    """Turn an error of the user into a message and exit code 2, Ctrl-C into 130, and SIGTERM into 143.

    Args:
        interrupted: what to print after Ctrl-C or SIGTERM.
    """
    try:
        with terminated_as_interrupted():
            yield
    except LieggError as error:
        print_error(str(error))
        raise typer.Exit(USER_ERROR) from None
    except Terminated:
        print_error(interrupted)
        raise typer.Exit(TERMINATED) from None
    except KeyboardInterrupt:
        print_error(interrupted)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def progress_bar(
    label: str, total: int, unit: str, *, hidden: bool
) -> Iterator[Callable[[int], object]]:
    """Show a progress bar on standard error; nothing if that is not a terminal, or if hidden."""
    with progress_bars(hidden, unit) as advance:
        yield lambda done: advance(label, done, total)


@contextmanager
def progress_bars(hidden: bool, unit: str = "") -> Iterator[Callable[[str, int, int], object]]:
    """Show a progress bar whose label may change, with the rate and the time left."""
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

    class RateColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(rate(task.finished_speed or task.speed, unit), style="progress.data.speed")

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=hidden or not sys.stderr.isatty(),
        transient=True,
    ) as progress:
        task = progress.add_task("", total=None)

        def advance(label: str, done: int, total: int) -> None:
            if progress.tasks[0].total != total or progress.tasks[0].finished:
                progress.reset(task, total=total)  # the next piece of work begins
            progress.update(task, description=label, advance=done)

        yield advance


def increments(
    label: str, advance: Callable[[str, int, int], object]
) -> Callable[[int, int], None]:
    """Progress of a verification, which counts from its start, for a bar that counts steps."""
    seen = 0

    def report(done: int, total: int) -> None:
        nonlocal seen
        if done > seen:
            advance(label, done - seen, total)
        seen = done

    return report


def rate(speed: float | None, unit: str) -> str:
    """A speed as text; empty while it is not known.

    >>> rate(12345.6, "samples"), rate(3.21, ""), rate(None, "samples")
    ('12,346 samples/s', '3.2/s', '')
    """
    if speed is None:
        return ""
    return f"{speed:,.{0 if speed >= 10 else 1}f}{f' {unit}' if unit else ''}/s"
