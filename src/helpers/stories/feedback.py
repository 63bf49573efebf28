"""The chapter *Bo1 feedback* (Alarfaj 2022, sections 2.6, 5.7 and 6.3)."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from helpers.evaluation.pools import condensed
from helpers.evaluation.significance import mean_interval
from helpers.pages import claims, compare, page, plots
from helpers.pages.compare import lead
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import interval, plain, signed
from helpers.retrieval.feedback import rm3_run
from helpers.stories.alarfaj import BERT, BM25, FULL, JUST, JUST_FULL, MEASURES, PASSAGE, Settings
from helpers.systems.evaluated import Evaluation, Systems, evaluate
from helpers.systems.pipeline import Pipeline
from helpers.systems.testbed import Testbed

BO1, RM3 = "BM25 + Bo1", "BM25 + RM3"
INSIDE = f"{FULL}, terms in the window"
WORDS, SENTENCE, ASKED = (f"{PASSAGE}, {form}" for form in ("whole words", "as a sentence", "query as asked"))
KL, PRINTED = "BM25 + KL", "BM25 + Bo1 as printed"
MEASURE = "nDCG@10"
MANY = 10_000  # terms: all of them
RM3_WEIGHT = 0.5  # of the original query, Anserini's default


def pipelines(settings: Settings) -> dict[str, Pipeline]:
    """The study's feedback and what puts its explanations to the test."""
    rows, full = settings.rows(), settings.feedback()
    passages = settings.feedback(passages=True)
    others = {INSIDE: replace(full, within=settings.reader.room),
              **{name: replace(passages, form=form) for name, form in ((WORDS, "words"), (SENTENCE, "sentence"), (ASKED, ""))}}
    return {**rows, BO1: replace(rows[BM25], feedback=full), KL: replace(rows[BM25], feedback=replace(full, weighting="KL")),
            PRINTED: replace(rows[BM25], feedback=replace(full, weighting="printed")),
            **{name: replace(rows[BERT], feedback=feedback) for name, feedback in others.items()}}


def rm3(bed: Testbed, settings: Settings) -> Evaluation:
    """BM25 with Lucene's RM3, with as many documents and terms."""
    classical = settings.classical()
    run = rm3_run(bed.index, bed.query_step, classical.k1, classical.b, classical.depth, settings.documents,
                  settings.terms, RM3_WEIGHT)
    return evaluate(RM3, run, bed, MEASURES)


def claims_table(systems: Systems) -> Fragment:
    """The chapter's claims."""
    return claims.judge("feedback", {"full-index-feedback-hurts-bert": (systems[FULL], systems[BERT]),
                                     "passage-index-feedback-beats-full-index": (systems[PASSAGE], systems[FULL]),
                                     "rerank-only-beats-retrieving-again": (systems[JUST], systems[PASSAGE]),
                                     "feedback-raises-recall": {"full index": (systems[FULL], systems[BERT]),
                                                                "passage index": (systems[PASSAGE], systems[BERT])}})


def signs(systems: Systems, shares: Mapping[str, pd.Series]) -> dict[str, bool]:
    """What the discussion rests on besides the claims."""
    base, alone = systems[BERT], condensed(MEASURE)
    return {"the model reads the query as asked at least as well as the expanded one":
            lead(systems[ASKED], systems[PASSAGE], MEASURE) >= 0,
            "nearly all added terms are seen": bool(shares["full index"].mean() > 0.9),
            "feedback loses less on judged texts alone": alone in base.values and all(
                lead(systems[name], base, alone) > lead(systems[name], base, MEASURE) for name in (FULL, PASSAGE))}


def classical_table(systems: Systems) -> Fragment:
    """Feedback without a neural model."""
    return compare.differences_table("Feedback for BM25 alone", {f"{name} and {BM25}": (systems[name], systems[BM25])
                                                                 for name in (BO1, KL, PRINTED, RM3)}, MEASURE)


def explanations_table(systems: Systems) -> Fragment:
    """The study's two explanations, each as comparisons that differ in nothing else."""
    pairs = {"terms outside the window: full index, terms in the window alone and all terms": (INSIDE, FULL),
             "terms outside the window: passage index and full index": (PASSAGE, FULL),
             "new candidates: full index, old candidates ranked again and candidates retrieved again": (JUST_FULL, FULL),
             "bag of words: whole words and stems": (WORDS, PASSAGE),
             "bag of words: a sentence and words": (SENTENCE, WORDS),
             "reading the expansion at all: the query as asked and the expanded one": (ASKED, PASSAGE)}
    compared = {name: (systems[first], systems[second]) for name, (first, second) in pairs.items()}
    return compare.differences_table("Two explanations put to the test", compared, MEASURE)


def added_terms(bed: Testbed, settings: Settings) -> dict[str, pd.Series]:
    """The terms that feedback adds to each query, in their order: from the full index, and from that of passages."""
    run, added = settings.rows()[BERT].run(bed), {}
    for name, passages in (("full index", False), ("passage index", True)):
        weights = settings.feedback(passages).weights(bed, run).value()
        added[name] = weights[weights["added"].astype(bool)].groupby("query_id")["term"].agg(list)
    return added


def expansions_table(bed: Testbed, settings: Settings, how_many: int) -> Fragment:
    """Expanded queries: terms of the full index, terms of the passage index, and the terms as a sentence."""
    added, reader = added_terms(bed, settings), replace(settings.feedback(passages=True), form="sentence")
    sentences = reader.reading(bed, settings.rows()[BERT].run(bed)).query_frame.set_index("query_id")["text"]
    rows = [[text, *(" ".join(terms.get(query, [])) for terms in added.values()), sentences[query]]
            for query, text in bed.query_frame[["query_id", "text"]].head(how_many).itertuples(index=False)]
    return page.show_table(f"The first {len(rows)} queries, expanded", ("query", *added, "as a sentence"), rows, numeric_from=9)


def seen_shares(bed: Testbed, settings: Settings) -> dict[str, pd.Series]:
    """For each query the share of its added terms that the model sees in a trusted document, by index."""
    everything = replace(settings.feedback(), terms=MANY, within=settings.reader.room)
    visible = everything.weights(bed, settings.rows()[BERT].run(bed)).value()
    seen = visible.groupby("query_id")["term"].agg(set)
    return {name: pd.Series({query: len(seen.get(query, set()).intersection(terms)) / len(terms)
                             for query, terms in added.items()}, dtype=float)
            for name, added in added_terms(bed, settings).items()}


def seen_table(shares: Mapping[str, pd.Series]) -> Fragment:
    """The shares' means with intervals."""
    rows = [[name, plain(mean.mean), interval(mean.low, mean.high), plain(float((values == 1).mean()))]
            for name, values in shares.items() if len(values) for mean in [mean_interval(values)]]
    return page.show_table("Added terms that BERT sees in a trusted document",
                           ("terms from", "mean share", "interval", "queries with all of them"), rows)


def moves_figure(systems: Systems) -> Fragment:
    """Who gains and who loses by feedback."""
    base = systems[BERT].values[MEASURE]
    lines = {name: systems[name].values[MEASURE] - base for name in (FULL, PASSAGE, JUST)}
    return plots.sorted_differences(lines, f"difference in {MEASURE}", f"{MEASURE} of each query with feedback, less without.")


def moves_table(bed: Testbed, settings: Settings, systems: Systems, how_many: int) -> Fragment:
    """The queries that gain and that lose most by feedback from the passage index, with what was added."""
    terms = added_terms(bed, settings)["passage index"]
    change = (systems[PASSAGE].values[MEASURE] - systems[BERT].values[MEASURE]).sort_values(ascending=False, kind="stable")
    texts = bed.query_frame.set_index("query_id")["text"]
    chosen = pd.concat([change[change > 0].head(how_many), change[change < 0].tail(how_many)])
    rows = [[texts[str(query)], signed(value), " ".join(terms.get(query, []))] for query, value in chosen.items()]
    caption = f"The largest gains and losses in {MEASURE} by feedback (PI)"
    return page.show_table(caption, ("query", "change", "terms added"), rows, numeric_from=9)
