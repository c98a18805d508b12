"""Results that earlier versions wrote: the same numbers, and what was not stored is computed once."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import liegg
from stored import assert_identical

FORMAT_3 = Path(__file__).parents[1] / "recorded" / "format-3"


def older(name, tmp_path, *, version):
    """A result that an earlier version wrote; format 2 was the same without the blocks of samples."""
    arrays = load_file(FORMAT_3 / name / "arrays.safetensors")
    record = json.loads((FORMAT_3 / name / "record.json").read_text(encoding="utf-8"))
    if version == 2:
        arrays = {key: array for key, array in arrays.items() if not key.startswith("blocks.")}
        del record["blocks_squared"]
        record["format"] = 2
    save_file(arrays, tmp_path / "arrays.safetensors")
    (tmp_path / "record.json").write_text(json.dumps(record), encoding="utf-8")
    return liegg.load(tmp_path), record, arrays


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("name", ["lorentz", "equivariance", "reinitialised", "bottom", "image"])
def test_older_formats_are_read(name, version, tmp_path):
    sym, record, arrays = older(name, tmp_path, version=version)
    old = record["decision"]
    assert (sym.nullity, sym.samples, sym.accumulated.rows.rows) == (
        old["nullity"],
        record["samples"],
        record["rows"],
    )
    assert (list(sym.decision.grades), sym.name) == (old["grades"], record["name"])
    assert sym.defects.tolist() == record["defects"]
    assert_identical(sym.coefficients, arrays["coefficients"])
    assert_identical(sym.intervals, arrays["bounds"])
    assert [", ".join(names) for names in sym.decision.borderline] == old["near"]
    for field in ("threshold", "minimum_gap", "resolution", "level", "weak", "strong"):
        assert getattr(sym.decision.thresholds, field) == record["settings"][field]
    assert str(sym.decision.sentence) == old["sentence"]
    assert list(map(str, sym.decision.warnings)) == old["warnings"]
    sure = record["certainty"]
    assert sym.decision.nullity_interval == tuple(sure["nullity"])
    assert (sym.accumulated.blocks is None) == (version == 2)
    assert sym.settings["nonlinearity"] == record["settings"]["bend"]
    if record["generators"] is not None and sym.nullity:
        kept = torch.tensor(record["generators"], dtype=torch.float64)
        torch.testing.assert_close(sym.generators, kept, rtol=0, atol=1e-14)
    if record["output_generators"]:
        kept = torch.tensor(record["output_generators"], dtype=torch.float64)
        torch.testing.assert_close(sym.output_generators, kept, rtol=0, atol=1e-10)
    if record["fresh"] is not None:
        control = sym.controls.reinitialised
        assert control is not None
        assert list(control.learned) == record["fresh"]["learned"]
        assert_identical(control.along, arrays["fresh.along"])
    if record["bottom"] is not None:
        assert sym.accumulated.bottom is not None
        assert sym.accumulated.bottom.requested == record["bottom"]["asked"]
        assert sym.decision.unsolved == record["bottom"]["moving"] - len(sym.defects)
    assert len(str(sym).splitlines()) < 40
    found = sym.defect(sym.accumulated.solution.directions)
    torch.testing.assert_close(found, sym.defects, rtol=1e-6, atol=max(1e-20, sym.decision.floor))
    every = sym.defect_interval(torch.eye(sym.action.size, dtype=torch.float64))
    assert bool(every.isnan().all()) == (version == 2)
    again = liegg.load(sym.save(tmp_path / "again"))
    assert_identical(again, sym)
