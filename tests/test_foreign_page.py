"""The tables of docs/howto-foreign.md are those of the stored results, and the stored results show what the page says."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "howto-foreign.md"
FAMILIES = {
    "closed form": "polynomials and other closed forms",
    "network": "networks",
    "noise": "with noise from 10⁻¹² to 10⁻³",
    "float32": "in float32",
    "scale": "badly scaled, or in 5 dimensions",
}


def stored(name: str) -> dict:
    return json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))


def foreign_table() -> list[str]:
    """Models of scikit-learn, ONNX and JAX."""
    lines = [
        "| model | derivatives | found | largest δ² of these | next δ² | evaluations | largest difference of √δ², stated error |",
        "|---|---|---|---|---|---|---|",
    ]
    for title, row in stored("foreign")["rows"].items():
        finite, agreement = row["finite"], row.get("agreement")
        found = f"{row['name']}, {row['grades'][0]}" if row["nullity"] else "undecided"
        numbers = ("", "")
        if row["nullity"]:
            numbers = (f"{row['largest_defect_found']:.4f}", f"{row['next_defect']:.2f}")
        how = "none" if finite and finite["piecewise"] else "finite" if finite else "exact"
        compared = "" if agreement is None else f"{agreement['largest_difference']:.0e}"
        if agreement is not None and "within" in agreement:
            compared += f", {row['largest_error'] ** 0.5:.0e}"
        count = f"{finite['evaluations']:,}" if finite else ""
        lines.append(
            f"| {title} | {how} | {found} | {' | '.join(numbers)} | {count} | {compared} |"
        )
    return lines


def finite_table() -> list[str]:
    """60 functions by family."""
    functions = stored("finite-differences")["functions"]
    lines = [
        "| functions | number | defects right | confident wrong answers |",
        "|---|---|---|---|",
    ]
    for family, words in {**FAMILIES, "": "all"}.items():
        rows = [row for row in functions if family in ("", row["family"])]
        right, total = (sum(row[key] for row in rows) for key in ("right", "directions"))
        lines.append(
            f"| {words} | {len(rows)} | {right} of {total} ({100 * right / total:.1f} %) | "
            f"{sum(row['wrong'] for row in rows)} |"
        )
    return lines


def test_the_page_shows_the_stored_tables() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in {"foreign": foreign_table(), "finite": finite_table()}.items():
        assert "\n".join([f"<!-- table: {name} -->", "", *lines]) in text


def test_finite_differences_are_right_within_their_error() -> None:
    found = stored("finite-differences")
    assert len(found["functions"]) == 60
    assert found["right"] >= 0.95 * found["directions"]
    assert found["wrong"] == 0


def test_foreign_models_have_the_symmetries_of_their_copies_in_torch() -> None:
    rows = stored("foreign")["rows"]
    for title, row in rows.items():
        if "forest" in title:
            assert row["finite"]["piecewise"]
            continue
        assert (row["nullity"], row["name"]) == (10, "so(5)"), title
        if "within" in row.get("agreement", {}):
            assert row["agreement"]["within"] == row["agreement"]["of"] == 25


def test_emlp_in_jax_has_the_answer_of_emlp_in_torch() -> None:
    here, there = stored("o5-emlp-jax")["networks"], stored("o5-emlp")["networks"]
    assert here.keys() == there.keys()
    for name, row in here.items():
        assert row["nullity"] == there[name]["nullity"] == 10
        assert row["relative_variance_of_ten"] < 1e-28
        assert row["angle_degrees"] < 1e-10
