"""Groups: what a listwise loss compares, a query with some texts and what a bi-encoder says of each; and queries made of texts.

A group is rows of one query: query_id, window_id, label (1 for a window of the relevant text, which comes first; 0) and teacher
(the bi-encoder's inner product with the whole text). A text that is read whole has one window, `<doc_id>#0`.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.data.collection_base import Text
from helpers.data.runs import cut, ranked
from helpers.data.texts import Texts, relevant_places
from helpers.data.windows import WindowTokens, doc_of, pair_ids, query_ids
from helpers.errors import BadInput
from helpers.networks.fine_tuning import RankerTraining
from helpers.steps import step

COLUMNS = ["query_id", "window_id", "label", "teacher"]
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
SHORTEST, LONGEST = 4, 12  # words of a span
EDGES = ".,;:!?\"'()"
PASSAGES, QUERIES = "passages.npy", "queries.npy"  # of the folders of embeddings


@step(version=1, form="table")
def teacher_groups(run: pd.DataFrame, size: int, seed: int) -> pd.DataFrame:
    """Groups of `size` texts without labels, which a bi-encoder ranks for each query.

    A text from each of `size` stretches of the ranking, whose lengths grow by one factor: what is hard to tell apart and what is
    easy. A query with fewer texts than that gives none; each has a stream of the seed's draws.
    """
    rows: list[tuple[str, str, int, float]] = []
    for number, (query, ranking) in enumerate(run.groupby("query_id", sort=False)):
        if len(ranking) < size:
            continue
        drawn = ranking.iloc[stretched(len(ranking), size, np.random.default_rng([seed, number]))]
        rows += [(str(query), f"{doc_id}#0", 0, score) for doc_id, score in drawn[["doc_id", "score"]].itertuples(index=False)]
    return pd.DataFrame(rows, columns=COLUMNS)


def stretched(length: int, size: int, random: np.random.Generator) -> list[int]:
    """A place (from 0) of each stretch of a ranking: of 1 to 60 in four, places 1-2, 3-7, 8-21 and 22-60."""
    ends = np.maximum(np.floor(np.geomspace(1, length, size + 1))[1:].astype(int), np.arange(1, size + 1))
    return [int(random.integers(start, end)) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


@step(version=1, form="table")
def labelled_groups(queries: pd.DataFrame, qrels: pd.DataFrame, min_relevance: int, runs: list, store: Path, tokens: Path,
                    size: int, candidates: int, seed: int, passages: Path | None = None,
                    query_vectors: Path | None = None) -> pd.DataFrame:
    """A group for each query with a relevant text: one of these, and `size` - 1 others from the rankings, as many from each.

    Of a text with several windows one is drawn, whether or not it holds the answer: the study's labels (Steensland 2021, section
    4.1.2). Texts that the bi-encoder puts above the relevant one are left out, for they may answer without a label. A query that
    cannot fill its group is left out; each has a stream of the seed's draws.

    Args:
        runs: the rankings that negatives are drawn from, their first `candidates` texts.
        store: the text store of what may be drawn.
        passages: the folder of the texts' vectors, in the store's order; without it no text is left out, and `teacher` is 0.
        query_vectors: the folder of the queries' vectors, in the order of `queries`.
    """
    texts, reader = Texts(store), WindowTokens(tokens, store)
    vectors = np.load(passages / PASSAGES) if passages else np.zeros((len(texts), 1), np.float32)
    asking = np.load(query_vectors / QUERIES) if query_vectors else np.zeros((len(queries), 1), np.float32)
    relevant = relevant_places(store, queries, qrels, min_relevance)
    rankings = [cut(run, candidates).groupby("query_id", sort=False)["doc_id"].agg(list).to_dict() for run in runs]
    rows: list[tuple[str, str, int, float]] = []
    for number, query in enumerate(queries["query_id"]):
        if query not in relevant:
            continue
        random = np.random.default_rng([seed, number])
        scores = vectors @ asking[number]
        positive = int(random.choice(relevant[query]))
        lists = [[place for doc_id in ranking.get(query, []) if (place := texts.position(doc_id)) not in relevant[query]
                  and scores[place] <= scores[positive]] for ranking in rankings]
        places = [positive, *mixed(lists, size - 1, random)]
        if len(places) == size:
            rows += [(query, str(random.choice(list(reader.windows_of(doc_id)))), int(place == positive), float(scores[place]))
                     for doc_id, place in zip(texts.ids(places), places, strict=True)]
    return pd.DataFrame(rows, columns=COLUMNS)


def mixed(lists: Sequence[Sequence[int]], size: int, random: np.random.Generator) -> list[int]:
    """`size` different members, drawn from the lists in turns; fewer if there are no more."""
    shuffled = [list(random.permutation(np.asarray(members, dtype=int))) for members in lists]
    drawn: list[int] = []
    while any(shuffled) and len(drawn) < size:
        for members in shuffled:
            drawn += [int(one) for one in members[:1] if one not in drawn]
            del members[:1]
    return drawn[:size]


@step(version=1, form="run")
def ranked_groups(groups: pd.DataFrame) -> pd.DataFrame:
    """The texts of groups as a run, in the order of the teacher's scores, so that another model can score them."""
    run = groups.assign(doc_id=groups["window_id"].map(doc_of)).rename(columns={"teacher": "score"})
    return ranked(run[["query_id", "doc_id", "score"]])


@step(version=1, form="table")
def answered_groups(groups: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Take a group's scores from another teacher: `teacher` is what the run `scores`, whose texts are windows, gives."""
    answers = scores.set_index(["query_id", "doc_id"])["score"]
    return groups.assign(teacher=answers.loc[list(zip(groups["query_id"], groups["window_id"], strict=True))].to_numpy())


@step(version=1, form="table")
def groups_in_common(groups: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """The groups of the queries that other groups are of, too."""
    return groups[groups["query_id"].isin(others["query_id"])].reset_index(drop=True)


@step(version=1, form="table")
def groups_compared(groups: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """How many queries, relevant texts and negatives are in groups, in others, and in both: columns of, groups, others, both."""
    first, second = members(groups), members(others)
    return pd.DataFrame([(kind, len(own), len(second[kind]), len(own & second[kind])) for kind, own in first.items()],
                        columns=["of", "groups", "others", "both"])


def members(groups: pd.DataFrame) -> dict[str, set]:
    """The queries of groups, and their relevant and other texts, each with its query."""
    texts, relevant = pd.MultiIndex.from_arrays([groups["query_id"], groups["window_id"].map(doc_of)]), groups["label"] == 1
    return {"queries": set(groups["query_id"]), "relevant texts": set(texts[relevant]), "negatives": set(texts[~relevant])}


@step(version=1, form="run")
def random_texts(queries: pd.DataFrame, store: Path, depth: int, seed: int) -> pd.DataFrame:
    """Texts drawn at random for each query (or all, if there are fewer), as a run: Alarfaj's negatives (2022, section 5.2)."""
    ids = np.array([text.doc_id for text in Texts(store)])
    drawn = [np.random.default_rng([seed, number]).permutation(len(ids))[:depth] for number in range(len(queries))]
    return pd.DataFrame([(query, ids[place], -float(rank)) for query, places in zip(queries["query_id"], drawn, strict=True)
                         for rank, place in enumerate(places)], columns=["query_id", "doc_id", "score"])


@step(version=1, form="table")
def pseudo_queries(store: Path, queries: pd.DataFrame, spans: int, first: int, seed: int) -> pd.DataFrame:
    """The title and heading of every text, `spans` of its sentences, and the queries: columns query_id, text; of all these only
    `first`, 0 for all, drawn with the seed.

    What the texts are decides what may be trained with them: give the store of a split (`articles.split_store`). Their bodies
    begin with a heading and a full stop.
    """
    made = [(f"{text.doc_id}~{number}", query) for place, text in enumerate(Texts(store))
            for number, query in enumerate([heading(text), *spans_of(text, spans, np.random.default_rng([seed, place]))])]
    frame = pd.concat([pd.DataFrame(made, columns=["query_id", "text"]), queries[["query_id", "text"]]], ignore_index=True)
    return frame.sample(n=min(first or len(frame), len(frame)), random_state=seed).reset_index(drop=True)


def heading(text: Text) -> str:
    """The title and the first sentence, which is the heading of a section."""
    return f"{text.title} {text.body.partition('. ')[0]}".strip()


def spans_of(text: Text, count: int, random: np.random.Generator) -> list[str]:
    """Runs of 4 to 12 words, each within one sentence, in small letters and without the marks at its ends."""
    sentences = [words for part in SENTENCE_END.split(text.body.partition(". ")[2]) if len(words := part.split()) >= SHORTEST]
    drawn = []
    for number in random.integers(len(sentences), size=count) if sentences else []:
        words = sentences[number]
        length = int(random.integers(SHORTEST, min(LONGEST, len(words)) + 1))
        start = int(random.integers(len(words) - length + 1))
        drawn.append(" ".join(words[start:start + length]).strip(EDGES).lower())
    return drawn


def held_out(queries: int, wanted: int, seed: int) -> np.ndarray:
    """The numbers of the queries that are held out, in their order: as many as wanted, at most a tenth, drawn with the seed."""
    shuffled = np.random.default_rng(seed).permutation(queries)
    return np.sort(shuffled[:min(wanted, max(1, queries // 10))])


def of_held_out(pairs: pd.DataFrame, wanted: int, seed: int) -> np.ndarray:
    """Whether each pair (column query_id) is one of a query that is held out."""
    names = pairs["query_id"].unique()
    return pairs["query_id"].isin(names[held_out(len(names), wanted, seed)]).to_numpy()


class Groups:
    """Groups of one size as token ids; some queries are held out. BadInput if they are too few for a batch."""

    def __init__(self, groups: pd.DataFrame, queries: pd.DataFrame, tokens: WindowTokens, tokenizer: Any,
                 training: RankerTraining, held_out_seed: int | None = None):
        self.training, self._tokens, self._tokenizer = training, tokens, tokenizer
        names = list(dict.fromkeys(groups["query_id"]))
        self.held_out = held_out(len(names), training.evaluation_queries,
                                 training.seed if held_out_seed is None else held_out_seed)
        self.train = np.setdiff1d(np.arange(len(names)), self.held_out)
        if len(self.train) < training.batch_size:
            raise BadInput(f"{len(names)} training queries, of which {len(self.held_out)} held out, do not fill a batch of "
                           f"{training.batch_size}", mend="give more training queries, or a smaller batch")
        self.size = len(groups) // len(names)
        texts = queries.set_index("query_id")["text"]
        self._queries = query_ids(tokenizer, [texts[name] for name in names], training.query_length)
        read = [column for column in ("window_id", "other_id") if column in groups]
        self._windows = groups[read].to_numpy().reshape(len(names), self.size, len(read))
        self._teacher = groups["teacher"].to_numpy(dtype=float).reshape(len(names), -1)

    def batch(self, numbers: np.ndarray) -> tuple[list[list[int]], list[list[int]], np.ndarray]:
        """Token ids and types of the groups' texts, one after the other, and the teacher's scores, (groups, size)."""
        inputs = [pair_ids(self._tokenizer, self._queries[n], self.training.max_length, *(self._tokens[name] for name in read))
                  for n in numbers for read in self._windows[n]]
        return [ids for ids, _ in inputs], [types for _, types in inputs], self._teacher[numbers]
