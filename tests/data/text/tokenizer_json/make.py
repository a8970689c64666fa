"""Makes the files of this folder (README.md). Needs tokenizers. Argument: the folder to write to."""
import json
import os
import sys

import tokenizers
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

TEXTS = ["", " ", "hello world", " hello world", "Hello, World!", "unaffable  unaffable", "it's 3.50$ + 7=~x^2` they'll",
         "IT'S we'RE 'ſ o'clock", "naïve café", "na\u0308ive cafe\u0301", "中文字", "한국어", "İstanbul ΣΑΣ straße", "x" * 100,
         "hello\u200bworld", "hello\u00a0world\u2003again", "tabs\tand\n\nlines  \n end", " \r\n\r\n x\n", "\U0001f600 smile",
         "(hello)[world]{!}\n\n", "¿qué? «oui» „ja“ – — …", "1,234,567.89", "year 2024 ٣٤ ² ½x", "12 of 112", "a  1 b1 1  c",
         "one-two_three/four\\five", "\u2581under \u2581\u2581 bar", "the the the", "hello" * 30, "<|end|> hello </s><s>",
         "<0x0A> \x00\x7f", "the name of the place is The Mill", "food, area: riverside"]
TRAINED_ON = [text for text in TEXTS if not set(text) & set("中한\U0001f600\x00<")]
PAIRS = [("hello world", "again"), ("hello world " * 10, "again again"), ("the", "hello world " * 10)]
LENGTH = 24
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def trained(marks, **parts):
    tokenizer = Tokenizer(models.BPE(**parts.pop("model", {})))
    alphabet = parts.pop("alphabet", [])
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    tokenizer.train_from_iterator(TRAINED_ON * 3, trainers.BpeTrainer(
        vocab_size=700, min_frequency=2, special_tokens=marks, initial_alphabet=alphabet, show_progress=False))
    return json.loads(tokenizer.to_str())


def template(first):
    return processors.TemplateProcessing(single=f"{first} $A", pair=f"{first} $A {first} $B", special_tokens=[(first, 0)])


bytes_alone = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
alphabet = pre_tokenizers.ByteLevel.alphabet()
made = {
    # Some bytes have no symbol, as in SmolLM2's vocabulary.
    "smollm": trained(["<|end|>", "<|start|>"], pre_tokenizer=pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])),
    "llama3": trained(["<s>", "</s>"], alphabet=alphabet, model={"ignore_merges": True}, pre_tokenizer=pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(LLAMA3), "isolated"), bytes_alone]),
        post_processor=processors.Sequence([processors.ByteLevel(), template("<s>")])),
    "qwen2": trained(["<s>", "</s>"], alphabet=alphabet, pre_tokenizer=pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(LLAMA3.replace("{1,3}", "")), "isolated"), bytes_alone])),
    # Unknown bytes become a mark, once for a run of them.
    "unknown": trained(["</s>", "<unk>"], model={"unk_token": "<unk>", "fuse_unk": True}, pre_tokenizer=pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=False), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])),
    "roberta": trained(["<s>", "</s>", "<pad>"], alphabet=alphabet, pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True),
                       post_processor=processors.RobertaProcessing(("</s>", 1), ("<s>", 0))),
    "llama": trained(["<unk>", "<s>", "</s>"] + BYTES, model={"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True},
                     normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])),
    "mistral": trained(["<s>", "</s>"] + BYTES, model={"byte_fallback": True},
                       pre_tokenizer=pre_tokenizers.Metaspace("▁", "first", True),
                       post_processor=processors.BertProcessing(("</s>", 1), ("<s>", 0))),
}
# What the rules keep apart is seen where a pair would join it, and words that are symbols where pairs would not.
made["smollm"]["model"]["vocab"]["12"] = len(made["smollm"]["model"]["vocab"])
made["smollm"]["model"]["merges"].append(["1", "2"])
del made["llama3"]["model"]["merges"][-60:]
made["smollm"]["model"]["merges"] = [" ".join(pair) for pair in made["smollm"]["model"]["merges"]]  # the older form

out = sys.argv[1]
for name, content in made.items():
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    content["added_tokens"] = [token for token in content["added_tokens"] if token["content"] not in BYTES]
    with open(os.path.join(folder, "tokenizer.json"), "w") as stream:
        json.dump(content, stream, ensure_ascii=False, separators=(",", ":"))
        stream.write("\n")
    end = "<|end|>" if name == "smollm" else "</s>"
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as stream:
        json.dump({"eos_token": end if name != "llama3" else {"content": end}}
                  | ({"pad_token": "<pad>"} if name == "roberta" else {}), stream)
        stream.write("\n")
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    tokenizer.encode_special_tokens = True
    cases = [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for text in TEXTS]
    pad = "<pad>" if name == "roberta" else end
    tokenizer.enable_padding(length=LENGTH, pad_id=tokenizer.token_to_id(pad), pad_token=pad)
    tokenizer.enable_truncation(LENGTH)
    rows = [{"text": text, "ids": tokenizer.encode(text).ids} for text in TEXTS]
    rows += [{"text": one, "second": two, "ids": tokenizer.encode(one, two).ids} for one, two in PAIRS]
    with open(os.path.join(folder, "cases.json"), "w") as stream:
        json.dump({"library": f"tokenizers {tokenizers.__version__}", "cases": cases, "rows": rows}, stream, indent=None)
        stream.write("\n")
