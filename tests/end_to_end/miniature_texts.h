// Texts as the papers' specs want them laid out, and folders of transformers' GPT-2, RoBERTa and
// Llama with tokenizers of single bytes, all made by a test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "tests/end_to_end/miniature_files.h"

namespace hyfreedp::end_to_end {

// The characters by which byte-level tokenizers write the 256 bytes.
inline std::vector<std::string> byte_symbols() {
  std::vector<std::string> symbols;
  unsigned next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printed = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
    const unsigned code = printed ? byte : next++;
    if (code < 128) {
      symbols.emplace_back(1, static_cast<char>(code));
    } else {
      symbols.push_back({static_cast<char>(0xC0U | code >> 6U), static_cast<char>(0x80U | (code & 0x3FU))});
    }
  }
  return symbols;
}

inline json::object vocabulary_of(const std::vector<std::string>& tokens) {
  json::object vocabulary;
  for (std::size_t id = 0; id < tokens.size(); ++id) vocabulary[tokens[id]] = id;
  return vocabulary;
}

inline void write_json_file(const std::filesystem::path& path, const json::value& value) {
  write_file_atomically(path.string(), json::serialize(value)).value();
}

inline json::object mark_of(std::size_t id, const std::string& content) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

inline constexpr std::int64_t kTinyWidth = 16, kTinyDepth = 2, kTinyHeads = 2;

inline void write_gpt2(const std::filesystem::path& folder) {
  const std::string end = "<|endoftext|>";
  auto tokens = byte_symbols();
  tokens.push_back(end);
  const auto vocabulary = static_cast<std::int64_t>(tokens.size()), d = kTinyWidth;
  TensorShapes tensors{{"wte.weight", {vocabulary, d}}, {"wpe.weight", {1024, d}}};
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& weight) {
    tensors.emplace_back(name + ".weight", weight);
    tensors.emplace_back(name + ".bias", std::vector<std::int64_t>{weight.back()});
  };
  for (std::int64_t i = 0; i < kTinyDepth; ++i) {
    const auto block = fmt::format("h.{}.", i);
    add(block + "ln_1", {d});
    add(block + "ln_2", {d});
    add(block + "attn.c_attn", {d, 3 * d});
    add(block + "attn.c_proj", {d, d});
    add(block + "mlp.c_fc", {d, 4 * d});
    add(block + "mlp.c_proj", {4 * d, d});
  }
  add("ln_f", {d});
  write_weights(folder, "", {}, tensors);
  write_json_file(folder / "config.json", json::object{{"model_type", "gpt2"},
                                                       {"vocab_size", vocabulary},
                                                       {"n_positions", 1024},
                                                       {"n_embd", d},
                                                       {"n_layer", kTinyDepth},
                                                       {"n_head", kTinyHeads}});
  const json::object bytes{
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  write_json_file(folder / "tokenizer.json",
                  json::object{{"version", "1.0"},
                               {"added_tokens", json::array{mark_of(tokens.size() - 1, end)}},
                               {"normalizer", nullptr},
                               {"pre_tokenizer", bytes},
                               {"post_processor", bytes},
                               {"decoder", bytes},
                               {"model", json::object{{"type", "BPE"},
                                                      {"vocab", vocabulary_of(tokens)},
                                                      {"merges", json::array()}}}});
  write_json_file(folder / "tokenizer_config.json",
                  json::object{{"eos_token", end}, {"tokenizer_class", "GPT2Tokenizer"}});
}

inline void write_roberta(const std::filesystem::path& folder) {
  std::vector<std::string> tokens{"<s>", "<pad>", "</s>", "<unk>"};
  for (auto& symbol : byte_symbols()) tokens.push_back(std::move(symbol));
  tokens.emplace_back("<mask>");
  const auto vocabulary = static_cast<std::int64_t>(tokens.size()), d = kTinyWidth;
  Tensors tensors;
  const std::string embeddings = "roberta.embeddings.";
  tensors.list = {{embeddings + "word_embeddings.weight", {vocabulary, d}},
                  {embeddings + "position_embeddings.weight", {514, d}},
                  {embeddings + "token_type_embeddings.weight", {1, d}}};
  tensors.add(embeddings + "LayerNorm", {d});
  for (std::int64_t i = 0; i < kTinyDepth; ++i) {
    const auto block = fmt::format("roberta.encoder.layer.{}.", i);
    for (const char* projection : {"query", "key", "value"})
      tensors.add(fmt::format("{}attention.self.{}", block, projection), {d, d});
    tensors.add(block + "attention.output.dense", {d, d});
    tensors.add(block + "attention.output.LayerNorm", {d});
    tensors.add(block + "intermediate.dense", {4 * d, d});
    tensors.add(block + "output.dense", {d, 4 * d});
    tensors.add(block + "output.LayerNorm", {d});
  }
  write_weights(folder, "", {}, tensors.list);
  write_json_file(folder / "config.json", json::object{{"model_type", "roberta"},
                                                       {"vocab_size", vocabulary},
                                                       {"max_position_embeddings", 514},
                                                       {"type_vocab_size", 1},
                                                       {"hidden_size", d},
                                                       {"num_hidden_layers", kTinyDepth},
                                                       {"num_attention_heads", kTinyHeads},
                                                       {"intermediate_size", 4 * d},
                                                       {"hidden_act", "gelu"},
                                                       {"pad_token_id", 1},
                                                       {"layer_norm_eps", 1e-5}});
  write_json_file(folder / "vocab.json", vocabulary_of(tokens));
  write_file_atomically((folder / "merges.txt").string(), "#version: 0.2\n").value();
  write_json_file(folder / "tokenizer_config.json", json::object{{"tokenizer_class", "RobertaTokenizer"}});
}

inline void write_llama(const std::filesystem::path& folder) {
  const std::string blank = "\u2581";
  std::vector<std::string> tokens{"<unk>", "<s>", "</s>"};
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(fmt::format("<0x{:02X}>", byte));
  tokens.push_back(blank);
  const auto vocabulary = static_cast<std::int64_t>(tokens.size()), d = kTinyWidth;
  TensorShapes tensors{{"model.embed_tokens.weight", {vocabulary, d}},
                       {"model.norm.weight", {d}},
                       {"lm_head.weight", {vocabulary, d}}};
  for (std::int64_t i = 0; i < kTinyDepth; ++i) {
    const auto block = fmt::format("model.layers.{}.", i);
    for (const char* projection : {"q", "k", "v", "o"})
      tensors.push_back({fmt::format("{}self_attn.{}_proj.weight", block, projection), {d, d}});
    for (const char* projection : {"gate", "up"})
      tensors.push_back({fmt::format("{}mlp.{}_proj.weight", block, projection), {2 * d, d}});
    tensors.push_back({block + "mlp.down_proj.weight", {d, 2 * d}});
    for (const char* norm : {"input_layernorm", "post_attention_layernorm"})
      tensors.push_back({fmt::format("{}{}.weight", block, norm), {d}});
  }
  write_weights(folder, "", {}, tensors);
  write_json_file(folder / "config.json", json::object{{"model_type", "llama"},
                                                       {"vocab_size", vocabulary},
                                                       {"hidden_size", d},
                                                       {"intermediate_size", 2 * d},
                                                       {"num_hidden_layers", kTinyDepth},
                                                       {"num_attention_heads", kTinyHeads},
                                                       {"num_key_value_heads", kTinyHeads},
                                                       {"rms_norm_eps", 1e-5},
                                                       {"max_position_embeddings", 4096},
                                                       {"tie_word_embeddings", false}});
  json::array marks;
  for (std::size_t id = 0; id < 3; ++id) marks.push_back(mark_of(id, tokens[id]));
  const auto special = [](const char* token, int type) {
    return json::object{{"SpecialToken", json::object{{"id", token}, {"type_id", type}}}};
  };
  const auto text = [](const char* id, int type) {
    return json::object{{"Sequence", json::object{{"id", id}, {"type_id", type}}}};
  };
  const json::object begin{{"id", "<s>"}, {"ids", json::array{1}}, {"tokens", json::array{"<s>"}}};
  write_json_file(
      folder / "tokenizer.json",
      json::object{
          {"version", "1.0"},
          {"added_tokens", marks},
          {"normalizer",
           json::object{{"type", "Sequence"},
                        {"normalizers", json::array{json::object{{"type", "Prepend"}, {"prepend", blank}},
                                                    json::object{{"type", "Replace"},
                                                                 {"pattern", json::object{{"String", " "}}},
                                                                 {"content", blank}}}}}},
          {"pre_tokenizer", nullptr},
          {"post_processor", json::object{{"type", "TemplateProcessing"},
                                          {"single", json::array{special("<s>", 0), text("A", 0)}},
                                          {"pair", json::array{special("<s>", 0), text("A", 0),
                                                               special("<s>", 1), text("B", 1)}},
                                          {"special_tokens", json::object{{"<s>", begin}}}}},
          {"decoder", nullptr},
          {"model", json::object{{"type", "BPE"},
                                 {"unk_token", "<unk>"},
                                 {"fuse_unk", true},
                                 {"byte_fallback", true},
                                 {"vocab", vocabulary_of(tokens)},
                                 {"merges", json::array()}}}});
  write_json_file(folder / "tokenizer_config.json", json::object{{"bos_token", "<s>"},
                                                                 {"eos_token", "</s>"},
                                                                 {"unk_token", "<unk>"},
                                                                 {"tokenizer_class", "LlamaTokenizer"}});
}

// train and test files of so many lines, no two of which are equal.
inline void write_lines(const std::filesystem::path& folder, int train, int test) {
  std::filesystem::create_directories(folder);
  for (const auto& [part, count] : {std::pair{"train", train}, {"test", test}}) {
    std::string lines;
    for (int i = 0; i < count; ++i)
      lines += fmt::format("the {} text {} is of words, as {} is\n", part, i, 7 * i);
    write_file_atomically((folder / fmt::format("{}.txt", part)).string(), lines).value();
  }
}

// Objects with texts as these members and, with classes, the member `label`.
inline void write_json_lines(const std::filesystem::path& folder, const std::vector<std::string>& members,
                             int classes, int train, int test) {
  std::filesystem::create_directories(folder);
  for (const auto& [part, count] : {std::pair{"train", train}, {"test", test}}) {
    std::string lines;
    for (int i = 0; i < count; ++i) {
      json::object one;
      for (const auto& member : members) one[member] = fmt::format("{} {} of {}", part, i, member);
      if (classes > 0) one["label"] = i % classes;
      lines += json::serialize(one) + "\n";
    }
    write_file_atomically((folder / fmt::format("{}.jsonl", part)).string(), lines).value();
  }
}

// The E2E challenge's files: restaurants, each with two sentences.
inline void write_restaurants(const std::filesystem::path& folder, int train, int test) {
  std::filesystem::create_directories(folder);
  for (const auto& [part, count] : {std::pair{"train", train}, {"test", test}}) {
    std::string lines = "mr,ref\n";
    for (int i = 0; i < count; ++i) {
      const auto name = fmt::format("{} {}", part, i / 2);
      lines += fmt::format("\"name[{0}], food[French]\",\"{0} {1} French.\"\n", name,
                           i % 2 == 0 ? "is" : "serves");
    }
    write_file_atomically((folder / fmt::format("{}.csv", part)).string(), lines).value();
  }
}

// All texts that presets `tiny` read, and the networks that read them.
inline void write_texts(const std::filesystem::path& data) {
  const auto tiny = data / "tiny";
  write_json_lines(tiny / "sst2", {"sentence"}, 2, 500, 20);
  write_json_lines(tiny / "qnli", {"question", "sentence"}, 2, 500, 20);
  write_json_lines(tiny / "personachat", {"context", "reply"}, 0, 500, 20);
  write_restaurants(tiny / "e2e", 500, 20);
  write_lines(tiny / "wikitext-2", 1000, 100);
  write_lines(tiny / "enron", 500, 20);
  write_lines(tiny / "pubmed", 500, 20);
  write_gpt2(data / "gpt2");
  write_roberta(data / "roberta-base");
  write_llama(data / "llama2-7b");
}

}  // namespace hyfreedp::end_to_end
