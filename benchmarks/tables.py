"""Tables of docs/benchmarks.md from stored results: `python benchmarks/tables.py` puts them between their marks in the page."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
Results = dict[str, Any]


def scaling(found: Results) -> list[str]:
    """Measured and predicted speed-ups over processes."""
    strong, weak = found["strong"], found["weak"]
    rows = [
        f"| {one['processes']} | {one['strong']:.2f} | {one['large']:.2f} | {100 * one['weak']:.0f} % |"
        for one in found["predicted"]
    ]
    size, share = f"{strong['samples']:,} samples", f"{weak['samples_each']:,} samples"
    return [
        f"Two processes read {size} {strong['speed_up']:.2f} times as fast as one (the aim is {strong['aim']}). With {share} each "
        f"they take {1 / weak['efficiency']:.2f} times as long as one with {share} alone. Their answers differ from its by "
        f"{found['largest_difference']:.0e} at most.",
        "",
        f"| processes, predicted | {size} | {found['large']:,} samples | efficiency with {share} each |",
        "|---|---|---|---|",
        *rows,
    ]


def by_samples(found: Results) -> list[str]:
    """Time by the number of samples."""
    return [
        "| samples | liegg | of a plain pass | dense / liegg |",
        "|---|---|---|---|",
        *[
            f"| {one['samples']:,} | {_time(one['liegg_seconds'])} | {_ratio(one, 'liegg', 'pass')} | "
            f"{_ratio(one, 'dense', 'liegg')} |"
            for one in found["samples"]
        ],
    ]


def by_candidates(found: Results) -> list[str]:
    """Time by the number of candidates."""
    return [
        "| candidates | liegg | of a plain pass | dense / liegg |",
        "|---|---|---|---|",
        *[
            f"| {one['candidates']:,} | {_time(one['liegg_seconds'])} | {_ratio(one, 'liegg', 'pass')} | "
            f"{_ratio(one, 'dense', 'liegg')} |"
            for one in found["candidates"]
        ],
    ]


def by_inputs(found: Results) -> list[str]:
    """Time by the size of a sample."""
    return [
        "| numbers to a sample | liegg | of a plain pass |",
        "|---|---|---|",
        *[
            f"| {one['numbers']:,} | {_time(one['liegg_seconds'])} | {_ratio(one, 'liegg', 'pass')} |"
            for one in found["inputs"]
        ],
    ]


def by_outputs(found: Results) -> list[str]:
    """Time by the number of outputs, as multiples of a plain pass."""
    return [
        "| outputs | plain pass | six forward derivatives alone | each output | 16 combinations | one reverse pass for each |",
        "|---|---|---|---|---|---|",
        *[
            f"| {one['outputs']:,} | {_time(one['pass_seconds'])} | "
            + " | ".join(
                _ratio(one, name, "pass") for name in ("derivatives", "each", "combined", "reverse")
            )
            + " |"
            for one in found["outputs"]
        ],
    ]


def memory(found: Results) -> list[str]:
    """Peak memory by the number of samples."""
    bare, default = found["memory"]["streamed"], found["memory"]["default"]
    return [
        "| samples | bare | with intervals and controls |",
        "|---|---|---|",
        *[
            f"| {int(count):,} | {bare[count] / 2**20:.1f} MB | {default[count] / 2**20:.1f} MB |"
            for count in bare
        ],
    ]


def coverage(found: Results) -> list[str]:
    """Share of intervals that hold the truth, and the ratio of their ends, by how the outputs were read."""
    ways = list(dict.fromkeys(one["taken"] for one in found["coverage"]))
    cells: dict[tuple[int, int], dict[Any, str]] = {}
    for one in found["coverage"]:
        told = f"{100 * one['all']:.1f} %, {math.exp(one['log_width']):.2f}"
        cells.setdefault((one["outputs"], one["samples"]), {})[one["taken"]] = told
    names = [
        "each output" if way == "each" else f"{way} combination{'s' * (way > 1)}" for way in ways
    ]
    return [
        f"| outputs | samples | {' | '.join(names)} |",
        "|---|---|" + "---|" * len(ways),
        *[
            f"| {outputs:,} | {samples:,} | {' | '.join(told[way] for way in ways)} |"
            for (outputs, samples), told in cells.items()
        ],
    ]


def gpu_cost(found: Results) -> list[str]:
    """Cost of calls on one GPU, as multiples of one forward and backward pass to the gradient of the input."""
    networks = [("residual network", one) for one in found["asymptotic"]]
    networks += [("vision transformer", one) for one in found["transformer"]]
    rows = [
        f"| {name}, {reading} | {one['images']:,} | {one[key]:.2f} | {one[f'{key}_no_questions']:.2f} | "
        + (f"{one[bare]:.2f} |" if (bare := f"{key}_no_intervals") in one else "- |")
        for name, one in networks
        for reading, key in (("outputs summed", "sum"), ("each output", "each"))
        if key in one
    ]
    slope = found["per_image"]
    return [
        "| network and reading | images | complete call | without questions | without questions and intervals |",
        "|---|---|---|---|---|",
        *rows,
        f"| residual network, outputs summed | each further image | {slope['sum']:.2f} | {slope['sum_no_questions']:.2f} | "
        f"{slope['sum_no_intervals']:.2f} |",
        "",
        "Few images, in one batch, outputs summed; medians, and the first call of a process:",
        "",
        "| images | plain pass | complete call | without questions and intervals | first call |",
        "|---|---|---|---|---|",
        *[
            f"| {one['images']} | {_time(one['pass']['median'])} | {_time(one['call']['median'])} | "
            f"{_time(one['no_intervals']['median'])} | {_time(one['call']['first'])} |"
            for one in found["fixed"]
        ],
    ]


def fixed_cost(found: Results) -> list[str]:
    """Processor time of a call on one core, for fewer and fewer samples; and calls beside busy cores."""
    busy = found["busy"]
    return [
        "| network | samples | plain pass | complete call |",
        "|---|---|---|---|",
        *[
            f"| {one['case']} | {one['samples']:,} | {1000 * one['pass_seconds']:.2f} ms | {_time(one['call_seconds'])} |"
            for one in found["cpu"]
        ],
        "",
        f"Beside {busy['cores'] - 1} busy cores of {busy['cores']}, a call on all threads takes {busy['ratio']:.2f} times as long as "
        "on one.",
    ]


def scale(found: Results) -> list[str]:
    """Other passes on one GPU, as multiples of one forward and backward pass to the gradient of the input."""
    cost = found["cost"]
    return [
        f"A pass that takes the gradients of the weights too, as in training, takes {cost['with_weights']:.2f} plain passes; one reverse "
        f"pass for each of the {cost['outputs']:,} outputs, of which {cost['backward_per_output_measured']} were run, "
        f"{cost['backward_per_output']:.0f}. The analyses take {cost['sum_controls_peak_gb']:.0f} GB (outputs summed) and "
        f"{cost['each_controls_peak_gb']:.0f} GB (each output) of the memory of the GPU."
    ]


def candidates(found: Results) -> list[str]:
    """Time of large candidate spaces: all directions, and the smallest alone."""
    return [
        "| | candidates | rows | folding, QR | all directions | the smallest 20 | all, no symmetry | "
        "the smallest 20, no symmetry | memory, all |",
        "|---|---|---|---|---|---|---|---|---|",
        *[
            f"| gl({one['n']}) | {one['columns']:,} | {one['rows']:,} | {_time(one['qr']['seconds'])} | "
            + " | ".join(
                _time(one[name]["seconds"])
                for name in ("full", "bottom", "full_network", "bottom_network")
            )
            + f" | {one['full']['extra_bytes'] / 1e9:.2f} GB |"
            for one in found["cases"]
        ],
    ]


def layers(found: Results) -> list[str]:
    """Cost of all layers over forward derivatives alone, and reverse mode's over theirs."""
    names = {"perceptron": "perceptron, 3072→6×512→10", "residual": "residual network, 18 layers"}
    return [
        "| network | layers | of six passes, one by one | of six, batched | reverse mode, sum | reverse mode, each output |",
        "|---|---|---|---|---|---|",
        *[
            f"| {names[name]} | {one['layers']} | {one['all_layers_of_forward_one_by_one']:.2f} | "
            f"{one['all_layers_of_forward_alone']:.2f} | {one['reverse_sum_of_all_layers_sum']:.1f} | "
            + (
                f"{one['reverse_of_all_layers']['each']:.0f} |"
                if "each" in one["reverse_of_all_layers"]
                else "- |"
            )
            for name, one in ((name, found[name]) for name in names)
        ],
    ]


def before_and_after(found: Results) -> list[str]:
    """Processor time of calls of two versions, measured in one run."""
    return [
        "| call | before | after | ratio |",
        "|---|---|---|---|",
        *[
            f"| {one['call']} | {_time(one['before_processor_seconds'])} | {_time(one['after_processor_seconds'])} | "
            f"{one['processor_ratio']:.2f} |"
            for one in found["calls" if "calls" in found else "plain"]
        ],
    ]


def house(found: Results) -> list[str]:
    """What a reader of the sources, and a call, have to walk through, beside the version before the floor plan."""
    now, before = found["now"], found["before"]
    rule, own, batch = (
        now["walks"][name] for name in ("another_rank_rule", "own_action", "one_batch")
    )
    counts = {
        "statements, docstrings left out": "statements",
        "of these in `studies/`": "statements_of_studies",
        "files": "files",
        "lines of the median file": "median_lines_of_a_file",
        "entries at the top of the package": "entries_at_the_top",
        "public names": "public_names",
        "arguments of `discover`": "arguments_of_discover",
        "public attributes and methods of a result": "public_attributes_of_a_result",
    }
    calls = {"`discover`": "discover", "`print`": "print", "`load`": "load"}
    return [
        "| | before | now |",
        "|---|---|---|",
        *[f"| {words} | {before[key]:,} | {now[key]:,} |" for words, key in counts.items()],
        *[
            f"| calls inside the package in {words} | {before[key]['calls']:,} | {now[key]['calls']:,} |"
            for words, key in calls.items()
        ],
        "",
        f"- Another rank rule: {rule['files_to_read']} files to read, {rule['lines_to_read']} lines; `rank.levels` alone is replaced, "
        "and count, grades and intervals follow it.",
        f"- Polynomial vector fields: one class of {own['lines']} lines goes through {len(own['verbs'])} verbs "
        f"({', '.join(own['verbs'])}); {own['files_of_the_package_that_name_it']} files of the package name it.",
        f"- One batch from `discover` to the printed table: {batch['functions']} functions in {batch['files']} files, at most "
        f"{batch['deepest_stack']} waiting for one another; {batch['decisions']} decision, {batch['hops_to_the_rank_rule']} calls deep; "
        f"{len(batch['jumps_back'])} call from an earlier folder into a later one (`{batch['jumps_back'][0]}`).",
    ]


SECTIONS: dict[str, tuple[str, Callable[[Results], list[str]]]] = {
    "scaling": ("bench-scaling", scaling),
    "growth with samples": ("bench-growth", by_samples),
    "growth with candidates": ("bench-growth", by_candidates),
    "growth with numbers": ("bench-growth", by_inputs),
    "growth with outputs": ("bench-growth", by_outputs),
    "growth of memory": ("bench-growth", memory),
    "coverage": ("outputs-coverage", coverage),
    "one GPU": ("bench-gpu-cost", gpu_cost),
    "other passes on one GPU": ("bench-scale-cuda", scale),
    "fixed cost": ("bench-fixed-cost", fixed_cost),
    "before and after": ("bench-fixed-cost-before-after", before_and_after),
    "plain tensors": ("bench-structured", before_and_after),
    "plain tensors since": ("bench-plain-before-after", before_and_after),
    "large spaces": ("bench-candidates-cpu", candidates),
    "large spaces on a GPU": ("bench-candidates-cuda", candidates),
    "layers": ("bench-layers", layers),
    "layers on a GPU": ("bench-layers-cuda", layers),
    "house": ("house", house),
}
"""Name of the mark, stored result, and what makes the lines between two of these marks."""


def mark(section: str) -> str:
    """What stands before and after the lines of a section."""
    return f"<!-- {section} -->\n"


def filled(page: str, stored: dict[str, Results]) -> str:
    r"""The page with the lines of every section whose result is there.

    >>> result = {"inputs": [{"numbers": 64, "liegg_seconds": 0.5, "pass_seconds": 0.25}]}
    >>> print(
    ...     filled(
    ...         "<!-- growth with numbers -->\n<!-- growth with numbers -->\n",
    ...         {"bench-growth": result},
    ...     ).splitlines()[4]
    ... )
    | 64 | 500 ms | 2.00 |
    """
    for section, (result, lines) in SECTIONS.items():
        if result in stored and mark(section) in page:
            before, _, after = page.split(mark(section))
            page = (
                f"{before}{mark(section)}\n"
                + "\n".join(lines(stored[result]))
                + f"\n\n{mark(section)}{after}"
            )
    return page


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _ratio(one: dict[str, float], above: str, below: str) -> str:
    value = one[f"{above}_seconds"] / one[f"{below}_seconds"] if f"{above}_seconds" in one else None
    return "-" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def main() -> None:
    """Fill the page."""
    stored = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in (ROOT / "results").glob("*.json")
    }
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), stored), encoding="utf-8")


if __name__ == "__main__":
    main()
