"""A row that the studies do not have: what a vector for each word adds to one for each text (Khattab & Zaharia 2020)."""

from helpers.data.texts import Texts
from helpers.encoders.embeddings import token_lengths
from helpers.encoders.late_interaction import SPECIAL_TOKENS, max_sim_run
from helpers.networks import backbone as backbones
from helpers.pages import page
from helpers.pages.compare import above, effect_columns
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count
from helpers.steps import Step
from helpers.systems.bi_encoder import BiEncoder, reading
from helpers.systems.evaluated import Evaluation, evaluate
from helpers.systems.testbed import Testbed

MEASURE = "RR@10"
FLOAT = 4  # bytes
LABEL = "MaxSim over its states, zero-shot"


def evaluated(encoder: BiEncoder, bed: Testbed, first: Step | None, candidates: int) -> Evaluation | None:
    """The best of an encoder's list, ordered anew by MaxSim over the states of the same encoder as it is; None where there is no
    list, or no candidates are asked for."""
    if first is None or not candidates:
        return None
    backbone = backbones.resolve(encoder.backbone)
    run = max_sim_run(backbone, first, bed.query_step, bed.store, reading(bed).tokens(backbone), candidates, encoder.max_length,
                      encoder.query_length)
    return evaluate(LABEL, run, bed, [MEASURE])


def table(own: Evaluation | None, one: Evaluation | None, encoder: BiEncoder, bed: Testbed) -> Fragment:
    """One vector a text beside one a word: RR@10 of the same lists, and what the vectors of the collection take."""
    if own is None or one is None:
        return page.prose("This run leaves the row out: it takes the zero-shot encoder's list, and `late` above zero.")
    backbone = backbones.resolve(encoder.backbone)
    lengths = token_lengths(bed.store, reading(bed).tokens(backbone)).value()
    words = sum(number * (min(int(length), encoder.max_length) - SPECIAL_TOKENS) for length, number in lengths.items())
    vectors = {one.label: len(Texts(bed.store.value())), own.label: words}
    wide = FLOAT * backbones.configuration(backbone).hidden_size
    effects = effect_columns({one.label: one, own.label: own}, one.label, MEASURE)
    return page.records_table("One vector for a passage, and one for each of its word pieces", (
        {"system": name, **effects[name], "vectors": count(number), "in 32 bits": f"{count(round(number * wide / 1e6))} MB"}
        for name, number in vectors.items()))


def signs(own: Evaluation | None, one: Evaluation | None) -> dict[str, bool]:
    """What the discussion rests on."""
    return {"a vector for each word ranks above one for each text":
                own is not None and one is not None and above(own, one, MEASURE)}
