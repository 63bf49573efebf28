"""A narrower encoder, taught by a wider one to have its states (general distillation: Jiao et al. 2020, section 3.2).

No label is read, and no word is masked: at every token the student's states, widened by a projection that is learned with them,
are to be the teacher's, those of the embeddings and of each layer.
"""

from pathlib import Path

import pandas as pd

from helpers.data.tokens import WindowTokens
from helpers.networks import fine_tuning
from helpers.networks.backbone import Backbone, attention
from helpers.networks.encoder import build, wrapped
from helpers.networks.training_settings import FineTuning, by_name
from helpers.pretraining.pretraining_data import spans
from helpers.steps import step

HELD_OUT = 200  # texts, at most a tenth


@step(version=1, form="folder", network=True, resumable=True)
@by_name
def narrower_encoder(texts: pd.DataFrame, store: Path, tokens: Path, backbone: Backbone, width: int, training: FineTuning, *,
                     folder: Path, checkpoints: Path) -> None:
    """Make a narrower BERT of as many layers and heads as the backbone's; keeps weights, tokenizer and `log.json`, where the
    losses are mean squared errors, summed over embeddings and layers.

    Args:
        texts: column doc_id: which texts are read.
        width: dimensions of its states, a multiple of the number of heads.
        training: its settings; texts longer than `max_length` are cut into several.
    """
    from transformers import Trainer

    from helpers.pretraining.narrower_model import Pair, narrowed

    tokenizer, teacher = backbone.tokenizer(), build(backbone, attn_implementation=attention()).eval()
    rows = spans(texts["doc_id"].tolist(), WindowTokens(tokens, store), training.max_length)
    examples = {str(number): {"input_ids": wrapped(tokenizer, row, training.max_length)} for number, row in enumerate(rows)}
    train, evaluation = fine_tuning.parted(examples, HELD_OUT, training.seed)
    fine_tuning.seed_everything(training.seed)
    pair = Pair(narrowed(teacher, width), teacher)
    arguments = fine_tuning.training_arguments(checkpoints, len(train), training, training.evaluations)
    arguments.eval_on_start = True
    trainer = Trainer(model=pair, args=arguments, train_dataset=train, eval_dataset=evaluation,
                      data_collator=fine_tuning.collator(tokenizer))
    fine_tuning.fit(trainer)
    fine_tuning.save(folder, pair.student, tokenizer, {
        "texts": len(texts), "pieces_of_text": len(train), "steps": trainer.state.max_steps,
        "parameters": pair.student.num_parameters(), "log": fine_tuning.logged(trainer, "step", "epoch", "loss", "eval_loss")})
