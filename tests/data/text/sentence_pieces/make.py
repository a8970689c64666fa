"""Makes the files of this folder (README.md). Needs sentencepiece, protobuf, tokenizers and transformers. Argument: the folder to
write to."""
import importlib.metadata
import io
import json
import os
import shutil
import sys
import tempfile

import sentencepiece
import transformers
from sentencepiece import sentencepiece_model_pb2

TEXTS = ["", " ", "   ", "hello world", " hello world", "hello  world  ", "Hello, World!", "it's 3.50$ + 7=~x^2` they'll",
         "naïve café", "na\u0308ive cafe\u0301", "中文字", "한국어 a中b", "İstanbul ΣΑΣ straße", "Ａｂｃ ｆｕｌｌ ﬁ ﷺ", "x" * 96,
         "hello\u200bworld\ufeff", "hello\u00a0world\u2003again\u3000x", "tabs\tand\n\nlines  \n end", " \r\n\r\n x\n",
         "\U0001f600 smile \U0001f468\u200d\U0001f469\u200d\U0001f467", "(hello)[world]{!}", "¿qué? «oui» „ja“ – — …", "1,234,567.89",
         "\u2581under \u2581\u2581 bar\u2581", "\u2581", "the the the", "hello" * 30, "</s> hello <s><unk> <pad>[PAD]",
         "<0x0A> \x00 a\x00b \x01\x7f\x1b", "<table>the</table><turn>  \n\n\n x", "<extra_id_0> the <extra_id_1>",
         "the name of the place is The Mill", "food, area: riverside", "\ud7ff\ue000\ufffd\U0010ffff"]
# Not UTF-8; SentencePiece's own ids, for strings of Python are always UTF-8.
BYTES = [b"\xff", b"hello \xc3(world\xe4\xb8", b"a\xed\xa0\x80b", b"\x80\x80 the \xf0\x9f\x98", b"\xc0\xaf\xf8\x88\x80\x80\x80"]
TRAINED_ON = [text for text in TEXTS if text.strip() and not set(text) & set("中한\U0001f600\x00<\ud7ffﷺ\u2581")]
PAIRS = [("hello world", "again"), ("hello world " * 10, "again again"), ("the", "hello world " * 10)]
LENGTH = 24
# Some of NFKC, and characters that vanish or become blanks.
RULES = {"Ａ": "A", "ｂ": "b", "ﬁ": "fi", "ﷺ": "abc def", "e\u0301": "é", "a\u0308": "ä", "\u00a0": " ", "\u3000": " ", "\t": " ",
         "\n": " ", "\r": " ", "\u200b": "", "\x01": "", "\x7f": ""}
LLAMA = {"byte_fallback": True, "normalization_rule_name": "identity", "remove_extra_whitespaces": False}


def hexadecimal(text):
    return " ".join(f"{ord(one):X}" for one in text)


def trained(folder, **options):
    with tempfile.TemporaryDirectory() as scratch:
        if options.pop("rules", False):
            path = os.path.join(scratch, "rules.tsv")
            with open(path, "w") as stream:
                stream.writelines(f"{hexadecimal(one)}\t{hexadecimal(other)}\n" for one, other in RULES.items())
            options["normalization_rule_tsv"] = path
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(TRAINED_ON * 4), model_writer=model, hard_vocab_limit=False, minloglevel=2, num_threads=1,
            max_sentencepiece_length=12, **options)
    spec = model.getvalue()
    read = sentencepiece_model_pb2.ModelProto.FromString(spec)
    read.trainer_spec.ClearField("input")
    read.normalizer_spec.ClearField("normalization_rule_tsv")  # a path of this machine's
    with open(os.path.join(folder, "tokenizer.model"), "wb") as stream:
        stream.write(read.SerializeToString())


MADE = {
    "llama": (dict(LLAMA, model_type="bpe", vocab_size=600), {"tokenizer_class": "LlamaTokenizer"}),
    # With the later treatment of blanks, a token that was added, and a mark after each text.
    "llama_new": (dict(LLAMA, model_type="bpe", vocab_size=600), {
        "tokenizer_class": "LlamaTokenizer", "legacy": False, "add_eos_token": True, "pad_token": "[PAD]"}),
    "llama_unigram": (dict(byte_fallback=True, model_type="unigram", vocab_size=420, rules=True), {
        "tokenizer_class": "LlamaTokenizer", "legacy": False, "add_bos_token": False, "add_prefix_space": False}),
    "t5": (dict(model_type="unigram", vocab_size=150, rules=True, pad_id=0, eos_id=1, unk_id=2, bos_id=-1),
           {"tokenizer_class": "T5Tokenizer"}),
    "t5_new": (dict(model_type="unigram", vocab_size=150, rules=True, pad_id=0, eos_id=1, unk_id=2, bos_id=-1,
                    treat_whitespace_as_suffix=True, user_defined_symbols=["the", "<turn>"]),
               {"tokenizer_class": "T5Tokenizer", "legacy": False, "extra_ids": 4}),
    "gemma": (dict(LLAMA, model_type="bpe", vocab_size=600, add_dummy_prefix=False, allow_whitespace_only_pieces=True, pad_id=0,
                   eos_id=1, bos_id=2, unk_id=3, bos_piece="<bos>", eos_piece="<eos>",
                   user_defined_symbols=["<table>", "<turn>", "\n\n", "\n\n\n", "\u2581\u2581"]), {
                       "tokenizer_class": "GemmaTokenizer"}),
}


def ids_of(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False)


def write(folder, name, content):
    with open(os.path.join(folder, name), "w") as stream:
        json.dump(content, stream, ensure_ascii=False)
        stream.write("\n")


def write_cases(folder, tokenizer, more, own=None):
    cases = [{"text": text, "ids": ids_of(tokenizer, text)} for text in TEXTS] + more
    for case in cases if own else []:
        known = [id for id in case["ids"] if id < own.GetPieceSize() and not own.IsUnknown(id)]
        case["decoded"] = own.DecodeIds(known)
        decoded = tokenizer.decode(case["ids"], skip_special_tokens=True, clean_up_tokenization_spaces=False,
                                   spaces_between_special_tokens=False)
        if decoded != case["decoded"]:
            print(f"{folder}: transformers decodes {case['ids']} as {decoded!r}, not {case['decoded']!r}")
    tokenizer.padding_side = "right"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    whole = {"max_length": LENGTH, "padding": "max_length"}
    rows = [{"text": text, "ids": tokenizer.encode(text, truncation=True, **whole)} for text in TEXTS]
    rows += [{"text": one, "second": two, "ids": tokenizer.encode(one, two, truncation="longest_first", **whole)}
             for one, two in PAIRS]
    library = {name: importlib.metadata.version(name) for name in ("transformers", "tokenizers", "sentencepiece")}
    write(folder, "cases.json", {"library": library, "vocabulary": len(tokenizer), "end": tokenizer.eos_token_id, "cases": cases,
                                 "rows": rows})


out = sys.argv[1]
for name, (options, config) in MADE.items():
    folder = os.path.join(out, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    trained(folder, **options)
    write(folder, "tokenizer_config.json", config)
    kind = getattr(transformers, config["tokenizer_class"])
    tokenizer = kind.from_pretrained(folder, split_special_tokens=True)
    config["added_tokens_decoder"] = {
        id: {"content": token.content, "special": True} for id, token in tokenizer.added_tokens_decoder.items()
        if "extra_id" not in token.content}
    write(folder, "tokenizer_config.json", config)
    # The later treatment gives no bytes to SentencePiece as they are.
    more = []
    own = sentencepiece.SentencePieceProcessor(os.path.join(folder, "tokenizer.model"))
    if config.get("legacy", True):
        more = [{"hex": one.hex(), "ids": own.EncodeAsIds(one)} for one in BYTES]
    write_cases(folder, tokenizer, more, own)
    if config["tokenizer_class"] == "LlamaTokenizer" and options["model_type"] == "bpe":
        fast = transformers.LlamaTokenizerFast.from_pretrained(folder, from_slow=True, split_special_tokens=True,
                                                                 legacy=config.get("legacy", True))
        differ = [text for text in TEXTS if ids_of(fast, text) != ids_of(tokenizer, text)]
        print(f"{name}: the fast tokenizer differs on {len(differ)} of {len(TEXTS)} texts: {differ}")
        folder = os.path.join(out, name + "_fast")
        shutil.rmtree(folder, ignore_errors=True)
        fast.save_pretrained(folder)
        for file in os.listdir(folder):
            path = os.path.join(folder, file)
            if file in ("tokenizer.json", "tokenizer_config.json"):
                with open(path) as stream:
                    content = json.load(stream)
                write(folder, file, content)  # in one line
            else:
                os.remove(path)
        write_cases(folder, fast, [])
