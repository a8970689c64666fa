"""Makes the files of this folder (README.md). Needs transformers and tokenizers. Argument: the folder to write to."""
import json
import os
import sys

import transformers
from tokenizers import ByteLevelBPETokenizer
from transformers import RobertaTokenizerFast

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from texts import TEXTS

PAIRS = [("hello world", "again"), ("hello world " * 10, "again again"), ("the", "hello world " * 10)]
LENGTH = 24
MARKS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]

out = sys.argv[1]
trained = ByteLevelBPETokenizer()
trained.train_from_iterator(TEXTS * 3, vocab_size=400, min_frequency=2, special_tokens=MARKS, show_progress=False)
for name, blank in (("plain", False), ("with_blank", True)):
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    trained.save_model(folder)
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as stream:
        json.dump({"add_prefix_space": blank, "tokenizer_class": "RobertaTokenizer"}, stream)
        stream.write("\n")
    tokens = RobertaTokenizerFast(os.path.join(folder, "vocab.json"), os.path.join(folder, "merges.txt"), add_prefix_space=blank)
    cases = [{"text": text, "ids": tokens(text, add_special_tokens=False)["input_ids"]} for text in TEXTS]
    rows = [{"text": text, "ids": tokens(text, max_length=LENGTH, truncation=True, padding="max_length")["input_ids"]}
            for text in TEXTS]
    rows += [{"text": one, "second": two, "ids": tokens(one, two, max_length=LENGTH, truncation="longest_first",
                                                        padding="max_length")["input_ids"]} for one, two in PAIRS]
    with open(os.path.join(folder, "cases.json"), "w") as stream:
        json.dump({"library": f"transformers {transformers.__version__} RobertaTokenizerFast", "cases": cases, "rows": rows},
                  stream, indent=1)
        stream.write("\n")
