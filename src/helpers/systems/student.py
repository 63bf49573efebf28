"""A student as one value: a re-ranker's training data and schedule, with the re-ranker as its teacher.

    student = Student(Reranker(), layers=(0, 1, 2))
    student.scores(bed, run, candidates=20)
    replace(student, soft=0.0)                        # an ablation
"""

from dataclasses import dataclass

from helpers.networks import backbone
from helpers.networks.training_settings import RankerTraining
from helpers.reranking.cross_encoder import training_log
from helpers.reranking.distillation import Distillation, distilled_cross_encoder
from helpers.reranking.rerank import window_scores
from helpers.steps import Step
from helpers.systems.reranker import Reranker
from helpers.systems.testbed import Testbed


@dataclass(frozen=True)
class Student(Distillation):
    """What decides a distilled cross-encoder (Simplified TinyBERT, Chen et al. 2021).

    The other settings are those of `Distillation`.
    """

    teacher: Reranker  # the fine-tuned re-ranker; the student is trained on its pairs, with its schedule

    @property
    def model(self) -> Step:
        """The student's folder."""
        t = self.teacher
        bed, encoder = t.bed, backbone.resolve(t.backbone)
        return distilled_cross_encoder(
            t.model, t.pairs, bed.query_step, bed.store, bed.tokens(encoder), t.seed if t.data_seed is None else t.data_seed,
            **t.settings(RankerTraining), **self.settings(Distillation))

    @property
    def log(self) -> Step:
        """The losses over the training with their parts, and its size."""
        return training_log(self.model)

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` documents with the student's probability of relevance."""
        tokens = bed.tokens(backbone.resolve(self.teacher.backbone))
        return window_scores(self.model, run, bed.query_step, bed.store, tokens, candidates, self.teacher.max_length,
                             self.teacher.query_length)
