#include "harness/models/files/gguf_tokenizer.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "harness/base/utf8.h"
#include "harness/models/files/piece_model.h"

namespace hyfreedp::models {
namespace {

const std::string kPrefix = "tokenizer.ggml.";

enum class Rule { gpt2, digits, llama3, qwen2 };
constexpr std::pair<std::string_view, Rule> kRules[] = {
    {"gpt-2", Rule::gpt2},       {"phi-2", Rule::gpt2},      {"mpt", Rule::gpt2},
    {"olmo", Rule::gpt2},        {"jais", Rule::gpt2},       {"mellum", Rule::gpt2},
    {"gigachat", Rule::gpt2},    {"exaone4", Rule::gpt2},    {"smollm", Rule::digits},
    {"starcoder", Rule::digits}, {"refact", Rule::digits},   {"command-r", Rule::digits},
    {"codeshell", Rule::digits}, {"exaone", Rule::digits},   {"minerva-7b", Rule::digits},
    {"llama-bpe", Rule::llama3}, {"llama3", Rule::llama3},   {"llama-v3", Rule::llama3},
    {"falcon3", Rule::llama3},   {"pixtral", Rule::llama3},  {"lfm2", Rule::llama3},
    {"qwen2", Rule::qwen2},      {"stablelm2", Rule::qwen2}, {"deepseek-r1-qwen", Rule::qwen2},
    {"megrez", Rule::qwen2}};

// tokenizer.json of pairs of bytes; what is null and not of `model` is filled in, and `vocab`.
constexpr const char* kPairs =
    R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": null,
  "normalizer": null, "pre_tokenizer": null, "post_processor": null,
  "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
  "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
    "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
    "vocab": null, "merges": null}})";

json::value cut_of(Rule rule) {
  const bool splits = rule == Rule::llama3 || rule == Rule::qwen2;
  json::value bytes{
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", !splits}};
  if (rule == Rule::gpt2) return bytes;
  json::value before{{"type", "Digits"}, {"individual_digits", true}};
  if (splits) {
    const auto pattern =
        fmt::format(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{}|)"
                    R"( ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
                    rule == Rule::llama3 ? "{1,3}" : "");
    before = {{"type", "Split"},
              {"pattern", json::object{{"Regex", pattern}}},
              {"behavior", "Isolated"},
              {"invert", false}};
  }
  return {{"type", "Sequence"}, {"pretokenizers", json::array{before, bytes}}};
}

// The vocabulary: each token with its type and, of SentencePiece, its score.
Result<std::vector<Piece>> pieces_of(const GgufFile& file, bool has_scores, const std::string& where) {
  const auto tokens = file.value(kPrefix + "tokens"), types = file.value(kPrefix + "token_type"),
             scores = file.value(kPrefix + "scores");
  const auto bad = [&](const char* name, const char* what) {
    return error(fmt::format("{}: '{}{}' {}.", where, kPrefix, name, what));
  };
  if (!tokens.is_array()) return bad("tokens", "is not a list");
  const auto count = tokens.get_array().size();
  if (!types.is_array() || types.get_array().size() != count)
    return bad("token_type", "has not as many items as there are tokens");
  if (has_scores && (!scores.is_array() || scores.get_array().size() != count))
    return bad("scores", "has not as many items as there are tokens");
  std::vector<Piece> pieces(count);
  for (std::size_t id = 0; id < count; ++id) {
    const auto* text = tokens.get_array()[id].if_string();
    if (text == nullptr) return bad("tokens", "is not a list of texts");
    const auto type = to_int(types.get_array()[id], "");
    if (!type || *type < 0 || *type > 6) return bad("token_type", "has a type that is not 0 to 6");
    // 0 says nothing.
    pieces[id] = {.text = std::string(*text),
                  .kind = *type == 0 ? Piece::Kind::normal : static_cast<Piece::Kind>(*type)};
    if (!has_scores) continue;
    const auto score = to_double(scores.get_array()[id], "");
    if (!score) return bad("scores", "is not a list of numbers");
    pieces[id].score = static_cast<float>(*score);
  }
  return pieces;
}

// A mark, by its name in tokenizer_config.json and its value here.
constexpr std::pair<const char*, const char*> kMarks[] = {{"bos_token", "bos_token_id"},
                                                          {"eos_token", "eos_token_id"},
                                                          {"pad_token", "padding_token_id"},
                                                          {"unk_token", "unknown_token_id"}};

// The id that a value names; nothing where it names none.
std::optional<std::size_t> mark_of(const GgufFile& file, const char* name, std::size_t count) {
  const auto id = to_int(file.value(kPrefix + name), name);
  const bool is_id = id && *id >= 0 && static_cast<std::size_t>(*id) < count;
  return is_id ? std::optional(static_cast<std::size_t>(*id)) : std::nullopt;
}

bool flag(const GgufFile& file, const char* name, bool otherwise) {
  const auto given = file.value(kPrefix + name);
  return given.is_null() ? otherwise : given == true;
}

// TemplateProcessing with these marks around each text; null without any.
json::value template_of(const std::vector<Piece>& pieces, std::optional<std::size_t> first,
                        std::optional<std::size_t> last) {
  if (!first && !last) return nullptr;
  const auto part = [](const char* kind, const std::string& name) {
    return json::object{{kind, json::object{{"id", name}, {"type_id", 0}}}};
  };
  json::object marks;
  for (const auto id : {first, last}) {
    if (!id) continue;
    const auto& name = pieces[*id].text;
    marks[name] = {{"id", name}, {"ids", json::array{*id}}, {"tokens", json::array{name}}};
  }
  json::object rule{{"type", "TemplateProcessing"}};
  for (const std::string texts : {"A", "AB"}) {
    json::array parts;
    for (const char text : texts) {
      if (first) parts.push_back(part("SpecialToken", pieces[*first].text));
      parts.push_back(part("Sequence", std::string(1, text)));
      if (last) parts.push_back(part("SpecialToken", pieces[*last].text));
    }
    rule[texts == "A" ? "single" : "pair"] = std::move(parts);
  }
  rule["special_tokens"] = std::move(marks);
  return rule;
}

Result<std::string> pairs_file(const GgufFile& file, const std::string& where) {
  const auto pre = get_string(file.values, kPrefix + "pre", where);
  if (!pre) return pre.error();
  const auto* const rule = std::ranges::find(kRules, *pre, &std::pair<std::string_view, Rule>::first);
  if (rule == std::end(kRules))
    return error(fmt::format("{}: the '{}pre' '{}' is not known here.", where, kPrefix, as_one_line(*pre)));
  const auto pieces = pieces_of(file, false, where);
  if (!pieces) return pieces.error();
  const auto merges = file.value(kPrefix + "merges");
  if (!merges.is_array() || !std::ranges::all_of(merges.get_array(), &json::value::is_string))
    return error(fmt::format("{}: '{}merges' is not a list of texts.", where, kPrefix));
  json::object vocabulary;
  json::array added;
  for (std::size_t id = 0; id < pieces->size(); ++id) {
    const auto& piece = (*pieces)[id];
    if (!vocabulary.emplace(piece.text, id).second)
      return error(fmt::format("{}: the token '{}' is there twice.", where, as_one_line(piece.text)));
    if (piece.kind == Piece::Kind::normal || piece.kind == Piece::Kind::byte) continue;
    added.push_back({{"id", id},
                     {"content", piece.text},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", piece.kind != Piece::Kind::user_defined}});
  }
  const bool is_llama3 = rule->second == Rule::llama3;
  const auto mark = [&](const char* asked, bool otherwise, const char* name) {
    return flag(file, asked, otherwise) ? mark_of(file, name, pieces->size()) : std::nullopt;
  };
  auto described = parse_json(kPairs, "pairs").value().as_object();
  described["added_tokens"] = std::move(added);
  described["pre_tokenizer"] = cut_of(rule->second);
  described["post_processor"] = template_of(*pieces, mark("add_bos_token", is_llama3, "bos_token_id"),
                                            mark("add_eos_token", false, "eos_token_id"));
  auto& model = described["model"].as_object();
  model["ignore_merges"] = is_llama3;
  model["vocab"] = std::move(vocabulary);
  model["merges"] = merges;
  return json::serialize(described) + "\n";
}

Result<std::string> pieces_file(const GgufFile& file, const std::string& where) {
  auto pieces = pieces_of(file, true, where);
  if (!pieces) return pieces.error();
  PieceModel model{.kind = PieceModel::Kind::pairs,
                   .pieces = std::move(*pieces),
                   .add_blank = flag(file, "add_space_prefix", true),
                   .merge_blanks = false};
  model.byte_fallback =
      std::ranges::find(model.pieces, Piece::Kind::byte, &Piece::kind) != model.pieces.end();
  if (auto checked = check_piece_model(model, where); !checked) return checked.error();
  return serialize_piece_model(model);
}

}  // namespace

Result<std::map<std::string, std::string>> tokenizer_files_of(const GgufFile& file,
                                                              const std::string& where) {
  const auto model = get_string(file.values, kPrefix + "model", where);
  if (!model) return model.error();
  const bool has_pieces = *model == "llama";
  if (!has_pieces && *model != "gpt2")
    return error(fmt::format("{}: a tokenizer '{}' is not known here.", where, as_one_line(*model)));
  auto main = has_pieces ? pieces_file(file, where) : pairs_file(file, where);
  if (!main) return main.error();
  json::object config{{"tokenizer_class", has_pieces ? "LlamaTokenizer" : "PreTrainedTokenizerFast"}};
  const auto tokens = file.value(kPrefix + "tokens").as_array();
  for (const auto& [key, name] : kMarks) {
    const bool is_written = has_pieces || key != std::string_view("unk_token");
    if (const auto id = mark_of(file, name, tokens.size()); id && is_written) config[key] = tokens[*id];
  }
  if (has_pieces) {
    config["legacy"] = true;
    for (const char* key : {"add_bos_token", "add_eos_token"})
      config[key] = flag(file, key, key == std::string_view("add_bos_token"));
  }
  return std::map<std::string, std::string>{
      {has_pieces ? "tokenizer.model" : "tokenizer.json", std::move(*main)},
      {"tokenizer_config.json", pretty_json(config)}};
}

}  // namespace hyfreedp::models
