"""`liegg discover` without a model: the symmetries of a data set."""

from pathlib import Path
from types import SimpleNamespace

from liegg.cli._shared import deliver, print_result, progress_bar


def discover_data(options: SimpleNamespace) -> None:
    """Load, analyse, write and print; the options are the parameters of `liegg discover`."""
    import liegg
    from liegg.cli import files
    from liegg.cli.parse import parse_action, parse_thresholds
    from liegg.results.run_folder import Clock, check_run_folder, write_run

    check_one_process()
    clock, hidden = Clock(), options.quiet or options.json
    action = parse_action(options.action, options.names)
    thresholds = liegg.Thresholds(**parse_thresholds(options.limit or []))
    samples = files.load_samples(
        options.data,
        options.held_out,
        options.groups,
        labels=options.labels,
        size=options.size,
        samples=options.samples,
    )
    if options.out is not None:
        check_run_folder(options.out)
    shown = files.first_samples(samples.analysed)
    clock.note(f"loaded {samples.number} samples of {options.data}")
    with progress_bar("reading the data", samples.number, "samples", hidden=hidden) as progress:
        sym = liegg.discover_data(
            samples.analysed,
            action,
            question=options.question,
            labels=samples.labels,
            held_out=samples.held_out,
            run=liegg.Run(
                seed=options.seed,
                groups=samples.groups,
                batch_size=options.batch_size,
                progress=progress,
            ),
            thresholds=thresholds,
        )
    clock.note(f"found {sym.nullity} symmetries")

    def say() -> None:
        how = {name: getattr(options, name) for name in ("json", "quiet", "variance")}
        print_result(sym, None, str(sym.nullity), **how)

    def store(out: Path) -> Path:
        return write_run(out, sym, samples=shown, clock=clock, title=options.title)

    if (unprinted := deliver((sym,), say, store, out=options.out, hidden=hidden)) is not None:
        raise unprinted


def check_one_process() -> None:
    """Raise `ArgumentError` if several processes were started: each would read all data and write the same folder."""
    from liegg._utils.errors import ArgumentError
    from liegg.polarization.launcher import world_size

    if world_size() > 1:
        raise ArgumentError(
            f"{world_size()} processes were started, but without a model one process reads all data. Run it without torchrun or srun."
        )
