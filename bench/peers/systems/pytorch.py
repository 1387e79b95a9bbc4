"""The peers that run models in PyTorch, in eager mode or compiled by Inductor."""
import os

from .peer import Peer


class Torch(Peer):
    """Eager PyTorch (oneDNN and MKL inside). The module comes from networks/."""
    bf16, compile_mode = False, None

    def load(self, path, inputs, outputs):
        import torch

        from networks.seeded import build
        torch.set_num_threads(self.threads)
        name = os.path.splitext(os.path.basename(path))[0]
        self.torch, self.model = torch, build(name)[0]
        self.xs = [torch.from_numpy(x.copy()) for x in inputs.values()]
        if self.compile_mode:
            import torch._inductor.config as config
            config.freezing = True
            self.model = torch.compile(self.model, mode=self.compile_mode, dynamic=False)
        self.run()

    def run(self):
        torch = self.torch
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=self.bf16):
            self.y = self.model(*self.xs)

    def results(self):
        ys = self.y if isinstance(self.y, (tuple, list)) else (self.y,)
        return [y.float().contiguous().numpy() for y in ys]

    def unload(self):
        torch = self.torch
        super().unload()
        if self.compile_mode:
            torch._dynamo.reset()

    def version(self):
        return __import__("torch").__version__


class TorchBf16(Torch):
    """Eager PyTorch under bf16 autocast."""
    bf16 = True


class Inductor(Torch):
    """torch.compile with weights frozen (so they can be packed)."""
    compile_mode = "default"


class InductorAutotune(Torch):
    """torch.compile, max-autotune, with the C++ GEMM template among the candidates."""
    compile_mode, tunes = "max-autotune", True

    def load(self, path, inputs, outputs):
        import torch._inductor.config as config
        config.max_autotune_gemm_backends = "CPP,ATEN"
        super().load(path, inputs, outputs)


class InductorBf16(Inductor):
    """torch.compile, weights frozen, under bf16 autocast."""
    bf16 = True
