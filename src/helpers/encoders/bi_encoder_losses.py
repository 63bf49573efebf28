"""The losses of bi-encoders, all on a batch's matrix of similarities between its queries and its passages.

Row i of the matrix is query i; the columns are the passages of all queries in the batch. `relevant` marks the passages
known to be relevant to each query, so that a relevant passage which came with another query is no negative.

A loss is a function whose parameters are some of `similarity`, `positive`, `relevant`, `own`, `teacher`, `margin` and
`temperature`: it gets those that it names. A new one is such a function and its line in `LOSSES`.
"""

from collections.abc import Callable
from typing import Any

from helpers.registry import Registry


def triplet(similarity: Any, positive: Any, own: Any, margin: float) -> Any:
    """The mean over triplets of max(0, d(q, p) - d(q, n) + margin), with d = 1 - similarity (David 2020, equation 3.1).

    Args:
        similarity: (queries, passages), cosines in the study.
        positive: (queries,), the column of each query's relevant passage.
        own: (queries, passages), true for the negatives that were drawn for the query; at least one in all.
        margin: by which the relevant passage is to be nearer (1 in the study).
    """
    difference = similarity - similarity.gather(1, positive[:, None])  # d(q, p) - d(q, n)
    return (difference + margin).clamp(min=0)[own].mean()


def multi_label_margin(similarity: Any, relevant: Any) -> Any:
    """RepBERT's loss: the mean over queries of PyTorch's multi-label margin loss (Zhan et al. 2020, equation 4).

    For a query with n passages in its batch: the sum over its relevant i and all other j of max(0, 1 - (s_i - s_j)), over n.

    Args:
        similarity: (queries, passages), inner products in the study.
        relevant: (queries, passages), true for every passage that is relevant to the query.
    """
    import torch

    columns = similarity.shape[1]
    places = torch.arange(columns, device=similarity.device).expand_as(similarity)
    targets = places.masked_fill(~relevant, columns).sort(dim=1).values  # PyTorch wants relevant columns first, then -1
    return torch.nn.functional.multilabel_margin_loss(similarity, targets.masked_fill(targets == columns, -1))


def contrastive(similarity: Any, positive: Any, relevant: Any, temperature: float = 1.0) -> Any:
    """The mean over queries of -log softmax of the relevant passage among the batch's passages (Gao & Callan 2021, equation 13).

    Other passages that are relevant to the query are left out of its softmax.

    Args:
        similarity: (queries, passages), inner products in the study.
        positive: (queries,), the column of each query's relevant passage.
        relevant: (queries, passages), true for every passage that is relevant to the query.
        temperature: divides the similarities; 1 in the study.
    """
    import torch

    others = relevant.scatter(1, positive[:, None], False)
    return torch.nn.functional.cross_entropy((similarity / temperature).masked_fill(others, float("-inf")), positive)


def margin_mse(similarity: Any, positive: Any, own: Any, teacher: Any, temperature: float = 1.0) -> Any:
    """The mean over triplets of the squared difference between the encoder's margin, s(q, p) - s(q, n), and a cross-encoder's
    (Hofstätter et al. 2020).

    Only negatives that were drawn for the query count: of the batch's other passages the cross-encoder has said nothing.

    Args:
        similarity: (queries, passages), inner products in the study.
        positive: (queries,), the column of each query's relevant passage.
        own: (queries, passages), true for the negatives that were drawn for the query; at least one in all.
        teacher: (queries, passages), the cross-encoder's logits, nan where it has none.
        temperature: divides the similarities, to bring their margins to the scale of a logit's; 1 in the study.
    """
    margin, target = (scores.gather(1, positive[:, None]) - scores for scores in (similarity / temperature, teacher))
    return (margin - target)[own].square().mean()


LOSSES: Registry[Callable[..., Any]] = Registry("loss", {
    "triplet": triplet, "multi_label_margin": multi_label_margin, "contrastive": contrastive,
    "margin_mse": margin_mse})
