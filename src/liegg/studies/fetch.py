"""The official files of the data sets: found on this machine or downloaded, and checked either way."""

import hashlib
import importlib
import logging
import os
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from liegg._utils.errors import DatasetError, MissingExtraError

VARIABLE = "LIEGG_DATA"
"""Environment variable that names a folder with the official files."""

MNIST_BASE = "https://ossci-datasets.s3.amazonaws.com/mnist/"
CIFAR10_BASE = "https://www.cs.toronto.edu/~kriz/"

MNIST_FOLDER, CIFAR10_FOLDER = "mnist", "cifar-10-batches-bin"

CHECKSUMS = {
    "mnist/train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "mnist/train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "mnist/t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "mnist/t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    "cifar-10-batches-bin/data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "cifar-10-batches-bin/data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "cifar-10-batches-bin/data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "cifar-10-batches-bin/data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "cifar-10-batches-bin/data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "cifar-10-batches-bin/test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}
"""SHA-256 of every official file. The same files have the MD5 sums that the authors and torchvision publish."""

ARCHIVE, ARCHIVE_MD5 = "cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530"
"""What CIFAR-10 is downloaded as, and the MD5 sum on its author's page."""

TIMEOUT = 30.0
"""Seconds that a server may stay silent."""

BLOCK = 1 << 16
"""Bytes to a step of the progress bar."""


def read_official(name: str, *, base: str) -> bytes:
    """Content of an official file: from the folder in `LIEGG_DATA`, else from the user's cache, else downloaded into the cache.

    Args:
        name: a key of `CHECKSUMS`, such as `mnist/train-images-idx3-ubyte.gz`.
        base: address that the file, or the archive it comes in, is downloaded from; ends with a slash.

    Returns:
        The bytes, with the right checksum.

    Raises:
        DatasetError: `LIEGG_DATA` names no folder, the file is damaged or unreadable, or the download failed; a failed download
            leaves nothing behind.
        MissingExtraError: the file is not under `LIEGG_DATA`, and pooch is not installed.
    """
    folder = data_folder()
    try:
        path = (
            folder / name
            if folder is not None and (folder / name).is_file()
            else _cached(name, base)
        )
        content = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{name} cannot be read or stored: {error}. {_remedy(name)}") from error
    if hashlib.sha256(content).hexdigest() != CHECKSUMS[name]:
        raise DatasetError(
            f"{path} is damaged: its {len(content):,} bytes have another SHA-256 than the official file. Delete it, and a "
            f"sound copy is taken from the cache or downloaded. {_remedy(name)}"
        )
    return content


def data_folder() -> Path | None:
    """Folder named by `LIEGG_DATA`; None if the variable is not set.

    Raises:
        DatasetError: the variable is set, but names no folder.
    """
    text = os.environ.get(VARIABLE, "")
    if not text:
        return None
    folder = Path(text).expanduser()
    if not folder.is_dir():
        raise DatasetError(
            f"{VARIABLE} is {text!r}, which is no folder. Type {VARIABLE}=/folder with a folder that holds {MNIST_FOLDER}/ or "
            f"{CIFAR10_FOLDER}/, or unset {VARIABLE} to use the cache and the download."
        )
    return folder


def cache_folder() -> Path:
    """Where downloaded files stay: `~/.cache/liegg`, or what takes its place on other systems."""
    return Path(_extra("pooch").os_cache("liegg"))


def _extra(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"finding and downloading data sets needs {error.name}. Type: pip install 'liegg[studies]', or {VARIABLE}=/folder with "
            "a folder that holds the official files."
        ) from error


def _remedy(name: str) -> str:
    return f"To use a file of your own, type {VARIABLE}=/folder and put it at /folder/{name}."


def _cached(name: str, base: str) -> Path:
    """Path in the cache, downloaded if it is not there."""
    cache = cache_folder()
    if not (cache / name).is_file():
        if name.startswith(f"{CIFAR10_FOLDER}/"):
            _download_archive(name, base, cache)
        else:
            _download(name, base + Path(name).name, cache / name, f"sha256:{CHECKSUMS[name]}")
    return cache / name


def _download_archive(name: str, base: str, cache: Path) -> None:
    """Fill the gaps of CIFAR-10 in the cache; the archive and what is unpacked live in a folder that vanishes in any case."""
    wanted = {key for key in CHECKSUMS if key.startswith(f"{CIFAR10_FOLDER}/")}
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".unpack-") as text:
        scratch, url = Path(text), base + ARCHIVE
        _download(name, url, scratch / ARCHIVE, f"md5:{ARCHIVE_MD5}")
        try:
            with tarfile.open(scratch / ARCHIVE, "r:gz") as archive:
                for member in archive:
                    if member.isreg() and member.name in wanted:
                        archive.extract(member, scratch, filter="data")
        except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
            raise _failure(name, url, f"the archive cannot be unpacked: {error}") from error
        for key in sorted(wanted):
            # MD5 alone does not prove much, so each file is also held to its SHA-256.
            if (
                not (scratch / key).is_file()
                or hashlib.sha256((scratch / key).read_bytes()).hexdigest() != CHECKSUMS[key]
            ):
                raise _failure(
                    name, url, f"{key} in the archive is missing or not the official file"
                )
        (cache / CIFAR10_FOLDER).mkdir(exist_ok=True)
        for key in sorted(wanted):
            if not (cache / key).exists():
                (scratch / key).replace(cache / key)


def _download(name: str, url: str, target: Path, checksum: str) -> None:
    """Download under another name, check, rename into place; pooch removes what did not come whole."""
    pooch, urllib3 = _extra("pooch"), _extra("urllib3")

    logger = pooch.get_logger()
    level = logger.level
    try:
        logger.setLevel(
            logging.WARNING
        )  # it would announce each download on standard error, bar or no bar
        pooch.retrieve(
            url, known_hash=checksum, fname=target.name, path=target.parent, downloader=_stream
        )
    except (ValueError, OSError, urllib3.exceptions.HTTPError) as error:
        raise _failure(
            name, url, _reason(error, url)
        ) from None  # the reason says it; twenty frames of urllib3 say no more
    finally:
        logger.setLevel(level)


def _stream(url: str, output_file: str, _pooch: object) -> None:
    """The downloader handed to pooch: the stored bytes as they are.

    pooch's own undoes a `Content-Encoding: gzip`, which some servers send with `.gz` files; the checksum would then be wrong.
    """
    import requests

    with (
        requests.get(url, stream=True, timeout=TIMEOUT) as response,
        Path(output_file).open("wb") as file,
    ):
        response.raise_for_status()
        with _bar(
            Path(urlsplit(url).path).name, int(response.headers.get("Content-Length", 0)) or None
        ) as step:
            for block in response.raw.stream(BLOCK, decode_content=False):
                file.write(block)
                step(len(block))


@contextmanager
def _bar(label: str, total: int | None) -> Iterator[Callable[[int], object]]:
    """Progress bar on a terminal's standard error; nothing elsewhere."""
    rich = _extra("rich.progress")
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.DownloadColumn(),
        rich.TimeRemainingColumn(),
    )
    console = rich.Console(stderr=True)
    with rich.Progress(
        *columns, console=console, disable=not sys.stderr.isatty(), transient=True
    ) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, advance=done)


def _reason(error: Exception, url: str) -> str:
    """What went wrong, in words for someone who does not know the libraries underneath."""
    import requests
    import urllib3

    host = urlsplit(url).netloc
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
        return f"{host} was silent for {TIMEOUT:g} s"
    if isinstance(error, requests.ConnectionError):
        return f"no connection to {host}, perhaps no network"
    if isinstance(error, urllib3.exceptions.HTTPError):
        return f"the connection to {host} broke off before the end"
    if isinstance(error, requests.RequestException | OSError):
        return str(error)
    return "what arrived has another checksum than the official file"


def _failure(name: str, url: str, reason: str) -> DatasetError:
    folder = data_folder()
    where = f"{VARIABLE} is not set" if folder is None else f"not under {VARIABLE}={folder}"
    return DatasetError(
        f"no file {name}: {where}, not in the cache {cache_folder()}, and the download of {url} failed: {reason}. {_remedy(name)}"
    )
