"""Many networks at once against one after the other, stored as results/bench-training-cpu.json or -cuda.json.

On a CPU: eight seeds of one shape, trained together and in a plain loop, by shape. On a GPU, where data must be there: the whole
configurations study from start to stored results, and the plain loop on one network of every depth in the same run.
"""

import argparse
import copy
import tempfile
import time
from pathlib import Path
from statistics import mean

import torch
from torch import nn

from liegg.studies import datasets, images, runner
from liegg.studies.ensemble import Member, Schedule, initialise, train
from liegg.studies.ensemble.members import width_for
from measure import alternating
from result_files import RESULTS, store

SHAPES = (
    (40_000, 1),
    (40_000, 5),
    (80_000, 2),
    (120_000, 3),
    (160_000, 4),
    (200_000, 1),
    (200_000, 5),
)
"""Parameters and hidden layers that are compared on a CPU."""

SAMPLE = ((40_000, 1), (80_000, 2), (120_000, 3), (160_000, 4), (200_000, 5), (120_000, 6))
"""Parameters and hidden layers of the networks that the plain loop trains on a GPU: one of every depth."""


def plain_loop(member: Member, data: datasets.ImageSets, device: str) -> nn.Module:
    """One network as it is usually trained: a module, Adam, shuffled batches, the best epoch kept."""
    network = initialise([member.sizes], [member.seed]).network(0).to(device)
    adam = torch.optim.Adam(network.parameters(), lr=images.SCHEDULE.rate)
    (x, y), (more, classes) = ((part.images.flatten(1), part.labels) for part in data[:2])
    best, accuracy = copy.deepcopy(network), -1.0
    for _ in range(member.epochs):
        for chosen in torch.randperm(len(y), device=device).split(images.SCHEDULE.batch_size):
            adam.zero_grad()
            nn.functional.cross_entropy(network(x[chosen]), y[chosen]).backward()
            adam.step()
        with torch.no_grad():
            now = float((network(more).argmax(1) == classes).float().mean())
        if now > accuracy:
            best, accuracy = copy.deepcopy(network), now
    return best


def member(parameters: int, depth: int, seed: int, samples: int, epochs: int) -> Member:
    """A network of the configurations study."""
    return Member(
        (784, *[width_for(parameters, depth, 784, 10)] * depth, 10), seed, samples, epochs
    )


def on_cpu(samples: int, seeds: int, repeats: int) -> list[dict]:
    """Seconds per network and epoch, together and one by one, for every shape."""
    x, y = torch.rand(samples, 28, 28), torch.randint(10, (samples,))
    data = datasets.ImageSets(
        *(datasets.Labelled(x[:size], y[:size]) for size in (samples, samples // 5, samples))
    )
    rows = []
    for parameters, depth in SHAPES:
        some = [member(parameters, depth, seed, samples, 1) for seed in range(1, seeds + 1)]
        times = alternating(
            {
                "together": lambda some=some: train(
                    some, images.classification(data), images.SCHEDULE
                ),
                "plain": lambda some=some: [plain_loop(one, data, "cpu") for one in some],
            },
            repeats,
        )
        rows.append(
            {
                "parameters": parameters,
                "hidden_layers": depth,
                "width": some[0].sizes[1],
                "networks": seeds,
                "together_seconds": times["together"] / seeds,
                "plain_seconds": times["plain"] / seeds,
                "ratio": times["plain"] / times["together"],
            }
        )
    return rows


def on_gpu(device: str, epochs: int = images.EPOCHS) -> dict:
    """Seconds of the whole study, of the plain loop per network, and how many times faster the study is."""
    data = images.smoothed(datasets.rotated_mnist(), device)
    plain_loop(
        member(40_000, 1, 1, len(data.train), 2), data, device
    )  # what libraries do at first use counts for neither
    train(
        [member(40_000, 1, 1, len(data.train), 2)],
        images.classification(data),
        Schedule(),
        device=device,
    )
    with tempfile.TemporaryDirectory() as out:
        begin = time.perf_counter()
        results = runner.run("configurations", out, device=device)
        whole = time.perf_counter() - begin
    rows = []
    for parameters, depth in SAMPLE:
        one = member(parameters, depth, 1, len(data.train), epochs)
        begin = time.perf_counter()
        plain_loop(one, data, device)
        rows.append(
            {
                "parameters": parameters,
                "hidden_layers": depth,
                "seconds": time.perf_counter() - begin,
            }
        )
    count = 0 if results is None else len(results["networks"])
    each = mean(row["seconds"] for row in rows)
    return {
        "name": torch.cuda.get_device_name() if device.startswith("cuda") else device,
        "networks": count,
        "study_seconds": whole,
        "plain": rows,
        "plain_seconds_per_network": each,
        "ratio": each * count / whole,
    }


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument(
        "--quick", action="store_true", help="few samples and one repeat: does it run?"
    )
    chosen = parser.parse_args()
    begin = time.perf_counter()
    kind = "cpu" if chosen.device == "cpu" else "cuda"
    found: dict = {"study": f"bench-training-{kind}", "quick": chosen.quick}
    if kind == "cpu":
        found["shapes"] = on_cpu(*((200, 2, 1) if chosen.quick else (10_000, 8, 3)))
    else:
        found |= on_gpu(chosen.device)
    command = (
        "python benchmarks/training.py" + " --quick" * chosen.quick + f" --device {chosen.device}"
    )
    out = chosen.out / f"bench-training-{kind}.json"
    store(found, out, command, begin=begin, device=chosen.device)


if __name__ == "__main__":
    main()
