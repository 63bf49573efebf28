"""Models of the Hugging Face hub: what to do when one cannot be fetched, which files are needed, whether they are here."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from helpers.errors import BadInput, NetworkNeeded

FILES = ("*.json", "*.safetensors", "*.txt", "*.model")  # configuration, weights and tokenizer; pickled weights are not read
CLIENTS = {"httpx", "httpx2", "requests", "huggingface_hub"}  # whose errors are not all OSErrors


@contextlib.contextmanager
def asking(source: str, revision: str | None) -> Iterator[None]:
    """While a model is read from a folder (no revision), or asked from the hub: what goes wrong becomes an error that helps.
    NetworkNeeded if the model is not here and cannot be fetched; BadInput if this revision has no safetensors weights, and for
    whatever the files of a folder make the libraries raise."""
    try:
        yield
    except (BadInput, NetworkNeeded, MemoryError):
        raise
    except Exception as error:
        message, packages = " ".join(str(error).split()), {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
        if revision is None:
            raise BadInput(f"no model can be read from this folder ({type(error).__name__}: {message[:200]})", file=source,
                           mend="see to its files, or save the model again by save_pretrained()") from error
        if not isinstance(error, OSError) and not packages & CLIENTS:
            raise
        if "safetensors" in message and "does not appear to have" in message:
            raise BadInput(f"the model {source} has no safetensors weights at revision {revision}",
                           mend="name a revision that has them; or load the model where you trust it, save it by "
                                "save_pretrained(), and give that folder") from error
        raise NetworkNeeded(
            f"the model {source} at revision {revision} is not here and could not be fetched from the hub ({message[:200]}).\n"
            f"Mend: connect to the network, and check name and revision; or fetch it elsewhere\n"
            f"  hf download {source} --revision {revision} {' '.join(f'--include {chr(39)}{each}{chr(39)}' for each in FILES)}\n"
            f"and put the folder models--{source.replace('/', '--')} that this makes in its cache there into\n  {cache()}"
        ) from error


def cache() -> Path:
    """The folder of the fetched models, `HF_HOME`/hub."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def is_here(source: str, revision: str) -> bool:
    """Whether a model's configuration and weights have been fetched before."""
    from huggingface_hub import try_to_load_from_cache

    config, *weights = (isinstance(try_to_load_from_cache(source, name, cache_dir=cache(), revision=revision), str)
                        for name in ("config.json", "model.safetensors", "model.safetensors.index.json"))
    return config and any(weights)


def size(source: str, revision: str) -> int:
    """The bytes of a model's files, asked from the hub; NetworkNeeded if it cannot be asked, or has no such revision."""
    from huggingface_hub import HfApi
    from huggingface_hub.utils import filter_repo_objects

    with asking(source, revision):
        files = HfApi().model_info(source, revision=revision, files_metadata=True).siblings or []
    read = filter_repo_objects(files, allow_patterns=list(FILES), key=lambda file: file.rfilename)
    return sum(file.size or 0 for file in read)


def commit(source: str, revision: str, kind: str = "model") -> str:
    """The commit hash that a branch or tag of a `model` or `dataset` stands for now; NetworkNeeded if the hub cannot be asked,
    or has no such revision."""
    from huggingface_hub import HfApi

    with asking(source, revision):
        return str(HfApi().repo_info(source, revision=revision, repo_type=kind).sha)


def fetch(source: str, revision: str) -> Path:
    """A model's files, what is missing fetched; the hub's client goes on with what was interrupted. Errors as of `asking`."""
    from huggingface_hub import snapshot_download

    with asking(source, revision):
        folder = Path(snapshot_download(source, revision=revision, cache_dir=cache(), allow_patterns=list(FILES)))
        if not list(folder.glob("*.safetensors")):
            raise FileNotFoundError("it does not appear to have safetensors")
    return folder
