"""All claims together, from files to files."""

import json
from typing import Any

import pytest

from liegg._utils.errors import ResultsError
from liegg._utils.version import __version__
from liegg.studies.claims import CLAIMS, evaluate, write
from liegg.studies.claims.record import Finding
from liegg.studies.provenance import read_results
from studies.claims import planted

LAYERS = {"layers-agree-at-the-end", "layers-sub-network", "layers-training"}
SINGLE = {"o5-ten", "o5-size", "o5-small", "o5-built-in", "samples-o5"}
NAMES = {
    *SINGLE,
    *LAYERS,
    "rotmnist-shallow",
    "rotmnist-deep",
    "rotmnist-less-biased",
    "rotmnist-not-exact",
    "cifar10-rotation",
    "configurations-parameters-variance",
    "configurations-parameters-bias",
    "configurations-depth-variance",
    "configurations-balanced-bias",
    "configurations-correlation-variance",
    "configurations-correlation-bias",
    "configurations-not-strict",
    "samples-rotmnist",
}


@pytest.fixture
def folder(tmp_path):
    return planted.store(tmp_path, *planted.everything().values())


def verdicts(found) -> dict[tuple[str, str], str]:
    return {(finding.name, finding.reading): finding.verdict for finding in found}


def test_every_claim_has_a_name_of_its_own_and_one_sentence():
    assert {claim.name for claim in CLAIMS} == NAMES
    assert len(CLAIMS) == len(NAMES)
    for claim in CLAIMS:
        assert claim.statement.endswith(".")
        assert ". " not in claim.statement
        assert claim.paper
        assert "|" not in claim.statement + claim.paper


def test_what_was_planted_is_found(folder):
    expected = {(name, "one output"): "holds" for name in SINGLE}
    expected |= {
        (name, reading): "holds" for name in NAMES - SINGLE for reading in planted.READINGS
    }
    expected["configurations-depth-variance", "paper, each"] = "does not hold"
    expected |= {
        ("configurations-not-strict", reading): "does not hold" for reading in planted.READINGS
    }
    found = evaluate(folder)
    assert verdicts(found) == expected
    assert len(found) == len(expected)
    assert not any(finding.quick for finding in found)


def test_studies_that_are_missing_are_not_run(tmp_path):
    assert {finding.verdict for finding in evaluate(tmp_path / "nowhere")} == {"not run"}
    planted.store(tmp_path, planted.rotmnist())
    found = verdicts(evaluate(tmp_path))
    assert found["rotmnist-deep", "paper, sum"] == "holds"
    assert found["rotmnist-not-exact", "paper, sum"] == "not run"  # it compares with O(5)
    assert found["o5-ten", "one output"] == "not run"


def test_a_quick_run_with_two_seeds_decides_little_and_never_fails(tmp_path):
    networks = {
        size: [planted.o5_network(1 / int(size)), planted.o5_network(2 / int(size))]
        for size in ("300", "1000")
    }
    quick = {
        "o5": planted.o5(main_size=1000, networks=networks),
        "rotmnist": planted.rotmnist(
            {kind: planted.image_networks(0.5, 2) for kind in ("shallow", "deep")},
            shallow=planted.image_networks(0.08, 2),
            deep=planted.image_networks(0.03, 2),
        ),
        "cifar10": planted.cifar10(data="tinted MNIST digits"),
        "configurations": planted.configurations(
            networks=[planted.configuration(40_000, 2, 1)], correlations={}
        ),
        "sample-complexity": planted.samples(o5={"networks": []}),
    }
    planted.store(tmp_path, *(results | {"quick": True} for results in quick.values()))
    found = evaluate(tmp_path)
    decided = {name for (name, _), verdict in verdicts(found).items() if verdict != "not run"}
    assert decided == {
        "o5-ten",
        "o5-small",
        "o5-built-in",
        "rotmnist-not-exact",
        "samples-rotmnist",
    }
    assert all(finding.quick for finding in found if finding.name not in LAYERS)


def test_results_of_another_format_are_refused(folder):
    planted.store(folder, planted.o5(format=1))
    for ask in (evaluate, write):
        with pytest.raises(ResultsError, match=r"o5.json was written by liegg 0.1.0 in format 1"):
            ask(folder)
    assert not (folder / "claims.json").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", " is damaged: "),
        ("[]", " is damaged: "),
        ('{"study": "o5"}', " does not hold results of "),
    ],
)
def test_a_damaged_file_of_emlp_is_refused(folder, content, said):
    path = folder / "o5-emlp.json"
    path.write_text(content)
    with pytest.raises(ResultsError) as caught:
        evaluate(folder)
    assert str(caught.value).startswith(f"{path}{said}")
    assert str(caught.value).endswith(" Run `make peer-emlp` again, or remove the file.")


@pytest.mark.parametrize(
    ("study", "path"),
    [
        ("o5", ["quick"]),
        ("o5", ["networks", "10000", 0, "nullity"]),
        ("rotmnist", ["untrained"]),
        ("cifar10", ["networks", 0, "readings"]),
        ("draws", ["draws", 1, "correlations"]),
        ("draws", ["quick"]),
        ("sample-complexity", ["rotmnist"]),
        ("configurations", ["networks", 0, "readings", "paper, sum", "bias", 0]),
    ],
)
def test_results_with_a_hole_are_refused(folder, study, path):
    results = planted.everything()[study]
    inner: Any = results
    for step in path[:-1]:
        inner = inner[step]
    if isinstance(inner, list):
        inner.clear()
    else:
        del inner[path[-1]]
    planted.store(folder, results)
    for ask in (evaluate, write):
        with pytest.raises(ResultsError) as caught:
            ask(folder)
        assert str(caught.value).startswith(f"{folder / f'{study}.json'} is damaged: ")
        assert (repr(path[-1]) if path[-1] else "index out of range") in str(caught.value)
        assert f"Run `liegg reproduce {study} --out {folder}` again" in str(caught.value)
    assert not (folder / "claims.json").exists()


def test_both_files_of_a_comparison_are_named(folder):
    """Only the claim that compares rotated MNIST with O(5) reads this, and it cannot say more."""
    results = planted.o5()
    del results["networks"]["10000"][0]["spectrum"]
    planted.store(folder, results)
    with pytest.raises(ResultsError) as caught:
        evaluate(folder)
    files = f"{folder / 'rotmnist.json'} or {folder / 'o5.json'} is damaged: "
    assert str(caught.value).startswith(files)
    assert "'spectrum'" in str(caught.value)


@pytest.mark.parametrize(
    ("networks", "said"),
    [(None, "'NoneType' object has no attribute 'items'"), ({"gain 1": 3}, "'int'")],
)
def test_results_of_the_wrong_kind_are_refused(folder, networks, said):
    planted.store(folder, planted.emlp() | {"networks": networks})
    with pytest.raises(ResultsError) as caught:
        evaluate(folder)
    assert str(caught.value).startswith(f"{folder / 'o5-emlp.json'} is damaged: {said}")
    assert str(caught.value).endswith(". Run `make peer-emlp` again, or remove the file.")


def test_findings_without_an_origin_are_not_stored(folder):
    results = planted.o5()
    del results["provenance"]["date"]
    planted.store(folder, results)
    with pytest.raises(ResultsError, match=r"o5\.json is damaged: .*'date'"):
        write(folder)
    assert not (folder / "claims.json").exists()


def test_quick_draws_are_not_told_beside_full_results(folder):
    told = [finding.ours for finding in evaluate(folder) if "other draws" in finding.ours]
    planted.store(folder, planted.draws(quick=True))
    found = evaluate(folder)
    assert len(told) == 4
    assert not [finding for finding in found if "other draws" in finding.ours or finding.quick]


def test_the_findings_are_stored_with_what_they_rest_on(folder):
    (folder / "cifar10.json").unlink()
    planted.store(folder, planted.rotmnist() | {"quick": True})
    results = write(folder)
    assert results == read_results(folder, "claims")
    assert [Finding(**row) for row in results["findings"]] == evaluate(folder)
    assert results["quick"] is True
    assert sorted(results["sources"]) == [
        "configurations",
        "draws",
        "layerwise",
        "o5",
        "o5-emlp",
        "rotmnist",
        "sample-complexity",
    ]
    assert results["sources"]["o5"] == {
        "file": "o5.json",
        "date": "2026-11-15",
        "command": "liegg reproduce o5",
    }
    assert results["provenance"]["command"] == "liegg reproduce claims"
    assert results["provenance"]["versions"]["liegg"] == __version__
    assert json.loads((folder / "claims.json").read_text()) == results
