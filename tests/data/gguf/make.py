"""Makes the files of this folder (README.md). Needs gguf, numpy, torch and transformers. Arguments: the folder to write to, and
tokenizer.json of tests/data/text/tokenizer_json/smollm."""
import importlib.metadata
import json
import os
import sys

import gguf
import numpy as np
import torch
import transformers
from gguf import GGMLQuantizationType as Type
from gguf import quants

out, tokenizer = sys.argv[1:]
random = np.random.default_rng(7)


def add(writer, name, values, type):
    """Adds the tensor and returns the numbers that it stands for."""
    stored = quants.quantize(np.ascontiguousarray(values, np.float32), type)
    writer.add_tensor(name, stored, raw_dtype=type)
    return quants.dequantize(stored, type).astype(np.float32).reshape(values.shape)


def close(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


# A tensor of each type, and a value of each.
writer = gguf.GGUFWriter(os.path.join(out, "types.gguf"), "none")
types = {}
for type in (Type.F32, Type.F16, Type.BF16, Type.Q8_0, Type.Q4_0, Type.Q4_1):
    values = random.normal(size=(2, 64)).astype(np.float32)
    values[1] *= 1e-6  # scales of which some are subnormal in float16
    types[type.name] = [float(one) for one in add(writer, type.name, values, type).ravel()]
for kind, value in (("uint8", 200), ("int8", -3), ("uint16", 60000), ("int16", -300), ("uint32", 4000000000), ("int32", -70000),
                    ("float32", 0.1), ("bool", True), ("uint64", 2**63 + 1), ("int64", -2**62), ("float64", 0.1),
                    ("string", "a\n\u00e9"), ("array", [1, 2, 3])):
    getattr(writer, "add_" + kind)("a." + kind, value)
writer.add_array("a.texts", ["x", "", "yz"])
close(writer)

# A small Llama of random weights, its names and rows as llama.cpp's converter has them.
with open(tokenizer) as stream:
    described = json.load(stream)
vocabulary = described["model"]["vocab"]
torch.manual_seed(0)
config = transformers.LlamaConfig(vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                                  num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True, rms_norm_eps=1e-5,
                                  rope_theta=10000.0, max_position_embeddings=64)
model = transformers.LlamaForCausalLM(config).double().eval()
writer = gguf.GGUFWriter(os.path.join(out, "llama.gguf"), "llama")
writer.add_block_count(2)
writer.add_context_length(64)
writer.add_embedding_length(32)
writer.add_feed_forward_length(64)
writer.add_head_count(4)
writer.add_head_count_kv(2)
writer.add_rope_freq_base(10000.0)
writer.add_rope_dimension_count(8)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_vocab_size(len(vocabulary))
writer.add_tokenizer_model("gpt2")
writer.add_tokenizer_pre("smollm")
writer.add_token_list(list(vocabulary))
special = {token["content"] for token in described["added_tokens"]}
writer.add_token_types([3 if token in special else 1 for token in vocabulary])
writer.add_token_merges(described["model"]["merges"])
writer.add_eos_token_id(vocabulary["<|end|>"])
writer.add_pad_token_id(vocabulary["<|end|>"])
writer.add_bos_token_id(vocabulary["<|start|>"])
writer.add_add_bos_token(True)
names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 2)
order = [Type.Q8_0, Type.Q4_1, Type.F32, Type.Q4_0]
with torch.no_grad():
    for i, (name, values) in enumerate(model.named_parameters()):
        values[:] = values + 0.1 * torch.from_numpy(random.normal(size=values.shape))
        heads = 4 if ".q_proj." in name else 2 if ".k_proj." in name else None
        rows = values.numpy()
        if heads:
            rows = rows.reshape(heads, 2, -1, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)
        type = order[i % len(order)] if values.dim() == 2 else Type.F32
        kept = add(writer, names.get_name(name, (".weight",)), rows, type)
        if heads:
            kept = kept.reshape(heads, -1, 2, kept.shape[1]).swapaxes(1, 2).reshape(kept.shape)
        values[:] = torch.from_numpy(kept.copy())
close(writer)
ids = [[1, 5, 9, 2, 7, 30], [1, 100, 200, 0, 11, 11]]
logits = model(torch.tensor(ids)).logits[:, -1].tolist()
versions = {name: importlib.metadata.version(name) for name in ("gguf", "torch", "transformers")}
with open(os.path.join(out, "expected.json"), "w") as stream:
    json.dump({"library": versions, "types": types, "ids": ids, "last_logits": [[round(one, 9) for one in row] for row in logits]},
              stream)
    stream.write("\n")
