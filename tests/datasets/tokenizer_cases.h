// A folder's cases.json: texts and rows with the ids that Hugging Face's tokenizer gives them.
#pragma once

#include <gtest/gtest.h>

#include "datasets/text/tokenizer.h"
#include "harness/base/describe.h"
#include "harness/base/json.h"

namespace hyfreedp::datasets {

inline json::array tokenizer_cases(const std::string& folder, const char* kind) {
  return read_json_file(folder + "/cases.json").value().at(kind).as_array();
}

inline std::vector<std::int64_t> ids_of(const json::object& one) {
  return from_json<std::vector<std::int64_t>>(one.at("ids"), "ids").value();
}

// `text`, or bytes that are no text as `hex`.
inline std::string text_of(const json::object& one) {
  const auto hex = string_or(one, "hex", "");
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return string_or(one, "text", bytes);
}

inline void expect_texts(Tokenizer& tokenizer, const std::string& folder) {
  for (int again = 0; again < 2; ++again) {  // words are remembered
    for (const auto& one : tokenizer_cases(folder, "cases")) {
      const auto& item = one.as_object();
      EXPECT_EQ(tokenizer.encode(text_of(item)), ids_of(item)) << canonical_json(item);
    }
  }
}

// Written ids become the texts again, but for a blank before a text, which tokenizers that put one
// there do not tell from it.
inline void expect_decoded(Tokenizer& tokenizer, const std::string& folder) {
  for (const auto& one : tokenizer_cases(folder, "cases")) {
    const auto text = string_or(one.as_object(), "text", "");
    if (text.find("\xe2\x96\x81") != std::string::npos) continue;  // which is Llama's blank
    auto ids = tokenizer.encode(text);
    for (const auto mark : tokenizer.marks().after) ids.push_back(mark);
    ids.push_back(tokenizer.vocabulary());  // a network may have more
    const auto decoded = tokenizer.decode(ids);
    ASSERT_TRUE(decoded);
    EXPECT_TRUE(*decoded == text || " " + *decoded == text) << canonical_json(one.at("text")) << *decoded;
  }
}

// The texts that another library makes of the ids.
inline void expect_decoded_texts(Tokenizer& tokenizer, const std::string& folder) {
  for (const auto& one : tokenizer_cases(folder, "cases")) {
    const auto& item = one.as_object();
    auto ids = ids_of(item);
    for (const auto mark : tokenizer.marks().after) ids.push_back(mark);
    ids.push_back(tokenizer.vocabulary());  // a network may have more
    EXPECT_EQ(tokenizer.decode(ids), string_or(item, "decoded", "none")) << canonical_json(item);
  }
}

inline void expect_rows(Tokenizer& tokenizer, const std::string& folder) {
  for (const auto& one : tokenizer_cases(folder, "rows")) {
    const auto& item = one.as_object();
    const auto expected = ids_of(item);
    std::vector<std::int64_t> row(expected.size(), -1);
    const auto second = string_or(item, "second", "");
    const std::string_view view(second);
    tokenizer.fill_row(string_or(item, "text", ""), item.contains("second") ? &view : nullptr, row);
    EXPECT_EQ(row, expected) << canonical_json(item.at("text"));
  }
}

}  // namespace hyfreedp::datasets
