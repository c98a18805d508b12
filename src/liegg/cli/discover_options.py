"""Options of `liegg discover`, with their help."""

from pathlib import Path
from typing import Annotated

from liegg.cli._shared import ACTION_EXAMPLES, INPUT, LARGE_RUNS, OUTPUT, QUESTION, TRUST, option

MODEL_HELP = (
    "package.module:factory (imported, and called without arguments), model.onnx, or an exported "
    "program model.pt2 with --trust-model."
)
DATA_HELP = (
    "Samples along the first axis: x.npy, x.npz:name, x.csv or x.parquet (columns name features), "
    "x.pt or x.safetensors with tensors"
)
Model = Annotated[
    str | None,
    option(INPUT, f"{MODEL_HELP} Without a model: the symmetries of the data set itself."),
]
Labels = Annotated[
    str | None,
    option(
        INPUT, "y.npy with one label per sample, without a model: test samples and labels together."
    ),
]
DataQuestion = Annotated[
    str,
    option(
        QUESTION,
        "Without a model: which motions leave the distribution unchanged, or lie along the surface of the data.",
        choices={
            "density": "motions that leave the distribution unchanged",
            "support": "motions along the surface on which the data lies",
            "discriminator": "symmetries of a network that tells the data from a Gaussian",
            "label": "motions that leave the label of a sample unchanged; with --labels",
        },
    ),
]
Weights = Annotated[
    Path | None,
    option(
        INPUT,
        "Weights for the factory's module: .safetensors, or a state dict in .pt, .pth or a Lightning .ckpt.",
    ),
]
TrustModel = Annotated[
    bool,
    option(INPUT, "Read an exported program, which can run code that it holds.", "--trust-model"),
]
Data = Annotated[str, option(INPUT, f"{DATA_HELP}, or a folder of images with --size.")]
Size = Annotated[
    str | None,
    option(
        INPUT, "Height and width to which images of a folder are resized: 64x64; 64x64x1 for grey."
    ),
]
NumberOfSamples = Annotated[
    int | None, option(INPUT, "Analyse this many of the samples, evenly spaced.", "--samples")
]
Groups = Annotated[
    str | None,
    option(INPUT, "g.npy with one label per sample; samples with the same label stay together."),
]
Device = Annotated[
    str | None,
    option(
        INPUT, "Where to run the model: cpu, cuda, cuda:1, mps (default: where its weights are)."
    ),
]
ActionText = Annotated[
    str,
    option(
        QUESTION,
        "Candidate transformations: linear:5x2 (gl(5) on two vectors), affine:3x20, image, "
        "image:affine:28x28, color, image+color.",
        choices=ACTION_EXAMPLES,
    ),
]
Moves = Annotated[
    list[str] | None,
    option(
        QUESTION,
        "For a file of several named arrays, such as .npz: which of them the action moves; repeatable. The "
        "rest is passed to the model as it is.",
    ),
]
Names = Annotated[
    str | None,
    option(
        QUESTION,
        "Names of the N coordinates of linear:N, affine:N, tensor:N:RANK or irrep:L: m1,m2,r.",
    ),
]
OutputAction = Annotated[
    str | None,
    option(
        QUESTION,
        "Test for equivariance: action on the outputs, written as --action.",
        choices=ACTION_EXAMPLES,
    ),
]
Outputs = Annotated[
    str,
    option(
        QUESTION,
        "each output, their sum (as in the paper), whitened ones, or a number of random combinations.",
        choices=dict.fromkeys(("each", "sum", "whitened"), ""),
    ),
]
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
        "probabilities or log_probabilities; or say what all outputs are: classes (the largest is the prediction) or "
        "values. Layers are analysed with all of their outputs.",
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
        "Inner point to analyse, for token ids and other integers: embeddings, or the name of a module, whose output "
        "is then moved.",
        "--at",
    ),
]
About = Annotated[
    list[str] | None,
    option(
        QUESTION,
        "Named motion to test on up to 256 samples; repeatable: rotation, shift, scaling, … "
        "(default: for images the standard set, on fewer samples); --about none tests none.",
    ),
]
Limit = Annotated[
    list[str] | None,
    option(
        QUESTION,
        "Threshold of the decision; repeatable: threshold=0.05, strong=0.001, minimum_gap=5, …",
    ),
]
Layers = Annotated[
    bool,
    option(
        QUESTION,
        "Analyse every layer as well, with the same outputs and thresholds but no intervals.",
        "--layers",
    ),
]
Group = Annotated[
    bool,
    option(
        QUESTION,
        "Search for finite symmetries as well: reflections, permutations, rotations by fixed angles.",
        "--group",
    ),
]
Controls = Annotated[bool, option(TRUST, "Compute intervals, and compare with random directions.")]
Control = Annotated[
    str | None,
    option(
        TRUST,
        "reinitialised: compare with the same architecture with re-initialised weights as well.",
        choices=dict.fromkeys(("reinitialised",), ""),
    ),
]
ControlDraws = Annotated[
    int | None,
    option(TRUST, "Number of re-initialised models (default: 19, or 5 if these take too long)."),
]
HeldOut = Annotated[
    str | None,
    option(
        TRUST,
        "Verify finite transformations on these samples: a file as for --data, or a fraction of the "
        "data such as 0.2.",
    ),
]
VerifyEffort = Annotated[
    str,
    option(
        TRUST,
        "How --held-out is measured: auto (large and structured samples at selected times) or full.",
        choices=dict.fromkeys(("auto", "full"), ""),
    ),
]
Seed = Annotated[int, option(TRUST, "Random seed.")]
BatchSize = Annotated[
    int | None, option(LARGE_RUNS, "Samples per batch (default: chosen automatically).")
]
Route = Annotated[
    str,
    option(
        LARGE_RUNS,
        "How to differentiate the model: auto, jvp, vjp, autograd, or finite differences; moved moves images instead.",
        choices=dict.fromkeys(("auto", "jvp", "vjp", "autograd", "moved", "finite"), ""),
    ),
]
Budget = Annotated[
    int | None,
    option(
        LARGE_RUNS,
        "Maximum number of evaluations for finite differences; fewer samples are used if needed.",
    ),
]
Bottom = Annotated[
    int | None,
    option(LARGE_RUNS, "Compute only the k smallest defects; for many thousands of candidates."),
]
Checkpoint = Annotated[
    Path | None, option(LARGE_RUNS, "Checkpoint file; repeat the command after a crash to resume.")
]
CheckpointEvery = Annotated[float, option(LARGE_RUNS, "Minimum seconds between two checkpoints.")]
Timeout = Annotated[
    float,
    option(LARGE_RUNS, "Seconds that one process waits for the others (two minutes at the start)."),
]
Out = Annotated[Path | None, option(OUTPUT, "Run folder for the result and its report.")]
Title = Annotated[str | None, option(OUTPUT, "Heading of the report.")]

NEEDS_MODEL = (
    *("weights", "trust_model", "device", "output_action", "outputs", "target", "output"),
    *("at", "about", "layers", "group", "moves", "control", "control_draws", "route", "budget"),
    *("bottom", "checkpoint", "classes"),
)
"""Options that need a model."""

NEEDS_NO_MODEL = ("labels", "question")
"""Options for a data set without a model."""
