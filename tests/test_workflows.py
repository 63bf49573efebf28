"""GitHub's workflows: what they run exists, they have no more rights than they need, and nothing blocks that must not."""

import re
import subprocess

import pytest
import yaml

from helpers import paths

FILES = sorted((paths.ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (paths.ROOT / "Makefile").read_text(), re.M))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_run_exists_is_pinned_and_has_no_more_rights_than_it_needs(file):
    content = yaml.safe_load(file.read_text())
    steps = [step for job in content["jobs"].values() for step in job["steps"]]
    for command in (step["run"] for step in steps if "run" in step):
        assert set(re.findall(r"\bmake ([a-z-]+)", command)) <= TARGETS
        assert all((paths.ROOT / script).exists() for script in re.findall(r"\b(?:ba)?sh (\S+)", command))
        assert "${{" not in command, "an expression in a command can run what a pull request's title says"
    used = re.findall(r"uses: (.+)", file.read_text())
    assert len(used) == sum("uses" in step for step in steps) > 0
    assert [action for action in used if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}  # v\d+(\.\d+)*", action)] == []
    assert content["permissions"] == {"contents": "read"}
    own = {name: job["permissions"] for name, job in content["jobs"].items() if "permissions" in job}
    assert own == ({"deploy": {"pages": "write", "id-token": "write"}} if file.stem == "book" else {})
    assert all("timeout-minutes" in job or name == "deploy" for name, job in content["jobs"].items())
    assert "pull_request_target" not in str(content)  # it would run a stranger's code with rights


def test_pages_are_linked_by_one_address_alone():
    """A repository's address stands in _config.yml and in the templates' setup cells, which a command keeps alike."""
    address = r"github\.(com|io)/[A-Za-z]+/neural-ranking-reproduced"
    command = ["git", "grep", "-lE", address, "--", ".", ":!notebooks"]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["book/_config.yml"]
