"""The tables of all models by name. An entry of MODELS makes a module and its inputs."""
import torch
from torch import nn

from .computed import Computed
from .convolutional import VGG16, BasicBlock, Bottleneck, DiffusionUNet, MobileNetV2, ResNet, UNet
from .mixer import MixerS16
from .operators import Fn, LinearGelu, attention, causal_attention, chain5, gelu_tanh
from .recurrent import Recurrent
from .transformers import BertBase, GPT2Small, SwinBlock, ViTB16


def image(size=224):
    return lambda: (torch.randn(1, 3, size, size),)


def randn(*shapes):
    return lambda: tuple(torch.randn(*s) for s in shapes)


def conv(cin, cout, k, groups=1):
    return lambda: nn.Conv2d(cin, cout, k, padding=k // 2, groups=groups, bias=False)


def mlp3():
    return nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(),
                         nn.Linear(4096, 1024))


def bert_small():
    return BertBase(vocab=3000, positions=128, dim=256, layers=4, heads=4)


def recurrent(kind, steps):
    return (lambda: Recurrent(kind), randn((1, steps, 64)), None)


def distinct(rows, n):
    """Returns rows of n different numbers, so that the order of each row is unique."""
    return lambda: (torch.stack([torch.randperm(n) for _ in range(rows)]).float(),)


def matmul(n):
    return (lambda: Fn(torch.matmul), randn((n, n), (n, n)), 2 * n ** 3)


# Each name has a tuple: module factory, input factory, flops of the dominant work or None.
MODELS = {
    "resnet50": (lambda: ResNet(Bottleneck, (3, 4, 6, 3)), image(), None),
    "resnet18": (lambda: ResNet(BasicBlock, (2, 2, 2, 2)), image(), None),
    "mobilenet_v2": (MobileNetV2, image(), None),
    "vgg16": (VGG16, image(), None),
    "unet_small": (UNet, image(256), None),
    "bert_base": (BertBase, lambda: (torch.randint(0, 30522, (1, 128)),
                                     torch.arange(128)[None] // 64), None),
    "gpt2_small": (GPT2Small, lambda: (torch.randint(0, 50257, (1, 128)),), None),
    "vit_b_16": (ViTB16, image(), None),
    "mixer_s_16": (MixerS16, image(), None),
    "mlp3": (mlp3, randn((64, 1024)), None),
    "mlp3_bf16": (lambda: Computed(mlp3(), torch.bfloat16), randn((64, 1024)), None),
    "unet_gn": (DiffusionUNet, randn((1, 3, 96, 128)), None),
    "unet_gn_f16": (lambda: Computed(DiffusionUNet(), torch.float16), randn((1, 3, 96, 128)), None),
    "bert_small": (bert_small, lambda: (torch.randint(0, 3000, (1, 64)),
                                        torch.arange(64)[None] // 32), None),
    "lstm_20": recurrent(nn.LSTM, 20),
    "lstm_64": recurrent(nn.LSTM, 64),
    "lstm_200": recurrent(nn.LSTM, 200),
    "gru_64": recurrent(nn.GRU, 64),
    "matmul_512": matmul(512),
    "matmul_1024": matmul(1024),
    "matmul_2048": matmul(2048),
    "matmul_bias_gelu": (lambda: LinearGelu(768, 3072), randn((128, 768)), 2 * 128 * 768 * 3072),
    "conv3x3": (conv(64, 64, 3), randn((1, 64, 56, 56)), 2 * 56 * 56 * 64 * 64 * 9),
    "conv1x1": (conv(256, 64, 1), randn((1, 256, 56, 56)), 2 * 56 * 56 * 256 * 64),
    "depthwise3x3": (conv(96, 96, 3, 96), randn((1, 96, 112, 112)), 2 * 112 * 112 * 96 * 9),
    "bottleneck": (lambda: Bottleneck(64, 64), randn((1, 64, 56, 56)),
                   2 * 56 * 56 * (64 * 64 + 64 * 64 * 9 + 64 * 256 * 2)),
    "softmax_heads": (lambda: Fn(lambda x: torch.softmax(x, -1)), randn((12, 128, 128)), None),
    "softmax_4096": (lambda: Fn(lambda x: torch.softmax(x, -1)), randn((4096, 4096)), None),
    "layernorm_768": (lambda: nn.LayerNorm(768), randn((128, 768)), None),
    "layernorm_4096": (lambda: nn.LayerNorm(4096), randn((4096, 4096)), None),
    "elementwise5": (lambda: Fn(chain5), randn((4096, 4096), (4096, 4096)), None),
    "gelu_tanh": (lambda: Fn(gelu_tanh), randn((4096, 1024)), None),
    "attention": (lambda: Fn(attention), randn(*[(12, 512, 64)] * 3), 2 * 2 * 12 * 512 * 512 * 64),
    "causal_attention": (lambda: Fn(causal_attention), randn(*[(1, 12, 1024, 64)] * 3),
                         2 * 2 * 12 * 1024 * 1024 * 64 // 2),
    "swin_block": (SwinBlock, randn((1, 56, 56, 96)), None),
    "nchw_to_nhwc": (lambda: Fn(lambda x: x.permute(0, 2, 3, 1).contiguous()),
                     randn((1, 256, 56, 56)), None),
    "softmax_middle": (lambda: Fn(lambda x: torch.softmax(x, 1)), randn((8, 512, 1024)), None),
    "softmax_first": (lambda: Fn(lambda x: torch.softmax(x, 0)), randn((1024, 1024)), None),
    "mean_middle": (lambda: Fn(lambda x: x.mean(1)), randn((8, 512, 1024)), None),
    "sum_outer": (lambda: Fn(lambda x: x.sum((0, 2))), randn((32, 64, 3136)), None),
    "matvec": (lambda: Fn(torch.matmul), randn((1, 4096), (4096, 4096)), 2 * 4096 * 4096),
    "few_columns": (lambda: Fn(torch.matmul), randn((4096, 1024), (1024, 8)), 2 * 4096 * 1024 * 8),
    "long_sum": (lambda: Fn(torch.matmul), randn((16, 16384), (16384, 8)), 2 * 16 * 16384 * 8),
    "batch_8": (lambda: Fn(torch.matmul), randn((1024, 8, 8), (1024, 8, 8)), 2 * 1024 * 8 ** 3),
    "batch_32": (lambda: Fn(torch.matmul), randn((1024, 32, 32), (1024, 32, 32)),
                 2 * 1024 * 32 ** 3),
    "embedding": (lambda: nn.Embedding(20000, 4096),
                  lambda: (torch.randint(0, 20000, (2048,)),), None),
    "topk_50": (lambda: Fn(lambda x: tuple(torch.topk(x, 50))), distinct(64, 4096), None),
    "sort_4096": (lambda: Fn(lambda x: tuple(torch.sort(x, descending=True))), distinct(64, 4096),
                  None),
}


# Each name has a tuple: name of the float32 model, quantisation by ONNX Runtime.
QUANTISED = {
    "unet_gn_qdq": ("unet_gn", "static"),
    "unet_gn_qdyn": ("unet_gn", "dynamic"),
    "bert_small_qdq": ("bert_small", "static"),
    "bert_small_qdyn": ("bert_small", "dynamic"),
}
