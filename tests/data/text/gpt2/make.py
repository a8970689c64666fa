"""Makes the files of this folder (README.md). Needs transformers and tokenizers. Argument: the folder to write to."""
import json
import os
import sys

import transformers
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Tokenizer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from texts import TEXTS

out = sys.argv[1]
END = "<|endoftext|>"
KINDS = {"gpt2": ([END], {}),
         "opt": (["<s>", "<pad>", "</s>", "<unk>"],
                 {"add_bos_token": True, "bos_token": "</s>", "eos_token": "</s>", "unk_token": "</s>", "pad_token": "<pad>"})}
for name, (marks, config) in KINDS.items():
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(TEXTS * 3, vocab_size=400, min_frequency=2, special_tokens=marks, show_progress=False)
    trained.save_model(folder)
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as stream:
        json.dump({"tokenizer_class": "GPT2Tokenizer"} | config, stream)
        stream.write("\n")
    tokens = GPT2Tokenizer(os.path.join(folder, "vocab.json"), os.path.join(folder, "merges.txt"), **config)
    cases = [{"text": text, "ids": tokens(text, add_special_tokens=False)["input_ids"]} for text in TEXTS]
    padding = tokens.pad_token_id if tokens.pad_token_id is not None else tokens.eos_token_id
    rows = []
    for text in TEXTS:
        ids = tokens(text)["input_ids"]
        if len(ids) <= 24:
            rows.append({"text": text, "ids": ids + [padding] * (24 - len(ids))})
    with open(os.path.join(folder, "cases.json"), "w") as stream:
        json.dump({"library": f"transformers {transformers.__version__} GPT2Tokenizer", "end": tokens.eos_token_id,
                   "cases": cases, "rows": rows}, stream, indent=1)
        stream.write("\n")
