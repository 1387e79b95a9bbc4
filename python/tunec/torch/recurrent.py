"""Unrolls LSTM, GRU and RNN layers.

A graph has no loops, so each step of a sequence has separate nodes. torch also unrolls these
layers. However, torch's version omits the dropout between layers, and calls a oneDNN kernel for
some LSTMs. For sequences of unknown or very large length, torch's version is used. torch then runs
the oneDNN kernels.
"""
import torch
from torch.nn import functional as F

aten = torch.ops.aten

# Largest number of unrolled steps of all layers and directions. Tracing and compiling time grows with
# this number, but long sequences gain little at run time.
MOST_STEPS = 1024

# Value of the argument `mode` of mkldnn_rnn_layer for an LSTM.
_LSTM_OF_IDEEP = 2


def recurrent_decompositions():
    """Returns decomposition functions by operator, for a table."""
    return {aten.mkldnn_rnn_layer.default: _mkldnn_layer}


def recurrent_rules():
    """Returns functions for operators that torch decomposes early (see own_decompositions.py)."""
    def rule_of(run):
        def rule(original, x, hx, params, has_biases, layers, dropout, train, bidirectional,
                 batch_first):
            steps = x.shape[1 if batch_first else 0]
            if isinstance(steps, torch.SymInt) or not _is_short(steps, layers, bidirectional):
                return original(x, hx, params, has_biases, layers, dropout, train, bidirectional,
                                batch_first)
            stack = _Stack(params, has_biases, layers, dropout if train else 0, bidirectional)
            return run(stack, x, hx, batch_first)
        return rule

    return {aten.lstm.input: rule_of(_lstm), aten.gru.input: rule_of(_simple(_gru_cell)),
            aten.rnn_tanh.input: rule_of(_simple(_rnn_cell(torch.tanh))),
            aten.rnn_relu.input: rule_of(_simple(_rnn_cell(torch.relu)))}


def _is_short(steps, layers, bidirectional):
    return steps * layers * (2 if bidirectional else 1) <= MOST_STEPS


class _Stack:
    """A stack of recurrent layers of one kind.

    params   weights and biases of all layers and directions, in the order of the parameters of
             torch.nn.LSTM
    dropout  probability of dropout between layers
    """

    def __init__(self, params, has_biases, layers, dropout, bidirectional):
        self._directions = 2 if bidirectional else 1
        self._layers, self._dropout, self._has_biases = layers, dropout, has_biases
        each = len(params) // (layers * self._directions)
        self._params = [params[i:i + each] for i in range(0, len(params), each)]

    def run(self, x, states, cell):
        """Returns the outputs for x, [steps, batch, inputs], and the last state of each layer and
        direction. `states`: a tuple of tensors for each layer and direction. `cell`: see
        _unrolled."""
        last = []
        for layer in range(self._layers):
            numbers = range(layer * self._directions, (layer + 1) * self._directions)
            ran = [_unrolled(x, states[n], _Weights(self._params[n], self._has_biases), cell,
                             is_reversed=n % self._directions == 1) for n in numbers]
            x = ran[0][0] if len(ran) == 1 else torch.cat([outputs for outputs, _ in ran], -1)
            last += [state for _, state in ran]
            if self._dropout and layer < self._layers - 1:
                x = torch.dropout(x, self._dropout, True)
        return x, last


class _Weights:
    """The weights and biases of one layer in one direction: for inputs, for states, and for a
    projection."""

    def __init__(self, params, has_biases):
        self.of_inputs, self.of_states, *rest = params
        self.input_bias: torch.Tensor | None
        self.state_bias: torch.Tensor | None
        self.input_bias, self.state_bias = rest[:2] if has_biases else (None, None)
        projection = rest[2:] if has_biases else rest
        self.of_projection = projection[0] if projection else None


def _unrolled(x, state, weights, cell, is_reversed):
    """Returns the outputs of all steps, and the last state. The first tensor of a state is the
    step's output. `cell` returns the next state, from the product of the step's inputs with their
    weights, a state, and the weights."""
    products = F.linear(x, weights.of_inputs, weights.input_bias).unbind(0)
    outputs = []
    for product in reversed(products) if is_reversed else products:
        state = cell(product, state, weights)
        outputs.append(state[0])
    if is_reversed:
        outputs.reverse()
    return torch.stack(outputs), state


def _lstm_cell(product, state, weights):
    hidden, memory = state
    gates = F.linear(hidden, weights.of_states, weights.state_bias) + product
    into, forget, new, out = gates.chunk(4, -1)
    memory = forget.sigmoid() * memory + into.sigmoid() * new.tanh()
    hidden = out.sigmoid() * memory.tanh()
    if weights.of_projection is not None:
        hidden = F.linear(hidden, weights.of_projection)
    return hidden, memory


def _gru_cell(product, state, weights):
    hidden, = state
    of_inputs = product.chunk(3, -1)
    of_states = F.linear(hidden, weights.of_states, weights.state_bias).chunk(3, -1)
    reset = (of_states[0] + of_inputs[0]).sigmoid()
    update = (of_states[1] + of_inputs[1]).sigmoid()
    new = (of_inputs[2] + of_states[2] * reset).tanh()
    return (hidden - new) * update + new,


def _rnn_cell(activation):
    def cell(product, state, weights):
        hidden = F.linear(state[0], weights.of_states, weights.state_bias)
        return activation(hidden + product),
    return cell


def _lstm(stack, x, hx, batch_first):
    y, last = stack.run(x.transpose(0, 1) if batch_first else x, list(zip(*hx)), _lstm_cell)
    hidden, memory = (torch.stack(tensors) for tensors in zip(*last))
    return y.transpose(0, 1) if batch_first else y, hidden, memory


def _simple(cell):
    def run(stack, x, hx, batch_first):
        states = [(state,) for state in hx]
        y, last = stack.run(x.transpose(0, 1) if batch_first else x, states, cell)
        return y.transpose(0, 1) if batch_first else y, torch.stack([state for state, in last])
    return run


def _mkldnn_layer(x, of_inputs, of_states, input_bias, state_bias, hx, cx, reverse, batch_sizes, mode,
                  hidden_size, layers, has_biases, bidirectional, batch_first, train):
    """Decomposes one layer of an LSTM. torch calls this kernel only for one layer and one
    direction. Returns NotImplemented for other kinds of layers and for long sequences."""
    steps = x.shape[0]
    if (mode != _LSTM_OF_IDEEP or layers != 1 or bidirectional or batch_first or train or batch_sizes
            or isinstance(steps, torch.SymInt) or not _is_short(steps, 1, False)):
        return NotImplemented
    weights = _Weights([of_inputs, of_states, input_bias, state_bias], True)
    y, (hidden, memory) = _unrolled(x, (hx[0], cx[0]), weights, _lstm_cell, reverse)
    # The last result is the kernel's workspace.
    return y, hidden.unsqueeze(0), memory.unsqueeze(0), x.new_empty((0,), dtype=torch.uint8)
