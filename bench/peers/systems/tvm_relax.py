"""The peers that run models in TVM, with default schedules or with tuning."""
import os
import tempfile

from .peer import Peer


def tvm_target(threads):
    """Returns TVM's target for this CPU: the name that TVM's LLVM gives the host, and the core count."""
    import tvm
    cpu = tvm.get_global_func("target.llvm_get_system_cpu")()
    return tvm.target.Target({"kind": "llvm", "mcpu": cpu, "num-cores": threads})


class Tvm(Peer):
    """TVM Relax without tuning: legalised, fused, built with default schedules."""

    def load(self, path, inputs, outputs):
        os.environ["TVM_NUM_THREADS"] = str(self.threads)
        import onnx
        import tvm
        from tvm import relax
        from tvm.relax.frontend.onnx import from_onnx
        target = tvm_target(self.threads)
        module = self.prepare(from_onnx(onnx.load(path), keep_params_in_input=False), target)
        self.vm = relax.VirtualMachine(tvm.compile(module, target=target), tvm.cpu())
        self.xs = [tvm.runtime.tensor(x) for x in inputs.values()]

    def prepare(self, module, target):
        from tvm import relax
        with tempfile.TemporaryDirectory() as work:
            return relax.pipeline.static_shape_tuning_pipeline(
                total_trials=0, target=target, work_dir=work)(module)

    def run(self):
        self.y = self.vm["main"](*self.xs)

    def results(self):
        ys = [self.y] if hasattr(self.y, "numpy") else list(self.y)
        return [y.numpy() for y in ys]

    def version(self):
        return __import__("tvm").__version__


class TvmTuned(Tvm):
    """TVM tuned by MetaSchedule with --trials measurements in total."""
    tunes = True

    def prepare(self, module, target):
        import tvm
        from tvm import relax
        from tvm.s_tir import meta_schedule as ms

        def build(module, target, _params):
            # MetaSchedule's build step without its import of tvm.s_tir.tensor_intrin. That import
            # parses every GPU intrinsic in each builder process, and may exceed the builder's 30 s
            # limit; f32 schedules for CPUs use no intrinsics. The function is nested for pickling
            # by value, because a builder cannot import this file.
            import tvm
            from tvm.s_tir.transform import RemoveWeightLayoutRewriteBlock
            module = RemoveWeightLayoutRewriteBlock(skip_tensor_rewrite=True)(module)
            return tvm.driver.build(module, target=target)
        t = relax.transform
        with tempfile.TemporaryDirectory() as work, target:
            module = tvm.transform.Sequential([
                t.DecomposeOpsForInference(), t.CanonicalizeBindings(),
                relax.pipeline.zero_pipeline()])(module)
            # Trials are distributed evenly. Otherwise the first tasks can use all trials, and an
            # untuned task runs a hundred times slower than a tuned one.
            tasks = ms.relax_integration.extract_tasks(module, target)
            ms.relax_integration.tune_relax(
                module, {}, target, work, max_trials_global=self.trials, seed=0,
                max_trials_per_task=-(-self.trials // len(tasks)),
                builder=ms.builder.LocalBuilder(max_workers=self.threads, f_build=build,
                                                timeout_sec=60))
            return t.MetaScheduleApplyDatabase(work)(module)
