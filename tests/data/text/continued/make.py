"""Makes cases.json (README.md). Needs tokenizers. Run it in this folder."""
import json

from tokenizers import Tokenizer

LENGTH = 16
PROMPTS = ["name: The Mill, food:", "area: riverside |", "", "12 of 112 |", "it's the name of the place, hello world:"]
LINES = [" English", "  riverside, hello hello", "hello world, Hello, World!", " year 2024", " again"]
FOLDERS = {"smollm": ([], "<|end|>"), "llama": ([], "</s>"), "llama3": (["<s>"], "</s>")}


def row(ids, scored_from, end):
    ids = ids[:LENGTH]
    padding = LENGTH - len(ids)
    labels = [-100 if i < scored_from else token for i, token in enumerate(ids)]
    return {"ids": ids + [end] * padding, "labels": labels + [-100] * padding}


def blocks(ids):
    return [ids[at:at + LENGTH] for at in range(0, len(ids) - LENGTH + 1, LENGTH)]


cases = {}
for name, (before, end) in FOLDERS.items():
    tokenizer = Tokenizer.from_file(f"../tokenizer_json/{name}/tokenizer.json")
    ids_of = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    before, end = [tokenizer.token_to_id(mark) for mark in before], tokenizer.token_to_id(end)
    records = [before + ids_of(line) + [end] for line in LINES]
    prompts = [before + ids_of(prompt) for prompt in PROMPTS]
    lines = [LINES[0], "", *LINES[1:]]  # a blank line between paragraphs
    cases[name] = {
        "rows": [row(record, 0, end) for record in records],
        "with_prompt": [row(prompt + ids_of(line) + [end], len(prompt), end) for prompt, line in zip(prompts, LINES)],
        "blocks": blocks(sum(records, [])),
        "blocks_of_lines": blocks(sum((ids_of(line + "\n") for line in lines), []))}
with open("cases.json", "w") as stream:
    json.dump({"length": LENGTH, "prompts": PROMPTS, "lines": LINES, "folders": cases}, stream)
    stream.write("\n")
