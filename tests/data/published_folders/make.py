"""Makes the folders and expected.json of this folder (README.md). Needs PyTorch 2.11.0, timm 1.0.31, transformers 4.57.6
and peft 0.21.2. Argument: the folder to write to."""
import json
import os
import sys

import peft
import timm
import torch
import transformers
from timm.models import save_for_hf

SIDE, CLASSES = 32, 3
TOWER = {"img_size": SIDE, "patch_size": 8, "embed_dim": 16, "depth": 1, "num_heads": 2}
# Name here: the model that reads it, timm's architecture, and the arguments.
TIMM = {"vit": ("vit", "vit_tiny_patch16_224", TOWER),
        "vit-mean": ("vit", "vit_tiny_patch16_224", {**TOWER, "global_pool": "avg"}),
        "vit-defaults": ("vit", "vit_tiny_patch16_224", {**TOWER, "class_token": True, "reg_tokens": 0, "qk_norm": False,
                                                         "dynamic_img_size": True, "drop_path_rate": 0.1}),
        "beit": ("beit", "beit_base_patch16_224", TOWER),
        "beitv2": ("beit", "beitv2_base_patch16_224", TOWER),
        "clip": ("clip", "vit_base_patch16_clip_224", TOWER),
        "clip-quickgelu": ("clip", "vit_base_patch16_clip_quickgelu_224", TOWER),
        "eva02": ("eva02", "eva02_base_patch14_448", TOWER),
        "convnext": ("convnext", "convnext_tiny", {"dims": (4, 3, 5, 6), "depths": (1, 2, 1, 1)}),
        "resnet": ("resnet-imagenet", "resnet18", {"channels": (4, 3, 5, 6), "layers": (1, 2, 1, 1)}),
        "resnet-bottleneck": ("resnet-imagenet", "resnet50", {"channels": (2, 3, 2, 3), "layers": (1, 1, 1, 1)})}
# Of these the configuration alone.
TIMM_CONFIGS = {"resnet34": ("resnet-imagenet", "resnet34", {}),
                "efficientnet-lite": ("efficientnet-lite", "tf_efficientnet_lite0", {})}
TOKENS = {"vocab_size": 11}
GPT2 = {**TOKENS, "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 8}
LLAMA = {**TOKENS, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2,
         "num_key_value_heads": 1, "max_position_embeddings": 8}


def fill(net):
    g = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, value in list(net.named_parameters()) + list(net.named_buffers()):
            if not value.is_floating_point() or "inv_freq" in name or "rope" in name:
                continue
            noise = torch.randn(value.shape, generator=g)
            if name.endswith("running_var"):
                value.copy_(0.5 + noise.abs())
            elif "gamma" in name or ("norm" in name and name.endswith("weight")):
                value.copy_(0.8 + 0.2 * noise)
            elif value.dim() > 1 and not name.startswith(("cls", "pos")) and not name.endswith("table"):
                value.copy_(noise * (1.5 / value[0].numel()) ** 0.5)
            else:
                value.copy_(0.3 * noise)


def images():
    k = torch.arange(2 * 3 * SIDE * SIDE, dtype=torch.float64)
    return (2 * torch.sin(k * 0.37 + torch.sin(k * 0.011))).view(2, 3, SIDE, SIDE)


out = sys.argv[1]
expected = {"source": "see README.md"}
for name, (model, architecture, arguments) in (TIMM | TIMM_CONFIGS).items():
    net = timm.create_model(architecture, num_classes=CLASSES, **arguments).eval()
    fill(net)
    folder = os.path.join(out, name)
    save_for_hf(net, folder, safe_serialization=True)
    expected[name] = {"model": model, "classes": CLASSES}
    if name in TIMM_CONFIGS:
        os.remove(os.path.join(folder, "model.safetensors"))
        continue
    with torch.no_grad():
        expected[name]["logits"] = net.double()(images()).tolist()

ids = (torch.arange(12).view(2, 6) * 5 + 1) % TOKENS["vocab_size"]
networks = {"gpt2": ("gpt2", transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2))),
            "llama": ("llama", transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA))),
            "llama-tied": ("llama", transformers.LlamaForCausalLM(
                transformers.LlamaConfig(**LLAMA, tie_word_embeddings=True)))}
for name, (model, net) in networks.items():
    net.eval()
    fill(net)
    net.save_pretrained(os.path.join(out, name))
    os.remove(os.path.join(out, name, "generation_config.json"))
    with torch.no_grad():
        expected[name] = {"model": model, "vocabulary": TOKENS["vocab_size"], "ids": ids.tolist(),
                          "logits": net.double()(ids).logits.tolist()}
    net.float()

# An adapter of rank 2 whose scale is alpha / sqrt(rank).
adapted = peft.get_peft_model(networks["llama"][1], peft.LoraConfig(
    r=2, lora_alpha=3, use_rslora=True, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"))
with torch.no_grad():
    g = torch.Generator().manual_seed(1)
    for name, value in adapted.named_parameters():
        if ".lora_" in name:
            value.copy_(0.5 * torch.randn(value.shape, generator=g))
adapted.save_pretrained(os.path.join(out, "llama-adapter"))
os.remove(os.path.join(out, "llama-adapter", "README.md"))
with torch.no_grad():
    expected["llama"]["adapted"] = adapted.double()(ids).logits.tolist()
with open(os.path.join(out, "expected.json"), "w") as file:
    json.dump(expected, file, indent=1)
    file.write("\n")
