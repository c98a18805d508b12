"""Results with very many or very large generators: printed, stored and reported in seconds, without their matrices."""

import json
import subprocess
import sys

import pytest

import liegg
from cases import normal

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
    assert "3000 exact symmetries" in found["text"]
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
