"""Official dataset files: read from a local folder or downloaded, with checksums."""

import hashlib
import importlib
import logging
import os
import shutil
import sys
import tarfile
import tempfile
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from liegg._utils.errors import DatasetError, MissingExtraError

VARIABLE = "LIEGG_DATA"
"""Environment variable that names a folder with the official files."""

MNIST_FOLDER, CIFAR10_FOLDER = "mnist", "cifar-10-batches-bin"

ADDRESSES = {
    MNIST_FOLDER: "https://ossci-datasets.s3.amazonaws.com/mnist/",
    CIFAR10_FOLDER: "https://www.cs.toronto.edu/~kriz/",
}
"""Where the files of each folder, or the archive that holds them, are downloaded from."""

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
"""SHA-256 of every official file.

The same files have the MD5 sums that the authors and torchvision publish.
"""

ARCHIVE, ARCHIVE_MD5 = "cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530"
"""The archive of CIFAR-10, and the MD5 sum on its author's page."""

TIMEOUT = 30.0
"""Seconds to wait for an answer of a server."""


def read_official(name: str) -> bytes:
    """Content of an official file: from the folder in `LIEGG_DATA`, the cache, or the network.

    A downloaded file is stored in the user's cache.

    Args:
        name: a key of `CHECKSUMS`, such as `mnist/train-images-idx3-ubyte.gz`.

    Returns:
        The bytes, whose checksum is right.

    Raises:
        DatasetError: `LIEGG_DATA` does not name a folder, the file is damaged or unreadable, or the
            download failed; a failed download leaves nothing behind.
        MissingExtraError: the file is not under `LIEGG_DATA`, and pooch is not installed.
    """
    folder = data_folder()
    try:
        in_folder = folder is not None and (folder / name).is_file()
        path = folder / name if folder is not None and in_folder else _cached(name)
        content = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{name} cannot be read or stored: {error}. {_remedy(name)}") from error
    if not _is_official(name, content):
        raise DatasetError(
            f"{path} is damaged: the SHA-256 of its {len(content):,} bytes is not that of the "
            "official file. Delete it to use the cache or a new download. " + _remedy(name)
        )
    return content


def data_folder() -> Path | None:
    """Folder named by `LIEGG_DATA`; None if the variable is not set.

    Raises:
        DatasetError: the variable is set, but does not name a folder.
    """
    text = os.environ.get(VARIABLE, "")
    folder = Path(text).expanduser() if text else None
    if folder is not None and not folder.is_dir():
        raise DatasetError(
            f"{VARIABLE} is {text!r}, which is not a folder. Type {VARIABLE}=/folder with a folder "
            f"that holds {MNIST_FOLDER}/ or {CIFAR10_FOLDER}/, or unset {VARIABLE} to use the cache "
            "and the download."
        )
    return folder


def cache_folder() -> Path:
    """Folder of downloaded files: `~/.cache/liegg`, or its equivalent on other systems."""
    return Path(_extra("pooch").os_cache("liegg"))


def _extra(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"finding and downloading datasets needs {error.name}. Type: pip install "
            f"'liegg[studies]', or {VARIABLE}=/folder with a folder that holds the official files."
        ) from error


def _remedy(name: str) -> str:
    return f"To use your own file, type {VARIABLE}=/folder and put it at /folder/{name}."


def _is_official(name: str, content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == CHECKSUMS[name]


def _cached(name: str) -> Path:
    """Path in the cache, downloaded if it is not there."""
    cache, (folder, file) = cache_folder(), name.split("/")
    if not (cache / name).is_file():
        if folder == CIFAR10_FOLDER:
            _download_archive(name, cache)
        else:
            url = ADDRESSES[folder] + file
            _download(name, url, cache / name, f"sha256:{CHECKSUMS[name]}")
    return cache / name


def _download_archive(name: str, cache: Path) -> None:
    """Download CIFAR-10 and store the files that the cache does not have."""
    members = sorted(key for key in CHECKSUMS if key.startswith(f"{CIFAR10_FOLDER}/"))
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".unpack-") as text:
        scratch, url = Path(text), ADDRESSES[CIFAR10_FOLDER] + ARCHIVE
        _download(name, url, scratch / ARCHIVE, f"md5:{ARCHIVE_MD5}")
        try:
            with tarfile.open(scratch / ARCHIVE, "r:gz") as archive:
                for member in archive:
                    if member.isreg() and member.name in members:
                        archive.extract(member, scratch, filter="data")
        except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
            raise _failure(name, url, f"the archive cannot be unpacked: {error}") from error
        for key in members:  # MD5 alone proves little
            path = scratch / key
            if not path.is_file() or not _is_official(key, path.read_bytes()):
                reason = f"{key} in the archive is missing or is not the official file"
                raise _failure(name, url, reason)
        (cache / CIFAR10_FOLDER).mkdir(exist_ok=True)
        for key in members:
            if not (cache / key).exists():
                (scratch / key).replace(cache / key)


def _download(name: str, url: str, target: Path, checksum: str) -> None:
    """Download with pooch, which checks the file and removes an incomplete one."""
    pooch, urllib3 = _extra("pooch"), _extra("urllib3")
    logger = pooch.get_logger()
    level = logger.level
    try:
        logger.setLevel(logging.WARNING)  # no announcement of each download on standard error
        pooch.retrieve(
            url, known_hash=checksum, fname=target.name, path=target.parent, downloader=_stream
        )
    except (ValueError, OSError, urllib3.exceptions.HTTPError) as error:
        raise _failure(name, url, f"{type(error).__name__}: {error}") from None
    finally:
        logger.setLevel(level)


def _stream(url: str, output_file: str, _pooch: object) -> None:
    """The downloader for pooch: stores the bytes as they are sent, with a progress bar.

    pooch's own one decodes a `Content-Encoding: gzip`, which some servers send with `.gz` files;
    the checksum would then be wrong.
    """
    import requests

    rich = _extra("rich.progress")
    with requests.get(url, stream=True, timeout=TIMEOUT) as response:
        response.raise_for_status()
        size = int(response.headers.get("Content-Length", 0)) or None
        with (
            rich.Progress(
                console=rich.Console(stderr=True), disable=not sys.stderr.isatty(), transient=True
            ) as bar,
            Path(output_file).open("wb") as file,
        ):
            task = bar.add_task(Path(urlsplit(url).path).name, total=size)
            shutil.copyfileobj(bar.wrap_file(response.raw, task_id=task), file)


def _failure(name: str, url: str, reason: str) -> DatasetError:
    folder = data_folder()
    where = f"{VARIABLE} is not set" if folder is None else f"not under {VARIABLE}={folder}"
    return DatasetError(
        f"no file {name}: {where}, not in the cache {cache_folder()}, and the download of {url} "
        f"failed: {reason}. {_remedy(name)}"
    )
