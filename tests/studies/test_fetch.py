"""Official files: where they are looked for, what a download does, and what it leaves behind when it fails."""

import hashlib
import io
import re
import socket
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from liegg._utils.errors import DatasetError, MissingExtraError
from liegg.studies import fetch
from studies import loopback as answers
from studies.loopback import Answer, Loopback, encoded, whole

MNIST, CIFAR10 = "mnist/t10k-labels-idx1-ubyte.gz", "cifar-10-batches-bin/test_batch.bin"
CONTENT = {name: f"{name} whole and sound. ".encode() * 9000 for name in fetch.CHECKSUMS}
"""Stand-ins for the official files, long enough for several blocks."""

FAILURES: dict[str, tuple[Answer, str]] = {
    "another file": (answers.other, "ValueError: "),
    "broken off": (answers.half, "IncompleteRead"),
    "broken off, unknown length": (answers.half_without_length, "ValueError: "),
    "not found": (answers.missing, "404"),
    "overloaded": (answers.broken, "503"),
    "silent": (answers.nothing, "Timeout"),
    "falls silent": (answers.half_then_nothing, "Timeout"),
}


def tar_of(contents: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return stream.getvalue()


CIFAR10_CONTENT = {name: content for name, content in CONTENT.items() if name.startswith("cifar")}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no `LIEGG_DATA`, no proxy, and the checksums of the stand-ins."""
    monkeypatch.setattr(fetch, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(
        fetch,
        "CHECKSUMS",
        {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()},
    )
    monkeypatch.delenv("LIEGG_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path / "cache"


@pytest.fixture
def serve_archive(monkeypatch: pytest.MonkeyPatch, loopback: Loopback) -> Callable[[bytes], None]:
    def serve(content: bytes) -> None:
        loopback.files[f"/{fetch.ARCHIVE}"] = content
        monkeypatch.setattr(fetch, "ARCHIVE_MD5", hashlib.md5(content).hexdigest())

    return serve


@pytest.fixture
def loopback(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    made = Loopback()
    made.files |= {
        f"/{Path(name).name}": content
        for name, content in CONTENT.items()
        if name.startswith("mnist")
    }
    made.files[f"/{fetch.ARCHIVE}"] = tar_of(CIFAR10_CONTENT)
    monkeypatch.setattr(fetch, "ADDRESSES", dict.fromkeys(fetch.ADDRESSES, made.base))
    monkeypatch.setattr(
        fetch, "ARCHIVE_MD5", hashlib.md5(made.files[f"/{fetch.ARCHIVE}"]).hexdigest()
    )
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def put(folder: Path, *names: str, content: bytes | None = None) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(CONTENT[name] if content is None else content)


def held(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if not path.is_dir()
    }


# Where files are found


@pytest.mark.parametrize("name", [MNIST, CIFAR10])
def test_the_folder_comes_first_and_needs_neither_pooch_nor_network(
    name: str, tmp_path: Path, cache: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "mine", name)
    put(cache, name, content=b"damaged")
    monkeypatch.setenv("LIEGG_DATA", str(tmp_path / "mine"))
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert fetch.read_official(name) == CONTENT[name]
    assert loopback.asked == []


def test_without_the_file_in_the_folder_the_cache_is_used(
    tmp_path: Path, cache: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cache, MNIST)
    monkeypatch.setenv("LIEGG_DATA", str(tmp_path))
    assert fetch.read_official(MNIST) == CONTENT[MNIST]
    assert loopback.asked == []


def test_the_folder_may_start_with_a_tilde_or_be_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("LIEGG_DATA", "~")
    assert fetch.data_folder() == tmp_path
    monkeypatch.setenv("LIEGG_DATA", "")
    assert fetch.data_folder() is None


@pytest.mark.parametrize("kind", ["nothing there", "a file"])
def test_a_variable_that_names_no_folder_is_an_error(
    kind: str, tmp_path: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    if kind == "a file":
        place.write_text("x")
    monkeypatch.setenv("LIEGG_DATA", str(place))
    with pytest.raises(DatasetError, match=r"LIEGG_DATA is '.*place', which is not a folder"):
        fetch.read_official(MNIST)
    assert loopback.asked == []


def test_the_cache_is_pooches(monkeypatch: pytest.MonkeyPatch) -> None:
    import pooch

    monkeypatch.undo()
    assert fetch.cache_folder() == Path(pooch.os_cache("liegg"))
    assert fetch.cache_folder().name == "liegg"


@pytest.mark.parametrize(("place", "name"), [("mine", MNIST), ("cache", CIFAR10)])
def test_a_damaged_file_is_named_and_kept(
    place: str, name: str, tmp_path: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / place, name, content=CONTENT[name][:-1])
    if place == "mine":
        monkeypatch.setenv("LIEGG_DATA", str(tmp_path / "mine"))
    with pytest.raises(DatasetError) as caught:
        fetch.read_official(name)
    assert str(caught.value).startswith(f"{tmp_path / place / name} is damaged: ")
    assert f"/folder/{name}" in str(caught.value)
    assert held(tmp_path / place) == {name: CONTENT[name][:-1]}
    assert loopback.asked == []


def test_an_unreadable_place_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loopback: Loopback
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setattr(fetch, "cache_folder", lambda: tmp_path / "file" / "cache")
    for name in (MNIST, CIFAR10):
        with pytest.raises(DatasetError, match=rf"{name}.*file.*LIEGG_DATA=/folder"):
            fetch.read_official(name)
    assert held(tmp_path) == {"file": b"x"}


@pytest.mark.parametrize("package", ["pooch", "rich.progress"])
def test_without_the_extra_the_error_says_what_to_install(
    package: str, cache: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        MissingExtraError,
        match=rf"needs {package}. Type: pip install 'liegg\[studies\]', or LIEGG_DATA=/folder",
    ):
        fetch.read_official(MNIST)
    assert not cache.exists() or held(cache) == {}


# Downloads


@pytest.mark.parametrize("answer", [whole, encoded])
def test_a_file_is_downloaded_once(
    answer: Answer,
    cache: Path,
    loopback: Loopback,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import pooch

    loopback.answer = answer
    logger, said = pooch.get_logger(), []
    level = logger.level
    monkeypatch.setattr(logger, "handle", said.append)
    for _ in range(2):
        assert fetch.read_official(MNIST) == CONTENT[MNIST]
    assert loopback.asked == [f"/{Path(MNIST).name}"]
    assert held(cache) == {MNIST: CONTENT[MNIST]}
    assert capfd.readouterr() == ("", "")  # standard error is no terminal here
    assert said == []
    assert logger.level == level


@pytest.mark.parametrize("answer", [whole, encoded])
def test_the_archive_is_downloaded_once_and_unpacked(
    answer: Answer, cache: Path, loopback: Loopback
) -> None:
    loopback.answer = answer
    for name in CIFAR10_CONTENT:
        assert fetch.read_official(name) == CONTENT[name]
    assert loopback.asked == [f"/{fetch.ARCHIVE}"]
    assert held(cache) == CIFAR10_CONTENT
    assert {path.name for path in cache.iterdir()} == {"cifar-10-batches-bin"}


def test_unpacking_fills_gaps_only(cache: Path, loopback: Loopback) -> None:
    put(cache, "cifar-10-batches-bin/data_batch_1.bin", content=b"someone's own")
    fetch.read_official(CIFAR10)
    assert held(cache) == CIFAR10_CONTENT | {
        "cifar-10-batches-bin/data_batch_1.bin": b"someone's own"
    }


def test_a_terminal_sees_a_bar(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    fetch.read_official(MNIST)
    assert Path(MNIST).name in terminal.getvalue()


@pytest.mark.parametrize(
    ("failure", "name"), [*((failure, MNIST) for failure in FAILURES), ("broken off", CIFAR10)]
)
def test_a_failed_download_says_why_and_leaves_nothing(
    failure: str, name: str, cache: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = "mnist/t10k-images-idx3-ubyte.gz", "cifar-10-batches-bin/data_batch_2.bin"
    put(cache, *good)
    monkeypatch.setattr(fetch, "TIMEOUT", 0.3)
    loopback.answer, reason = FAILURES[failure]
    with pytest.raises(DatasetError) as caught:
        fetch.read_official(name)
    url = loopback.base + (Path(name).name if name == MNIST else fetch.ARCHIVE)
    assert f"the download of {url} failed: " in str(caught.value)
    assert reason in str(caught.value)
    assert f"/folder/{name}" in str(caught.value)
    assert caught.value.__suppress_context__
    assert held(cache) == {key: CONTENT[key] for key in good}
    assert {path.name for path in cache.iterdir()} == {"mnist", "cifar-10-batches-bin"}
    monkeypatch.setattr(fetch, "TIMEOUT", 30.0)
    loopback.answer = whole
    assert fetch.read_official(name) == CONTENT[name]


def test_without_a_network_the_error_says_so(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIEGG_DATA", str(tmp_path))
    with socket.socket() as closed:  # bound but not listening: a connection is refused
        closed.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{closed.getsockname()[1]}"
        monkeypatch.setitem(fetch.ADDRESSES, "mnist", f"http://{host}/")
        with pytest.raises(
            DatasetError, match=rf"not under LIEGG_DATA={tmp_path}, .* failed: ConnectionError: "
        ):
            fetch.read_official(MNIST)
    assert held(cache) == {}


def test_an_address_that_is_none(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fetch.ADDRESSES, "mnist", "nowhere/")
    with pytest.raises(DatasetError, match=r"failed: .*No scheme supplied"):
        fetch.read_official(MNIST)
    assert held(cache) == {}


@pytest.mark.parametrize("name", [MNIST, CIFAR10])
def test_an_interrupted_download_leaves_nothing(
    name: str, cache: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(source: Any, target: Any) -> None:
        target.write(source.read(10))
        raise KeyboardInterrupt

    monkeypatch.setattr("shutil.copyfileobj", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch.read_official(name)
    assert held(cache) == {}


# Archives that are not what they should be


def test_nothing_but_the_expected_members_is_unpacked(
    tmp_path: Path, cache: Path, loopback: Loopback, serve_archive: Callable[[bytes], None]
) -> None:
    extra = {
        "../evil": b"x",
        f"{tmp_path}/evil": b"x",
        "cifar-10-batches-bin/../../evil": b"x",
        "cifar-10-batches-bin/readme.html": b"x",
        "mnist/t10k-labels-idx1-ubyte.gz": b"x",
    }
    serve_archive(tar_of(CIFAR10_CONTENT | extra, {"cifar-10-batches-bin/link": "/"}))
    assert fetch.read_official(CIFAR10) == CONTENT[CIFAR10]
    assert held(tmp_path) == {f"cache/{name}": content for name, content in CIFAR10_CONTENT.items()}
    assert held(cache) == CIFAR10_CONTENT


LAST = "cifar-10-batches-bin/test_batch.bin"
BAD_ARCHIVES = {
    "damaged member": (
        tar_of(CIFAR10_CONTENT | {LAST: b"x"}),
        f"{LAST} in the archive is missing or is not the official file",
    ),
    "missing member": (
        tar_of({name: content for name, content in CIFAR10_CONTENT.items() if name != LAST}),
        f"{LAST} in the archive is missing or is not the official file",
    ),
    "a link for a member": (
        tar_of(
            {name: content for name, content in CIFAR10_CONTENT.items() if name != LAST},
            {LAST: "data_batch_1.bin"},
        ),
        f"{LAST} in the archive is missing or is not the official file",
    ),
    "no archive": (
        b"<html>please log in</html>",
        "the archive cannot be unpacked: not a gzip file",
    ),
    "truncated": (tar_of(CIFAR10_CONTENT)[:-100], "the archive cannot be unpacked: "),
}


@pytest.mark.parametrize("kind", BAD_ARCHIVES)
def test_a_bad_archive_leaves_nothing(
    kind: str,
    tmp_path: Path,
    cache: Path,
    loopback: Loopback,
    serve_archive: Callable[[bytes], None],
) -> None:
    content, reason = BAD_ARCHIVES[kind]
    serve_archive(content)
    with pytest.raises(DatasetError, match=re.escape(reason)):
        fetch.read_official(CIFAR10)
    assert held(tmp_path) == {}
    assert list(cache.iterdir()) == []
