"""Makes the files of this folder: python3 make.py (torch 2.11, safetensors 0.6.2). Tests compare with these formulas."""
import torch
from safetensors.torch import save_file

features = torch.tensor([[i + j / 4 - 2 for j in range(3)] for i in range(4)])
labels = torch.tensor([7, 9, 9, 7])
for name, dtype in {"half": torch.float16, "bfloat": torch.bfloat16, "float": torch.float32, "double": torch.float64}.items():
    save_file({"features": features.to(dtype), "labels": labels, "unused": torch.zeros(2, 2, 2)}, f"{name}.safetensors")
for name, dtype in {"i1": torch.int8, "i2": torch.int16, "i4": torch.int32, "u1": torch.uint8}.items():
    save_file({"features": features, "labels": labels.to(dtype)}, f"labels_{name}.safetensors")
save_file({"features": features, "labels": torch.zeros(4, dtype=torch.bool)}, "refused_bool.safetensors")
save_file({"features": features}, "refused_without_labels.safetensors")
save_file({"features": features.to(torch.int64), "labels": labels}, "refused_integers.safetensors")
save_file({"features": features[0].clone(), "labels": labels}, "refused_vector.safetensors")
