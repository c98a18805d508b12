"""The page of results: the paper's claims, then each study with its figures."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from liegg._utils.atomic_write import write_text
from liegg._utils.errors import MissingExtraError
from liegg.studies.claims.evaluation import DAMAGE, damaged, evaluate
from liegg.studies.claims.record import by_claim, tally
from liegg.studies.provenance import read_results


@dataclass(frozen=True)
class Figure:
    """A figure of a study.

    Attributes:
        name: file name without the extension; a PNG and an SVG.
        alt: alternative text; it describes what is drawn, not the results.
        caption: caption.
    """

    name: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Study:
    """Texts of a study on the page.

    Attributes:
        name: name in `liegg reproduce`.
        title: heading.
        description: one sentence.
        figures: its figures.
    """

    name: str
    title: str
    description: str
    figures: tuple[Figure, ...]


STUDY_TEXTS = (
    Study(
        "o5",
        "O(5) regression",
        "A perceptron learns a function of two vectors that no rotation of five dimensions changes (section 5.1).",
        (
            Figure(
                "o5",
                "Three plots: the 25 values of the spectrum, the bias of their directions, the variance of the last ten against N.",
                "Spectrum and bias of the 25 directions, and the variance of the last ten against the training-set size.",
            ),
        ),
    ),
    Study(
        "rotmnist",
        "Rotated MNIST",
        "A shallow and a deep perceptron classify digits that were rotated by random angles (section 5.2).",
        (
            Figure(
                "rotmnist-spectrum",
                "Plots of the four values of the spectrum and the bias of their directions, for shallow and deep networks.",
                "Spectrum and bias of the four directions under three readings.",
            ),
            Figure(
                "rotmnist-rotations",
                "For shallow and deep networks: images of a digit, one for every 45 degrees, and a density on a circle.",
                "A digit rotated by samples of the learned algebra, and the orbit of the point (1, 0).",
            ),
        ),
    ),
    Study(
        "configurations",
        "Network configurations",
        "Perceptrons of different width, depth and number of parameters learn rotated MNIST (section 5.3).",
        (
            Figure(
                "configurations-heatmaps",
                "Heat maps of variance and bias, number of parameters against number of hidden layers.",
                "Mean variance and bias by number of parameters and depth.",
            ),
            Figure(
                "configurations-correlation",
                "Scatter plots of variance and bias against test accuracy, a point for each network.",
                "Variance and bias against the test accuracy.",
            ),
        ),
    ),
    Study(
        "draws",
        "Other draws of the data",
        "The study of the configurations on other draws of training, validation and test images (beyond the paper).",
        (
            Figure(
                "draws",
                "Two plots, for variance and for bias: the correlation with the accuracy, draw by draw, under both readings.",
                "Correlation of variance and bias with the test accuracy, draw by draw.",
            ),
        ),
    ),
    Study(
        "layerwise",
        "Layer by layer",
        "A perceptron with seven hidden layers, trained in four ways, and what each of its layers learned (section 5.4).",
        (
            Figure(
                "layerwise",
                "Four plots of variance and bias against the layer, a curve for each way of training, for both readings.",
                "Variance and bias after each hidden layer and of the logits, for four ways of training.",
            ),
        ),
    ),
    Study(
        "sample-complexity",
        "Sample complexity",
        "The symmetries of trained networks, extracted from only a share of the samples (appendix A.2).",
        (
            Figure(
                "sample-complexity-o5",
                "Variance and bias of the O(5) networks against the share of the samples, on logarithmic axes.",
                "O(5) regression: variance and bias from a share of the samples.",
            ),
            Figure(
                "sample-complexity-rotmnist",
                "Variance and bias of the rotated-MNIST networks against the share of the images, on logarithmic axes.",
                "Rotated MNIST: variance and bias from a share of the images.",
            ),
        ),
    ),
    Study(
        "cifar10",
        "CIFAR-10",
        "A perceptron classifies photographs that were rotated by random angles (appendix A.3.3).",
        (
            Figure(
                "cifar10-spectrum",
                "Plots of the four values of the spectrum and the bias of their directions.",
                "Spectrum and bias of the four directions.",
            ),
            Figure(
                "cifar10-rotations",
                "A row of images of a photograph, one for every 45 degrees, and a density on a circle.",
                "A photograph rotated by samples of the learned algebra, and the orbit of the point (1, 0).",
            ),
        ),
    ),
    Study(
        "false-discovery",
        "Error rates",
        "Functions and networks with known symmetries: false discoveries and missed symmetries (beyond the paper).",
        (
            Figure(
                "false-discovery-defects",
                "Defects of every case on a logarithmic axis, by family, with the thresholds of the verdict.",
                "The defects that decide, by family of functions.",
            ),
            Figure(
                "false-discovery-rules",
                "Bars of the share of wrong counts, for every rule and family.",
                "Wrong counts of liegg's verdict and of other rules on the same defects.",
            ),
            Figure(
                "false-discovery-strength",
                "Defects with their intervals against the size of the broken part, on logarithmic axes.",
                "Defects of symmetric functions plus ε times an asymmetric one.",
            ),
            Figure(
                "false-discovery-coverage",
                "Share of intervals that contain the value of 200,000 samples, against the number of samples.",
                "Coverage of the intervals.",
            ),
        ),
    ),
    Study(
        "traps",
        "Traps",
        "Functions, networks and data made to mislead a rule that counts symmetries (beyond the paper).",
        (
            Figure(
                "traps",
                "Bars of the share of every verdict, for every family of traps.",
                "Verdicts by family of traps.",
            ),
        ),
    ),
)
"""The studies in the paper's order, then those beyond it."""


def write_index(folder: str | Path) -> Path:
    """Write `index.html` beside the results: the claims, then each stored study with its figures.

    The page needs only the figures in the same folder: no script, no network.

    Args:
        folder: where `liegg reproduce` stored results and figures.

    Returns:
        The page.

    Raises:
        ResultsError: a file is damaged or has another format.
        MissingExtraError: jinja2 is not installed.
    """
    folder = Path(folder)
    return write_text(_render(page(folder)), folder / "index.html")


def page(folder: Path) -> dict[str, Any]:
    """Values for the template."""
    found = evaluate(folder)
    stored = ((study, read_results(folder, study.name)) for study in STUDY_TEXTS)
    return {
        "claims": by_claim(found),
        "tally": tally(found),
        "studies": [
            _section(study, results, folder) for study, results in stored if results is not None
        ],
    }


def _section(study: Study, results: dict[str, Any], folder: Path) -> dict[str, Any]:
    figures = [
        {
            "alt": figure.alt,
            "caption": figure.caption,
            "png": f"{figure.name}.png",
            "svg": f"{figure.name}.svg" if (folder / f"{figure.name}.svg").is_file() else None,
        }
        for figure in study.figures
        if (folder / f"{figure.name}.png").is_file()
    ]
    try:
        origin = results["provenance"]
        facts = {key: origin[key] for key in ("command", "date", "device", "seconds", "versions")}
        facts |= {"quick": results["quick"], "seeds": len(results["seeds"])}
    except DAMAGE as error:
        raise damaged(folder, error, study.name) from error
    texts = {key: getattr(study, key) for key in ("name", "title", "description")}
    return texts | facts | {"figures": figures}


def _render(values: dict[str, Any]) -> str:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "the page of results needs jinja2. Type: pip install 'liegg[studies]'"
        ) from error
    environment = Environment(
        loader=PackageLoader("liegg.studies"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("index.html").render(values)
