"""Makes the files of this folder (README.md). Needs PyTorch 2.11.0, transformers, safetensors and numpy.
Argument: the folder to write to."""
import os
import sys

import torch
import transformers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_case import draw, write_case

torch.use_deterministic_algorithms(True)
SEED = 2205
PAD = 1
IDS = torch.tensor([[2, 7, 8, 9, 10, 11, 12, 13],        # a whole row
                    [2, 5, 6, 21, 22, 3, PAD, PAD],      # padding
                    [2, 14, 14, 14, 14, PAD, PAD, PAD],  # one id repeated
                    [2, 4, PAD, PAD, PAD, PAD, PAD, PAD]])  # one target
MASK = (IDS != PAD).long()
LABELS = IDS.masked_fill(MASK == 0, -100)
LABELS[0, :3] = -100                                     # a prompt

CONFIG = transformers.OPTConfig(
    vocab_size=24, hidden_size=16, word_embed_proj_dim=16, num_hidden_layers=2, num_attention_heads=2, ffn_dim=24,
    max_position_embeddings=10, pad_token_id=PAD, bos_token_id=2, eos_token_id=2, dropout=0.0,
    attention_dropout=0.0, layerdrop=0.0, attn_implementation="sdpa")


def network():
    return draw(transformers.OPTForCausalLM(CONFIG).eval(), SEED, "layer_norm.weight")


def losses_of(model):
    def loss_of(i):
        logits = model(input_ids=IDS[i : i + 1], attention_mask=MASK[i : i + 1]).logits
        return logits, torch.nn.functional.cross_entropy(logits[0, :-1], LABELS[i, 1:])
    return loss_of, dict(model.named_parameters())


model = network()
# What other cases of this set have not.
OWN = ("embed_tokens.weight", "embed_positions.weight", "self_attn.q_proj.weight", "self_attn.v_proj.bias", "fc1.weight",
       "final_layer_norm.weight")
write_case(sys.argv[1], {n: v.detach().clone() for n, v in model.named_parameters()},
           {"input_ids": IDS, "attention_mask": MASK, "labels": LABELS},
           {"full": lambda n: True, "bitfit": lambda n: n.endswith("bias"), "embeddings": lambda n: "embed" in n},
           losses_of(network().double()), losses_of(model), lambda n: n.rpartition(".")[0], lambda n: n.endswith(OWN),
           {"name": "opt", "library": f"transformers {transformers.__version__} OPTForCausalLM", "task": "causal_lm",
            "seed": SEED, "notes": ["padding lies to the right and is masked; lm_head.weight is the token embedding"]},
           CONFIG.to_dict() | {"architectures": ["OPTForCausalLM"]}, loss="token_mean")
