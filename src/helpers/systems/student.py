"""A distilled re-ranker: it starts as some layers of its teacher, and learns from the same texts and from what the teacher says.

    student = Student(recipe(), layers=(0, 1, 2))
    student.without("soft")                             # an ablation
"""

from dataclasses import dataclass, replace

from helpers.networks import backbone
from helpers.networks.fine_tuning import RankerTraining, Trained
from helpers.reranking.distillation import Distillation, distilled_cross_encoder
from helpers.reranking.rerank import window_scores
from helpers.steps import Step
from helpers.systems.rerankers import Listwise, ListwiseReranker
from helpers.systems.testbed import Testbed


@dataclass(frozen=True)
class Student(Trained, Distillation):
    """What decides a distilled cross-encoder (Simplified TinyBERT, Chen et al. 2021)."""

    teacher: ListwiseReranker  # whose texts the student learns from, in batches of as many, with its schedule
    learning_rate: float = 2e-4  # the peak; higher than its teacher's, for it begins further from its goal
    start: Listwise | None = None  # what it starts as; by default some of its teacher's layers
    seed: int | None = None  # of the order of its texts; by default the teacher's

    def without(self, *parts: str) -> "Student":
        """An ablation: the same with some losses left out, `soft`, `hard`, `hidden` or `attention`. TypeError for others."""
        return replace(self, **dict.fromkeys(parts, 0.0))  # type: ignore[arg-type]

    def judgments_alone(self) -> "Student":
        """The control: the same start, texts and steps without a teacher."""
        return self.without("soft", "hidden", "attention")

    @property
    def model(self) -> Step:
        """The student's folder."""
        t, held_out = self.teacher, self.teacher.held_out_seed
        own = {"batch_size": t.batch_size * t.size, "learning_rate": self.learning_rate}
        own |= {} if self.seed is None else {"seed": self.seed}
        bed, settings = t.bed, t.settings(RankerTraining) | own
        return distilled_cross_encoder(t.model, t.groups, bed.query_step, bed.store, bed.tokens(backbone.resolve(t.backbone)),
                                       t.seed if held_out is None else held_out, None if self.start is None else self.start.model,
                                       **settings, **self.settings(Distillation))

    def scores(self, bed: Testbed, run: Step, candidates: int) -> Step:
        """Every window of the run's top `candidates` documents with the student's probability of relevance."""
        t = self.teacher
        tokens = t.reading(bed).tokens(backbone.resolve(t.backbone))
        return window_scores(self.model, run, bed.query_step, bed.store, tokens, candidates, t.max_length, t.query_length)
