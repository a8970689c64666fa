"""Makes texts.json of this folder (README.md). Needs PyTorch 2.11.0, transformers 4.57.6 and safetensors. Argument: the file
to write."""
import json
import os
import random
import sys
import warnings

import torch
import transformers
from safetensors.torch import load_file

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
torch.use_deterministic_algorithms(True)
torch.set_num_threads(1)
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models")
# Of each model: longest prompt, tokens that are written.
SIZES = {"gpt2": (7, 16), "llama": (12, 20), "opt": (4, 6)}
BEAMS = [(2, 1.0), (4, 0.0), (3, 2.0), (10, 0.9)]


def network(name, dtype):
    config = transformers.AutoConfig.from_pretrained(os.path.join(MODELS, name))
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="eager")
    state = load_file(os.path.join(MODELS, name, "weights.safetensors"))
    missing = model.load_state_dict(state, strict=False)
    assert not missing.unexpected_keys and all("lm_head" in key for key in missing.missing_keys), missing
    model.tie_weights()
    return model.to(dtype).eval()


def written(model, prompt, end, **options):
    found = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.int64),
                           do_sample=False, eos_token_id=end, pad_token_id=end, **options)[0, len(prompt):].tolist()
    return found[:found.index(end) + 1] if end in found else found


def main():
    cases = []
    for name, (longest, tokens) in SIZES.items():
        generator = random.Random(40)
        models = [network(name, dtype) for dtype in (torch.float32, torch.float64)]
        vocabulary = models[0].config.vocab_size
        prompts = [[generator.randrange(vocabulary) for _ in range(1 + i % longest)] for i in range(5)]
        ends = generator.sample(range(vocabulary), 1)
        # What a text has in its middle.
        ends.append(written(models[0], prompts[1], None, max_new_tokens=tokens)[tokens // 2])
        for end in ends:
            for beams, penalty in [(1, 1.0), *BEAMS]:
                if 2 * beams > vocabulary:
                    continue
                beam = {"num_beams": beams, "length_penalty": penalty} if beams > 1 else {}
                texts = [[written(model, prompt, end, max_new_tokens=tokens, **beam) for prompt in prompts]
                         for model in models]
                assert texts[0] == texts[1], (name, beams, penalty)  # no rounding decides
                cases.append({"model": name, "beams": beams, "length_penalty": penalty, "tokens": tokens, "end": end,
                              "prompts": prompts, "texts": texts[0]})
    with open(sys.argv[1], "w") as stream:
        stream.write("[" + ",\n".join(json.dumps(case) for case in cases) + "]\n")


main()
