"""Makes cases.json (README.md) from the two packages that `hyfreedp data fetch` reads, unpacked:
  make.py MINILM_FOLDER FOLDER_OF_GGUF NAME.gguf
Needs torch, transformers, gguf, accelerate."""
import json
import sys

import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer

SENTENCES = ["a gorgeous, witty, seductive movie .", "it's slow -- very, very slow .",
             "The film is unaffordable; 12 of 112 people left?", "no"]
# As the E2E challenge's records are written.
RECORDS = [("name[The Mill], eatType[coffee shop], priceRange[cheap], near[The River]",
            "The Mill is a cheap coffee shop near The River."),
           ("name[Green Hall], food[Indian], area[city centre], familyFriendly[no]",
            "Green Hall serves Indian food in the city centre; it is not family-friendly."),
           ("name[Zeno's], customer rating[5 out of 5]", "Zeno's has a customer rating of 5 out of 5.")]


def numbers(tensor):
    return [round(float(x), 6) for x in tensor.flatten()]


def sentence_cases(folder):
    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval().double()
    batch = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    mask = batch["attention_mask"][..., None]
    with torch.no_grad():
        embeddings = (network(**batch).last_hidden_state * mask).sum(1) / mask.sum(1)
    # A head whose numbers need no file: W[c, j] = cos(c + j), no bias.
    head = torch.cos(torch.arange(2)[:, None] + torch.arange(embeddings.shape[1])[None, :].double())
    return {"sentences": SENTENCES, "ids": batch["input_ids"].tolist(),
            "embeddings": [numbers(one) for one in embeddings], "logits": [numbers(one @ head.T) for one in embeddings]}


def record_cases(folder, name):
    network = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    cases = []
    for prompt, text in RECORDS:
        before = tokenizer(prompt, add_special_tokens=False).input_ids
        after = tokenizer(" " + text, add_special_tokens=False).input_ids
        ids = torch.tensor([before + after])
        with torch.no_grad():
            logits = network(ids).logits[0].double()
        losses = -torch.log_softmax(logits[:-1], -1)[torch.arange(ids.shape[1] - 1), ids[0, 1:]]
        cases.append({"prompt": prompt, "text": " " + text, "ids": ids[0].tolist(), "losses": numbers(losses),
                      "last_logits": numbers(logits[-1, ::1024]),
                      "perplexity_of_text": round(float(losses[len(before) - 1:].mean().exp()), 6)})
    return cases


if __name__ == "__main__":
    minilm, folder, name = sys.argv[1:]
    with open("cases.json", "w") as stream:
        json.dump({"minilm-l6": sentence_cases(minilm), "smollm2-135m": record_cases(folder, name)}, stream)
        stream.write("\n")
