"""GitHub's workflows: what they run exists, they have no more rights than they need, and nothing blocks that must not."""

import re
import subprocess

import pytest
import yaml

from helpers import paths

FILES = sorted((paths.ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (paths.ROOT / "Makefile").read_text(), re.M))
every_workflow = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def load(file):
    content = yaml.safe_load(file.read_text())
    return {("on" if key is True else key): value for key, value in content.items()}  # YAML 1.1 reads `on` as true


def jobs(file):
    return load(file)["jobs"]


def steps(file):
    return [step for job in jobs(file).values() for step in job["steps"]]


def workflow(name):
    return next(file for file in FILES if file.stem == name)


@every_workflow
def test_every_target_and_script_that_is_run_exists_and_no_text_from_outside_gets_into_a_command(file):
    commands = [step["run"] for step in steps(file) if "run" in step]
    assert commands
    for command in commands:
        assert set(re.findall(r"\bmake ([a-z-]+)", command)) <= TARGETS
        assert all((paths.ROOT / script).exists() for script in re.findall(r"\b(?:ba)?sh (\S+)", command))
        assert "${{" not in command, "an expression in a command can run what a pull request's title says"


@every_workflow
def test_every_action_is_pinned_by_its_commit_with_the_version_beside_it(file):
    used = re.findall(r"uses: (.+)", file.read_text())
    assert len(used) == sum("uses" in step for step in steps(file)) > 0
    assert [action for action in used if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}  # v\d+(\.\d+)*", action)] == []


@every_workflow
def test_nothing_may_be_written_but_by_the_deployment(file):
    content = load(file)
    assert content["permissions"] == {"contents": "read"}
    own = {name: job["permissions"] for name, job in content["jobs"].items() if "permissions" in job}
    assert own == ({"deploy": {"pages": "write", "id-token": "write"}} if file.stem == "book" else {})


@every_workflow
def test_every_job_ends_some_time_and_uses_the_python_that_the_package_allows(file):
    for name, job in jobs(file).items():
        assert "timeout-minutes" in job or name == "deploy"
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/setup-python@"):
                assert step["with"]["python-version"] == "3.11"


def test_every_push_is_tested_and_built_and_main_alone_is_deployed():
    content = load(workflow("book"))
    assert content["on"]["push"] is None  # every branch
    deploy = content["jobs"]["deploy"]
    assert set(deploy["needs"]) == {"test", "build"}
    assert "refs/heads/main" in deploy["if"]
    assert "push" in deploy["if"]


def test_the_preview_runs_without_rights_and_keeps_the_book():
    assert load(workflow("preview"))["on"] == "pull_request"  # not pull_request_target, which would run it with rights
    kept = [step["with"]["path"] for step in steps(workflow("preview")) if "upload-artifact" in step.get("uses", "")]
    assert kept == ["book/_build/html"]


def test_pages_are_linked_by_one_address_alone():
    """A repository's address stands in _config.yml and in the templates' setup cells, which a command keeps alike."""
    address = r"github\.(com|io)/[A-Za-z]+/neural-ranking-reproduced"
    command = ["git", "grep", "-lE", address, "--", ".", ":!notebooks"]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["book/_config.yml"]
