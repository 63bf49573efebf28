"""Models for the hub of a rehearsal: the architecture, the layers and the files of their namesakes, tiny and random.

Their width is a sixteenth, their tokenizers know a thousand pieces of the Almanac.
"""

import functools
import json
import re
import tempfile
from pathlib import Path

from helpers.data.almanac import Almanac

PIECES = 1000
LONG = 4096  # tokens that a Longformer reads
SHAPE = re.compile(r"L-(\d+)_H-(\d+)_A-(\d+)")  # layers, width and heads in the names of Google's smaller BERTs
BASE = (2, 768, 12)
HEADS = {"longformer": "LongformerForMaskedLM", "roberta": "RobertaForMaskedLM", "distilbert": "DistilBertForMaskedLM",
         "albert": "AlbertForMaskedLM", "electra": "ElectraForPreTraining", "bert": "BertForPreTraining"}  # the first in a name
BYTES = {"type_vocab_size": 1, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}  # of RoBERTa's family


def model(name: str, seed: int = 1) -> dict[str, bytes]:
    """The files of a model of that name: configuration, tokenizer, random weights, and pickled ones which nobody may read."""
    import torch
    import transformers

    kind = next(kind for kind in HEADS if kind in name)
    layers, width, heads = map(int, (SHAPE.findall(name) or [BASE])[0])
    shape = {"vocab_size": PIECES, "embedding_size": 32, "max_position_embeddings": 512, "num_hidden_layers": layers,
             "n_layers": layers, "hidden_size": width // 16, "dim": width // 16, "intermediate_size": width // 4,
             "hidden_dim": width // 4, "num_attention_heads": heads, "n_heads": heads}
    if kind in ("roberta", "longformer"):
        shape |= BYTES | {"max_position_embeddings": 514}
    if kind == "longformer":
        shape |= {"max_position_embeddings": LONG + 2, "attention_window": [512] * layers}
    head = getattr(transformers, HEADS[kind])
    known = head.config_class().to_dict()
    torch.manual_seed(seed)
    made = head(head.config_class(**{one: value for one, value in shape.items() if one in known}))
    with tempfile.TemporaryDirectory() as folder:
        made.save_pretrained(folder)
        files = {file: (Path(folder) / file).read_bytes() for file in ("config.json", "model.safetensors")}
    if name == "google-bert/bert-base-uncased":  # its norms have the names of TensorFlow
        files["model.safetensors"] = _renamed(files["model.safetensors"])
    vocabulary = tokenizer("bytes" if kind in ("roberta", "longformer") else "unigrams" if kind == "albert" else "words")
    settings = {"tokenizer_class": f"{HEADS[kind].partition('For')[0]}Tokenizer",
                "model_max_length": LONG if kind == "longformer" else 512}
    files |= vocabulary | {"tokenizer_config.json": json.dumps(settings).encode()}
    if name.startswith("google/bert"):  # these have nothing but configuration and vocabulary beside their weights
        files = {one: content for one, content in files.items() if not one.startswith("tokenizer")}
    return files | {"pytorch_model.bin": b"pickled", "README.md": b"a model card"}


@functools.cache
def tokenizer(kind: str) -> dict[str, bytes]:
    """The files of a tokenizer: pieces of `words`, pairs of `bytes`, or `unigrams`."""
    from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer, SentencePieceUnigramTokenizer, processors

    texts = [text.body for text in Almanac("almanac/16").texts("document")]
    if kind == "words":
        made = BertWordPieceTokenizer(lowercase=True)
        made.train_from_iterator(texts, PIECES, show_progress=False)
    elif kind == "bytes":
        made = ByteLevelBPETokenizer(add_prefix_space=False)
        made.train_from_iterator(texts, PIECES, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], show_progress=False)
        made._tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    else:
        made = SentencePieceUnigramTokenizer()
        made.train_from_iterator(texts, PIECES, special_tokens=["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"], unk_token="<unk>",
                                 show_progress=False)
        made._tokenizer.post_processor = processors.TemplateProcessing(
            "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)])
    with tempfile.TemporaryDirectory() as folder:
        if kind != "unigrams":
            made.save_model(folder)
        made.save(f"{folder}/tokenizer.json")
        return {file.name: file.read_bytes() for file in Path(folder).iterdir()}


def _renamed(weights: bytes) -> bytes:
    from safetensors.torch import load, save

    return save({name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): weight
                 for name, weight in load(weights).items()}, metadata={"format": "pt"})
