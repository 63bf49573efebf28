"""What the chapters on cost and on nearest neighbours say follows the values."""

import numpy as np
import pandas as pd

from helpers.encoders.nearest_neighbours import EXACT, HNSW, IVF
from helpers.stories import approximate_ranking as ranking
from helpers.stories import nearest_neighbours as story
from tables import cells
from toys import Value, of_values

# ---- nearest neighbours ----

def row(kind, setting, size, share, alone, real=100, build=1.0, spread=0.0):
    return {"kind": kind, "setting": setting, "size": size, "real": min(size, real), "recall": share, "recall_error": 0.01,
            "alone": alone, "alone_low": alone - spread, "alone_high": alone + spread, "together": 2 * alone,
            "together_low": 2 * alone, "together_high": 2 * alone, "build": build, "bytes": 3_400_000}


def searched(hnsw=(200.0, 200.0), ivf_recall=0.9):
    """Two sizes: exact search falls from 400 to 20 queries a second."""
    frames = []
    for size, exact, speed in ((100, 400.0, hnsw[0]), (1000, 20.0, hnsw[1])):
        frames += [row(EXACT, 0, size, 1.0, exact, build=0.0), row(HNSW, 10, size, 0.8, 900.0), row(HNSW, 40, size, 0.96, speed),
                   row(HNSW, 80, size, 0.99, speed / 2), row(IVF, 1, size, ivf_recall, 500.0)]
    return pd.DataFrame(frames)


STEPS = {100: Value(key="a" * 16), 1000: Value(key="b" * 16)}


def test_the_fastest_setting_must_reach_the_recall():
    best = story.fastest(searched(), 100, HNSW, 0.95)
    assert (best["setting"], best["alone"]) == (40, 200.0)
    assert story.fastest(searched(), 100, HNSW, 0.8)["setting"] == 10
    assert story.fastest(searched(), 100, IVF, 0.95) is None


def test_the_size_table_names_setting_and_break_even():
    header, small, large = cells(story.size_table(searched(), STEPS, 0.95))
    assert header[:5] == ["vectors", "exact, one by one", "exact, all in one call", "HNSW, one by one", "HNSW, all in one call"]
    assert small == ["100", "400 [400, 400]", "800 [800, 800]", "200 [200, 200]", "400 [400, 400]", "efSearch = 40",
                     "never", "none reaches it", "", "", ""]
    assert large[0] == "1,000 (900 synthetic)"
    assert large[3:7] == ["200 [200, 200]", "400 [400, 400]", "efSearch = 40", "22 queries"]  # 1 s / (1/20 - 1/200) s
    shown = story.size_table(searched(), STEPS, 0.95).html
    assert "#step-aaaaaaaaaa" in shown
    assert "#step-bbbbbbbbbb" in shown


def test_what_the_indexes_are_built_with_is_told_by_faiss():
    rows = {row[1]: row[2] for row in cells(story.construction_table(8, [100, 2500], 1))[1:]}
    assert list(rows.values()) == ["8", "40", "10, 50", "10"]


def test_the_setting_table_has_every_setting_with_its_interval():
    header, *rows = cells(story.setting_table(searched(), 1000, STEPS[1000]))
    assert len(rows) == 5
    assert rows[0][:4] == ["exact (IndexFlatIP)", "", "1.000", "20.0 [20.0, 20.0]"]
    assert rows[1][:3] == ["HNSW (IndexHNSWFlat)", "efSearch = 10", "0.800 [0.780, 0.820]"]
    assert rows[3][2] == "0.990 [0.970, 1.000]"  # no recall is above one
    assert rows[4][1:2] + rows[4][4:] == ["nprobe = 1", "1,000 [1,000, 1,000]", "1.0 s", "3"]


def test_the_curves_show_the_largest_real_and_the_largest_collection():
    html = story.curves(searched()).html
    assert "exact over 100 vectors: 400 at recall 1.00" in html
    assert "HNSW over 1,000 (900 synthetic) vectors: 900 at recall 0.80, 200 at recall 0.96, 100 at recall 0.99" in html
    only = searched().query("size == 100")
    assert "1,000 (" not in story.curves(only).html


def test_growth_shows_each_index_where_it_reaches_the_recall():
    html = story.growth(searched(), 0.95, 0.01).html
    assert "exact: 2.5 ms at 100; exact: 50 ms at 1,000; HNSW: 5 ms at 100; HNSW: 5 ms at 1,000; encoding" in html
    assert "encoding the query: 10 ms." in html


REAL = pd.DataFrame([row(EXACT, 0, 100, 1.0, 1.0), row(HNSW, 40, 100, 0.96, 1.0), row(IVF, 1, 100, 0.5, 1.0)])


def test_the_effect_of_every_index_is_against_exact_search():
    base = np.array([0.5, 1.0] * 4)
    systems = {(EXACT, 0): of_values(base), (HNSW, 40): of_values(base), (IVF, 1): of_values(base - 0.25)}
    _, exact, hnsw, ivf = cells(ranking.effect_table(systems, REAL))
    assert exact[2:] == ["1.000", exact[3], "baseline", ""]
    assert hnsw[2] == "0.960"
    assert hnsw[4:] == ["+0.000 [+0.000, +0.000]", "1.000"]
    assert ivf[4].startswith("−0.250 [−0.250, −0.250]")
    assert ivf[5] == "0.008"  # 2 / 2^8


# ---- findings ----

def test_what_the_finding_says_follows_the_values():
    text = ranking.finding(searched(), 0.95, 0.01, 384).markdown
    words = ["Over 1,000 vectors exact search takes 50.0 ms", "a query 10.0 ms", "HNSW is 10.0 times as fast and IVF does not",
             "take 880.0 s"]  # 8.8 million vectors of 768 dimensions: 8,800 times as many, twice as wide, 50 ms each
    assert [word for word in words if word not in text] == []
