"""Run the studies: from a study's name to stored results and figures, resuming interrupted runs."""

import contextlib
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from liegg._utils.errors import ResultsError
from liegg._utils.version import __version__
from liegg.polarization import launcher
from liegg.studies import datasets, figures
from liegg.studies.ensemble import Work
from liegg.studies.ensemble.campaign import DAMAGED_PART, check_settings
from liegg.studies.provenance import STUDY_FORMAT, provenance, read_json, read_results, write_json

STUDIES = tuple(figures.MODULES)
"""Studies in the order in which `run_all` runs them."""

Progress = Callable[[str, int, int], object]


def run(
    study: str,
    out: str | Path,
    *,
    quick: bool = False,
    device: str = "cpu",
    progress: Progress | None = None,
) -> dict[str, Any] | None:
    """Run one study; write its results as `<study>.json` and its figures as PNG and SVG.

    Until the results are stored, finished work is kept in a folder `.<study>.unfinished`. The same
    call resumes from there and ends with the same results. With `torchrun`, every process trains
    its share of the networks.

    Args:
        study: one of `STUDIES`.
        out: folder for results and figures.
        quick: fewer and smaller networks on data that comes with the package; takes seconds.
        device: device for training and analysis, such as `"cuda"`.
        progress: called with a label, the work done since the last call, and the total.

    Returns:
        The results as stored; None in every process but the first.

    Raises:
        DatasetError: the dataset is missing and cannot be downloaded.
        ResultsError: an unfinished run of another version or with other settings is in the way.
    """
    module, out, begin = _module(study), Path(out), time.perf_counter()
    if quick and _is_full(out / f"{study}.json"):
        raise ResultsError(
            f"{out / study}.json holds results of a complete run, which a quick one would replace. "
            "Choose another --out, or remove the file."
        )
    folder = out / f".{study}.unfinished"
    resumed = _broadcast(folder.is_dir())
    how = Work(
        launcher.local_device(device), folder, _settings(study, quick, device), progress=progress
    )
    numbers = module.compute(how, quick=quick)
    if launcher.rank() != 0:
        return None
    command = f"liegg reproduce {study}" + " --quick" * quick + f" --device {device}"
    source = provenance(command, seconds=time.perf_counter() - begin, device=device)
    source |= {"processes": launcher.world_size(), "continued": resumed}
    results = {
        "study": study,
        "format": STUDY_FORMAT,
        "quick": quick,
        **numbers,
        "provenance": source,
    }
    outdated = [path for path in (out / "claims.json", out / "index.html") if path.is_file()]
    for path in outdated:
        path.unlink()
    figures.draw(study, results, out)
    write_json(results, out / f"{study}.json")
    how.remove()
    if outdated:
        # If other results are of another version, there are no claims to show.
        with contextlib.suppress(ResultsError):
            write_claims(out)
    return results


def run_all(
    out: str | Path, *, quick: bool = False, device: str = "cpu", progress: Progress | None = None
) -> dict[str, dict[str, Any]] | None:
    """Run every study, then write the claims table `claims.json` and the page `index.html`.

    An interrupted run resumes: studies that it finished are not run again.

    Args:
        out: folder for everything.
        quick: the quick form of every study.
        device: as for `run`.
        progress: as for `run`.

    Returns:
        The results of every study and the claims, by name; None in every process but the first.
    """
    out = Path(out)
    if not quick:  # report a missing dataset before hours of training
        datasets.rotated_mnist()
        datasets.cifar10_split()
    record = out / ".all.unfinished.json"
    settings = _settings("all", quick, device)
    finished = _broadcast(
        [study for study in _finished(record, settings) if read_results(out, study) is not None]
    )
    for study in STUDIES:
        if study in finished:
            continue
        results = run(study, out, quick=quick, device=device, progress=progress)
        finished.append(study)
        if results is not None:
            write_json({"settings": settings, "done": finished}, record)
    if launcher.rank() != 0:
        return None
    stored = {study: read_results(out, study) or {} for study in STUDIES}
    stored["claims"] = write_claims(out)
    record.unlink(missing_ok=True)
    return stored


def write_claims(out: str | Path) -> dict[str, Any]:
    """Check the paper's claims on the results in a folder; write `claims.json` and `index.html`.

    Returns:
        The content of `claims.json`.

    Raises:
        ResultsError: the folder holds no results, or results of another version.
    """
    from liegg.studies import claims, index

    if not any((Path(out) / f"{study}.json").is_file() for study in STUDIES):
        raise ResultsError(
            f"{out} holds no results of any study. Type `liegg reproduce all --out {out}`, or name "
            "another folder."
        )
    stored = claims.write(out)
    index.write_index(out)
    return stored


def table(study: str, results: dict[str, Any]) -> str:
    """The results of a study as text for a terminal."""
    return _module(study).table(results)


def _module(study: str) -> Any:
    return import_module(f"liegg.studies.{study.replace('-', '_')}")


def _broadcast(value: Any) -> Any:
    """The value of the first process, in all of them."""
    launcher.join()
    box = [value]
    if launcher.world_size() > 1:
        dist.broadcast_object_list(box)
    return box[0]


def _settings(study: str, quick: bool, device: str) -> dict[str, Any]:
    """Settings of a run; unfinished work is resumed only with the same ones."""
    return {
        "study": study,
        "quick": quick,
        "device": device,
        "processes": launcher.world_size(),
        "liegg": __version__,
        "torch": torch.__version__,
        "format": STUDY_FORMAT,
    }


def _is_full(path: Path) -> bool:
    """Whether a file holds results of a complete run, of any version."""
    with contextlib.suppress(ResultsError):
        return path.is_file() and read_json(path, "").get("quick") is False
    return False


def _finished(record: Path, settings: dict[str, Any]) -> list[str]:
    """Studies that an interrupted run of everything has finished."""
    if not record.is_file():
        return []
    stored = read_json(record, DAMAGED_PART)
    check_settings(stored.get("settings", {}), settings, record)
    return list(stored.get("done", []))
