"""Convolutional networks for classification, and U-Nets."""
import torch
import torch.nn.functional as F
from torch import nn


class ConvBN(nn.Sequential):
    """A convolution without bias, batch norm, and an optional activation."""

    def __init__(self, cin, cout, k, stride=1, groups=1, act=None):
        layers = [nn.Conv2d(cin, cout, k, stride, k // 2, groups=groups, bias=False),
                  nn.BatchNorm2d(cout)]
        if act is not None:
            layers.append(act())
        super().__init__(*layers)


class BasicBlock(nn.Module):
    """ResNet-18/34 block."""
    expansion = 1

    def __init__(self, cin, width, stride=1):
        super().__init__()
        self.a = ConvBN(cin, width, 3, stride, act=nn.ReLU)
        self.b = ConvBN(width, width, 3)
        self.skip = ConvBN(cin, width, 1, stride) if stride != 1 or cin != width else nn.Identity()

    def forward(self, x):
        return F.relu(self.b(self.a(x)) + self.skip(x))


class Bottleneck(nn.Module):
    """ResNet-50/101/152 block (v1.5: the stride is on the 3x3)."""
    expansion = 4

    def __init__(self, cin, width, stride=1):
        super().__init__()
        cout = width * self.expansion
        self.a = ConvBN(cin, width, 1, act=nn.ReLU)
        self.b = ConvBN(width, width, 3, stride, act=nn.ReLU)
        self.c = ConvBN(width, cout, 1)
        self.skip = ConvBN(cin, cout, 1, stride) if stride != 1 or cin != cout else nn.Identity()

    def forward(self, x):
        return F.relu(self.c(self.b(self.a(x))) + self.skip(x))


class ResNet(nn.Module):
    def __init__(self, block, depths, classes=1000):
        super().__init__()
        self.stem = ConvBN(3, 64, 7, 2, act=nn.ReLU)
        self.pool = nn.MaxPool2d(3, 2, 1)
        cin, stages = 64, []
        for i, depth in enumerate(depths):
            for j in range(depth):
                stages.append(block(cin, 64 << i, 2 if i and j == 0 else 1))
                cin = (64 << i) * block.expansion
        self.stages = nn.Sequential(*stages)
        self.fc = nn.Linear(cin, classes)

    def forward(self, x):
        x = self.stages(self.pool(self.stem(x)))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


class InvertedResidual(nn.Module):
    def __init__(self, cin, cout, stride, expand):
        super().__init__()
        hidden = cin * expand
        layers = [] if expand == 1 else [ConvBN(cin, hidden, 1, act=nn.ReLU6)]
        layers += [ConvBN(hidden, hidden, 3, stride, groups=hidden, act=nn.ReLU6),
                   ConvBN(hidden, cout, 1)]
        self.body = nn.Sequential(*layers)
        self.residual = stride == 1 and cin == cout

    def forward(self, x):
        return x + self.body(x) if self.residual else self.body(x)


class MobileNetV2(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        layers, cin = [ConvBN(3, 32, 3, 2, act=nn.ReLU6)], 32
        for expand, cout, repeats, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                                              (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                              (6, 320, 1, 1)]:
            for i in range(repeats):
                layers.append(InvertedResidual(cin, cout, stride if i == 0 else 1, expand))
                cin = cout
        layers.append(ConvBN(cin, 1280, 1, act=nn.ReLU6))
        self.features = nn.Sequential(*layers)
        self.fc = nn.Linear(1280, classes)

    def forward(self, x):
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(self.features(x), 1), 1))


class VGG16(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        layers, cin = [], 3
        for c in [64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0]:
            if c:
                layers += [nn.Conv2d(cin, c, 3, padding=1), nn.ReLU()]
                cin = c
            else:
                layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Linear(512 * 7 * 7, 4096), nn.ReLU(),
                                        nn.Linear(4096, 4096), nn.ReLU(),
                                        nn.Linear(4096, classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))

class UShaped(nn.Module):
    """A network of stages at halved sizes, then of transposed convolutions that double the sizes. A
    stage joins each result with its skip connection.

    `stage(channels in, channels out)` makes the module of a stage.
    """

    def __init__(self, stage, widths, classes):
        super().__init__()
        self.down = nn.ModuleList(stage(i, o) for i, o in zip((3,) + widths[:-1], widths))
        pairs = list(zip(widths[::-1], widths[-2::-1]))
        self.up = nn.ModuleList(nn.ConvTranspose2d(i, o, 2, 2) for i, o in pairs)
        self.merge = nn.ModuleList(stage(2 * o, o) for _, o in pairs)
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if i else x)
            skips.append(x)
        for up, merge, skip in zip(self.up, self.merge, skips[-2::-1]):
            x = merge(torch.cat([skip, up(x)], 1))
        return self.head(x)


class UNet(UShaped):
    """A small U-Net: four levels, 16 to 128 channels, transposed-conv upsampling."""

    def __init__(self, widths=(16, 32, 64, 128), classes=2):
        def double(cin, cout):
            return nn.Sequential(ConvBN(cin, cout, 3, act=nn.ReLU), ConvBN(cout, cout, 3, act=nn.ReLU))
        super().__init__(double, widths, classes)


class DiffusionUNet(UShaped):
    """A U-Net as in diffusion models: group norms, SiLU, residual adds beside the skips."""

    class Stage(nn.Module):
        def __init__(self, cin, cout, groups=4):
            super().__init__()
            self.n1, self.n2 = nn.GroupNorm(groups, cout), nn.GroupNorm(groups, cout)
            self.c1, self.c2 = nn.Conv2d(cin, cout, 3, padding=1), nn.Conv2d(cout, cout, 3, padding=1)

        def forward(self, x):
            x = F.silu(self.n1(self.c1(x)))
            return x + F.silu(self.n2(self.c2(x)))

    def __init__(self, widths=(16, 32, 64), classes=3):
        super().__init__(self.Stage, widths, classes)
