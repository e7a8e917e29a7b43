"""Networks of torchvision, timm and transformers with made weights, as their users export them.

NETWORKS has for each name the package that it needs and a function that returns a module in evaluation mode, the names of its inputs with their dimensions, and the
values of the dimensions that are free at export and in two runs. A dimension is a number, or the name of a free one.
"""

import functools

NETWORKS = {}
#: Free dimensions: at export, in the first run, in the second.
PICTURE = {"batch": (2, 1, 3), "height": (96, 96, 128), "width": (128, 64, 96)}
FIXED_PICTURE = {"batch": (2, 1, 3)}
TEXT = {"batch": (2, 1, 3), "sequence": (9, 1, 14)}
SOUND = {"batch": (2, 1, 3), "samples": (4000, 3200, 5001)}
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "vocab_size": 99}
DECODER = {**SMALL, "num_key_value_heads": 2, "max_position_embeddings": 64, "use_cache": False}
VISION = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}


def network(name, package, inputs, free):
    """Registers a function that makes a module."""
    def register(make):
        NETWORKS[name] = (package, make, inputs, free)
        return make
    return register


def add_pictures(package, make, names, free=None, size=("height", "width")):
    for name, options in names.items():
        network(f"{package} {name}", package, {"pixels": ("batch", 3, *size)}, free or PICTURE)(functools.partial(make, name, **options))


def make_torchvision(name, **options):
    import torchvision
    return torchvision.models.get_model(name, weights=None, **({"weights_backbone": None} if "num_detections" in options or "segment" in options else {}),
                                        **{key: value for key, value in options.items() if key not in ("num_detections", "segment")})


def make_segmentation(name):
    import torch
    import torchvision

    class Scores(torch.nn.Module):
        """Segmentation networks return a dictionary."""

        def __init__(self):
            super().__init__()
            self.network = torchvision.models.get_model(name, weights=None, weights_backbone=None)

        def forward(self, pixels):
            return self.network(pixels)["out"]

    return Scores()


def make_detector(name, **options):
    import torch
    import torchvision

    class Detections(torch.nn.Module):
        """Detectors take a list of pictures and return a list of dictionaries."""

        def __init__(self):
            super().__init__()
            self.network = torchvision.models.get_model(name, weights=None, weights_backbone=None, num_classes=5, min_size=96, max_size=160, **options)

        def forward(self, pixels):
            return tuple(self.network([pixels])[0].values())

    return Detections()


def make_timm(name, **options):
    import timm
    return timm.create_model(name, pretrained=False, **options)


def make_transformer(kind, config_kind, output="last_hidden_state", positional=None, **config):
    """A model of transformers that returns one of its outputs."""
    import torch
    import transformers
    made = getattr(transformers, kind)(getattr(transformers, config_kind)(**config))

    class Output(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = made

        def forward(self, *values):
            return getattr(self.network(**dict(zip(positional, values))), output)

    return Output()


def add_transformer(name, kind, config, inputs, free, output="last_hidden_state"):
    config_kind = config.pop("kind", None) or kind.replace("ForCausalLM", "").replace("ForSequenceClassification", "").replace("ForDepthEstimation", "").replace("Model", "") + "Config"
    network(f"transformers {name}", "transformers", inputs, free)(
        functools.partial(make_transformer, kind, config_kind, output, tuple(inputs), **config))


add_pictures("torchvision", make_torchvision, {name: {} for name in (
    "resnet18", "mobilenet_v3_small", "efficientnet_b0", "shufflenet_v2_x0_5", "squeezenet1_1", "densenet121", "convnext_tiny", "swin_t", "swin_v2_t", "regnet_y_400mf", "mnasnet0_5")})
add_pictures("torchvision", make_torchvision, {"vit_b_16": {}}, FIXED_PICTURE, (224, 224))
add_pictures("torchvision", make_segmentation, {"lraspp_mobilenet_v3_large": {}, "deeplabv3_mobilenet_v3_large": {}})
for detector in ("fasterrcnn_mobilenet_v3_large_320_fpn", "retinanet_resnet50_fpn", "maskrcnn_resnet50_fpn", "keypointrcnn_resnet50_fpn"):
    network(f"torchvision {detector}", "torchvision", {"pixels": (3, "height", "width")}, {name: PICTURE[name] for name in ("height", "width")})(
        functools.partial(make_detector, detector))
add_pictures("timm", make_timm, {name: {} for name in (
    "resnet10t", "mobilenetv4_conv_small", "convnext_atto", "ghostnet_100", "edgenext_xx_small", "repvgg_a0", "poolformer_s12", "efficientvit_b0", "mobilevit_xxs", "tf_efficientnetv2_b0")})
add_pictures("timm", make_timm, {"vit_tiny_patch16_224": {"dynamic_img_size": True, "depth": 2}, "vit_small_patch16_dinov3": {"dynamic_img_size": True, "depth": 2}})
add_pictures("timm", make_timm, {"mixer_s32_224": {}, "levit_128s": {}}, FIXED_PICTURE, (224, 224))
TOKENS = {"input_ids": ("batch", "sequence")}
MASKED = {**TOKENS, "attention_mask": ("batch", "sequence")}
for label, changes in {"Bert": {}, "Roberta": {"pad_token_id": 1}, "Albert": {"embedding_size": 16}, "Electra": {"embedding_size": 16}, "MPNet": {}, "DebertaV2": {
        "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8, "max_relative_positions": 16}}.items():
    add_transformer(label, f"{label}Model", {**SMALL, **changes}, MASKED, TEXT)
add_transformer("DistilBert", "DistilBertModel", {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "vocab_size": 99}, MASKED, TEXT)
for label, changes in {"Llama": {}, "Qwen2": {}, "Qwen3": {"head_dim": 8}, "Mistral": {"sliding_window": 4}, "Gemma": {"head_dim": 8}, "Phi3": {"pad_token_id": 0},
                       "Mixtral": {"num_local_experts": 4}, "GPTNeoX": {}, "ModernBert": {}}.items():
    kind = "ModernBertModel" if label == "ModernBert" else f"{label}ForCausalLM"
    base = {**DECODER, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    if label == "ModernBert":
        base = {**SMALL, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2, "global_attn_every_n_layers": 2}
    add_transformer(label, kind, {**base, **changes}, MASKED, TEXT, "last_hidden_state" if label == "ModernBert" else "logits")
add_transformer("GPT2", "GPT2LMHeadModel", {"kind": "GPT2Config", "n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99, "n_positions": 64, "use_cache": False}, MASKED, TEXT, "logits")
add_transformer("T5 encoder", "T5EncoderModel", {"kind": "T5Config", "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "vocab_size": 99}, MASKED, TEXT)
add_transformer("Mamba", "MambaForCausalLM", {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4, "vocab_size": 99, "use_cache": False}, TOKENS, TEXT, "logits")
add_transformer("Wav2Vec2", "Wav2Vec2Model", {**VISION, "conv_dim": (16, 16, 16), "conv_stride": (5, 2, 2), "conv_kernel": (10, 3, 3), "num_feat_extract_layers": 3,
                                              "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}, {"input_values": ("batch", "samples")}, SOUND)
add_transformer("Segformer", "SegformerModel", {"hidden_sizes": [16, 32, 32, 32], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 2, 2]}, {"pixel_values": ("batch", 3, "height", "width")}, PICTURE)
add_transformer("Dinov2", "Dinov2Model", {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 56, "patch_size": 8}, {"pixel_values": ("batch", 3, "height", "width")}, PICTURE)
add_transformer("ViT", "ViTModel", {**VISION, "image_size": 32, "patch_size": 8}, {"pixel_values": ("batch", 3, 32, 32)}, FIXED_PICTURE)
add_transformer("Moonshine encoder", "MoonshineEncoder", {"kind": "MoonshineConfig", "hidden_size": 32, "intermediate_size": 48, "encoder_num_hidden_layers": 2, "encoder_num_attention_heads": 4,
                                                         "encoder_num_key_value_heads": 4}, {"input_values": ("batch", "samples")}, SOUND)
