"""Makes the files of this folder (README.md). Needs PyTorch 2.11.0, transformers, safetensors and numpy.
Argument: the folder to write to."""
import os
import sys

import torch
import transformers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_case import write_case

torch.use_deterministic_algorithms(True)
CLASSES, PAD, SEP, CLS = 3, 1, 2, 0
CONFIG = transformers.RobertaConfig(
    vocab_size=24, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
    max_position_embeddings=10, type_vocab_size=1, pad_token_id=PAD, bos_token_id=CLS, eos_token_id=SEP, num_labels=CLASSES,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0, attn_implementation="eager")
# Sums are kept of what other cases of this set have not.
OWN = ("word_embeddings.weight", "token_type_embeddings.weight", "position_embeddings.weight",
       "embeddings.LayerNorm.weight", "self.key.weight", "classifier.dense.weight", "classifier.out_proj.bias")
IDS = torch.tensor([[CLS, 7, 8, 9, 10, 11, 12, SEP],      # a whole row
                    [CLS, 5, 6, SEP, SEP, 21, 22, SEP],   # a pair
                    [CLS, 14, 14, 14, SEP, PAD, PAD, PAD],      # one id repeated, padding
                    [CLS, SEP, PAD, PAD, PAD, PAD, PAD, PAD]])        # empty
LABELS = torch.tensor([2, 0, 1, 0])


def network():
    model = transformers.RobertaForSequenceClassification(CONFIG).eval()
    g = torch.Generator().manual_seed(1907)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=g)
            if name.endswith("LayerNorm.weight"):
                value.copy_(1 + 0.2 * noise)
            elif "embeddings" in name or value.dim() < 2:
                value.copy_(0.3 * noise)
            else:
                value.copy_(noise * (1.5 / value.shape[1]) ** 0.5)
    return model


def losses_of(model):
    def loss_of(i):
        ids = IDS[i : i + 1]
        logits = model(input_ids=ids, attention_mask=(ids != PAD).long()).logits
        return logits, torch.nn.functional.cross_entropy(logits, LABELS[i : i + 1])
    return loss_of, dict(model.named_parameters())


model = network()
WANTED = {"full": lambda n: True,
          "bitfit": lambda n: n.endswith("bias"),
          "embeddings": lambda n: "embeddings" in n,
          "head": lambda n: n.startswith("classifier.")}
write_case(sys.argv[1], {n: v.detach().clone() for n, v in model.named_parameters()}, {"ids": IDS, "labels": LABELS},
           WANTED, losses_of(network().double()), losses_of(model), lambda n: n.rpartition(".")[0],
           lambda n: n.endswith(OWN),
           {"name": "roberta", "library": f"transformers {transformers.__version__} RobertaForSequenceClassification",
            "task": "classification", "seed": 1907,
            "notes": ["the attention mask is 0 where an id is <pad>"]},
           CONFIG.to_dict() | {"architectures": ["RobertaForSequenceClassification"]})
