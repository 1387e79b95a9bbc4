"""Tests of the recurrent layers and the encoder layers of torch.nn. Each layer is one compiled part
or stays in torch, and the results agree with eager mode."""
import itertools
import unittest
import unittest.mock
import warnings

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is not installed")

import tunec
from torch import nn
from tunec.torch import recurrent
from tunec.torch.reports import latest


def compiled(module):
    torch._dynamo.reset()
    return torch.compile(module, backend="tunec", options={"db": None})


class Compared(unittest.TestCase):

    def setUp(self):
        torch.manual_seed(4)

    def check(self, module, *inputs, **named):
        """Expects one part without warnings in inference, with results equal to eager mode's."""
        module.eval()
        before = len(latest())
        with torch.no_grad(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            expected = module(*inputs, **named)
            found = compiled(module)(*inputs, **named)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5, equal_nan=True)
        messages = [str(w.message) for w in caught if issubclass(w.category, tunec.NotCompiledWarning)]
        self.assertEqual(messages, [])
        reports = latest()[before:]
        self.assertEqual([(report.compiled, report.left) for report in reports], [(1, [])])


class Recurrent(Compared):

    def test_kinds(self):
        kinds = (nn.LSTM, nn.GRU, nn.RNN)
        for kind, bidirectional, layers in itertools.product(kinds, (False, True), (1, 2)):
            with self.subTest(kind=kind.__name__, bidirectional=bidirectional, layers=layers):
                module = kind(5, 6, layers, bidirectional=bidirectional, batch_first=layers == 2)
                self.check(module, torch.randn(7, 3, 5))

    def test_initial_states(self):
        x, h, c = torch.randn(4, 3, 5), torch.randn(4, 3, 6), torch.randn(4, 3, 6)
        self.check(nn.LSTM(5, 6, 2, bidirectional=True), x, (h, c))
        self.check(nn.GRU(5, 6, 2, bidirectional=True), x, h)

    def test_projections(self):
        self.check(nn.LSTM(5, 6, 2, proj_size=2, bidirectional=True), torch.randn(4, 3, 5))
        self.check(nn.LSTM(5, 6, proj_size=2, bias=False, batch_first=True), torch.randn(4, 3, 5),
                   (torch.randn(1, 4, 2), torch.randn(1, 4, 6)))

    def test_without_biases_and_batches(self):
        self.check(nn.LSTM(5, 6, bias=False, bidirectional=True), torch.randn(4, 5))
        self.check(nn.GRU(5, 6, bias=False), torch.randn(4, 5))
        self.check(nn.RNN(5, 6, nonlinearity="relu"), torch.randn(4, 2, 5))

    def test_one_step(self):
        self.check(nn.LSTM(5, 6), torch.randn(1, 2, 5))

    def test_gradients(self):
        for kind in (nn.LSTM, nn.GRU):
            module, x = kind(5, 6, 2), torch.randn(4, 3, 5)
            gradients = []
            for run in (module, compiled(module)):
                module.zero_grad()
                run(x)[0].square().mean().backward()
                gradients.append([p.grad.clone() for p in module.parameters()])
            torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-5)

    def test_dropout_between_layers(self):
        module = nn.LSTM(16, 16, 2, dropout=1.0).train()
        with torch.no_grad():
            found, expected = compiled(module)(torch.randn(3, 2, 16)), module(torch.randn(3, 2, 16))
        # All elements are dropped, so the second layer gets only zeros.
        torch.testing.assert_close(found[0], expected[0])

    def test_ahead_of_time(self):
        for module in (nn.LSTM(5, 6, 2, bidirectional=True).eval(), nn.GRU(5, 6).eval()):
            x = torch.randn(4, 3, 5)
            torch.testing.assert_close(tunec.compile(module, (x,), db=None)(x), module(x))

    def test_a_kernel_of_onednn_that_was_traced(self):
        def layer(x, a, b, c, d, h, m):
            return torch.ops.aten.mkldnn_rnn_layer(x, a, b, c, d, h, m, True, [], 2, 6, 1, True, False,
                                                   False, False)[:3]
        shapes = (4, 3, 5), (24, 5), (24, 6), (24,), (24,), (1, 3, 6), (1, 3, 6)
        inputs = [torch.randn(shape) for shape in shapes]
        with torch.no_grad():
            torch.testing.assert_close(compiled(layer)(*inputs), layer(*inputs))
        self.assertEqual(latest()[-1].left, [])

    def test_very_long_sequences_stay_in_torch(self):
        module, x = nn.LSTM(3, 4).eval(), torch.randn(9, 2, 3)
        with unittest.mock.patch.object(recurrent, "MOST_STEPS", 8), torch.no_grad(), \
                self.assertWarnsRegex(tunec.NotCompiledWarning, "mkldnn_rnn_layer"):
            torch.testing.assert_close(compiled(module)(x), module(x))

    def test_packed_sequences_stay_in_torch_with_a_message(self):
        module = nn.LSTM(3, 4).eval()
        packed = nn.utils.rnn.pack_padded_sequence(torch.randn(5, 2, 3), [5, 2])
        with torch.no_grad(), self.assertWarns(tunec.NotCompiledWarning):
            found, expected = compiled(module)(packed), module(packed)
        torch.testing.assert_close(found[0].data, expected[0].data)
        torch.testing.assert_close(found[1], expected[1])


class Encoders(Compared):

    def layer(self, **options):
        return nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, **options)

    def padding(self):
        padding = torch.zeros(3, 6, dtype=torch.bool)
        padding[1, 4:] = padding[2, 2:] = True
        return padding

    def test_layers(self):
        x = torch.randn(3, 6, 16)
        for options in ({}, {"norm_first": True}, {"activation": "gelu"},
                        {"activation": "gelu", "norm_first": True, "layer_norm_eps": 1e-3}):
            with self.subTest(**options):
                self.check(nn.TransformerEncoder(self.layer(**options), 2, enable_nested_tensor=False), x)

    def test_masks(self):
        x, causal = torch.randn(3, 6, 16), nn.Transformer.generate_square_subsequent_mask(6)
        encoder = nn.TransformerEncoder(self.layer(), 2, enable_nested_tensor=False)
        self.check(encoder, x, src_key_padding_mask=self.padding())
        self.check(encoder, x, mask=causal, is_causal=True)
        self.check(encoder, x, mask=causal, is_causal=False)
        self.check(encoder, x, mask=causal == -float("inf"), is_causal=False,
                   src_key_padding_mask=self.padding())

    def test_a_mask_that_is_read(self):
        encoder = nn.TransformerEncoder(self.layer(), 1, enable_nested_tensor=False).eval()
        x, causal = torch.randn(3, 6, 16), nn.Transformer.generate_square_subsequent_mask(6)
        with torch.no_grad(), self.assertWarnsRegex(tunec.NotCompiledWarning, "give the encoder is_c"):
            torch.testing.assert_close(compiled(encoder)(x, mask=causal), encoder(x, mask=causal))

    def test_a_row_without_keys_is_nan_as_in_the_kernel(self):
        padding = self.padding()
        padding[1] = True
        encoder = nn.TransformerEncoder(self.layer(), 1, enable_nested_tensor=False)
        self.check(encoder, torch.randn(3, 6, 16), src_key_padding_mask=padding)

    def test_attention(self):
        x, attention = torch.randn(3, 6, 16), nn.MultiheadAttention(16, 4, batch_first=True)
        self.check(attention, x, x, x)
        self.check(attention, x, x, x, need_weights=False)
        self.check(attention, x, x, x, average_attn_weights=False)
        self.check(attention, x, x, x, key_padding_mask=self.padding())
        self.check(attention, x, x, x, attn_mask=torch.ones(6, 6, dtype=torch.bool).triu(1))

    def test_nested_tensors(self):
        """Compares only elements without padding. Eager mode packs these elements and fills the
        rest with zeros."""
        x, padding = torch.randn(3, 6, 16), self.padding()
        encoder = nn.TransformerEncoder(self.layer(), 2).eval()
        with torch.no_grad():
            found = compiled(encoder)(x, src_key_padding_mask=padding)
            expected = encoder(x, src_key_padding_mask=padding)
        torch.testing.assert_close(found[~padding], expected[~padding], rtol=1e-4, atol=1e-5)
        self.assertEqual((latest()[-1].compiled, latest()[-1].left), (1, []))

    def test_nested_tensors_that_are_not_checked(self):
        x, padding = torch.randn(3, 6, 16), self.padding()
        encoder = nn.TransformerEncoder(self.layer(), 2, mask_check=False).eval()
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = compiled(encoder)(x, src_key_padding_mask=padding)
            expected = encoder(x, src_key_padding_mask=padding)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)

    def test_ahead_of_time(self):
        x = torch.randn(3, 6, 16)
        encoder = nn.TransformerEncoder(self.layer(), 2, enable_nested_tensor=False).eval()
        with torch.no_grad():
            torch.testing.assert_close(tunec.compile(encoder, (x,), db=None)(x), encoder(x),
                                       rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
