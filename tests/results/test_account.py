"""The readable basis with its numbers; results with very many or very large generators, without their matrices."""

import json
import subprocess
import sys

import pytest
import torch

import liegg
from cases import normal, square
from liegg.results.account import _grade_among

WHOLE = """
import json, resource, sys, time
import torch
import liegg

torch.set_num_threads(1)
x = torch.randn(200, 3000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
begin = time.process_time()
sym = liegg.discover(lambda x: x.square().sum(1).sqrt(), x, liegg.actions.Blocks([3] * 1000, liegg.so(3)))
text = str(sym)
again = liegg.load(sym.save(sys.argv[1]))
page = again.report(sys.argv[1] + "/report.html").read_text(encoding="utf-8")
print(json.dumps({
    "seconds": time.process_time() - begin, "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    "nullity": again.nullity, "same": str(again) == text, "text": text, "page": page, "name": sym.name,
}))
"""


@pytest.mark.slow
def test_three_thousand_generators_of_three_thousand_rows(tmp_path):
    """As matrices they would take 216 GB."""
    done = subprocess.run(
        [sys.executable, "-c", WHOLE, str(tmp_path)], check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    assert (found["nullity"], found["same"], found["name"]) == (3000, True, "unknown")
    assert "3000 directions" in found["text"]
    assert len(found["page"]) < 2**21
    assert found["gigabytes"] < 2
    assert found["seconds"] < 60  # 9 on one core; minutes with matrices
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["generators"] is None
    assert record["identification"]["dimension"] == 3000


@pytest.fixture(scope="module")
def pixels():
    return liegg.discover(
        lambda x: x[:, :300].sum(1),
        normal(200, 784),
        liegg.actions.Weights([i // 8 for i in range(784)]),
    )


def test_dozens_of_generators_of_784_rows(pixels, tmp_path):
    assert pixels.nullity == 60
    assert (pixels.name, pixels.account.generators, pixels.account.words) == ("unknown", None, ())
    assert pixels.report(tmp_path / "report.html").stat().st_size < 2**20
    assert pixels.generators.shape == (60, 784, 784)  # some can still be had


def test_matrices_that_cannot_be_built_say_what_to_do(monkeypatch):
    monkeypatch.setattr("liegg.results.account.LARGEST_SIZE", 10**6)
    action = liegg.actions.Weights([i // 8 for i in range(784)])
    sym = liegg.discover(
        lambda x: x[:, :300].sum(1), normal(200, 784), action, run=liegg.Run(bottom=5)
    )
    with pytest.raises(liegg.LieggError, match=r"784 × 784 take 24.6 MB"):
        _ = sym.generators
    assert action.matrices(sym.coefficients[:1]).shape == (1, 784, 784)


def test_candidates_too_large_to_be_drawn_where_nothing_was_found(tmp_path):
    sym = liegg.discover(
        lambda x: x.tanh().sum(1),
        normal(100, 600),
        liegg.actions.Weights([i // 100 for i in range(600)]),
    )
    assert sym.nullity == 0
    assert len(sym.candidates) == 0  # 600 × 600 is too large to be described
    assert sym.report(tmp_path / "report.html", samples=normal(2, 600)).stat().st_size < 2**21


# The readable basis, with its numbers.


@pytest.fixture(scope="module")
def bent():
    return liegg.discover(
        lambda x: square(x) + 1e-2 * x[:, 0].sin(), normal(1000, 3), liegg.Linear(3)
    )


def test_readable_motions_have_their_own_defects(bent):
    readable = bent.account.readable
    assert [one.words for one in readable] == list(bent.words)
    assert [one.grade for one in readable] == ["strong", "strong", "exact"]
    rows = torch.stack([one.coefficients for one in readable])
    torch.testing.assert_close(rows.norm(dim=1), torch.ones(3, dtype=torch.float64))
    torch.testing.assert_close(bent.defect(rows)[:2], bent.defects[1:3], rtol=0.1, atol=0.0)
    for one, ends in zip(readable, bent.defect_interval(rows).tolist(), strict=True):
        assert one.defect <= bent.decision.floor or one.interval == pytest.approx(ends)


def test_readable_motions_are_stored_and_may_be_missing(bent, tmp_path):
    again = liegg.load(bent.save(tmp_path))
    for one, other in zip(bent.account.readable, again.account.readable, strict=True):
        assert (one.words, one.defect, one.grade) == (other.words, other.defect, other.grade)
        assert torch.equal(one.coefficients, other.coefficients)
    record = json.loads((tmp_path / "record.json").read_text())
    assert [one["words"] for one in record["readable"]] == list(bent.words)


def test_readable_motions_need_a_name(pixels):
    assert pixels.account.readable == ()
    none = liegg.discover(lambda x: x.pow(3).sum(1), normal(200, 3), liegg.Linear(3))
    assert none.account.readable == ()


def test_a_motion_of_the_span_has_the_grade_of_its_defect(bent):
    decision, found = bent.decision, bent.defects[: bent.nullity].tolist()
    assert decision.grades[:3] == ("exact", "strong", "strong")
    assert _grade_among(0.0, found, decision) == "exact"
    assert _grade_among(2e-6, found, decision) == "strong"
    assert _grade_among(1.5 * found[-1], found, decision) == "strong"
    assert _grade_among(0.5, found, decision) == "weak"
