"""Models in training mode with random weights, and the data of one step of each.

Each entry of MODELS is a name and a function that returns a module, its arguments and the expected classes.
"""
import torch

BATCH = 8
LENGTH = 128
VOCABULARY = 8000


def _generator():
    return torch.Generator().manual_seed(1)


def _tokens():
    return torch.randint(VOCABULARY, (BATCH, LENGTH), generator=_generator())


def _resnet18(size=224, classes=1000):
    import torchvision
    model = torchvision.models.resnet18(weights=None, num_classes=classes)
    images = torch.randn(BATCH, 3, size, size, generator=_generator())
    return model, {"x": images}, torch.randint(classes, (BATCH,), generator=_generator())


def _encoder():
    """Returns a BERT task: the module, its arguments, and the expected token of each position."""
    import transformers
    config = transformers.BertConfig(
        vocab_size=VOCABULARY, hidden_size=512, num_hidden_layers=4, num_attention_heads=8, intermediate_size=2048,
        max_position_embeddings=LENGTH, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return transformers.BertForMaskedLM(config), {"input_ids": _tokens()}, _tokens()


def _decoder():
    """Returns a GPT-2 task: the module, its arguments, and the next token at each position."""
    import transformers
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY, n_embd=512, n_layer=4, n_head=8, n_positions=LENGTH, resid_pdrop=0.0, embd_pdrop=0.0,
        attn_pdrop=0.0, use_cache=False)
    tokens = _tokens()
    return transformers.GPT2LMHeadModel(config), {"input_ids": tokens}, tokens.roll(-1, 1)


def _made(make):
    def seeded():
        torch.manual_seed(0)
        model, arguments, classes = make()
        return model.train(), arguments, classes
    return seeded


MODELS = {"resnet18": _made(_resnet18), "encoder": _made(_encoder), "decoder": _made(_decoder)}
