// The option `tokenizer` of datasets of texts: a weights folder, or the name of fetched weights,
// whose tokenizer (text/tokenizer.h) makes the ids. No LibTorch.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "datasets/facts.h"
#include "datasets/text/tokenizer.h"
#include "harness/base/describe.h"

namespace hyfreedp::datasets {

struct TokenizerOptions {
  std::optional<std::string> tokenizer, tokenizer_sha256;
  std::optional<std::int64_t> vocabulary;
};
BOOST_DESCRIBE_STRUCT(TokenizerOptions, (), (tokenizer, tokenizer_sha256, vocabulary))

// `tokenizer`, and `tokenizer_sha256` and `vocabulary`, which are filled in when a spec is read.
// They are stored where they are given.
std::vector<OptionSpec> tokenizer_options(std::string help);

// Fills in the checksum and the vocabulary of the tokenizer that resolved options name, and returns
// it; null where it is not here and `vocabulary` is given. Errors: it is not here, cannot be read,
// or is not the one whose checksum is given.
Result<std::unique_ptr<Tokenizer>> fill_in_tokenizer(json::object& options);
// Facts::complete of a dataset that a network continues: a tokenizer must know what ends a text.
Result<json::object> with_continued_tokenizer(json::object options, Notes& notes);
// The tokenizer of completed options, which must be the one that the spec was read with.
Result<std::unique_ptr<Tokenizer>> chosen_tokenizer(const json::object& options);

// A row of a text that a network continues: ids [T] := tokens, cut, then `padding`; labels [T] :=
// the same from place `scored_from` on, kNotScored before it and in the padding.
void fill_continued(std::span<const std::int64_t> tokens, std::size_t scored_from, std::int64_t padding,
                    std::span<std::int64_t> ids, std::span<std::int64_t> labels);
// Where what is not scored fills all `length` tokens of some of the `records` test records of
// `where`: says so. Of records for training that would tell something of private ones.
void note_unscored(const std::string& where, std::int64_t unscored, std::int64_t records, std::int64_t length,
                   Notes& notes);

}  // namespace hyfreedp::datasets
