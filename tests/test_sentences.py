"""Sentence tasks: the losses by hand, the data, the trimmed vocabulary, and trainings that learn."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from helpers.data.collection_base import Text
from helpers.data.stsb import stsb_file, stsb_pairs
from helpers.data.texts import Texts, write_store
from helpers.errors import BadInput
from helpers.networks.encoder import inputs
from helpers.networks.fine_tuning import Schedule
from helpers.pretraining import sentences
from helpers.pretraining.heads import SentenceModel, sentence_loss
from helpers.pretraining.sentences import predicted_similarity, trim, triplet_accuracy
from toys import bert


def test_squared_error_of_the_cosine_by_hand():
    first, second = torch.tensor([[1.0, 0], [3, 4]]), torch.tensor([[1.0, 1], [3, 4]])
    expected = ((math.sqrt(0.5) - 0.2) ** 2 + (1 - 0.9) ** 2) / 2
    assert float(sentence_loss([first, second], torch.tensor([0.2, 0.9]), 0.0)) == pytest.approx(expected, rel=1e-5)


def test_triplet_hinge_by_hand_is_euclidean_and_not_squared():
    anchor, same = torch.zeros(2, 2), torch.tensor([[3.0, 4], [0, 1]])
    other = torch.tensor([[0.0, 2], [0, 9]])
    assert float(sentence_loss([anchor, same, other], None, 1.0)) == pytest.approx((5 - 2 + 1 + 0) / 2, rel=1e-4)


def test_sections_are_cut_into_sentences_and_headings_fall():
    body = "Why it rises. Yeast eats sugar and makes gas. The gas cannot leave the dough.\n\nSalt. It slows the yeast down a bit."
    assert sentences.sections(body) == [["Yeast eats sugar and makes gas.", "The gas cannot leave the dough."],
                                            ["It slows the yeast down a bit."]]


@pytest.fixture
def documents(tmp_path):
    """A text store of three documents: two with two sections each, one with a single section."""
    def body(name):
        return "\n\n".join(f"{name} section {n} sentence one here. {name} section {n} sentence two here." for n in "AB")

    write_store(tmp_path, [Text("d1", "", body("Bread")), Text("d2", "", body("Iron")), Text("d3", "", "Only one section here.")])
    return tmp_path


def test_triplets_come_from_one_document_and_two_sections(documents):
    qrels = pd.DataFrame({"doc_id": ["d1", "d2", "d3", "d1"], "relevance": [2, 1, 3, 0]})
    result = sentences.section_triplets.definition.function(documents, qrels, 60, 1, 1)
    assert result["triplet_id"].is_unique and len(result) == 60
    assert {triplet.split("-")[0] for triplet in result["triplet_id"]} == {"d1", "d2"}
    for anchor, same, other in result[["anchor", "same", "other"]].itertuples(index=False):
        section = [text.split()[2] for text in (anchor, same, other)]
        assert section[0] == section[1] != section[2] and anchor != same
        assert anchor.split()[0] == other.split()[0]  # of the same document
    other_seed = sentences.section_triplets.definition.function(documents, qrels, 60, 2, 1)
    assert not other_seed["anchor"].equals(result["anchor"])
    best = sentences.section_triplets.definition.function(documents, qrels, 60, 1, 2)
    assert {triplet.split("-")[0] for triplet in best["triplet_id"]} == {"d1"}  # d2 has grade 1, d3 a single section


def test_a_sentence_stands_with_the_next_of_its_text_and_with_another(documents, tmp_path):
    (folder := tmp_path / "sentences").mkdir()
    sentences.sentence_store.definition.function(documents, folder=folder)
    assert list(Texts(folder).ids([0, 3, 4, 7])) == ["d1~0", "d1~3", "d2~0", "d2~3"]  # across sections, not across texts
    asked = dict(sentences.sentence_queries.definition.function(folder).to_numpy())
    assert len(asked) == 8 and asked["d2~1"] == "Iron section A sentence two here."
    made = sentences.next_sentences.definition.function(folder, 10, 1)
    rows = made.to_numpy().reshape(-1, 2, 4)  # six sentences are followed by another
    followed = {(f"d{text}~{number}", f"d{text}~{number + 1}#0") for text in (1, 2) for number in range(3)}
    assert {(query, window) for query, window, *_ in rows[:, 0]} == followed and len(rows) == 6
    assert [*made["label"]] == [1, 0] * 6 and set(made["teacher"]) == {0.0}
    assert len(set(rows[:, 1, 1])) > 1 and {window.removesuffix("#0") for window in rows[:, 1, 1]} <= asked.keys()
    assert made.head(4).equals(sentences.next_sentences.definition.function(folder, 2, 1))
    (single := tmp_path / "single").mkdir()
    write_store(single, [Text("d3", "", "Only one section is here.")])
    with pytest.raises(BadInput, match="no sentence of these texts"):
        sentences.next_sentences.definition.function(single, 10, 1)


def test_folds_part_the_rows_and_samples_hold_each_other():
    rows = pd.DataFrame({"pair_id": [f"p{n}" for n in range(20)]})
    fold, sample = (getattr(sentences, name).definition.function for name in ("fold", "sample"))
    tests = [set(fold(rows, n, 3, 5, False)["pair_id"]) for n in range(3)]
    assert set.union(*tests) == set(rows["pair_id"]) and sum(map(len, tests)) == 20
    assert all(set(fold(rows, n, 3, 5, True)["pair_id"]) == set(rows["pair_id"]) - tests[n] for n in range(3))
    assert [len(test) for test in tests] == [7, 7, 6]
    assert list(sample(rows, 5, 1)["pair_id"]) == list(sample(rows, 8, 1)["pair_id"])[:5]
    assert len(sample(rows, 0, 1)) == 20 == len(sample(rows, 99, 1))


def stsb(tmp_path, text):
    (tmp_path / "sts-test.csv").write_text(text, encoding="utf-8")
    return stsb_pairs.definition.function(stsb_file("test", tmp_path))


def test_stsb_lines_may_hold_quotes_and_sources(tmp_path):
    result = stsb(tmp_path, 'g\tf\ty\t1\t5.000\tA "plane\' is.\tA plane.\ng\tf\ty\t2\t0\ta\tb\tsource\tsource\n')
    assert result.to_dict("list") == {"pair_id": ["test-1", "test-2"], "score": [5.0, 0.0],
                                      "sentence1": ["A \"plane' is.", "a"], "sentence2": ["A plane.", "b"]}


def test_a_trimmed_vocabulary_trains_to_the_same_vectors():
    texts = [[2, 30, 31, 3], [2, 45, 3], [2, 31, 45, 49, 3]]

    def trained(trimmed):
        encoder = bert()
        read = trim(encoder, 0, texts) if trimmed else list
        model = SentenceModel(encoder, "cls", 1.0)
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1)
        for _ in range(5):
            loss = model([inputs([read(texts[0]), read(texts[1])], 0), inputs([read(texts[2]), read(texts[0])], 0)],
                         torch.tensor([0.3, 0.9]))["loss"]
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
        return encoder, encoder(**inputs([read(texts[2])], 0)).last_hidden_state

    (whole, expected), (small, result) = trained(False), trained(True)
    assert small.get_input_embeddings().num_embeddings == 7 < whole.get_input_embeddings().num_embeddings == 50
    assert torch.allclose(result, expected, atol=1e-6)


@pytest.fixture
def words(folder_of_texts):
    """A backbone in a folder whose tokenizer knows forty words."""
    return folder_of_texts[1]


def schedule(epochs):
    return vars(Schedule(epochs=epochs, learning_rate=3e-3, max_length=16))


def drawn_sentences(generator, count, words):
    return [" ".join(f"w{n}" for n in generator.choice(words, size=5)) for _ in range(count)]


@pytest.mark.slow
def test_similarity_is_learned_from_pairs(words, tmp_path):
    generator = np.random.default_rng(1)
    low, high = list(range(20)), list(range(20, 40))
    kinds = generator.integers(2, size=(160, 2))
    frame = pd.DataFrame({"pair_id": [f"p{n}" for n in range(160)], "score": 5.0 * (kinds[:, 0] == kinds[:, 1]),
                          **{f"sentence{n + 1}": [drawn_sentences(generator, 1, (low, high)[kind])[0] for kind in kinds[:, n]]
                             for n in (0, 1)}})
    train, test = frame[:120], frame[120:]
    learned, zero_shot = (predicted_similarity.definition.function(train, test, words, "mean", **schedule(epochs),
                                                                   checkpoints=tmp_path) for epochs in (12, 0))
    scores = test["score"].to_numpy()
    gap = {name: result["predicted"][scores == 5].mean() - result["predicted"][scores == 0].mean()
           for name, result in (("learned", learned.set_axis(test.index)), ("zero_shot", zero_shot.set_axis(test.index)))}
    assert gap["learned"] > 0.6 > 0.2 > gap["zero_shot"]
    assert list(learned["pair_id"]) == list(test["pair_id"])


@pytest.mark.slow
def test_sections_are_learned_from_triplets(words, tmp_path):
    generator = np.random.default_rng(1)
    kinds = generator.integers(2, size=200)
    texts = [[drawn_sentences(generator, 1, (range(20), range(20, 40))[side])[0] for side in (kind, kind, 1 - kind)]
             for kind in kinds]
    frame = pd.DataFrame(texts, columns=["anchor", "same", "other"]).assign(triplet_id=[f"t{n}" for n in range(200)])
    result = {epochs: triplet_accuracy.definition.function(frame[:150], frame[150:], words, "mean", 1.0, **schedule(epochs),
                                                          checkpoints=tmp_path)
              for epochs in (0, 6)}
    assert result[6]["accuracy"].mean() > 0.9 > result[0]["accuracy"].mean()
