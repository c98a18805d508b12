"""Run folders: complete or absent, and read back as they were written."""

import shutil
from pathlib import Path

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg._utils.errors import RecordError
from liegg.results.run_folder import Clock, read_log, read_run, write_page, write_run
from stored import accept_changes

X = normal(120, 3)
FORMAT_3 = Path(__file__).parents[1] / "recorded" / "format-3"


@pytest.fixture(scope="module")
def sym():
    return liegg.discover(lambda x: x.square().sum(1), X, liegg.Linear(3))


@pytest.fixture(scope="module")
def layers():
    return liegg.discover_layers(mlp(3, 8, 2), X, liegg.Linear(3))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_names_of_classes_come_back(tmp_path, sym):
    write_run(tmp_path, sym, classes=["a", "b"])
    found = read_run(tmp_path)
    assert (found.title, found.classes) == (None, ("a", "b"))
    write_run(tmp_path, sym, title="A title")
    assert (read_run(tmp_path).title, read_run(tmp_path).classes) == ("A title", None)


def test_everything_comes_back(tmp_path, sym, layers):
    page = write_run(tmp_path / "run", sym, samples=X, layers=layers, title="A title")
    assert page == tmp_path / "run" / "report.html"
    assert names(tmp_path / "run") == {
        "record.json",
        "arrays.safetensors",
        "samples.safetensors",
        "layers.json",
        "layers.safetensors",
        "report.html",
        "log.txt",
        "run.json",
        "manifest.json",
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
        "manifest.json",
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
    assert wrote.endswith(f" s  wrote {tmp_path}")


def test_folders_of_the_user_under_layers_are_not_touched(tmp_path, sym, layers):
    """An earlier version removed `layers/<three digits>*`, through links too."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "one.npy").write_text("mine")
    own = tmp_path / "run" / "layers" / "2024-raw"
    own.mkdir(parents=True)
    (own / "two.npy").write_text("mine")
    (tmp_path / "run" / "layers" / "000").symlink_to(tmp_path / "elsewhere")
    for of_layers in (layers, None):
        write_run(tmp_path / "run", sym, layers=of_layers)
    assert (own / "two.npy").read_text() == "mine"
    assert (tmp_path / "elsewhere" / "one.npy").read_text() == "mine"
    assert read_run(tmp_path / "run").layers is None


def test_a_report_that_fails_does_not_lose_the_result(tmp_path, sym, monkeypatch):
    def fails(*_, **__):
        raise RuntimeError("no page today")

    monkeypatch.setattr("liegg.report.page.page.report_html", fails)
    with pytest.raises(RecordError, match=r"result is stored in .*no page today.*liegg report"):
        write_run(tmp_path, sym, samples=X)
    assert read_run(tmp_path).sym.nullity == sym.nullity
    assert "report.html" not in names(tmp_path)


def test_a_second_page_keeps_the_rest(tmp_path, sym):
    write_run(tmp_path, sym, samples=X, title="One")
    write_page(tmp_path, sym, title="Two")
    assert "Two" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert read_run(tmp_path).title == "One"


def test_a_page_beside_a_result_of_an_earlier_version(tmp_path, sym):
    folder = Path(shutil.copytree(FORMAT_3 / "lorentz", tmp_path / "run"))
    write_page(folder, read_run(folder).sym)
    assert names(folder) == {"record.json", "arrays.safetensors", "report.html"}
    assert read_run(folder).sym.nullity == 6


def test_a_run_folder_of_an_earlier_version_is_read_whole(tmp_path):
    folder = Path(shutil.copytree(FORMAT_3 / "lorentz", tmp_path / "run"))
    shutil.copytree(FORMAT_3 / "layers", folder / "layers")
    (folder / "run.json").write_text('{"title": "A title"}')
    run = read_run(folder)
    assert run.title == "A title"
    assert run.layers is not None
    assert len(run.layers) == 3


@pytest.mark.parametrize(
    ("name", "content"),
    [("run.json", "[]"), ("run.json", "{"), ("samples.safetensors", "no tensors")],
)
def test_damage_is_named(tmp_path, sym, name, content):
    write_run(tmp_path, sym, samples=X, title="A title")
    (tmp_path / name).write_text(content)
    with pytest.raises(RecordError, match=f"{name} was changed since"):
        read_run(tmp_path)
    accept_changes(tmp_path)
    with pytest.raises(RecordError, match="is damaged"):
        read_run(tmp_path)


def test_a_file_in_the_way_is_a_mistake(tmp_path, sym):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RecordError, match="is a file; expected a folder to save into"):
        write_run(tmp_path / "file", sym)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_without_a_log():
    with pytest.raises(RecordError, match=r"nowhere has no log\.txt"):
        read_log("nowhere")
