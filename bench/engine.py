"""Sentence-transformers with OpenVINO or ONNX Runtime below it, in single precision and in eight bits: what users take today.

    .venv/engines/bin/python bench/engine.py FOLDER

It runs in an environment of its own (`engines.txt`), so nothing of this book is imported. `FOLDER/job.json` has the class of
sentence-transformers, the model's folder and the inputs, texts or pairs of them. Each line of the standard input names one of the
contenders, which then computes all inputs; what it gives is written to `FOLDER/values.npy`, and its name is answered.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

CALIBRATED, LENGTH = 128, 256  # inputs from which eight bits get their ranges, and tokens of an input at most
BATCHES, SAMPLE = (8, 16, 32), 96  # sizes of a batch that are tried, on so many inputs
THREADS = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1))  # of `machine.keep_to`: more than cores are slower
OPENVINO = {"INFERENCE_NUM_THREADS": THREADS, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
SINGLE = {"INFERENCE_PRECISION_HINT": "f32"}  # beside its own choice, which is bfloat16 even where that is slower
EIGHT_BITS = "openvino_model_qint8_quantized.xml"


def contenders(folder: Path, kind: str, source: str, inputs: list[Any]) -> dict[str, Callable[[], np.ndarray]]:
    """Four engines that give the values of all inputs, each with the fastest of some sizes of a batch and types of number."""
    import onnxruntime
    import sentence_transformers as library

    session = onnxruntime.SessionOptions()
    session.intra_op_num_threads = THREADS

    def made(backend: str, model: str, precision: dict[str, str] | None = None, **options: Any) -> Any:
        own = ({"ov_config": OPENVINO | (precision or {})} if backend == "openvino"
               else {"provider": "CPUExecutionProvider", "session_options": session})
        length = {"max_length": LENGTH} if kind == "CrossEncoder" else {}
        return getattr(library, kind)(model, device="cpu", backend=backend, model_kwargs={**own, **options}, **length)

    for backend in ("openvino", "onnx"):
        made(backend, source).save_pretrained(str(folder / backend))
    texts = folder / "texts"
    texts.mkdir()
    rows = inputs[::max(1, len(inputs) // CALIBRATED)]
    (texts / "train.jsonl").write_text("".join(f"{json.dumps({'input': row})}\n" for row in rows), encoding="utf-8")
    library.export_static_quantized_openvino_model(
        made("openvino", str(folder / "openvino")), None, str(folder / "openvino"), dataset_name=str(texts),
        dataset_config_name="default", dataset_split="train", column_name="input")
    has_vnni = "avx512_vnni" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    library.export_dynamic_quantized_onnx_model(made("onnx", str(folder / "onnx")), "avx512_vnni" if has_vnni else "avx2",
                                                str(folder / "onnx"))
    small = next((folder / "onnx" / "onnx").glob("model_*.onnx")).name
    models = {"OpenVINO": [made("openvino", str(folder / "openvino"), precision, file_name="openvino_model.xml")
                           for precision in ({}, SINGLE)],
              "OpenVINO int8": [made("openvino", str(folder / "openvino"), precision, file_name=EIGHT_BITS)
                                for precision in ({}, SINGLE)],
              "ONNX Runtime": [made("onnx", str(folder / "onnx"), file_name="onnx/model.onnx")],
              "ONNX Runtime int8": [made("onnx", str(folder / "onnx"), file_name=f"onnx/{small}")]}
    return {name: fastest(own, inputs) for name, own in models.items()}


def fastest(models: list[Any], inputs: list[Any]) -> Callable[[], np.ndarray]:
    """The computation of all inputs with the model and the size of a batch that took a sample the least time, at the second
    run."""
    runs = [model.predict if hasattr(model, "predict") else model.encode for model in models]
    sample, spent = inputs[::max(1, len(inputs) // SAMPLE)][:SAMPLE], {}
    for number, run in enumerate(runs):
        for size in BATCHES:
            for _ in range(2):
                started = time.perf_counter()
                run(sample, batch_size=size, show_progress_bar=False)
                spent[number, size] = time.perf_counter() - started
    number, best = min(spent, key=spent.__getitem__)
    return lambda: np.asarray(runs[number](inputs, batch_size=best, show_progress_bar=False), dtype=np.float32)


def main(folder: Path) -> None:
    """Answer until the input ends. What libraries print goes to the standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    ready = contenders(folder, **job)
    print(json.dumps(list(ready)), file=answers, flush=True)
    for line in sys.stdin:
        np.save(folder / "values.npy", ready[line.strip()]())
        print(line.strip(), file=answers, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
