"""Makes the files of this folder (README.md). Needs PyTorch 2.11.0, timm 1.0.31, safetensors and numpy.
Argument: the folder to write to."""
import json
import os
import sys

import timm
import torch
from safetensors.torch import save_file

torch.use_deterministic_algorithms(True)
ARGS = {"img_size": 32, "patch_size": 8, "embed_dim": 16, "depth": 2, "num_heads": 2, "mlp_ratio": 2}
CLASSES, SAMPLES, CLIP = 5, 2, 1.0
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


# Its own loop: one pass and one autograd.grad a sample.
def gradients(model, images, labels, names):
    parameters = dict(model.named_parameters())
    logits, losses, rows = [], [], []
    for i in range(images.shape[0]):
        out = model(images[i : i + 1])
        loss = torch.nn.functional.cross_entropy(out, labels[i : i + 1])
        rows.append(torch.autograd.grad(loss, [parameters[n] for n in names]))
        logits.append(out.detach()[0])
        losses.append(loss.detach())
    return torch.stack(logits), torch.stack(losses), [torch.stack(column) for column in zip(*rows)]


def run(model, images, labels, names, layers):
    logits, losses, grads = gradients(model, images, labels, names)
    norms = {n: g.flatten(1).norm(dim=1) for n, g in zip(names, grads)}
    total = torch.stack(list(norms.values())).norm(dim=0)
    by_layer = torch.stack([torch.stack([norms[n] for n in of]).norm(dim=0) for _, of in layers], 1)
    share = CLIP / len(layers) ** 0.5
    factor = CLIP / total.clamp_min(CLIP)
    layer_factor = share / by_layer.clamp_min(share)
    column = {n: at for at, (_, of) in enumerate(layers) for n in of}
    found = {"norm_total": total, "layer_norm": by_layer, "factor_abadi": factor,
             "factor_abadi_layer": layer_factor}
    for n, g in zip(names, grads):
        found[f"norm/{n}"] = norms[n]
        if n.endswith(OWN):
            found[f"sum_abadi/{n}"] = torch.einsum("b,b...->...", factor, g)
            found[f"sum_abadi_layer/{n}"] = torch.einsum("b,b...->...", layer_factor[:, column[n]], g)
    return logits, losses, found


def off(wide, narrow):
    return max(((a - b.double()).abs().max() / a.abs().max()).item() for a, b in zip(wide, narrow))


out = sys.argv[1]
model = network()
state = {n: v.detach().clone() for n, v in model.named_parameters()}
images = torch.randn((SAMPLES, 3, 32, 32), generator=torch.Generator().manual_seed(1806))
labels = torch.tensor([3, 0])
runs, expected = {}, {}
wide = network().double()
WANTED = {"full": lambda n: True,
          "bitfit": lambda n: n.endswith("bias"),
          "tables": lambda n: n.endswith("relative_position_bias_table"),
          "head": lambda n: n.startswith("head.")}
for name, wanted in WANTED.items():
    names = [n for n in state if wanted(n)]
    layers = {}
    for n in names:
        layers.setdefault(layer_of(n), []).append(n)
    layers = list(layers.items())
    logits, losses, found = run(wide, images.double(), labels, names, layers)
    low_logits, low_losses, low = run(model, images, labels, names, layers)
    expected |= {"logits": logits, "loss": losses} | {f"{name}/{key}": value for key, value in found.items()}
    sums = [key for key in found if key.startswith("sum_")]
    runs[name] = {"loss": "cross_entropy", "logits_key": "logits", "loss_key": "loss", "trainable": names,
                  "frozen": [n for n in state if n not in names],
                  "n_trainable": sum(state[n].numel() for n in names), "layers": layers,
                  "stored": sorted({key.partition("/")[0] for key in found}),
                  "norm_total": [float(f"{x:.6g}") for x in found["norm_total"].tolist()],
                  "float32_rel_err": {
                      "logits": off([logits], [low_logits]), "loss": off([losses], [low_losses]),
                      "norm_total": off([found["norm_total"]], [low["norm_total"]]),
                      **({"sum_abadi": off([found[k] for k in sums], [low[k] for k in sums])} if sums else {})}}
case = {"name": "beit", "library": f"timm {timm.__version__} create_model('{ARCHITECTURE}', **model_args) (Beit)",
        "task": "classification", "seed": 1805,
        "notes": ["init_values is not given: the architecture's own, 0.1; weights.safetensors has larger gammas",
                  "layers are this program's: q_bias and v_bias are one, a table, gamma_1 and gamma_2 each one"],
        "runs": runs}
config = {"architecture": ARCHITECTURE, "num_classes": CLASSES, "num_features": ARGS["embed_dim"],
          "global_pool": "avg", "model_args": ARGS}
for file, content in {"case.json": case, "config.json": config}.items():
    with open(os.path.join(out, file), "w") as stream:
        json.dump(content, stream, indent=1)
        stream.write("\n")
for file, content in {"weights": state, "inputs": {"images": images, "labels": labels},
                      "expected": expected}.items():
    save_file({n: v.contiguous() for n, v in content.items()}, os.path.join(out, file + ".safetensors"))
