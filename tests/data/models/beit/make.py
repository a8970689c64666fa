"""Makes the files of this folder (README.md). Needs PyTorch 2.11.0, timm 1.0.31, safetensors and numpy.
Argument: the folder to write to."""
import os
import sys

import timm
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_case import write_case

torch.use_deterministic_algorithms(True)
ARGS = {"img_size": 32, "patch_size": 8, "embed_dim": 16, "depth": 2, "num_heads": 2, "mlp_ratio": 2}
CLASSES, SAMPLES = 5, 2
ARCHITECTURE = "beit_base_patch16_224"
# Sums are kept of what other cases of this set have not.
OWN = ("q_bias", "v_bias", "relative_position_bias_table", "gamma_1", "gamma_2", "cls_token", "fc_norm.weight")


def network():
    model = timm.create_model(ARCHITECTURE, num_classes=CLASSES, **ARGS).eval()
    g = torch.Generator().manual_seed(1805)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=g)
            if name.endswith("gamma_1") or name.endswith("gamma_2"):
                value.copy_(0.7 + 0.3 * noise)
            elif name.endswith("relative_position_bias_table"):
                value.copy_(noise)
            elif value.dim() > 1 and not name.startswith("cls"):
                value.copy_(noise * (1.5 / value[0].numel()) ** 0.5)
            elif name.endswith("norm1.weight") or name.endswith("norm2.weight") or name == "fc_norm.weight":
                value.copy_(1 + 0.2 * noise)
            else:
                value.copy_(0.3 * noise)
    return model


def layer_of(name):
    for ends in ("q_bias", "v_bias"):
        if name.endswith(ends):
            return name[: -len(ends)] + "query_value_bias"
    for ends in ("gamma_1", "gamma_2"):
        if name.endswith(ends):
            return name
    return name.rpartition(".")[0] or name


out = sys.argv[1]
model = network()
state = {n: v.detach().clone() for n, v in model.named_parameters()}
images = torch.randn((SAMPLES, 3, 32, 32), generator=torch.Generator().manual_seed(1806))
labels = torch.tensor([3, 0])
WANTED = {"full": lambda n: True,
          "bitfit": lambda n: n.endswith("bias"),
          "tables": lambda n: n.endswith("relative_position_bias_table"),
          "head": lambda n: n.startswith("head.")}


def losses_of(model, images):
    def loss_of(i):
        logits = model(images[i : i + 1])
        return logits, torch.nn.functional.cross_entropy(logits, labels[i : i + 1])
    return loss_of, dict(model.named_parameters())


write_case(out, state, {"images": images, "labels": labels}, WANTED, losses_of(network().double(), images.double()),
           losses_of(model, images), layer_of, lambda n: n.endswith(OWN),
           {"name": "beit", "library": f"timm {timm.__version__} create_model('{ARCHITECTURE}', **model_args) (Beit)",
            "task": "classification", "seed": 1805,
            "notes": ["init_values is not given: the architecture's own, 0.1; weights.safetensors has larger gammas",
                      "layers are this program's: q_bias and v_bias are one, a table, gamma_1 and gamma_2 each one"]},
           {"architecture": ARCHITECTURE, "num_classes": CLASSES, "num_features": ARGS["embed_dim"],
            "global_pool": "avg", "model_args": ARGS})
