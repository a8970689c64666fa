"""Makes pytorch_model.bin and expected.json of this folder (README.md). Needs PyTorch 2.11.0 and the Python
package efficientnet-lite-pytorch 0.1.0. Arguments: the folder to write to, the published .pth."""
import collections
import json
import os
import sys

import efficientnet_lite_pytorch.model as reference
import efficientnet_lite_pytorch.utils as utils
import torch

STEM, WIDTHS, TOP, BLOCKS, CLASSES = 4, (3, 4, 4, 5, 4, 4, 5), 12, (1, 2, 1, 1, 1, 1, 2), 3


def narrow(side):
    args, params = utils.get_model_params("efficientnet-lite0", {"num_classes": CLASSES, "image_size": side})
    before = (STEM, *WIDTHS)
    args = [a._replace(input_filters=before[i], output_filters=WIDTHS[i], num_repeat=BLOCKS[i])
            for i, a in enumerate(args)]
    return reference.EfficientNet(args, params._replace(fix_head_stem=False, depth_coefficient=1.0)).eval()


def images(side):
    k = torch.arange(2 * 3 * side * side, dtype=torch.float64)
    return (2 * torch.sin(k * 0.37 + torch.sin(k * 0.011))).view(2, 3, side, side)


def random_state():
    g = torch.Generator().manual_seed(18)
    state = collections.OrderedDict()
    for name, value in narrow(32).state_dict().items():
        if name.endswith("running_var"):
            state[name] = 0.05 + torch.rand(value.shape, generator=g)
        elif "bn" in name and name.endswith("weight"):
            state[name] = 0.5 + torch.rand(value.shape, generator=g)
        elif name.endswith("num_batches_tracked"):
            state[name] = torch.tensor(7)
        elif value.dim() > 1:
            state[name] = torch.randn(value.shape, generator=g) * (2.0 / value[0].numel()) ** 0.5
        else:
            state[name] = 0.3 * torch.randn(value.shape, generator=g)
    state["_blocks.1._bn0.running_var"][2] = 0  # the published file has such
    return state


out, published = sys.argv[1:]
plain = reference.round_filters
reference.round_filters = lambda filters, *_: {32: STEM, 1280: TOP}.get(filters, filters)
state = random_state()
torch.save(state, os.path.join(out, "pytorch_model.bin"), _use_new_zipfile_serialization=False)
values = {"source": "see README.md"}
with torch.no_grad():
    for side in (33, 64):
        net = narrow(side)
        net.load_state_dict(state)
        net.double()
        values[str(side)] = {"logits": net(images(side)).tolist(),
                             "features": net.extract_features(images(side)).mean((2, 3)).tolist()}
    reference.round_filters = plain
    net = reference.EfficientNet.from_name("efficientnet-lite0", image_size=97).eval()
    net.load_state_dict(torch.load(published, weights_only=True))
    classes = [0, 1, 285, 500, 999]
    values["lite0"] = {"side": 97, "classes": classes, "logits": net.double()(images(97))[:, classes].tolist()}
with open(os.path.join(out, "expected.json"), "w") as file:
    json.dump(values, file, indent=1)
