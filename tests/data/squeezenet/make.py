"""Makes the .pkl files and expected.json of this folder (README.md). Needs PyTorch 2.11.0, torchvision 0.26.0 and
NumPy 2.4.6. Arguments: the folder to write to, the published squeezenet_weights.pkl."""
import collections
import json
import os
import pickle
import sys

import numpy
import torch
from torchvision.models import squeezenet1_1
from torchvision.models.squeezenet import Fire

STEM, CLASSES = 4, 3
SQUEEZES, BRANCHES = (2, 2, 3, 2, 3, 2, 3, 4), (3, 4, 4, 5, 4, 3, 5, 6)
NUMBERS = (3, 4, 6, 7, 9, 10, 11, 12)  # of the fire modules in torchvision's list


def narrow():
    net = squeezenet1_1(num_classes=CLASSES)
    net.features[0] = torch.nn.Conv2d(3, STEM, kernel_size=3, stride=2)
    inputs = STEM
    for number, squeeze, branch in zip(NUMBERS, SQUEEZES, BRANCHES):
        net.features[number] = Fire(inputs, squeeze, branch, branch)
        inputs = 2 * branch
    net.classifier[1] = torch.nn.Conv2d(inputs, CLASSES, kernel_size=1)
    return net.eval()


def layers():
    yield "conv1", "features.0"
    for i, number in enumerate(NUMBERS):
        yield f"fire{i + 2}/squeeze1x1", f"features.{number}.squeeze"
        yield f"fire{i + 2}/expand1x1", f"features.{number}.expand1x1"
        yield f"fire{i + 2}/expand3x3", f"features.{number}.expand3x3"
    yield "conv10", "classifier.1"


def load(net, arrays):
    state = {}
    for file, name in layers():
        state[name + ".weight"] = torch.from_numpy(arrays[file][0]).permute(3, 2, 0, 1)
        state[name + ".bias"] = torch.from_numpy(arrays[file][1])
    net.load_state_dict(state)
    return net.double()


def images(side):
    k = torch.arange(2 * 3 * side * side, dtype=torch.float64)
    return (2 * torch.sin(k * 0.37 + torch.sin(k * 0.011))).view(2, 3, side, side)


def of_caffe(x):
    """Normalised by ImageNet's mean and deviation -> blue, green, red, from 0 to 255, less their means."""
    def three(*values):
        return torch.tensor(values, dtype=torch.float64).view(3, 1, 1)

    return 255 * (x * three(0.229, 0.224, 0.225) + three(0.485, 0.456, 0.406)).flip(1) - three(104, 117, 123)


def random_arrays():
    g = torch.Generator().manual_seed(18)
    arrays = {}
    state = narrow().state_dict()
    for file, name in layers():
        weight = state[name + ".weight"]
        scale = (2.0 / weight[0].numel()) ** 0.5 / (60 if file == "conv1" else 1)
        kernel = (torch.randn(weight.shape, generator=g) * scale).permute(2, 3, 1, 0).contiguous().numpy()
        arrays[file] = [kernel, (0.2 * torch.randn(len(weight), generator=g)).numpy()]
    return arrays


def write(out, name, value, protocol, as_numpy_1=False):
    content = pickle.dumps(value, protocol=protocol)
    if as_numpy_1:  # the only difference; protocol 3 has no length of the name
        content = content.replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")
    with open(os.path.join(out, name), "wb") as file:
        file.write(content)


def about(array):
    plain = numpy.ascontiguousarray(array)
    return {"type": plain.dtype.str[1:], "shape": list(array.shape), "bytes": plain.tobytes().hex()}


out, published = sys.argv[1:]
arrays = random_arrays()
write(out, "weights.pkl", arrays, 3, as_numpy_1=True)
values = {"source": "see README.md", "names": [n for n, _ in narrow().named_parameters()]}
with torch.no_grad():
    net = load(narrow(), arrays)
    for side in (17, 33, 64):
        x = of_caffe(images(side))
        values[str(side)] = {"logits": net(x).tolist(), "features": net.features(x).mean((2, 3)).tolist()}
    with open(published, "rb") as file:
        net = load(squeezenet1_1().eval(), pickle.load(file))
    classes = [0, 1, 285, 500, 999]
    x = of_caffe(images(98))
    values["squeezenet1.1"] = {"side": 98, "classes": classes, "logits": net(x)[:, classes].tolist(),
                               "features": net.features(x).mean((2, 3))[:, :8].tolist()}

g = numpy.random.default_rng(18)
kinds = {kind: (g.integers(0, 100, (2, 3)) > 50).astype(kind) if kind == "bool" else
         g.integers(0, 100, (2, 3)).astype(kind)
         for kind in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "bool")}
fortran = numpy.asfortranarray(g.standard_normal((2, 3, 4)).astype("f4"))
shared = g.standard_normal(5)
nested = {"types": kinds, "order": [fortran, fortran[:, 0, 0].copy()], "scalar": numpy.array(1.5),
          "empty": numpy.zeros((0, 3), "f4"), "deep": ({"a": [shared]}, collections.OrderedDict(b=shared)),
          "left out": [3, 1.5, "text", None, True, b"bytes"], "large": numpy.arange(300, dtype="i2")}
flat = {"order.0": fortran, "order.1": fortran[:, 0, 0], "scalar": nested["scalar"], "empty": nested["empty"],
        "deep.0.a.0": shared, "deep.1.b": shared, "large": nested["large"]}
flat.update({"types." + kind: array for kind, array in kinds.items()})
write(out, "arrays.protocol3.pkl", nested, 3)
write(out, "arrays.protocol4.pkl", nested, 4)
values["arrays"] = {name: about(array) for name, array in flat.items()}
write(out, "refused.object.pkl", [numpy.array([{}, None], dtype=object)], 4)
write(out, "refused.text.pkl", [numpy.array(["a", "bc"])], 4)
write(out, "refused.big-endian.pkl", [numpy.arange(3, dtype=">f4")], 4)
write(out, "refused.structured.pkl", [numpy.zeros(2, dtype=[("a", "f4"), ("b", "i4")])], 4)
write(out, "refused.date.pkl", [numpy.zeros(2, dtype="datetime64[s]")], 4)
write(out, "refused.scalar.pkl", {"a": numpy.float32(2)}, 4)
write(out, "refused.protocol2.pkl", [numpy.arange(3.0)], 2)
write(out, "refused.protocol5.pkl", [numpy.arange(3.0)], 5)
write(out, "refused.code.pkl", {"a": numpy.arange(3.0), "b": os.system}, 4)
with open(os.path.join(out, "expected.json"), "w") as file:
    json.dump(values, file, indent=1)
