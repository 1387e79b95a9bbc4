"""Architectures of common models with random weights, small enough that many run within minutes.

Each entry of MODELS is a name and a function that returns a module in evaluation mode and its arguments, a dict.
"""
import torch

TOKENS = 1000
LENGTH = 64


def _ids(batch=1, length=LENGTH, vocabulary=TOKENS):
    generator = torch.Generator().manual_seed(length)
    return torch.randint(vocabulary, (batch, length), generator=generator)


def _image(size=224, batch=1):
    return torch.randn(batch, 3, size, size, generator=torch.Generator().manual_seed(size))


# Sizes, with their names in most configurations of the package transformers.
SIZES = {"vocab_size": TOKENS, "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4,
         "intermediate_size": 512, "max_position_embeddings": 256}


def _transformer(kind, arguments=None, model="AutoModel", sizes=None, **changes):
    """Returns a function that makes a model of the package transformers, and its arguments. The
    configuration has `sizes` (default: SIZES) and `changes`."""
    def make():
        import transformers
        config_class = getattr(transformers, f"{kind}Config")
        config = config_class(**{**(SIZES if sizes is None else sizes), **changes})
        config._attn_implementation = "sdpa"
        torch.manual_seed(0)
        try:
            network = getattr(transformers, model).from_config(config)
        except ValueError:  # the model does not support torch's attention operator
            config._attn_implementation = "eager"
            network = getattr(transformers, model).from_config(config)
        given = dict(arguments() if arguments else {"input_ids": _ids()})
        if hasattr(config, "use_cache"):
            given["use_cache"] = False
        return network.eval(), given
    return make


def _torchvision(name, size=224, **changes):
    def make():
        import torchvision
        torch.manual_seed(0)
        return torchvision.models.get_model(name, weights=None, **changes).eval(), {"x": _image(size)}
    return make


def _timm(name, size=224):
    def make():
        import timm
        torch.manual_seed(0)
        return timm.create_model(name, pretrained=False).eval(), {"x": _image(size)}
    return make


def _seq2seq(decoder="decoder_input_ids"):
    return lambda: {"input_ids": _ids(), decoder: _ids(length=16)}


def _speech():
    return {"input_values": torch.randn(1, 8000, generator=torch.Generator().manual_seed(1))}


def _pixels(size=224):
    return lambda: {"pixel_values": _image(size)}


_VISION = {key: value for key, value in SIZES.items() if key not in ("vocab_size", "max_position_embeddings")}
_CAUSAL = {"model": "AutoModelForCausalLM"}
_CONVOLUTIONS = {"conv_dim": (64, 64, 64), "conv_stride": (5, 4, 4), "conv_kernel": (10, 8, 8),
                 "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}

MODELS = {
    # encoders
    "bert": _transformer("Bert"),
    "roberta": _transformer("Roberta"),
    "distilbert": _transformer("DistilBert", sizes={"vocab_size": TOKENS}, dim=256, n_layers=4, n_heads=4,
                               hidden_dim=512),
    "albert": _transformer("Albert", embedding_size=128),
    "electra": _transformer("Electra", embedding_size=128),
    "mpnet": _transformer("MPNet"),
    "deberta_v2": _transformer("DebertaV2"),
    "modernbert": _transformer("ModernBert", pad_token_id=0, eos_token_id=1, bos_token_id=2, cls_token_id=2,
                               sep_token_id=1),
    "fnet": _transformer("FNet"),
    # decoders
    "gpt2": _transformer("GPT2", sizes={"vocab_size": TOKENS}, n_embd=256, n_layer=4, n_head=4, **_CAUSAL),
    "gpt_neo": _transformer("GPTNeo", sizes={"vocab_size": TOKENS}, hidden_size=256, num_layers=4, num_heads=4,
                            attention_types=[[["global", "local"], 2]], **_CAUSAL),
    "gpt_neox": _transformer("GPTNeoX", **_CAUSAL),
    "gptj": _transformer("GPTJ", sizes={"vocab_size": TOKENS}, n_embd=256, n_layer=4, n_head=4, rotary_dim=32,
                         **_CAUSAL),
    "opt": _transformer("OPT", ffn_dim=512, word_embed_proj_dim=256, **_CAUSAL),
    "bloom": _transformer("Bloom", sizes={"vocab_size": TOKENS}, hidden_size=256, n_layer=4, n_head=4, **_CAUSAL),
    "llama": _transformer("Llama", num_key_value_heads=2, **_CAUSAL),
    "mistral": _transformer("Mistral", num_key_value_heads=2, **_CAUSAL),
    "qwen2": _transformer("Qwen2", num_key_value_heads=2, **_CAUSAL),
    "qwen3": _transformer("Qwen3", num_key_value_heads=2, head_dim=64, **_CAUSAL),
    "gemma": _transformer("Gemma", num_key_value_heads=1, head_dim=64, **_CAUSAL),
    "gemma2": _transformer("Gemma2", num_key_value_heads=2, head_dim=64, **_CAUSAL),
    "phi": _transformer("Phi", **_CAUSAL),
    "falcon": _transformer("Falcon", **_CAUSAL),
    "olmo": _transformer("Olmo", **_CAUSAL),
    "stablelm": _transformer("StableLm", num_key_value_heads=2, **_CAUSAL),
    # mixtures of experts, state spaces
    "mixtral": _transformer("Mixtral", num_key_value_heads=2, num_local_experts=4, **_CAUSAL),
    "mamba": _transformer("Mamba", sizes={"vocab_size": TOKENS}, hidden_size=128, num_hidden_layers=2, state_size=8,
                          **_CAUSAL),
    "rwkv": _transformer("Rwkv", sizes={"vocab_size": TOKENS}, hidden_size=128, num_hidden_layers=2,
                         context_length=LENGTH, **_CAUSAL),
    # encoders with decoders
    "t5": _transformer("T5", _seq2seq(), sizes={"vocab_size": TOKENS}, d_model=256, d_ff=512, num_layers=3,
                       num_heads=4, d_kv=64),
    "bart": _transformer("Bart", _seq2seq(), sizes={"vocab_size": TOKENS}, d_model=256, encoder_layers=3,
                         decoder_layers=3, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=512,
                         decoder_ffn_dim=512, max_position_embeddings=256),
    # speech
    "wav2vec2": _transformer("Wav2Vec2", _speech, vocab_size=32, **_CONVOLUTIONS),
    "hubert": _transformer("Hubert", _speech, vocab_size=32, **_CONVOLUTIONS),
    "whisper": _transformer("Whisper", lambda: {"input_features": torch.randn(1, 80, 3000),
                                                "decoder_input_ids": _ids(length=8)},
                            sizes={"vocab_size": TOKENS}, d_model=128, encoder_layers=2, decoder_layers=2,
                            encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=256,
                            decoder_ffn_dim=256, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                            decoder_start_token_id=1),
    # vision
    "vit": _transformer("ViT", _pixels(), sizes=_VISION),
    "deit": _transformer("DeiT", _pixels(), sizes=_VISION),
    "beit": _transformer("Beit", _pixels(), sizes=_VISION),
    "dinov2": _transformer("Dinov2", _pixels(), sizes=_VISION),
    "segformer": _transformer("Segformer", _pixels(), sizes={}),
    "clip_vision": _transformer("CLIPVision", _pixels(), sizes=_VISION),
    "siglip_vision": _transformer("SiglipVision", _pixels(), sizes=_VISION),
    "resnet18": _torchvision("resnet18"),
    "resnet50": _torchvision("resnet50"),
    "mobilenet_v2": _torchvision("mobilenet_v2"),
    "mobilenet_v3_small": _torchvision("mobilenet_v3_small"),
    "efficientnet_b0": _torchvision("efficientnet_b0"),
    "densenet121": _torchvision("densenet121"),
    "shufflenet_v2": _torchvision("shufflenet_v2_x1_0"),
    "squeezenet": _torchvision("squeezenet1_1"),
    "regnet_y_400mf": _torchvision("regnet_y_400mf"),
    "googlenet": _torchvision("googlenet", init_weights=False),
    "inception_v3": _torchvision("inception_v3", 299, init_weights=False),
    "alexnet": _torchvision("alexnet"),
    "mnasnet": _torchvision("mnasnet1_0"),
    "convnext_tiny": _torchvision("convnext_tiny"),
    "swin_t": _torchvision("swin_t"),
    "maxvit_t": _torchvision("maxvit_t"),
    "deeplabv3": _torchvision("deeplabv3_mobilenet_v3_large", 128, weights_backbone=None),
    "fcn_resnet50": _torchvision("fcn_resnet50", 128, weights_backbone=None),
    "mixer_s16": _timm("mixer_s16_224"),
    "convmixer": _timm("convmixer_768_32", 112),
    "edgenext": _timm("edgenext_xx_small"),
    "repvgg": _timm("repvgg_a0"),
}
