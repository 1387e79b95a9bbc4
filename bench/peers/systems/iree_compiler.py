"""The peer that runs models in IREE."""
import os
import sys
import tempfile

from .peer import Peer
from .programs import call, find


class Iree(Peer):
    """IREE for the host CPU, with data tiling if that compiles, through its task system."""
    attempts = [["--iree-dispatch-creation-data-tiling"], []]

    def load(self, path, inputs, outputs):
        import iree.runtime as rt
        bindir = os.path.dirname(sys.executable)
        with tempfile.TemporaryDirectory() as tmp:
            mlir, vmfb = os.path.join(tmp, "m.mlir"), os.path.join(tmp, "m.vmfb")
            call([find(bindir, "iree-import-onnx"), path, "-o", mlir])
            for i, extra in enumerate(self.attempts):
                try:
                    call([find(bindir, "iree-compile"), mlir, "-o", vmfb, "--iree-opt-level=O3",
                          "--iree-hal-target-device=local", "--iree-llvmcpu-target-cpu=host",
                          "--iree-hal-local-target-device-backends=llvm-cpu", *extra])
                    break
                except RuntimeError:
                    if i + 1 == len(self.attempts):
                        raise
            rt.flags.parse_flags(f"--task_topology_max_group_count={self.threads}")
            config = rt.Config("local-task")
            with open(vmfb, "rb") as f:
                module = rt.VmModule.copy_buffer(config.vm_instance, f.read())
        loaded = rt.load_vm_module(module, config)
        names = [n for n in module.function_names if not n.startswith("__") and not n.endswith("$async")]
        self.fn = loaded[names[0]]
        self.xs = [rt.asdevicearray(config.device, x) for x in inputs.values()]

    def run(self):
        self.y = self.fn(*self.xs)

    def results(self):
        ys = self.y if isinstance(self.y, (tuple, list)) else (self.y,)
        return [y.to_host() for y in ys]

    def version(self):
        import importlib.metadata as m
        return m.version("iree-base-compiler")
