"""The table of the compared systems: the class of each name that peers.py accepts."""
from .iree_compiler import Iree
from .onnx_runtime import Ort
from .open_vino import OpenVino, OpenVinoBf16
from .openblas import Numpy
from .pytorch import Inductor, InductorAutotune, InductorBf16, Torch, TorchBf16
from .tunec_library import Tunec, TunecAvx2, TunecBefore, TunecBf16, TunecEmulated, TunecLoose, TunecNoAmx, TunecUntuned
from .tvm_relax import Tvm, TvmTuned
from .xla import Jax

PEERS = {"tunec": Tunec, "tunec-before": TunecBefore, "tunec-no-amx": TunecNoAmx, "tunec-avx2": TunecAvx2,
         "tunec-bf16": TunecBf16, "tunec-untuned": TunecUntuned,
         "tunec-1e-5": TunecLoose, "tunec-emulated": TunecEmulated,
         "ort": Ort, "torch": Torch, "inductor": Inductor, "inductor-autotune": InductorAutotune,
         "openvino": OpenVino, "jax": Jax, "iree": Iree, "tvm": Tvm, "tvm-tuned": TvmTuned,
         "numpy": Numpy, "torch-bf16": TorchBf16, "inductor-bf16": InductorBf16,
         "openvino-bf16": OpenVinoBf16}
DEFAULT = "ort,torch,inductor,openvino,jax,iree,numpy,torch-bf16,inductor-bf16,openvino-bf16"
