"""`--target`, `--output` and `--at`: the part of the model that the question is about."""

import re
from typing import Annotated

from liegg.cli._shared import QUESTION, option

TARGETS = {
    "margin": "the predicted class's logit minus the largest other one",
    "probabilities": "softmax of the logits",
    "log_probabilities": "log-softmax of the logits",
}
"""What tab completion offers for a target."""

TargetText = Annotated[
    str | None,
    option(
        QUESTION,
        "Ask about a part of the output: a class (3), several (3,5), a difference ('3 minus 5'), margin, "
        "probabilities or log_probabilities. Layers are analysed with all of their outputs.",
        "--target",
        choices=TARGETS,
    ),
]
OutputText = Annotated[
    str | None,
    option(
        QUESTION,
        "Field of the model's return value: a key or attribute such as logits, a path such as prediction.energy, or "
        "an index such as 0.",
        "--output",
    ),
]
AtText = Annotated[
    str | None,
    option(
        QUESTION,
        "Inner point at which to ask, for token ids and other integers: embeddings, or the name of a module, whose "
        "output is then moved.",
        "--at",
    ),
]


def parse_target(text: str | None) -> int | str | list[int] | None:
    """Parse a target; `liegg.discover` checks it.

    >>> parse_target("3"), parse_target("3, 5"), parse_target("margin")
    (3, [3, 5], 'margin')
    """
    if text is None or re.fullmatch(r"[\d\s,]*\d[\d\s,]*", text) is None:
        return text
    classes = [int(word) for word in re.findall(r"\d+", text)]
    return classes[0] if len(classes) == 1 else classes


def parse_output(text: str | None) -> int | str | None:
    """Parse a field; a number is an index.

    >>> parse_output("-1"), parse_output("logits")
    (-1, 'logits')
    """
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else text
