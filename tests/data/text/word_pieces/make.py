"""Makes the files of this folder (README.md). Needs transformers. Argument: the folder to write to."""
import json
import os
import sys

import transformers
from transformers import BertTokenizerFast

TEXTS = ["", " ", "hello world", "Hello, World!", "unaffable", "UNAFFABLE  ünäffäble\tUnaffable\n", "it's 3.50$ + 7=~x^2`",
         "naïve café", "na\u0308ive cafe\u0301", "中文字", "a中b", "한국어", "İstanbul ΣΑΣ straße", "x" * 100, "x" * 101,
         "hello\u200bworld", "hello\u00a0world\u2003again", "a\u0000b\ufffdc\u0007d", "\ud83d\ude00 smile", "(hello)[world]{!}",
         "¿qué? «oui» „ja“ – — …", "##able able", "unknownish", "1,234,567.89", "e\u0301\u0301e", "㐀 𠀀 豈", "hello\u2028world",
         "one-two_three/four\\five", "Ａｂｃ ｆｕｌｌ", "ﬁne ﬂow", "ǅ ǆ", "ا\u064eب", "the the the", "hello" * 30]
PAIRS = [("hello world", "again"), ("hello world " * 10, "again again"), ("the", "hello world " * 10)]
LENGTH = 16
PIECES = """hello world again un ##aff ##able able naive cafe it ' s 3 . 50 $ + 7 = ~ x ##x ^ 2 ` , ! ( ) [ ] { } ? ¿ « » „ “ – — … -
_ / \\ que oui ja the one two three four five 1 234 567 89 smile 中 文 字 a b c d e istanbul straße strasse σας σασ 豈 ##n ##a ##i ##v ##e
##u ##n ##f ##l ##b fine flow abc full ｆｕｌｌ 😀 ## # ##o h ##h ##w ##r ##d ##ab ##c i ##sh ##known known""".split()
CASED = ["Hello", "World", "Un", "naïve", "café", "İ", "##stanbul", "Σ", "##Α", "##Σ", "U", "##N"]


def tokenizer(folder, lower, pieces):
    os.makedirs(folder, exist_ok=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + list(dict.fromkeys(pieces))
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as out:
        out.writelines(piece + "\n" for piece in vocabulary)
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as out:
        json.dump({"do_lower_case": lower, "tokenizer_class": "BertTokenizer"}, out)
        out.write("\n")
    return BertTokenizerFast(os.path.join(folder, "vocab.txt"), do_lower_case=lower)


out = sys.argv[1]
for name, lower, pieces in (("uncased", True, PIECES), ("cased", False, PIECES + CASED)):
    tokens = tokenizer(os.path.join(out, name), lower, pieces)
    texts = [text.encode("utf-16", "surrogatepass").decode("utf-16") for text in TEXTS]
    cases = [{"text": text, "ids": tokens(text, add_special_tokens=False)["input_ids"]} for text in texts]
    rows = [{"text": text, "ids": tokens(text, max_length=LENGTH, truncation=True, padding="max_length")["input_ids"]}
            for text in texts]
    rows += [{"text": one, "second": two, "ids": tokens(one, two, max_length=LENGTH, truncation="longest_first",
                                                        padding="max_length")["input_ids"]} for one, two in PAIRS]
    with open(os.path.join(out, name, "cases.json"), "w") as stream:
        json.dump({"library": f"transformers {transformers.__version__} BertTokenizerFast", "cases": cases, "rows": rows},
                  stream, indent=1)
        stream.write("\n")
