// The tokenizer in a GGUF file, as the files of a weights folder.
#pragma once

#include <map>
#include <string>

#include "harness/base/result.h"
#include "harness/models/files/gguf.h"

namespace hyfreedp::models {

// The tokenizer's files, by name, from the values `tokenizer.ggml.*`. `model` decides the first:
//   gpt2    tokenizer.json: pairs of bytes, joined as `merges` says, in words that llama.cpp cuts
//           by the rule that `pre` names. Known are the names of four rules: GPT-2's, the same
//           after single digits (smollm, ...), Llama 3's (llama-bpe, ...), and Qwen 2's
//   llama   tokenizer.model: SentencePiece's pairs, joined by their `scores`
// The other, tokenizer_config.json, has the names of the special tokens. Those that
// `add_bos_token` and `add_eos_token` do not decide are put as llama.cpp puts them: one before a
// text for Llama 3's rule and for SentencePiece.
//
// Refused, by name: another model, another `pre`, a value of another type or length, a token that
// is there twice, and a vocabulary that SentencePiece cannot be trusted with (piece_model.h).
Result<std::map<std::string, std::string>> tokenizer_files_of(const GgufFile& file, const std::string& where);

}  // namespace hyfreedp::models
