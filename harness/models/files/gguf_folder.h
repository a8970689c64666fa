// A GGUF file of a Llama as a weights folder of Hugging Face's layout, which everything else here
// reads.
#pragma once

#include <map>
#include <string>

#include "harness/base/result.h"
#include "harness/models/files/gguf.h"

namespace hyfreedp::models {

// The folder's files if the tokenizer is byte-level BPE. SentencePiece has tokenizer.model instead
// of tokenizer.json.
inline constexpr const char* kFromGguf[] = {"config.json", "tokenizer.json", "tokenizer_config.json",
                                            "model.safetensors"};

// config.json from the values `llama.*`, the tokenizer's files from `tokenizer.ggml.*`
// (gguf_tokenizer.h), model.safetensors with the tensors under Hugging Face's names: numbers in
// blocks as float32, other types as they are, and the rows of queries and keys in Hugging Face's
// order, whose rotary pairs are a row of a head's first half and one of its second, where GGUF has
// them side by side.
//
// Refused, by name: another architecture than llama; a value `llama.*`, a tensor or a tokenizer
// that is not known; sizes that do not fit.
Result<void> write_folder_of_gguf(const std::string& file, const std::string& folder);

// Its files but for the weights, by name. `where` begins messages.
Result<std::map<std::string, std::string>> texts_of_gguf(const GgufFile& file, const std::string& where);

}  // namespace hyfreedp::models
