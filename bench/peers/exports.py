"""Exports one model to a folder: NAME.onnx, NAME.npz, NAME.f64.npz, and its line of index.json."""
import os
import warnings
import zlib

import numpy as np
import torch

from networks.seeded import build, flops, is_float32
from networks.table import QUANTISED


def onnx_runtime(path, feed, names_out, optimised=True):
    """Returns the outputs of ONNX Runtime, or None if its CPU provider does not support the
    model."""
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 3
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except ort.capi.onnxruntime_pybind11_state.NotImplemented:
        return None
    return session.run(names_out, feed)


def describe(path, opset, feed, ref):
    """Writes NAME.npz beside the model at `path`. Returns the model's line of index.json."""
    import onnx
    np.savez(path[:-5] + ".npz", **feed, **ref)
    got = onnx_runtime(path, feed, list(ref))
    error = None if got is None else max(
        float(np.abs(g - r).max() / max(np.abs(r).max(), 1e-30)) for g, r in zip(got, ref.values()))
    ops = {}
    for node in onnx.load(path, load_external_data=False).graph.node:
        ops[node.op_type] = ops.get(node.op_type, 0) + 1
    return {"opset": opset, "inputs": {k: list(v.shape) for k, v in feed.items()},
            "outputs": {k: list(v.shape) for k, v in ref.items()},
            "bytes": os.path.getsize(path), "ops": dict(sorted(ops.items(), key=lambda kv: -kv[1])),
            "ort_relative_error": error}


def float64_outputs(module, xs):
    """Returns the module's outputs in float64. The module stays converted."""
    with torch.no_grad():
        ys = module.double()(*(x.double() if x.is_floating_point() else x for x in xs))
    return [y.numpy() for y in (ys if isinstance(ys, tuple) else (ys,))]


def write_float64(name, outdir, module, xs):
    """Writes NAME.f64.npz beside NAME.npz. Raises RuntimeError if NAME.npz has other inputs, or if
    its outputs differ by more than rounding, since it is then from another version."""
    base = os.path.join(outdir, name)
    with np.load(base + ".npz") as z:
        if any(not np.array_equal(x.numpy(), z[f"x{i}"]) for i, x in enumerate(xs)):
            raise RuntimeError("its inputs are not those that are made now")
        exact = {f"y{i}": y for i, y in enumerate(float64_outputs(module, xs))}
        for key, y in exact.items():
            if np.abs(z[key] - y).max() > 1e-3 * np.abs(y).max():
                raise RuntimeError("its outputs are those of other weights")
    np.savez(base + ".f64.npz", **exact)


def export(name, outdir, opset, fold_bn):
    """Writes NAME.onnx and NAME.npz, and NAME.f64.npz for a float32 model. Returns the model's line
    of index.json."""
    import onnx
    module, xs = build(name)
    with torch.no_grad():
        ys = module(*xs)
    ys = ys if isinstance(ys, tuple) else (ys,)
    names_in = [f"x{i}" for i in range(len(xs))]
    names_out = [f"y{i}" for i in range(len(ys))]
    path = os.path.join(outdir, name + ".onnx")
    mode = torch.onnx.TrainingMode
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, xs, path, opset_version=opset, dynamo=False,
                          input_names=names_in, output_names=names_out,
                          training=mode.EVAL if fold_bn else mode.PRESERVE)
    onnx.checker.check_model(path, full_check=True)
    feed = dict(zip(names_in, (x.numpy() for x in xs)))
    ref = dict(zip(names_out, (y.numpy() for y in ys)))
    row = describe(path, opset, feed, ref) | {
        "parameters": sum(p.numel() for p in module.parameters()),
        "gflop": round(flops(name, module, xs) / 1e9, 4)}
    if is_float32(name):
        write_float64(name, outdir, module, xs)
    return row


def random_feeds(feed, name, count):
    """Yields other inputs of the same shapes for calibration: normally distributed floats, and
    integers of the same ranges. The same name gives the same inputs."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for _ in range(count):
        yield {k: rng.standard_normal(v.shape, np.float32) if v.dtype.kind == "f"
               else rng.integers(v.min(), v.max() + 1, v.shape, v.dtype) for k, v in feed.items()}


def quantise(name, outdir, opset, fold_bn):
    """Exports the float32 model of the quantised model NAME, and quantises it with ONNX Runtime.
    Returns the line of index.json.

    The reference outputs are those of ONNX Runtime without graph optimisation.
    """
    from onnxruntime import quantization as q
    from onnxruntime.quantization.shape_inference import quant_pre_process
    base, how = QUANTISED[name]
    row = export(base, outdir, opset, fold_bn)
    path = os.path.join(outdir, name + ".onnx")
    prepared = os.path.join(outdir, name + ".prepared")
    with np.load(os.path.join(outdir, base + ".npz")) as z:
        feed = {k: z[k] for k in z.files if k.startswith("x")}
    quant_pre_process(os.path.join(outdir, base + ".onnx"), prepared, skip_symbolic_shape=True)
    if how == "dynamic":
        q.quantize_dynamic(prepared, path)
    else:
        class Reader(q.CalibrationDataReader):
            feeds = random_feeds(feed, name, 8)

            def get_next(self):
                return next(self.feeds, None)
        q.quantize_static(prepared, path, Reader(), quant_format=q.QuantFormat.QDQ)
    os.remove(prepared)
    names_out = list(row["outputs"])
    ref = dict(zip(names_out, onnx_runtime(path, feed, names_out, optimised=False)))
    return row | describe(path, opset, feed, ref)
