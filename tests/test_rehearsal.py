"""The rehearsal of the studies' own scale, a part of it. `make rehearsal` is the whole."""

import pytest

from rehearsal import run


@pytest.mark.slow
def test_a_part_of_the_rehearsal_comes_to_its_pages(tmp_path):
    """Pinned and fetched through faults; a chapter over an index of others, and one that is killed in its middle."""
    rows = {what: outcome for what, _, outcome in run.play(tmp_path / "book", ["nearest_neighbours", "seeds"])}
    assert list(rows) == ["pin", "fetch", "nearest_neighbours", "seeds", "render", "outside"]
    assert [what for what, outcome in rows.items() if outcome.startswith("stopped")] == [], rows
    assert rows["pin"].startswith("429 told, then 10 revisions pinned")
    assert rows["seeds"].startswith(f"killed after {run.AFTER} steps")
    assert rows["outside"] == "refused: nothing was asked for"
