"""The testbed of a search: queries that come one by one, with no use for the windows of a whole collection."""

from dataclasses import dataclass, replace

from helpers.data.texts import candidate_store
from helpers.steps import Step
from helpers.systems.testbed import Testbed


@dataclass(frozen=True)
class SearchTestbed(Testbed):
    """The same for queries that come one by one: of the texts only those that a re-ranker reads are cut and tokenised."""

    run: Step | None = None
    first: int = 0

    @property
    def store(self) -> Step:
        """The text store: of all texts, or of the candidates."""
        return super().store if self.run is None else candidate_store(super().store, self.run, self.first)

    def of_candidates(self, run: Step, candidates: int) -> Testbed:
        """The same over these texts alone."""
        return replace(self, run=run, first=candidates)
