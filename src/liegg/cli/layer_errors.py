"""`liegg layer-errors`."""

from pathlib import Path
from typing import Annotated

from liegg.cli._shared import (
    INPUT,
    QUESTION,
    Json,
    Quiet,
    deliver,
    echo,
    exit_codes,
    option,
    print_json,
    progress_bars,
)
from liegg.cli.discover_options import (
    DATA_HELP,
    MODEL_HELP,
    ActionText,
    Device,
    Out,
    Seed,
    Title,
    TrustModel,
    Weights,
)

Model = Annotated[str, option(INPUT, MODEL_HELP)]
Data = Annotated[str, option(INPUT, f"{DATA_HELP}.")]
MotionText = Annotated[
    str, option(QUESTION, "The motion: rotation, shift, scaling, shear, stretching, …")
]
Size = Annotated[
    float | None,
    option(
        QUESTION,
        "How far to move: degrees, pixels or per cent (default: 90°, 1 pixel, or what discover uses).",
    ),
]
LayerNames = Annotated[
    str | None,
    option(
        QUESTION, "Layers to measure, joined by commas: conv1,layer1.*,**.conv2 (default: all)."
    ),
]
OutputKind = Annotated[
    str | None,
    option(
        QUESTION,
        "What several outputs are: classes (the largest is the prediction) or values (default: detected).",
        choices=dict.fromkeys(("classes", "values"), ""),
    ),
]
Samples = Annotated[int, option(QUESTION, "Maximum number of samples.")]
Effects = Annotated[
    bool, option(QUESTION, "Measure what the error of each layer does to the output.")
]


def layer_errors(
    model: Model,
    data: Data,
    action: ActionText,
    weights: Weights = None,
    trust_model: TrustModel = False,
    device: Device = None,
    about: MotionText = "rotation",
    size: Size = None,
    layers: LayerNames = None,
    samples: Samples = 64,
    effects: Effects = True,
    target: OutputKind = None,
    seed: Seed = 0,
    out: Out = None,
    title: Title = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the layers that break a symmetry: the error that each adds under one motion, and why.

    --out writes layer-errors.json (read by liegg.load) and layer-errors.html (open it in a browser) into the folder.
    --quiet prints only the conclusion.

    Example: liegg layer-errors --model nets:cnn --weights w.pt --data images.npy --action image:affine --about shift --size 1
    """
    with exit_codes():
        import liegg
        from liegg.cli.files import load_samples
        from liegg.cli.models import load_model
        from liegg.cli.parse import parse_action
        from liegg.results.run_folder import add_page, check_run_folder

        if out is not None:
            check_run_folder(out)
        if Path(data).is_dir():
            raise liegg.LieggError(
                f"data {data!r} is a folder; expected a file of arrays, for example images.npy."
            )
        x = load_samples(data, None, None).analysed
        network = load_model(model, weights, device, trusted=trust_model)
        with progress_bars(quiet or json, "layers") as advance:
            found = liegg.layer_errors(
                network,
                x,
                parse_action(action),
                about,
                size=size,
                layers=None if layers is None else layers.split(","),
                samples=samples,
                effects=effects,
                target=target,  # pyright: ignore[reportArgumentType]
                seed=seed,
                progress=lambda done, total: advance("measuring the layers", done, total),
            )

        def say() -> None:
            print_json(found.to_dict()) if json else echo(found.sentence if quiet else str(found))

        def store(folder: Path) -> Path:
            found.save(folder)
            return add_page(folder, found, title=title)

        unprinted = deliver((found,), say, store, out=out, hidden=quiet or json)
        if unprinted is not None:
            raise unprinted
