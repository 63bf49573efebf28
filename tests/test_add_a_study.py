"""A study is added by its tables, its claims and a name in a list; readers find it in the code by five files."""

import re
import shutil
from pathlib import Path

import pytest

from helpers import paths
from helpers.evaluation import published
from helpers.pages import claims
from press import generated
from toys import of_values

TABLES = """
study: toy2026
cite: Toy (2026)
tables:
  - table: "1"
    dataset: msmarco-passage
    split: dev
    entries:
      - {row: new, column: MRR, system: new, measure: RR@10, value: 0.370}
      - {row: old, column: MRR, system: old, measure: RR@10, value: 0.360}
"""
CLAIM = """
  - id: new-beats-old
    study: toy2026
    claim: The new system beats the old one.
    evidence: {table: "1", row: new, column: MRR, against: old}
    measure: RR@10
    direction: higher
    significant: null
    margin: {value: 0.01, because: "half of the published effect, at least 0.01"}
    test: the new system compared with the old one
    chapter: toy
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The toy study in a copy of what is published."""
    folder = Path(shutil.copytree(paths.PUBLISHED, tmp_path / "published"))
    (folder / "toy2026.yaml").write_text(TABLES)
    with (folder / "claims.yaml").open("a") as file:
        file.write(CLAIM)
    monkeypatch.setattr(paths, "PUBLISHED", folder)
    monkeypatch.setattr(published, "STUDIES", (*published.STUDIES, "toy2026"))
    caches = (published.load, claims.load)
    for cache in caches:
        cache.cache_clear()
    yield "toy2026"
    for cache in caches:
        cache.cache_clear()


def test_its_values_are_looked_up_as_printed_and_its_claim_gets_a_verdict_and_a_line_on_the_scoreboard(study):
    assert published.value(study, "1", "new", "MRR").printed == "0.370"
    assert published.everything()[-1].where == "Toy (2026), table 1"
    new, old = of_values([1.0, 0.5, 1.0, 0.5] * 10), of_values([0.5, 0.25, 0.5, 0.25] * 10)
    judged = claims.judge("toy", {"new-beats-old": (new, old)})
    line = judged.data["claims"][0]
    assert line["claim"] == "new-beats-old"
    board = generated.scoreboard([{"page": "toy", **judged.data}])
    assert "Toy (2026)" in board and "The new system beats the old one." in board and line["verdict"] in board


def test_five_files_lead_from_a_query_to_a_measured_list():
    text = (paths.ROOT / "CONTRIBUTING.md").read_text()
    part = text[text.index("## Read the code in this order"):].split("\nThen ")[0]
    files = [paths.PACKAGE / name for name in re.findall(r"^\d\. `([\w/]+\.py)`", part, flags=re.M)]
    assert len(files) == 5
    assert sum(len(file.read_text().splitlines()) for file in files) < 600
