"""Makes the programs and expected.json of this folder (README.md). Needs PyTorch 2.11.0. Argument: the folder."""
import json
import os
import sys

import torch
from torch import nn


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.drop = nn.Conv2d(3, 4, 3, stride=2), nn.BatchNorm2d(4), nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(torch.relu(self.norm(self.conv(x)))).mean((2, 3))


class Mixing(nn.Module):
    def forward(self, x):
        return (x - x.mean(0)).flatten(1)[:, :4]


class Vectors(nn.Module):
    def forward(self, x):
        return torch.cat([x, x * x], 1)


out = sys.argv[1]
torch.manual_seed(0)
net = Network()
with torch.no_grad():
    net.norm.running_mean.copy_(torch.randn(4))
    net.norm.running_var.copy_(torch.rand(4) + 0.5)
torch.jit.script(net).save(os.path.join(out, "training.pt"))  # not in evaluation mode: load() sees to that
torch.jit.script(Mixing().eval()).save(os.path.join(out, "mixing.pt"))
torch.jit.script(Vectors().eval()).save(os.path.join(out, "vectors.pt"))
k = torch.arange(2 * 3 * 8 * 8, dtype=torch.float64)
images = (2 * torch.sin(k * 0.37 + torch.sin(k * 0.011))).view(2, 3, 8, 8)
with torch.no_grad():
    features = net.eval()(images.float()).tolist()
with open(os.path.join(out, "expected.json"), "w") as file:
    json.dump({"source": "see README.md", "features": features}, file, indent=1)
    file.write("\n")
