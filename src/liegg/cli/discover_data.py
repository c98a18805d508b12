"""`liegg discover` without a model: the symmetries of a data set."""

from types import SimpleNamespace
from typing import Any

import typer

from liegg._utils.errors import RecordError, ReportError
from liegg.cli._shared import echo, print_result, progress_bar

QUESTIONS = ("density", "support", "discriminator")
"""What can be asked of a data set."""

NEEDS_MODEL: dict[str, Any] = {
    "weights": None,
    "trust_model": False,
    "device": None,
    "output_action": None,
    "outputs": "each",
    "target": None,
    "output": None,
    "about": None,
    "layers": False,
    "control": None,
    "control_draws": None,
    "route": "auto",
    "bottom": None,
    "checkpoint": None,
    "classes": None,
}
"""Options that are about a model, with their defaults."""


def discover_data(options: SimpleNamespace) -> None:
    """Load, analyse, write and print; the options are the parameters of `liegg discover`."""
    import liegg
    from liegg.cli import files
    from liegg.cli.actions import parse_action, parse_thresholds
    from liegg.results.run_folder import Clock, check_run_folder, save_elsewhere, write_run

    for name, default in NEEDS_MODEL.items():
        if getattr(options, name) != default:
            flag = f"--{name.replace('_', '-')}"
            raise typer.BadParameter(f"{flag} needs a model: pass --model, or leave {flag} out.")
    if options.question not in QUESTIONS:
        raise typer.BadParameter(
            f"--question {options.question}: expected {', '.join(QUESTIONS[:-1])} or {QUESTIONS[-1]}."
        )
    clock, hidden = Clock(), options.quiet or options.json
    action = parse_action(options.action, options.names)
    thresholds = liegg.Thresholds(**parse_thresholds(options.limit or []))
    samples = files.load_samples(options.data, options.held_out, options.groups)
    count = len(samples.analysed)
    labels = None if options.labels is None else files.load_array(options.labels)[:count]
    if options.out is not None:
        check_run_folder(options.out)
    clock.note(f"loaded {count} samples of {options.data}")
    with progress_bar("reading the data", count, "samples", hidden=hidden) as progress:
        sym = liegg.discover_data(
            samples.analysed,
            action,
            question=options.question,
            labels=labels,
            held_out=samples.held_out,
            groups=samples.groups,
            seed=options.seed,
            thresholds=thresholds,
            batch_size=options.batch_size,
            progress=progress,
        )
    clock.note(f"found {sym.nullity} symmetries")
    print_result(
        sym,
        None,
        str(sym.nullity),
        json=options.json,
        quiet=options.quiet,
        variance=options.variance,
    )
    if options.out is None:
        return
    shown = files.first_samples(samples.analysed)
    try:
        page = write_run(options.out, sym, samples=shown, clock=clock, title=options.title)
    except ReportError:
        raise
    except RecordError as error:
        raise RecordError(f"{error} {save_elsewhere(sym, None)}") from error
    if not hidden:
        echo(f"\nRun folder: {options.out}\nReport: {page}")
