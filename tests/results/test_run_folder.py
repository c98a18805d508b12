"""Run folders: complete or absent, and read back as they were written."""

from pathlib import Path

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg._utils.errors import RecordError
from liegg.results.run_folder import Clock, read_log, read_run, write_run

X = normal(120, 3)


@pytest.fixture(scope="module")
def sym():
    return liegg.discover(lambda x: x.square().sum(1), X, liegg.Linear(3))


@pytest.fixture(scope="module")
def layers():
    return liegg.discover_layers(mlp(3, 8, 2), X, liegg.Linear(3))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_everything_comes_back(tmp_path, sym, layers):
    page = write_run(tmp_path / "run", sym, samples=X, layers=layers, title="A title")
    assert page == tmp_path / "run" / "report.html"
    assert names(tmp_path / "run") == {
        "record.json",
        "arrays.safetensors",
        "samples.safetensors",
        "layers",
        "report.html",
        "log.txt",
        "run.json",
    }
    found = read_run(tmp_path / "run")
    assert found.title == "A title"
    assert (
        len(
            {
                (tmp_path / "run" / name).stat().st_mode
                for name in ("record.json", "arrays.safetensors", "samples.safetensors")
            }
        )
        == 1
    )
    assert torch.equal(found.sym.generators, sym.generators)
    assert found.samples is not None
    assert torch.equal(found.samples, X[:8])
    assert found.layers is not None
    assert found.layers.names == layers.names
    assert torch.equal(found.layers.defect(), layers.defect())  # read back, not computed again


def test_a_second_run_leaves_nothing_of_the_first_but_its_log(tmp_path, sym, layers):
    write_run(tmp_path, sym, samples=X, layers=layers)
    (tmp_path / "mine.txt").write_text("keep me")
    write_run(tmp_path, sym)
    assert names(tmp_path) == {
        "record.json",
        "arrays.safetensors",
        "report.html",
        "log.txt",
        "mine.txt",
    }
    assert read_run(tmp_path).samples is None
    assert read_log(tmp_path).count("liegg 0.") == 2
    assert read_log(tmp_path).count(str(sym)) == 2


def test_the_log_says_what_happened_when(tmp_path, sym, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/somewhere/bin/liegg", "discover", "--data", "my x.npy"])
    clock = Clock(started=0.0)
    clock.note("loaded the samples")
    write_run(tmp_path, sym, clock=clock)
    first, typed, loaded, wrote, *_ = read_log(tmp_path).splitlines()
    assert first.startswith(f"1970-01-01T00:00:00Z  liegg {liegg.__version__}, torch ")
    assert typed == "$ liegg discover --data 'my x.npy'"
    assert loaded.endswith(" s  loaded the samples")
    assert wrote.endswith(f" s  wrote {tmp_path / 'report.html'}")


@pytest.mark.parametrize(
    "where",
    [
        "liegg.results.run_folder.save_layers",
        "liegg.results.run_folder.save",
        "liegg.report.page.page.write_text",
    ],
)
def test_an_interruption_leaves_no_half_of_a_file_and_no_old_page(
    tmp_path, sym, layers, monkeypatch, where
):
    write_run(tmp_path, sym, samples=X)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_run(tmp_path, sym, samples=X, layers=layers)
    assert not [name for name in names(tmp_path) if name.endswith(".part")]
    assert "report.html" not in names(
        tmp_path
    )  # the page of another run never lies beside this record
    assert read_run(tmp_path).sym.nullity == sym.nullity


def test_interrupted_while_writing_the_samples(tmp_path, sym, monkeypatch):
    def half(_, path):
        Path(path).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr("liegg.results.run_folder.save_file", half)
    with pytest.raises(KeyboardInterrupt):
        write_run(tmp_path, sym, samples=X)
    assert names(tmp_path) == {"record.json", "arrays.safetensors"}


def test_layers_of_an_interrupted_run_are_not_in_the_way(tmp_path, sym, layers, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("liegg.results.layer_storage.write_text", interrupted)  # all but the index
        with pytest.raises(KeyboardInterrupt):
            write_run(tmp_path, sym, layers=layers)
    assert (tmp_path / "layers" / "000").is_dir()
    assert read_run(tmp_path).layers is None
    (tmp_path / "layers" / "mine.txt").write_text("keep me")
    write_run(tmp_path, sym)
    assert names(tmp_path / "layers") == {"mine.txt"}
    assert read_run(tmp_path).layers is None


def test_a_damaged_title_is_named(tmp_path, sym):
    write_run(tmp_path, sym, title="A title")
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(RecordError, match=r"run\.json is damaged .* Remove it to do without\."):
        read_run(tmp_path)


def test_damaged_samples_are_named(tmp_path, sym):
    write_run(tmp_path, sym, samples=X)
    (tmp_path / "samples.safetensors").write_bytes(b"no tensors")
    with pytest.raises(
        RecordError, match=r"samples\.safetensors is damaged .* Remove it to do without\."
    ):
        read_run(tmp_path)


def test_a_file_in_the_way_is_a_mistake(tmp_path, sym):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RecordError, match="is a file; expected a folder to save into"):
        write_run(tmp_path / "file", sym)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_without_a_log():
    with pytest.raises(RecordError, match=r"nowhere has no log\.txt"):
        read_log("nowhere")
