"""Every measured number in README and docs is in a stored result, and there are no other decimals."""

import json
import math
import re
import runpy
from pathlib import Path
from statistics import mean

import pytest

import data_sets
import layer_error_tables
import pages
import question_tables
import real_data_sets
import tables
import test_foreign_page
from liegg.studies.claims import evaluate, markdown

ROOT = Path(__file__).parents[1]
RESULTS = {path.stem: json.loads(path.read_text()) for path in (ROOT / "results").glob("*.json")}

GIVEN = {
    "README.md": {"3.11"},
    # The paper's section, its published code's numbers; our threshold.
    "docs/o5.md": {"5.1", "0.0633", "0.0093", "0.0555", "0.066", "0.74", "0.03"},
    "docs/sample-complexity.md": {"0.25"},  # the paper's share
    "docs/configurations.md": {
        "5.3",
        "0.49",
        "0.31",
        "0.57",
        "0.32",
    },  # the paper's section and numbers; the prototype's
    "docs/claims.md": set(),
    "docs/false-discovery.md": {
        "0.01",
        "0.1",
        "2.5",
    },  # thresholds of the rules, the scale of the weights
    "docs/trust.md": {
        "0.01",
        "0.03",
        "0.001",
        "0.6",
        "0.3",
        "0.0001",
        "0.1",
        "0.95",
        "0.05",
        "1.5",
    },  # an example, the thresholds, the level of the rank test, a function
    "docs/layerwise.md": {"5.4"},
    "docs/layers.md": set(),
    # The smallest margin of a sure name, an example, the level of the likelihood ratio test.
    "docs/naming.md": {"1.5", "0.01", "0.3"},
    "docs/benchmarks.md": {
        "0.15",
        "1.05",
        "1.3",
        "1.5",
        "25.6",
    },  # the aims, and weights in millions
    # The smoothing, the threshold, the paper's section; angles of a secant and its half step.
    "docs/images.md": {"1.5", "0.03", "4.1", "4.2", "3.7", "0.5"},
    # The paper's section and smoothing; the paper's published notebook and an independent prototype.
    "docs/rotmnist.md": {
        "5.2",
        "5.3",
        "1.5",
        "0.844",
        "0.0214",
        "8.05",
        "0.850",
        "0.857",
        "0.03",
        "0.05",
        "0.025",
    },
    "docs/cifar10.md": {
        "1.5",
        "0.43",
        "0.005",
        "0.030",
        "0.002",
        "0.020",
        "0.03",
    },  # smoothing, the prototype, our threshold
    # Measured numbers on these pages are in text blocks, which `test_documentation.py` checks.
    **{page: set() for page in pages.SHOWN},
    "docs/tutorial.md": {"0.01"},  # an argument
    "docs/howto-images.md": {"1.5"},  # the paper's smoothing
    "docs/faq.md": {"1.5"},  # the paper's smoothing
    "docs/concepts.md": set(),
    "docs/peers.md": set(),
    "docs/data-sets.md": set(),
    "docs/paper.md": {
        "5.1",
        "5.2",
        "5.3",
        "5.4",
        "3.3",
        "0.49",
        "0.31",
        "0.25",
    },  # the paper's sections and numbers
    # The level of a test, an example of a motion of one's own.
    "docs/questions.md": {"0.05", "0.3", "3.5", "57.3"},
}
"""Decimal numbers that we did not measure: versions, thresholds, numbers of the paper."""


def power(value: float) -> str:
    """1.2e-31 as it is written in the pages: 1e-31."""
    return f"{value:.0e}"


def o5_quotes() -> dict[str, list[str]]:
    results, emlp = RESULTS["o5"], RESULTS["o5-emlp"]["networks"]
    main = results["networks"]["10000"]
    quotes = [
        f"variance {min(n['variance'] for n in main):.3f} to {max(n['variance'] for n in main):.3f}",
        f"gap {min(n['gap'] for n in main):.0f} to {max(n['gap'] for n in main):.0f} times",
        f"{min(n['angle_degrees'] for n in main):.2f}° to {max(n['angle_degrees'] for n in main):.2f}°",
        f"bias at most {max(n['largest_bias_of_ten'] for n in main):.4f}",
    ]
    control = results["invariant_by_construction"]
    floor = [
        f"at most {power(max(control['spectrum'][:10]) / control['spectrum'][-1])} of the largest, bias "
        f"{power(control['largest_bias_of_ten'])}",
        f"at most {power(max(n['relative_variance_of_ten'] for n in emlp.values()))} of the largest, bias "
        f"{power(max(n['largest_bias_of_ten'] for n in emlp.values()))}",
    ]
    sizes = [
        f"| {int(size):,} | {sum(n['nullity'] == 10 for n in nets)} of 8 | {mean(n['mean_variance_of_ten'] for n in nets):.3f} | "
        f"{mean(n['fresh_mean_variance_of_ten'] for n in nets):.3f} | {max(n['largest_bias_of_ten'] for n in nets):.3f} |"
        for size, nets in results["networks"].items()
    ]
    defects = (
        f"δ² from {min(n['defects'][0] for n in main):.4f} to {max(n['defects'][9] for n in main):.4f}, the next direction at "
        f"{min(n['defects'][10] for n in main):.2f} or more"
    )
    tenth = [n["defects"][9] for n in results["networks"]["100"]]
    small = f"{min(tenth):.3f} and {max(tenth):.3f}"
    return {
        "docs/paper.md": quotes + floor[:1],
        "docs/o5.md": [*quotes, *floor, *sizes, defects, small],
    }


def benchmark_quotes() -> dict[str, list[str]]:
    bench = RESULTS["bench-core"]
    rows = [
        f"| gl({row['n']}), {row['n'] ** 2:,} columns | {row['dense_full_seconds']:.2f} s | {row['dense_thin_seconds']:.2f} s | "
        f"{row['liegg_seconds']:.2f} s | {row['liegg_with_spectrum_seconds']:.2f} s | {row['dense_full_ratio']:.1f} | "
        f"{row['dense_thin_ratio']:.1f} |"
        for row in bench["speed"]
    ]
    memory = [
        f"| {int(count):,} | {extra / 2**20:.1f} MB |"
        for count, extra in bench["memory"]["streamed_bytes"].items()
    ]
    dense = f"{bench['memory']['dense_bytes'] / 2**20:.0f} MB, {bench['memory']['ratio']:.0f} times as much"
    cost = [
        f"| the paper's sum | {bench['overhead']['sum_ratio_512']:.2f} | {bench['overhead']['sum_ratio']:.2f} |",
        f"| each of the ten outputs | {bench['overhead']['each_ratio_512']:.2f} | {bench['overhead']['each_ratio']:.2f} |",
    ]
    return {"docs/benchmarks.md": [*rows, *memory, dense, *cost]}


def table_quotes() -> dict[str, list[str]]:
    """The tables that `benchmarks/tables.py` puts into the page."""
    made = [
        lines(RESULTS[result]) for result, lines in tables.SECTIONS.values() if result in RESULTS
    ]
    return {"docs/benchmarks.md": [line for lines in made for line in lines if line]}


def sample_quotes() -> dict[str, list[str]]:
    results = RESULTS["sample-complexity"]
    runs = results["o5"]["networks"]
    vectors = [
        f"| {100 * row['fraction']:g} % | {row['samples']:,} | {mean(r[i]['mean_variance_of_ten'] for r in runs):.4f} | "
        f"{mean(r[i]['mean_bias_of_ten'] for r in runs):.4f} | {sum(r[i]['nullity'] == 10 for r in runs)} of 8 |"
        for i, row in enumerate(runs[0])
    ]
    pictures = []
    for rows in zip(*results["rotmnist"]["networks"], strict=True):
        read = {
            name: tuple(
                mean(row["readings"][name][key] for row in rows) for key in ("variance", "bias")
            )
            for name in ("paper, sum", "paper, each")
        }
        pictures.append(
            f"| {100 * rows[0]['fraction']:g} % | {rows[0]['samples']:,} | "
            + " | ".join(f"{variance:.1e} | {bias:.3f}" for variance, bias in read.values())
            + " |"
        )
    return {"docs/sample-complexity.md": vectors + pictures}


def configuration_quotes() -> dict[str, list[str]]:
    results, draws, bench = (
        RESULTS["configurations"],
        RESULTS["draws"],
        RESULTS["bench-training-cuda"],
    )

    def told(one: dict) -> str:
        return f"{one['rho']:.2f} | {power(one['p'])} | {one['between']:.2f} | {one['within']:.2f}"

    correlated = [
        f"| {READINGS[reading]} | {window.replace('-', ' to ')} | {told(found[name])} |"
        for reading, windows in results["correlations"].items()
        for window, found in windows.items()
        for name in ("variance", "bias")
    ]
    drawn = [
        f"| {one['draw']} | {READINGS[reading]} | {told(found[name])} |"
        for one in draws["draws"]
        for reading, found in one["correlations"].items()
        for name in ("variance", "bias")
        if reading.startswith("paper")
    ]
    depths = []
    for reading in ("paper, sum", "paper, each"):
        values = []
        for depth in results["hidden_layers"]:
            nets = [
                n
                for n in results["networks"]
                if n["hidden_layers"] == depth and n["parameters"] == 120_000
            ]
            values.append(mean(net["readings"][reading]["variance"] for net in nets))
        depths.append(
            f"| {READINGS[reading]} | " + " | ".join(f"{value:.1e}" for value in values) + " |"
        )
    speed = [
        f"{bench['networks']} networks in {bench['study_seconds']:.0f} s",
        f"{bench['plain_seconds_per_network']:.1f} s per network",
        f"{bench['ratio']:.0f} times",
    ]
    first = results["correlations"]["paper, sum"]["1-5"]
    summary = (
        f"ρ = {first['variance']['rho']:.2f} between variance and accuracy (the paper: -0.49) and {first['bias']['rho']:.2f} "
        "between bias and accuracy (-0.31)"
    )
    rows = [
        f"| {row['parameters']:,} | {row['hidden_layers']} | {row['width']} | {1000 * row['plain_seconds']:.0f} ms | "
        f"{1000 * row['together_seconds']:.0f} ms | {row['ratio']:.2f} |"
        for row in RESULTS["bench-training-cpu"]["shapes"]
    ]
    return {
        "docs/configurations.md": [*correlated, *drawn, *depths, *speed],
        "docs/benchmarks.md": [*speed, *rows],
        "docs/paper.md": [summary, *speed],
    }


def layer_quotes() -> dict[str, list[str]]:
    results = RESULTS["layerwise"]["networks"]
    rows = []
    for reading in ("paper, sum", "paper, each"):
        for quantity, form in (("variance", ".1e"), ("bias", ".3f")):
            for regime, networks in results.items():
                layers = zip(*(net["readings"][reading] for net in networks), strict=True)
                values = [f"{mean(row[quantity] for row in found):{form}}" for found in layers]
                cells = [*values[:-1], *["-"] * (8 - len(values)), values[-1]]
                rows.append(f"| {regime} | " + " | ".join(cells) + " |")
    accuracy = [
        f"{regime} {mean(net['test_accuracy'] for net in networks):.3f}"
        for regime, networks in results.items()
    ]
    return {"docs/layerwise.md": [*rows, *accuracy]}


def naming_quotes() -> dict[str, list[str]]:
    found = RESULTS["bench-identify"]
    rows = [
        f"| {level['noise']:g} | {level['condition']:g} | {'yes' if level['stated'] else 'no'} | {level['trials']} | "
        f"{100 * level['right'] / level['trials']:.1f} % | {level['same_algebra']} | {level['unknown']} | "
        f"{level['confident_wrong']} |"
        for level in found["levels"]
    ]
    spans, cost, networks = found["no_algebras"], found["cost"], found["o5"]
    named = len(spans["named"])
    right = sum(one["name"] == "so(5)" and one["confident"] for one in networks)
    angles = [math.degrees(one["angle"]) for one in networks]
    return {
        "docs/naming.md": [
            *rows,
            f"takes {found['levels'][0]['algebras']} algebras",
            f"Of {spans['trials']} random spans that are not algebras, {named if named else 'none'} got a name.",
            f"takes {cost['name_s']:.2f} s to name, and its full description with invariants and words another {cost['account_s']:.2f} s",
            f"{right} of {len(networks)} networks of the [O(5) study](o5.md) are named so(5) with confidence, "
            f"within {min(angles):.2f}° to {max(angles):.2f}°",
        ]
    }


def claim_quotes() -> dict[str, list[str]]:
    return {
        "docs/claims.md": [
            line for line in markdown(evaluate(ROOT / "results")).splitlines() if line.strip()
        ]
    }


def peer_quotes() -> dict[str, list[str]]:
    """The table of networks from other packages, as `peers/page.py` writes it."""
    page = runpy.run_path(str(ROOT / "peers" / "page.py"))
    rows = [*page["rows"](RESULTS["peers"]), *page["rows"](RESULTS["peers-graphs"])]
    ethanol = RESULTS["sevennet"]["molecules"]["ethanol"]
    mirror = [
        "differ by " + re.findall(r"differ by (\S+) in the output", ethanol["says"])[0],
        f"by {ethanol['mirror_meV']:.2f} meV in the root mean square",
        f"by {ethanol['largest_mirror_meV']:.2f} meV in the worst of {ethanol['samples']}",
    ]
    page_title = (
        f"by {ethanol['mirror_meV']:.2f} meV (at most {ethanol['largest_mirror_meV']:.2f} meV)"
    )
    return {
        "docs/peers.md": [*rows, *mirror, page["versions"](RESULTS["peers"])],
        "docs/sevennet-report.html": [page_title],
    }


def layer_error_quotes() -> dict[str, list[str]]:
    """Shares of causes in what all layers of two trained classifiers add, and the stages they are in."""
    stored = RESULTS["layer-errors"]
    found = {
        (network, one["motion"], one["size"]): one
        for network in layer_error_tables.NETWORKS
        for one in stored[network]["motions"]
    }

    def share(network: str, motion: str, size: float, cause: str, *stages: str) -> str:
        """Part of a cause that is in some stages of the network, of all that its layers add."""
        layers = found[network, motion, size]["layers"]
        inside = [one for name, one in layers.items() if name.startswith(stages)]
        part = sum(one["causes"].get(cause, 0.0) for one in inside)
        whole = sum(value for one in layers.values() for value in one["causes"].values())
        return f"{100 * part / whole:.0f} %"

    def both(motion: str, size: float, cause: str, *stages: str) -> str:
        """The same for both networks."""
        return " and ".join(
            share(network, motion, size, cause, *stages) for network in layer_error_tables.NETWORKS
        )

    first, last = ("conv1", "bn1", "relu", "layer1"), ("layer3",)
    text = [
        f"{both('shift', 4.0, 'padding', *first)} are due to padding in the first convolution and the first stage, and "
        f"{both('shift', 4.0, 'padding', *last)} to padding in the last stage.",
        f"those of the subsampled maps add {both('shift', 1.0, 'nonlinearity', '')}.",
        f"A rotation by 15° lies between the pixels of all maps: {both('rotation', 15.0, 'nonlinearity', *first)} are due "
        f"to ReLU in the first convolution and the first stage, {both('rotation', 15.0, 'nonlinearity', 'layer2', *last)} to "
        "ReLU after them.",
        f"{both('rotation', 90.0, 'filters', '')} are due to filters that are not symmetric, in all stages; "
        f"{both('rotation', 90.0, 'padding', '')} to padding.",
        f"{both('shift', 1.0, 'stride or pooling', 'layer2')} are due to the two layers that subsample first.",
        f"global pooling has {both('scaling', 25.0, 'global pooling', '')}",
    ]
    with_relu6 = stored["resnet20-relu6"]
    accuracies = with_relu6["accuracy"], RESULTS["questions"]["photographs"]["resnet20"]["accuracy"]
    text.append("it is right for {:.1%} instead of {:.1%}.".format(*accuracies).replace("%", " %"))
    for one, other in zip(stored["resnet20"]["motions"], with_relu6["motions"], strict=True):
        shares = one["by_cause"], other["by_cause"]
        assert all(abs(shares[0][cause] - shares[1].get(cause, 0)) < 0.035 for cause in shares[0])
    ends = [stored[network]["layers"] for network in layer_error_tables.NETWORKS]
    for motion in ends[0]:  # no interval leaves the other out: neither is clearly more invariant
        one, other = (found[motion]["linear"] for found in ends)
        assert one[1] <= other[2]
        assert other[1] <= one[2]
    rows = layer_error_tables.tables(stored).values()
    return {"docs/layers.md": [*(line for table in rows for line in table.splitlines()), *text]}


def paper_quotes() -> dict[str, list[str]]:
    """The mean bias of the CIFAR-10 study, which the summary of the paper quotes."""
    first = [net["readings"]["paper, sum"]["bias"][0] for net in RESULTS["cifar10"]["networks"]]
    return {"docs/paper.md": [f"bias {mean(first):.3f} on the mean"]}


READINGS = {
    "paper, sum": "the paper's, outputs summed",
    "paper, each": "the paper's, each output",
    "spectral, sum": "spectral, outputs summed",
    "spectral, each": "spectral, each output",
    "framed, sum": "spectral without the frame, outputs summed",
    "framed, each": "spectral without the frame, each output",
}


def reading_rows(networks: list[dict], readings: list[str] | None = None) -> list[str]:
    """A line per reading: variance and bias of the smallest direction, the other directions' bias, the rotation's defect."""
    lines = []
    for reading in readings or networks[0]["readings"]:
        rows = [net["readings"][reading] for net in networks]
        first = [row["bias"][0] for row in rows]
        others = min(min(row["bias"][1:]) for row in rows)
        lines.append(
            f"| {READINGS[reading]} | {mean(row['variance'] for row in rows):.1e} | {mean(first):.3f} | {min(first):.3f} to "
            f"{max(first):.3f} | {others:.3f} | {mean(row['rotation_defect'] for row in rows):.2f} |"
        )
    return lines


def scheme_quotes() -> list[str]:
    found, moved = RESULTS["image-schemes"], "moved both ways"
    columns = ("spectral", "central", "secant", "moved one way", moved)
    rows = [
        f"| {images} | {motion} | "
        + " | ".join(
            f"{v:.2g}" if v < 100 else f"{v:.0f}" for v in map(found[images][motion].get, columns)
        )
        + " |"
        for images in ("CIFAR-10", "CIFAR-10, smoothed by 1.5 pixels", "photographs of 224 pixels")
        for motion in ("shift by one pixel", "rotation by one degree")
    ]
    one, two, three = (found["defects on CIFAR-10"][name] for name in ("spectral", "secant", moved))
    return [
        *rows,
        f"the translation has a δ² of {one['translation']:.2f} by spectral derivatives, "
        f"{two['translation']:.2f} by secants and {three['translation']:.2f} when images are moved",
        f"(The rotation has {one['rotation']:.2f}, {two['rotation']:.2f} and {three['rotation']:.2f}.)",
    ]


def image_quotes() -> dict[str, list[str]]:
    digits, photographs, errors = RESULTS["rotmnist"], RESULTS["cifar10"], RESULTS["derivatives"]
    bench = RESULTS["bench-images"]
    table = [
        f"| {row['family']} | {row['band']:g} | "
        + " | ".join(power(row[scheme]) for scheme in ("paper", "central", "gaussian", "spectral"))
        + " |"
        for row in errors["errors"]
    ]
    accuracy = {
        name: [net["test_accuracy"] for net in nets]
        for name, nets in (digits["networks"] | {"cifar10": photographs["networks"]}).items()
    }
    kinds = [
        f"| {name} | {digits['parameters'][name]:,} | {mean(accuracy[name]):.3f} | {min(accuracy[name]):.3f} to "
        f"{max(accuracy[name]):.3f} |"
        for name in digits["networks"]
    ]
    rows = [line for nets in digits["networks"].values() for line in reading_rows(nets)]
    control = ["paper, sum", "spectral, each"]
    rows += [
        line
        for name in ("shallow", "deep")
        for line in reading_rows(digits["untrained"][name], control)
    ]
    deep = [net["readings"]["paper, each"]["spectrum"] for net in digits["networks"]["deep"]]
    four = "four values " + ", ".join(f"{mean(values):.1e}" for values in zip(*deep, strict=True))
    ratios = bench["cost"]["ratios"]
    cost = [
        f"| {name} | {ratios[f'{key}_sum']['of_512']:.2f} | {ratios[f'{key}_sum']['of_same']:.2f} | "
        f"{ratios[f'{key}_each']['of_512']:.1f} |"
        for key, name in (("linear", "four generators"), ("affine", "six generators"))
    ]
    memory = [
        f"| {int(count):,} | {extra / 2**20:.0f} MB |"
        for count, extra in bench["memory"]["streamed_bytes"].items()
    ]
    first = {
        (name, reading): [net["readings"][reading] for net in digits["networks"][name]]
        for name in ("shallow", "deep")
        for reading in ("paper, sum", "spectral, each")
    }
    before = mean(
        net["readings"]["spectral, each"]["rotation_defect"] for net in digits["untrained"]["deep"]
    )
    summary = [
        f"bias {mean(r['bias'][0] for r in first['deep', 'paper, sum']):.3f} deep against "
        f"{mean(r['bias'][0] for r in first['shallow', 'paper, sum']):.3f} shallow",
        f"defect {mean(r['rotation_defect'] for r in first['deep', 'spectral, each']):.2f}",
        f"had {before:.2f} before training",
    ]
    orbits = []
    for name in ("shallow", "deep"):
        found = [net["readings"]["paper, sum"]["directions"][0] for net in digits["networks"][name]]
        shear = [
            2**0.5 * abs(mean(part))
            for part in (
                [(m[0][0] - m[1][1]) / 2 for m in found],
                [(m[0][1] + m[1][0]) / 2 for m in found],
            )
        ]
        scale = [math.exp(2**0.5 * math.pi * (m[0][0] + m[1][1])) for m in found]
        orbits.append(
            f"{name}: shear {shear[0]:.3f} and {shear[1]:.3f} per radian, size after a full rotation {min(scale):.2f} to "
            f"{max(scale):.2f}"
        )
    return {
        "docs/paper.md": summary,
        "docs/images.md": [*table, *scheme_quotes()],
        "docs/rotmnist.md": [*kinds, *rows, four, *orbits],
        "docs/cifar10.md": [
            f"test accuracy {min(accuracy['cifar10']):.3f} to {max(accuracy['cifar10']):.3f}",
            *reading_rows(photographs["networks"]),
            *reading_rows(photographs["untrained"], [*control, "framed, each"]),
        ],
        "docs/benchmarks.md": [
            *cost,
            *memory,
            f"needs {bench['memory']['dense_bytes'] / 2**30:.1f} GB",
        ],
    }


def error_quotes() -> dict[str, list[str]]:
    found = RESULTS["false-discovery"]
    invented = [
        f"| {name} | {one['cases']} | {one['false']} | {one['strong']} | {one['approximate']} | {one['unwarned']} |"
        for name, one in found["inventions"].items()
    ]
    recovered = [
        f"| {name} | {one['cases']} | {one['right']} | {one['exact']} |"
        for name, one in (
            ("exact, by construction", found["recoveries"]),
            ("trained, O(5)", found["trained"]),
        )
    ]
    rules = [
        f"| {name} | "
        + " | ".join(f"{one['wrong']} of {one['cases']:,}" for one in errors.values())
        + " |"
        for name, errors in found["rules"].items()
    ]
    coverage = [
        f"| {one['strength']:g} | {one['samples']:,} | {100 * one['smallest']:.1f} % | {100 * one['all']:.1f} % |"
        for one in found["coverage"]
    ]
    slopes = ", ".join(f"{kind} {value:.3f}" for kind, value in found["slopes"].items())
    rotation = RESULTS["rotmnist"]["verdicts"]
    verdicts = [
        f"| {seed} | {one['defects'][0]:.3f} | {one['intervals'][0][0]:.3f} to {one['intervals'][0][1]:.3f} | {one['grades'][0]} | "
        f"{one['angle']:.1f}° | {one['from_rotation']:.1f}° | {min(along[0] for along in one['fresh']):.2f} to "
        f"{max(along[0] for along in one['fresh']):.2f} | {'yes' if one['learned'][0] else 'no'} | "
        f"{min(one['defects'][1:]):.2f} to {max(one['defects']):.2f} |"
        for seed, one in zip(RESULTS["rotmnist"]["seeds"], rotation, strict=True)
    ]
    cost = [
        f"| {name} | {one['candidates']} | {1e3 * one['bare_seconds']:.0f} ms | {1e3 * one['default_seconds']:.0f} ms | "
        f"{one['ratio']:.2f} |"
        for name, one in RESULTS["bench-controls"]["cases"].items()
    ]
    clear = found["inventions"]["clearly nonlinear"]
    said = [
        f"at most {100 * clear['upper']:.1f} %",
        f"ratio of at least {found['clearly_nonlinear']}",
    ]
    traps, before = RESULTS["traps"], RESULTS["traps-before"]["total"]
    verdicts_on_traps = [
        f"| {name} | "
        + " | ".join(
            f"{one[key]:,}" for key in ("cases", "right", "honest", "missed", "confident wrong")
        )
        + " |"
        for name, one in (traps["themes"] | {"all": traps["total"]}).items()
    ]
    said += [
        f"Of {traps['total']['findable']:,} cases in which the data show a symmetry, {traps['total']['found']:,} find it",
        f"{before['confident wrong']} of {before['cases']:,} cases",
    ]
    white, ways = (
        RESULTS["output-whitening"],
        {"each": "as they are (default)", "whitened": "whitened"},
    )
    whitening = [
        f"| {words} | {white['classifiers']['found'][way]} of {white['classifiers']['cases']} | "
        f"{white['traps'][way].get('right', 0)} of {white['traps']['cases']} | "
        f"{white['traps'][way].get('missed', 0)} | {white['traps'][way].get('honest', 0)} |"
        for way, words in ways.items()
    ]
    return {
        "docs/trust.md": whitening,
        "docs/false-discovery.md": [
            *invented,
            *recovered,
            *rules,
            *coverage,
            slopes,
            *said,
            *verdicts_on_traps,
        ],
        "docs/rotmnist.md": verdicts,
        "docs/benchmarks.md": cost,
    }


def data_set_quotes() -> dict[str, list[str]]:
    """The tables that the two studies of data sets put into their page."""
    studies = (("real-data-sets", real_data_sets), ("data-sets", data_sets))
    lines = [
        line
        for name, study in studies
        if name in RESULTS
        for table in study.TABLES.values()
        for line in table(RESULTS[name])
    ]
    return {"docs/data-sets.md": lines}


def foreign_quotes() -> dict[str, list[str]]:
    """The tables of models that are not PyTorch, which `test_foreign_page.py` compares with the page."""
    lines = [*test_foreign_page.foreign_table(), *test_foreign_page.finite_table()]
    return {"docs/howto-foreign.md": [" ".join(line.split()) for line in lines]}


def question_quotes() -> dict[str, list[str]]:
    found = question_tables.tables(RESULTS["questions"])
    parts = {"digits", "photographs", "gravity", "forces", "cost"}
    assert found.keys() == parts | {"fields of forces"}
    lines = [" ".join(line.split()) for table in found.values() for line in table.splitlines()]
    return {"docs/questions.md": lines}


def group_quotes() -> dict[str, list[str]]:
    """Finite groups: known answers, networks without symmetry, convolutional networks."""
    stored = RESULTS["groups"]
    known, other, inside = (stored[name] for name in ("known", "asymmetric", "intervals"))
    slots, images = stored["asymmetric_slots"], stored["asymmetric_images"]
    accepted, grades = stored["accepted"], stored["accepted"]["grades"]
    texts = [
        f"{sum(row['right'] for row in known)} of {len(known)} are right",
        f"at most {max(row['seconds'] for row in known):.1f} s each",
        f"{stored['seeds']['right']} of {stored['seeds']['runs']} have the right order",
        f"Of {other['networks']} networks without symmetry {other['with_false_elements']} get a finite element",
        f"at most {100 * other['at_most']:.2f} %",
        f"tried is {other['smallest_defect']:.3f}",
        f"{inside['cover']} of {inside['intervals']} contain the effect",
        f"Of {slots['networks']} networks of slots {slots['with_false_elements']} get a permutation",
        f"of {images['networks']} convolutional networks {images['with_false_elements']} get",
        f"at most {100 * slots['at_most']:.1f} % and {100 * images['at_most']:.1f} %",
        f"{accepted['cover']} of {accepted['intervals']} such intervals contain it",
        f"{grades['strong']} strong and {grades['approximate']} approximate",
    ]
    texts += [f"{r['part']:g} ({grade})" for r in stored["learned"][1:] for grade in r["grades"]]
    texts.append(f"from {min(r['part'] for r in stored['learned'] if r['order'] == 1):g} on")
    for row in stored["grids"]:
        loss = "–" if row["interpolation"] is None else f"{row['interpolation']:.2f}"
        texts.append(
            f"| {row['network']} | {row['images']} | {row['group']} | {power(row['effect_90'])} | "
            f"{row['effect_45']:.2f} | {loss} |"
        )
    return {"docs/benchmarks.md": texts}


def span(values: list[float], digits: int = 2) -> str:
    """The smallest and the largest of some values."""
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def group_study_quotes() -> dict[str, list[str]]:
    """Finite elements of the networks of the studies."""
    stored = RESULTS["group-studies"]
    vectors, digits = stored["o5"], stored["rotmnist"]
    assert {(one["group"], *one["grades"]) for one in vectors} == {("O(5)", "approximate")}
    assert {one["group"] for one in digits} == {"trivial"}
    rows = []
    for name in ("shallow", "deep"):
        networks = [one for one in digits if one["network"] == name]
        cells = []
        for grade, turns in (("weak", True), ("none", False)):
            grid = [one for network in networks for one in network["grid"]]
            some = [one for one in grid if one["element"].startswith("rotation") is turns]
            assert {one["grade"] for one in some} == {grade}
            changed = [100 * one["changed"] for one in some]
            cells += [
                span([one["effect"] for one in some]),
                f"{min(changed):.0f} % to {max(changed):.0f} %",
            ]
        half = [a["effect"] for n in networks for a in n["angles"] if a["degrees"] == 45]
        rows.append(f"| {name} | {' | '.join([*cells, span(half)])} |")
    losses = [float(re.findall(r"\d\.\d+", one["notes"][0])[0]) for one in digits]
    return {
        "docs/o5.md": [
            f"outputs by {span([one['inversion_effect'] for one in vectors], 3)} of the spread",
            f"one axis by {span([one['reflection_effect'] for one in vectors], 3)}",
        ],
        "docs/rotmnist.md": [*rows, f"output by {span(losses)} of its spread"],
    }


QUOTES: dict[str, list[str]] = {}
for part in (
    question_quotes(),
    data_set_quotes(),
    foreign_quotes(),
    error_quotes(),
    o5_quotes(),
    benchmark_quotes(),
    table_quotes(),
    image_quotes(),
    sample_quotes(),
    configuration_quotes(),
    layer_quotes(),
    layer_error_quotes(),
    naming_quotes(),
    paper_quotes(),
    peer_quotes(),
    claim_quotes(),
    group_quotes(),
    group_study_quotes(),
):
    for name, texts in part.items():
        QUOTES.setdefault(name, []).extend(texts)


@pytest.mark.parametrize("name", QUOTES)
def test_the_page_quotes_the_stored_results(name: str) -> None:
    page = " ".join((ROOT / name).read_text(encoding="utf-8").split())
    assert [quote for quote in QUOTES[name] if quote not in page] == []


@pytest.mark.parametrize("name", GIVEN)
def test_no_other_decimal_number_is_quoted(name: str) -> None:
    prose = re.sub(r"```.*?```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    known = {
        number for quote in QUOTES.get(name, []) for number in re.findall(r"\d+\.\d+", quote)
    } | GIVEN[name]
    assert set(re.findall(r"\d+\.\d+", prose)) <= known


def test_every_shown_output_is_checked() -> None:
    for name in pages.SHOWN:
        text = pages.PAIR.sub("", (ROOT / name).read_text(encoding="utf-8"))
        others = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
        assert {language for language, _ in others} <= {"sh", "yaml", "py"}, name
        for language, code in others:
            if language == "py":  # code that needs other packages, and prints nothing
                assert "print(" not in code, name
                compile(code, name, "exec")
