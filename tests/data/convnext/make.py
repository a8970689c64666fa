"""Makes the weights and expected.json of this folder (README.md). Needs PyTorch 2.11.0, timm 1.0.31 and the Python
package safetensors 0.6.2. Argument: the folder to write to."""
import json
import os
import sys

import safetensors.torch
import torch
from timm.models.convnext import ConvNeXt
from torch import nn

WIDTHS, BLOCKS = (4, 3, 5, 6), (1, 2, 1, 1)
CLASSES, LABELS = 3, (2, 0)


def fill(net):
    g = torch.Generator().manual_seed(0)
    for name, value in net.state_dict().items():
        norm = ".norm." in name or name.startswith(("stem.1", "head.norm")) or ".downsample.0." in name
        if name.endswith(".gamma") or (norm and name.endswith(".weight")):
            value.copy_(0.5 + torch.rand(value.shape, generator=g))
        elif value.dim() > 1:
            value.copy_(torch.randn(value.shape, generator=g) * (1.5 / value[0].numel()) ** 0.5)
        else:
            value.copy_(0.3 * torch.randn(value.shape, generator=g))


def images(side):
    k = torch.arange(2 * 3 * side * side, dtype=torch.float64)
    return (2 * torch.sin(k * 0.37 + torch.sin(k * 0.011))).view(2, 3, side, side)


def sizes():
    """Parameters of the named sizes, and for a 224-pixel image each use of a weight or bias of a convolution or linear
    layer, and of the other parameters once."""
    found = {}
    for name, depths, dims in (("convnext_tiny", (3, 3, 9, 3), (96, 192, 384, 768)),
                               ("convnext_small", (3, 3, 27, 3), (96, 192, 384, 768)),
                               ("convnext_base", (3, 3, 27, 3), (128, 256, 512, 1024)),
                               ("convnext_large", (3, 3, 27, 3), (192, 384, 768, 1536)),
                               ("convnext_xlarge", (3, 3, 27, 3), (256, 512, 1024, 2048))):
        with torch.device("meta"):
            net = ConvNeXt(depths=depths, dims=dims).eval()
        count = sum(p.numel() for p in net.parameters())
        uses = []

        def use(module, _, output):
            places = output.numel() // (module.out_channels if isinstance(module, nn.Conv2d) else module.out_features)
            uses.append((places - 1) * sum(p.numel() for p in module.parameters()))

        for module in net.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                module.register_forward_hook(use)
        net(torch.empty(1, 3, 224, 224, device="meta"))
        found[name] = {"parameters": count, "uses": count + sum(uses)}
    return found


out = sys.argv[1]
net = ConvNeXt(depths=BLOCKS, dims=WIDTHS, num_classes=CLASSES).eval()
fill(net)
safetensors.torch.save_file(net.state_dict(), os.path.join(out, "model.safetensors"))
net.double()
features = []
net.head.fc.register_forward_pre_hook(lambda _, inputs: features.append(inputs[0]))
values = {"source": "see README.md", "sizes": sizes()}
for side in (44, 64):
    features.clear()
    logits = net(images(side))
    losses = nn.functional.cross_entropy(logits, torch.tensor(LABELS), reduction="none")
    norms = []
    for loss in losses:
        net.zero_grad()
        loss.backward(retain_graph=True)
        norms.append(sum(p.grad.square().sum() for p in net.parameters()).item())
    values[str(side)] = {"logits": logits.tolist(), "features": features[0].tolist(), "squared_norms": norms}
with open(os.path.join(out, "expected.json"), "w") as file:
    json.dump(values, file, indent=1)
    file.write("\n")
