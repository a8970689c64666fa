"""Makes the weights and expected.json of this folder (README.md). Needs PyTorch 2.11.0, torchvision 0.26.0 and the
Python package safetensors 0.6.2. Argument: the folder to write to."""
import json
import os
import sys

import safetensors.torch
import torch
from torch import nn
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet

CASES = {"basic": (BasicBlock, 4, (3, 4, 5, 6), (1, 2, 1, 1)),
         "bottleneck": (Bottleneck, 5, (2, 3, 2, 2), (2, 1, 1, 1)),
         "cifar": (BasicBlock, 4, (4, 3, 5), (2, 1, 2))}
CLASSES, LABELS = 3, (2, 0)


def narrow(block, stem, widths, blocks):
    """torchvision's network, whose widths are no arguments."""
    net = ResNet(block, [1, 1, 1, 1], num_classes=CLASSES)
    net.inplanes = stem
    net.conv1 = nn.Conv2d(3, stem, 7, 2, 3, bias=False)
    net.bn1 = nn.BatchNorm2d(stem)
    for i, (width, count) in enumerate(zip(widths, blocks)):
        setattr(net, f"layer{i + 1}", net._make_layer(block, width, count, stride=1 if i == 0 else 2))
    if len(widths) == 3:  # He et al., section 4.2: 3x3 without stride, and no pool
        net.conv1 = nn.Conv2d(3, stem, 3, 1, 1, bias=False)
        net.maxpool = net.layer4 = nn.Identity()
    net.fc = nn.Linear(widths[-1] * block.expansion, CLASSES)
    return net.eval()


def fill(net, seed):
    g = torch.Generator().manual_seed(seed)
    norms = {name for name, module in net.named_modules() if isinstance(module, nn.BatchNorm2d)}
    state = net.state_dict()
    for name, value in state.items():
        module, part = name.rsplit(".", 1)
        if part == "num_batches_tracked":
            value.fill_(7)
        elif part == "running_var":
            value.copy_(0.5 + 2 * torch.rand(value.shape, generator=g))
        elif module in norms and part == "weight":
            value.copy_(0.5 + torch.rand(value.shape, generator=g))
        elif value.dim() > 1:
            value.copy_(torch.randn(value.shape, generator=g) * (1.5 / value[0].numel()) ** 0.5)
        else:
            value.copy_(0.3 * torch.randn(value.shape, generator=g))
    for name in ("conv1.weight", "bn1.running_mean", "bn1.running_var"):  # a dead channel: published files have such
        state["layer1.0." + name][1] = 0
    return state


def images(side):
    k = torch.arange(2 * 3 * side * side, dtype=torch.float64)
    return (2 * torch.sin(k * 0.37 + torch.sin(k * 0.011))).view(2, 3, side, side)


def squared_norm(net):
    """Of the gradient to the folded network's parameters: a convolution's weight is there `scale` times this one."""
    modules = dict(net.named_modules())
    total = sum(p.grad.square().sum() for p in net.fc.parameters())
    for name, conv in modules.items():
        if isinstance(conv, nn.Conv2d):
            norm = modules[name[:-1] + "1" if "downsample" in name else name.replace("conv", "bn")]
            scale = norm.weight / (norm.running_var + norm.eps).sqrt()
            total += (conv.weight.grad / scale.view(-1, 1, 1, 1)).square().sum() + norm.bias.grad.square().sum()
    return total.item()


out = sys.argv[1]
values = {"source": "see README.md"}
for seed, (name, case) in enumerate(CASES.items()):
    net = narrow(*case)
    state = fill(net, seed)
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    if name == "basic":
        safetensors.torch.save_file(state, os.path.join(folder, "model.safetensors"))
    else:
        torch.save(state, os.path.join(folder, "pytorch_model.bin"))
    net.double()
    features = []
    net.fc.register_forward_pre_hook(lambda _, inputs: features.append(inputs[0]))
    values[name] = {}
    for side in (33, 64):
        features.clear()
        logits = net(images(side))
        losses = nn.functional.cross_entropy(logits, torch.tensor(LABELS), reduction="none")
        norms = []
        for loss in losses:
            net.zero_grad()
            loss.backward(retain_graph=True)
            norms.append(squared_norm(net))
        values[name][str(side)] = {"logits": logits.tolist(), "features": features[0].tolist(), "squared_norms": norms}
with open(os.path.join(out, "expected.json"), "w") as file:
    json.dump(values, file, indent=1)
    file.write("\n")
