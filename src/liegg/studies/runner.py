"""From a study's name to its stored results and figures; all of them at once; what a killed run left is taken up again."""

import contextlib
import json
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from liegg._utils.errors import ArgumentError, ResultsError
from liegg._utils.version import __version__
from liegg.studies import datasets
from liegg.studies.ensemble import Work, processes
from liegg.studies.ensemble.campaign import read_kept, refuse_other
from liegg.studies.provenance import FORMAT, provenance, read_results, write_json

STUDIES = (
    "o5",
    "rotmnist",
    "configurations",
    "draws",
    "layerwise",
    "sample-complexity",
    "cifar10",
    "false-discovery",
)
"""Studies in the order in which `run_all` takes them."""

Progress = Callable[[str, int, int], object]


def run(
    study: str,
    out: str | Path,
    *,
    quick: bool = False,
    device: str = "cpu",
    progress: Progress | None = None,
) -> dict[str, Any] | None:
    """Run one study of the paper; write its results as `<study>.json` and its figures as PNG and SVG.

    Until the results are stored, all that is done so far is kept in a folder `.<study>.unfinished`; started again, the run goes on
    from there and ends with the same results. Started by `torchrun`, every process trains its share of the networks.

    Args:
        study: one of `STUDIES`.
        out: folder for results and figures.
        quick: fewer and smaller networks on data that comes with the package, for a look in seconds.
        device: where to train and extract, such as `"cuda"`.
        progress: called with a label, work done since the last call, and the total.

    Returns:
        The results as stored; None in every process but the first.

    Raises:
        ArgumentError: no such study.
        DatasetError: the data set is not there and cannot be had.
        ResultsError: an unfinished run of another version, or with other settings, is in the way.
    """
    module, out, begin = _module(study), Path(out), time.perf_counter()
    if quick and _is_full(out, study):
        raise ResultsError(
            f"{out / study}.json holds results of a whole run, which a quick one would replace. Choose another --out, or remove it."
        )
    settings = _settings(study, quick, device)
    folder = out / f".{study}.unfinished"
    continued = processes.told(folder.is_dir())
    how = Work(processes.device_here(device), folder, settings, progress=progress)
    found = module.compute(how, quick=quick)
    if found is None:
        return None
    command = f"liegg reproduce {study}" + " --quick" * quick + f" --device {device}"
    source = provenance(command, seconds=time.perf_counter() - begin, device=device)
    source |= {"processes": processes.count(), "continued": continued}
    results = {"study": study, "format": FORMAT, "quick": quick, **found, "provenance": source}
    shown = [path for path in (out / "claims.json", out / "index.html") if path.is_file()]
    for path in shown:
        path.unlink()  # they speak of other results than there will be
    module.draw(results, out)
    write_json(results, out / f"{study}.json")
    how.remove()
    if shown:
        with contextlib.suppress(
            ResultsError
        ):  # where other results are of another version, there is nothing to show
            write_claims(out)
    return results


def run_all(
    out: str | Path, *, quick: bool = False, device: str = "cpu", progress: Progress | None = None
) -> dict[str, dict[str, Any]] | None:
    """Run every study, then write the claims table `claims.json` and the page `index.html`.

    A run that was killed goes on where it was: studies that it finished are not run again.

    Args:
        out: folder for everything.
        quick: the quick form of every study.
        device: as for `run`.
        progress: as for `run`.

    Returns:
        The results of every study and the claims, by name; None in every process but the first.
    """
    out = Path(out)
    if not quick:  # better to miss a data set now than after an hour
        datasets.rotated_mnist()
        datasets.cifar10_split()
    record = out / ".all.unfinished.json"
    settings = _settings("all", quick, device)
    done = processes.told(
        [study for study in _finished(record, settings) if read_results(out, study) is not None]
    )
    for study in STUDIES:
        if study in done:
            continue
        found = run(study, out, quick=quick, device=device, progress=progress)
        done.append(study)
        if found is not None:
            write_json({"settings": settings, "done": done}, record)
    if processes.rank() != 0:
        return None
    results = {study: read_results(out, study) or {} for study in STUDIES}
    results["claims"] = write_claims(out)
    record.unlink(missing_ok=True)
    return results


def write_claims(out: str | Path) -> dict[str, Any]:
    """Hold the paper's claims against the results in a folder; write `claims.json` and `index.html`, and give the claims.

    Raises:
        ResultsError: the folder holds no results, or results of another version.
    """
    from liegg.studies import claims, index

    if not any((Path(out) / f"{study}.json").is_file() for study in STUDIES):
        raise ResultsError(
            f"{out} holds no results of any study. Type `liegg reproduce all --out {out}`, or name another folder."
        )
    claims.write(out)
    index.write_index(out)
    return json.loads((Path(out) / "claims.json").read_text(encoding="utf-8"))


def table(study: str, results: dict[str, Any]) -> str:
    """The results of a study, to be read on a terminal."""
    return _module(study).table(results)


def _module(study: str) -> Any:
    if study not in STUDIES:
        raise ArgumentError(f"there is no study {study!r}. Type one of: {', '.join(STUDIES)}.")
    return import_module(f"liegg.studies.{study.replace('-', '_')}")


def _settings(study: str, quick: bool, device: str) -> dict[str, Any]:
    """What a run is: a kept state fits only the same."""
    return {
        "study": study,
        "quick": quick,
        "device": device,
        "processes": processes.count(),
        "liegg": __version__,
        "torch": torch.__version__,
        "format": FORMAT,
    }


def _is_full(out: Path, study: str) -> bool:
    """Whether the folder has results of a whole run of this study, of any version."""
    path = out / f"{study}.json"
    try:
        return path.is_file() and json.loads(path.read_text(encoding="utf-8")).get("quick") is False
    except (ValueError, AttributeError):
        return False


def _finished(record: Path, settings: dict[str, Any]) -> list[str]:
    """Studies that an interrupted run of everything had finished."""
    if not record.is_file():
        return []
    begun = read_kept(record)
    refuse_other(begun.get("settings", {}), settings, record)
    return list(begun.get("done", []))
