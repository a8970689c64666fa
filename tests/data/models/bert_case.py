"""A tiny classifier of transformers' BERT family as a case of the reference vectors: bert/make.py and roberta/make.py."""
import torch
import transformers
from reference_case import draw, write_case

torch.use_deterministic_algorithms(True)
LABELS = torch.tensor([2, 0, 1, 0])


def write(folder, kind, config, ids, padding, seed, own, notes, token_types=None):
    """`own`: ends of the names of parameters whose clipped sums are kept. `token_types`: of ids; None: the model's own."""
    def network():
        return draw(kind(config).eval(), seed, "LayerNorm.weight")

    def losses_of(model):
        def loss_of(i):
            row = ids[i : i + 1]
            types = {} if token_types is None else {"token_type_ids": token_types(row)}
            logits = model(input_ids=row, attention_mask=(row != padding).long(), **types).logits
            return logits, torch.nn.functional.cross_entropy(logits, LABELS[i : i + 1])
        return loss_of, dict(model.named_parameters())

    model = network()
    wanted = {"full": lambda n: True,
              "bitfit": lambda n: n.endswith("bias"),
              "embeddings": lambda n: "embeddings" in n,
              "head": lambda n: n.startswith("classifier.")}
    write_case(folder, {n: v.detach().clone() for n, v in model.named_parameters()}, {"ids": ids, "labels": LABELS},
               wanted, losses_of(network().double()), losses_of(model), lambda n: n.rpartition(".")[0],
               lambda n: n.endswith(own),
               {"name": config.model_type, "library": f"transformers {transformers.__version__} {kind.__name__}",
                "task": "classification", "seed": seed, "notes": notes},
               config.to_dict() | {"architectures": [kind.__name__]})
