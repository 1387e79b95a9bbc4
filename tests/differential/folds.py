"""Random chains of the operators that rewrites move into a product or a convolution.

The chains have constants before and after, normalisations, pads, transposes, values with a second
reader, and weights with zeros. Folding, fusion and layouts must preserve their results.
"""
import numpy as np
from onnx import helper

from case import Case

ACTIVATIONS = ("Relu", "Sigmoid", "Abs", "LeakyRelu", "HardSwish")


class Chain:
    """A chain of ONNX nodes. `last` is the name of the last value, and `shape` is its shape."""

    def __init__(self, chance, shape):
        self.chance, self.shape, self.last = chance, list(shape), "x"
        self.nodes, self.weights = [], {}

    def constant(self, array):
        name = f"c{len(self.weights)}"
        self.weights[name] = np.asarray(array)
        return name

    def add(self, operator, *operands, **attributes):
        """Appends a node. The operand `None`, also the default, stands for the last value."""
        operands = [self.last if name is None else name for name in operands or (None,)]
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, operands, [name], **attributes))
        self.last = name

    def broadcast(self):
        """Returns a random array that broadcasts to the shape of the last value. It may be shifted,
        scaled or have zeros."""
        chance = self.chance
        shape = [size if chance.below(2) else 1 for size in self.shape]
        if chance.below(2):
            shape = shape[chance.below(len(shape)):]
        if len(self.shape) == 4 and chance.below(2):
            shape = [1, self.shape[1], 1, 1]
        array = chance.array(*shape) * chance.of(1, 1, 3) + chance.of(0, 0, 1)
        if chance.one_in(5):
            array *= chance.generator.random(shape) > 0.3
        return array.astype(np.float32)

    def side_steps(self):
        for _ in range(self.chance.below(4)):
            STEPS[self.chance.below(len(STEPS))](self)


def binary(chain):
    chain.add(chain.chance.of("Add", "Mul", "Sub"), None, chain.constant(chain.broadcast()))


def subtract_from(chain):
    chain.add("Sub", chain.constant(chain.broadcast()), None)


def divide(chain):
    chain.add("Div", None, chain.constant(np.abs(chain.broadcast()) + np.float32(0.5)))


def negate(chain):
    chain.add("Neg")


def activate(chain):
    chain.add(chain.chance.of(*ACTIVATIONS))


def clip(chain):
    low, high = chain.chance.of(-1, 0, 0), chain.chance.of(1, 6, -0.5)
    chain.add("Clip", None, chain.constant(np.float32(low)), chain.constant(np.float32(high)))


def batch_norm(chain):
    if len(chain.shape) < 2:
        return
    chance, channels = chain.chance, chain.shape[1]
    mean = chance.array(channels) * chance.of(1, 1, 1, 30)
    variance = np.abs(chance.array(channels)) + np.float32(chance.of(0.1, 1e-6))
    parameters = [chain.constant(array.astype(np.float32))
                  for array in (chance.array(channels), chance.array(channels), mean, variance)]
    chain.add("BatchNormalization", None, *parameters, epsilon=chance.of(1e-5, 1e-3))


def pad(chain):
    if len(chain.shape) != 4:
        return
    before, after = chain.chance.sizes(2, 0, 2), chain.chance.sizes(2, 0, 2)
    pads = chain.constant(np.array([0, 0, *before, 0, 0, *after], np.int64))
    mode = chain.chance.of("constant", "constant", "reflect", "edge")
    value = [chain.constant(np.float32(chain.chance.below(3)))] if mode == "constant" else []
    chain.add("Pad", None, pads, *value, mode=mode)
    chain.shape[2:] = [sum(sizes) for sizes in zip(chain.shape[2:], before, after)]


def transpose(chain):
    axes = [0, *(axis + 1 for axis in chain.chance.order(len(chain.shape) - 1))]
    chain.add("Transpose", perm=axes)
    chain.shape = [chain.shape[axis] for axis in axes]


def second_reader(chain):
    before = chain.last
    chain.add("Tanh")
    chain.add("Add", before, None)


def reduce_mean(chain):
    axis = chain.chance.within(1, len(chain.shape))
    chain.add("ReduceMean", None, chain.constant(np.array([axis], np.int64)), keepdims=1)
    chain.shape[axis] = 1


STEPS = (binary, binary, binary, subtract_from, divide, negate, activate, clip, batch_norm, pad, transpose,
         second_reader, reduce_mean)


def multiply(chain):
    columns = chain.chance.of(3, 8)
    chain.add("MatMul", None, chain.constant(chain.chance.array(chain.shape[-1], columns)))
    chain.shape[-1] = columns
    return True


def gemm(chain):
    chance, (rows, inner), columns = chain.chance, chain.shape, chain.chance.of(3, 8)
    transposed = chance.below(2)
    weight = chance.array(*((columns, inner) if transposed else (inner, columns)))
    shape = chance.of((columns,), (1, columns), (rows, 1), (), (rows, columns))
    bias = [chain.constant(chance.array(*shape))] if chance.below(2) else []
    chain.add("Gemm", None, chain.constant(weight), *bias, transB=transposed,
              alpha=chance.of(1.0, 0.5, -2.0), beta=chance.of(1.0, 0.25, -1.0))
    chain.shape[-1] = columns
    return True


def convolve(chain, transposed=False):
    chance, channels = chain.chance, chain.shape[1]
    group = chance.of(1, 1, 2) if channels % 2 == 0 else 1
    kernel = chance.of(1, 2, 3)
    pad_size, stride, out = chance.of(0, 0, 1) if kernel > 1 else 0, chance.of(1, 1, 2), group * chance.of(2, 4)
    if transposed:
        sizes = [(size - 1) * stride + kernel - 2 * pad_size for size in chain.shape[2:]]
        weight = chance.array(channels, out // group, kernel, kernel)
    else:
        sizes = [(size + 2 * pad_size - kernel) // stride + 1 for size in chain.shape[2:]]
        weight = chance.array(out, channels // group, kernel, kernel)
    if min(chain.shape[2:]) < kernel or min(sizes) < 1:
        return False
    bias = [chain.constant(chance.array(out))] if chance.below(2) else []
    chain.add("ConvTranspose" if transposed else "Conv", None, chain.constant(weight), *bias, group=group,
              pads=[pad_size] * 4, strides=[stride] * 2, kernel_shape=[kernel] * 2)
    chain.shape = [chain.shape[0], out, *sizes]
    return True


def convolve_transposed(chain):
    return convolve(chain, transposed=True)


def generate(chance):
    linear = chance.of(multiply, gemm, convolve, convolve, convolve_transposed)
    batch, features = chance.of(1, 2, 3), chance.of(4, 6, 8)
    shape = [batch, features]
    if linear is multiply and chance.below(2):
        shape = [batch, 5, features]
    elif linear in (convolve, convolve_transposed):
        shape += [chance.of(6, 7), chance.of(6, 8)]
    chain = Chain(chance, shape)
    inputs = {"x": chance.array(*shape)}
    chain.side_steps()
    for _ in range(chance.of(1, 1, 2)):
        if not linear(chain):
            break
        chain.side_steps()
    chain.add("Identity")
    if chance.one_in(3) and len(chain.nodes) > 3:
        chain.add("Neg", chain.nodes[chance.below(len(chain.nodes) - 1)].output[0])
    return Case(chain.nodes, inputs, chain.weights, opset=20, tolerance=2e-4)
