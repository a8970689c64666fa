"""What make.py of the reference cases (beit, bert, opt, roberta) shares: per-sample gradients by a loop of one pass and one
autograd.grad a sample, and the files of a case. Needs PyTorch 2.11.0 and safetensors."""
import json
import os

import torch
from safetensors.torch import save_file

CLIP = 1.0


def draw(model, seed, norms):
    """Seeded parameters of a small transformer of transformers; `norms`: how the names of weights of norms end."""
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=g)
            if name.endswith(norms):
                value.copy_(1 + 0.2 * noise)
            elif "embed" in name or value.dim() < 2:
                value.copy_(0.3 * noise)
            else:
                value.copy_(noise * (1.5 / value.shape[1]) ** 0.5)
    return model


def gradients(loss_of, parameters, samples, names):
    logits, losses, rows = [], [], []
    for i in range(samples):
        out, loss = loss_of(i)
        rows.append(torch.autograd.grad(loss, [parameters[n] for n in names]))
        logits.append(out.detach()[0])
        losses.append(loss.detach())
    return torch.stack(logits), torch.stack(losses), [torch.stack(column) for column in zip(*rows)]


def run(loss_of, parameters, samples, names, layers, keeps_sum):
    logits, losses, grads = gradients(loss_of, parameters, samples, names)
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
        if keeps_sum(n):
            found[f"sum_abadi/{n}"] = torch.einsum("b,b...->...", factor, g)
            found[f"sum_abadi_layer/{n}"] = torch.einsum("b,b...->...", layer_factor[:, column[n]], g)
    return logits, losses, found


def off(wide, narrow):
    return max(((a - b.double()).abs().max() / a.abs().max()).item() for a, b in zip(wide, narrow))


def write_case(out, state, inputs, wanted, wide, narrow, layer_of, keeps_sum, case, config, loss="cross_entropy"):
    """wanted: of each run, which parameters train; wide, narrow: (loss_of, parameters) in float64 and float32."""
    samples = inputs["labels"].shape[0]
    runs, expected = {}, {}
    for name, is_wanted in wanted.items():
        names = [n for n in state if is_wanted(n)]
        layers = {}
        for n in names:
            layers.setdefault(layer_of(n), []).append(n)
        layers = list(layers.items())
        logits, losses, found = run(*wide, samples, names, layers, keeps_sum)
        low_logits, low_losses, low = run(*narrow, samples, names, layers, keeps_sum)
        expected |= {"logits": logits, "loss": losses} | {f"{name}/{key}": value for key, value in found.items()}
        sums = [key for key in found if key.startswith("sum_")]
        runs[name] = {"loss": loss, "logits_key": "logits", "loss_key": "loss", "trainable": names,
                      "frozen": [n for n in state if n not in names],
                      "n_trainable": sum(state[n].numel() for n in names), "layers": layers,
                      "stored": sorted({key.partition("/")[0] for key in found}),
                      "norm_total": [float(f"{x:.6g}") for x in found["norm_total"].tolist()],
                      "float32_rel_err": {
                          "logits": off([logits], [low_logits]), "loss": off([losses], [low_losses]),
                          "norm_total": off([found["norm_total"]], [low["norm_total"]]),
                          **({"sum_abadi": off([found[k] for k in sums], [low[k] for k in sums])} if sums else {})}}
    for file, content in {"case.json": case | {"runs": runs}, "config.json": config}.items():
        with open(os.path.join(out, file), "w") as stream:
            json.dump(content, stream, indent=1)
            stream.write("\n")
    for file, content in {"weights": state, "inputs": inputs, "expected": expected}.items():
        save_file({n: v.contiguous() for n, v in content.items()}, os.path.join(out, file + ".safetensors"))
