"""A student as one value: a re-ranker's training data and schedule, with the re-ranker as its teacher.

    student = Student(Reranker(), layers=(0, 1, 2))
    student.scores(bed, run, candidates=20)
    replace(student, soft=0.0)                        # an ablation
"""

from dataclasses import dataclass

from helpers.networks import backbone
from helpers.reranking.cross_encoder import training_log
from helpers.reranking.distillation import distilled_cross_encoder
from helpers.reranking.rerank import window_scores
from helpers.steps import Step
from helpers.systems.reranker import Reranker
from helpers.systems.testbed import Testbed


@dataclass(frozen=True)
class Student:
    """What decides a distilled cross-encoder (Simplified TinyBERT, Chen et al. 2021).

    Args:
        teacher: the fine-tuned re-ranker; the student is trained on its pairs, with its schedule.
        layers: the teacher's layers that the student starts from.
        temperature: of the soft loss.
        hard: weight of the cross-entropy with the judgments.
        soft: weight of the cross-entropy with the teacher's probabilities.
        hidden: weight of the hidden states' squared error.
        attention: weight of the attention scores' squared error.
    """

    teacher: Reranker
    layers: tuple[int, ...] = (0, 1, 2)
    temperature: float = 1.0
    hard: float = 1.0
    soft: float = 1.0
    hidden: float = 1.0
    attention: float = 1.0

    @property
    def model(self) -> Step:
        """The student's folder."""
        t = self.teacher
        bed, encoder = t.bed, backbone.resolve(t.backbone)
        return distilled_cross_encoder(
            t.model, t.pairs, bed.query_step, bed.store, bed.tokens(encoder), list(self.layers), t.epochs, t.learning_rate,
            t.batch_size, t.warmup, t.weight_decay, t.dropout, t.max_length, t.query_length, t.evaluation_queries,
            t.evaluations, t.seed, t.seed if t.data_seed is None else t.data_seed, self.temperature, self.hard, self.soft,
            self.hidden, self.attention)

    @property
    def log(self) -> Step:
        """The losses over the training with their parts, and its size."""
        return training_log(self.model)

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` documents with the student's probability of relevance."""
        tokens = bed.tokens(backbone.resolve(self.teacher.backbone))
        return window_scores(self.model, run, bed.query_step, bed.store, tokens, candidates, self.teacher.max_length,
                             self.teacher.query_length)
