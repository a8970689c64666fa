"""Makes the weights and expected.json of this folder (README.md). Needs PyTorch 2.11.0, timm 1.0.31 and the Python
package safetensors 0.6.2. Argument: the folder to write to."""
import json
import os
import sys

import safetensors.torch
import timm
import torch
from torch import nn

SIDE, CLASSES, LABELS = 20, 3, (2, 0)
SIZES = {"img_size": SIDE, "patch_size": 4, "embed_dim": 16, "depth": 2, "num_heads": 2}
# Name here, and timm's architecture. Sizes are those above; of an MLP's width the architecture's own.
NETWORKS = (("vit", "vit_tiny_patch16_224"), ("beit", "beit_base_patch16_224"),
            ("clip", "vit_giant_patch14_clip_224"), ("clip-quick", "vit_base_patch32_clip_quickgelu_224"),
            ("eva02", "eva02_large_patch14_448"))
COUNTED = ("vit_base_patch32_clip_224", "vit_base_patch16_clip_224", "vit_large_patch14_clip_224",
           "vit_huge_patch14_clip_224", "vit_giant_patch14_clip_224", "vit_gigantic_patch14_clip_224",
           "eva02_base_patch14_448", "eva02_large_patch14_448")


def fill(net):
    g = torch.Generator().manual_seed(0)
    for name, value in net.named_parameters():
        noise = torch.randn(value.shape, generator=g)
        if "gamma" in name or ("norm" in name and name.endswith("weight")):
            value.copy_(0.8 + 0.2 * noise)
        elif value.dim() > 1 and not name.startswith(("cls", "pos")) and not name.endswith("table"):
            value.copy_(noise * (1.5 / value[0].numel()) ** 0.5)
        else:
            value.copy_(0.3 * noise)


def images(side):
    k = torch.arange(2 * 3 * side * side, dtype=torch.float64)
    return (2 * torch.sin(k * 0.37 + torch.sin(k * 0.011))).view(2, 3, side, side)


def quarters(tokens):
    """As Panda et al.'s program joins a block's patches (dp_finetuning/utils.py, load_custom_eva)."""
    patches = tokens[:, 1:].permute(0, 2, 1)
    stride = max(1, patches.shape[2] // 4)
    return nn.functional.avg_pool1d(patches, stride, stride).permute(0, 2, 1).flatten(1)


def rotations(single):
    """timm's sines and cosines of EVA-02's rotations, which it computes in float32, in float64."""
    side = SIDE // SIZES["patch_size"]
    pairs = SIZES["embed_dim"] // SIZES["num_heads"] // 4
    places = torch.arange(side, dtype=torch.float64) / side * 16
    turns = places[:, None] * 10000 ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    angles = torch.cat([turns[:, None].expand(side, side, pairs), turns[None].expand(side, side, pairs)], 2)
    angles = angles.reshape(side * side, 2 * pairs).repeat_interleave(2, 1)
    double = torch.cat([angles.sin(), angles.cos()], 1)
    assert torch.allclose(double, single.double(), atol=1e-5)
    return double


def squared_norms(net, batch):
    parameters = [p for p in net.parameters()]
    found = []
    for i in range(batch.shape[0]):
        loss = nn.functional.cross_entropy(net(batch[i:i + 1]), torch.tensor(LABELS[i:i + 1]))
        found.append(sum((g ** 2).sum() for g in torch.autograd.grad(loss, parameters)).item())
    return found


def counts():
    found = {}
    for name in COUNTED:
        with torch.device("meta"):
            net = timm.create_model(name, num_classes=1000)
        found[name] = {"parameters": sum(p.numel() for p in net.parameters()),
                       "image": net.patch_embed.img_size[0], "features": net.num_features}
    return found


out = sys.argv[1]
values = {"source": "see README.md", "counts": counts()}
for name, architecture in NETWORKS:
    net = timm.create_model(architecture, num_classes=CLASSES, **SIZES).eval()
    with torch.no_grad():
        fill(net)
    safetensors.torch.save_file({n: p.detach().clone() for n, p in net.named_parameters()},
                                os.path.join(out, name + ".safetensors"))
    net.double()
    if name == "eva02":
        net.rope.pos_embed = rotations(net.rope.pos_embed)
    blocks, features = [], []
    hooks = [b.register_forward_hook(lambda _, __, output: blocks.append(output)) for b in net.blocks]
    hooks.append(net.head.register_forward_pre_hook(lambda _, inputs: features.append(inputs[0])))
    with torch.no_grad():
        logits = net(images(SIDE))
    for hook in hooks:
        hook.remove()
    values[name] = {
        "config": {"architecture": architecture, "num_classes": CLASSES, "model_args": SIZES},
        "logits": logits.tolist(), "features": features[0].tolist(),
        "block-tokens": torch.cat([b[:, 0] for b in blocks], 1).tolist(),
        "block-quarters": torch.cat([quarters(b) for b in blocks], 1).tolist(),
        "squared_norms": squared_norms(net, images(SIDE))}
with open(os.path.join(out, "expected.json"), "w") as file:
    json.dump(values, file, indent=1)
    file.write("\n")
