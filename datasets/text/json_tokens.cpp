#include "datasets/text/json_tokens.h"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <initializer_list>

#include "datasets/text/tokenizer_config.h"
#include "harness/base/json.h"
#include "harness/base/utf8.h"

namespace hyfreedp::datasets {
namespace {

constexpr const char* kMetaspace = "\xe2\x96\x81";

// A member, null where it is absent.
const json::value& member(const json::object& object, std::string_view key) {
  static const json::value none;
  const auto* found = object.if_contains(key);
  return found != nullptr ? *found : none;
}

bool is(const json::object& object, std::string_view key, const json::value& value) {
  return member(object, key) == value;
}

std::string type_of(const json::value& rule) {
  const auto* object = rule.if_object();
  const auto* type = object != nullptr ? member(*object, "type").if_string() : nullptr;
  return type != nullptr ? std::string(*type) : "";
}

// The rules of a Sequence, of sequences within it too; of another rule itself.
std::vector<json::value> rules_of(const json::value& rule, std::string_view key) {
  if (rule.is_null()) return {};
  const auto* inner = type_of(rule) == "Sequence" ? member(rule.get_object(), key).if_array() : nullptr;
  if (inner == nullptr) return {rule};
  std::vector<json::value> rules;
  for (const auto& one : *inner) {
    for (auto& next : rules_of(one, key)) rules.push_back(std::move(next));
  }
  return rules;
}

}  // namespace

// Reads one file; what its parts say is gathered until the tokenizer can be made.
class JsonReader {
 public:
  JsonReader(const std::string& folder, const json::object& file)
      : folder_(folder), path_(folder + "/tokenizer.json"), file_(file) {}

  Result<JsonTokens> read() {
    if (auto ok = only(file_, "",
                       {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                        "post_processor", "decoder", "model"});
        !ok)
      return ok.error();
    for (const auto& part : {&JsonReader::read_added, &JsonReader::read_model, &JsonReader::read_normalizer,
                             &JsonReader::read_cuts, &JsonReader::read_processor}) {
      if (auto done = (this->*part)(); !done) return done.error();
    }
    if (auto done = read_config(); !done) return done.error();
    auto pairs = BytePairs::make(tables_, path_, path_);
    if (!pairs) return pairs.error();
    if (marks_.padding >= pairs->vocabulary()) return bad("its 'padding.pad_id' is no id of its vocabulary.");
    JsonTokens tokens(std::move(*pairs));
    tokens.marks_ = marks_;
    tokens.blank_ = blank_;
    tokens.bytes_ = tables_.bytes;
    return tokens;
  }

 private:
  using Blank = JsonTokens::Blank;

  Error bad(const std::string& what) const { return error(path_ + ": " + what); }
  Error unknown(const char* what, const json::value& rule) const {
    return bad(fmt::format("{} {} is not known here.", what, shown(rule)));
  }
  // An error for a key that is not among `known`.
  Result<void> only(const json::object& object, const std::string& of,
                    std::initializer_list<std::string_view> known) const {
    for (const auto& item : object) {
      if (std::ranges::find(known, std::string_view(item.key())) == known.end())
        return bad(fmt::format("the key '{}{}' is not known here.", of, as_one_line(item.key())));
    }
    return {};
  }

  Result<void> read_added() {
    const auto* added = member(file_, "added_tokens").if_array();
    if (added == nullptr) return member(file_, "added_tokens").is_null() ? Result<void>() : bad_added();
    for (const auto& item : *added) {
      const auto* token = item.if_object();
      const auto* content = token != nullptr ? member(*token, "content").if_string() : nullptr;
      const auto* id = token != nullptr ? member(*token, "id").if_int64() : nullptr;
      if (content == nullptr || id == nullptr) return bad_added();
      if (!is(*token, "special", true)) {
        return bad(
            fmt::format("the added token '{}' is not special: such ones are cut out of texts, which is "
                        "not done here.",
                        as_one_line(*content)));
      }
      tables_.marks[std::string(*content)] = *id;
    }
    return {};
  }
  Error bad_added() const { return bad("'added_tokens' are not objects with 'id' and 'content'."); }

  Result<void> read_model() {
    const auto* model = member(file_, "model").if_object();
    // Files from before models had types have none.
    if (model == nullptr || !(is(*model, "type", "BPE") || is(*model, "type", nullptr))) {
      std::error_code ignored;
      const bool has_pieces = std::filesystem::exists(folder_ + "/tokenizer.model", ignored);
      return bad(fmt::format("a model of type '{}' is not known here; BPE is.{}",
                             as_one_line(type_of(member(file_, "model"))),
                             has_pieces ? " Without this file, tokenizer.model beside it is read." : ""));
    }
    if (auto ok = only(*model, "model.",
                       {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                        "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
        !ok)
      return ok;
    for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!is(*model, key, nullptr) && !is(*model, key, "") && !is(*model, key, 0.0))
        return bad(fmt::format("'model.{}: {}' is not known here.", key, shown(member(*model, key))));
    }
    tables_.bytes = !is(*model, "byte_fallback", true);
    tables_.one_unknown = is(*model, "fuse_unk", true);
    tables_.whole_words = is(*model, "ignore_merges", true);
    const auto* vocabulary = member(*model, "vocab").if_object();
    if (vocabulary == nullptr) return bad("'model.vocab' is not an object.");
    for (const auto& item : *vocabulary) {
      const std::string written(item.key());
      const auto* id = item.value().if_int64();
      if (id == nullptr) return bad(fmt::format("'model.vocab': '{}' has no id.", as_one_line(written)));
      if (const auto mark = tables_.marks.find(written); mark == tables_.marks.end()) {
        tables_.symbols.emplace_back(written, *id);
      } else if (mark->second != *id) {
        return bad(fmt::format("'{}' has two ids.", as_one_line(written)));
      }
    }
    if (const auto* name = member(*model, "unk_token").if_string()) {
      const auto* id = member(*vocabulary, *name).if_int64();
      tables_.unknown = id != nullptr ? *id : id_of(*name);
      if (!tables_.unknown) return bad(fmt::format("'model.unk_token: {}' has no id.", as_one_line(*name)));
    }
    return read_merges(member(*model, "merges"));
  }

  Result<void> read_merges(const json::value& merges) {
    if (!merges.is_array()) return bad("'model.merges' is not a list.");
    for (const auto& merge : merges.get_array()) {
      const auto* text = merge.if_string();
      const auto* pair = merge.if_array();
      if (text != nullptr && std::ranges::count(*text, ' ') == 1) {
        const auto gap = text->find(' ');
        tables_.pairs.emplace_back(text->subview(0, gap), text->subview(gap + 1));
      } else if (pair != nullptr && pair->size() == 2 && pair->at(0).is_string() && pair->at(1).is_string()) {
        tables_.pairs.emplace_back(pair->at(0).get_string(), pair->at(1).get_string());
      } else {
        return bad(fmt::format("'model.merges': {} is not a pair of symbols.", shown(merge)));
      }
    }
    return {};
  }

  // Llama's: U+2581 before the text and for every blank.
  Result<void> read_normalizer() {
    for (const auto& rule : rules_of(member(file_, "normalizer"), "normalizers")) {
      const json::value prepend{{"type", "Prepend"}, {"prepend", kMetaspace}};
      const json::value replace{{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kMetaspace}};
      if (tables_.bytes || (rule != prepend && rule != replace)) return unknown("the normalizer", rule);
      if (rule == prepend) blank_ = Blank::always;
      replaces_ = replaces_ || rule == replace;
    }
    return {};
  }

  Result<void> read_cuts() {
    tables_.cuts.clear();
    bool has_bytes = false;
    for (const auto& rule : rules_of(member(file_, "pre_tokenizer"), "pretokenizers")) {
      const auto* object = rule.if_object();
      const auto type = type_of(rule);
      if (object == nullptr || has_bytes) return unknown("the pre_tokenizer", rule);
      if (type == "ByteLevel" && tables_.bytes) {
        if (auto ok = only(*object, "ByteLevel.", {"type", "add_prefix_space", "trim_offsets", "use_regex"});
            !ok)
          return ok;
        has_bytes = true;
        // Both flags are set if their keys are absent.
        if (!is(*object, "add_prefix_space", false)) {
          if (!tables_.cuts.empty()) return unknown("after another rule, the pre_tokenizer", rule);
          blank_ = Blank::where_none;
        }
        if (!is(*object, "use_regex", false)) tables_.cuts.push_back(Cut::gpt2);
      } else if (type == "Digits") {
        if (auto ok = only(*object, "Digits.", {"type", "individual_digits"}); !ok) return ok;
        tables_.cuts.push_back(is(*object, "individual_digits", true) ? Cut::digit : Cut::digits);
      } else if (type == "Metaspace" && !tables_.bytes) {
        if (auto ok = read_metaspace(*object); !ok) return ok;
      } else if (type == "Split") {
        if (auto ok = read_split(*object); !ok) return ok;
      } else {
        return unknown("the pre_tokenizer", rule);
      }
    }
    if (tables_.bytes && !has_bytes)
      return bad("has neither a pre_tokenizer ByteLevel nor 'model.byte_fallback', one of which is needed.");
    if (!tables_.bytes && !replaces_)
      return bad("has neither a pre_tokenizer Metaspace nor a normalizer that replaces blanks.");
    return {};
  }

  Result<void> read_metaspace(const json::object& rule) {
    if (auto ok = only(rule, "Metaspace.",
                       {"type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"});
        !ok)
      return ok;
    const bool never = is(rule, "prepend_scheme", "never") ||
                       (is(rule, "prepend_scheme", nullptr) && is(rule, "add_prefix_space", false));
    if (!is(rule, "replacement", kMetaspace) || replaces_ || blank_ != Blank::as_is || !tables_.cuts.empty())
      return unknown("the pre_tokenizer", rule);
    replaces_ = true;
    if (!never) blank_ = Blank::where_none;
    if (!is(rule, "split", false)) tables_.cuts.push_back(Cut::metaspace);
    return {};
  }

  Result<void> read_split(const json::object& rule) {
    const auto* pattern = member(rule, "pattern").if_object();
    const auto* text = pattern != nullptr ? member(*pattern, "Regex").if_string() : nullptr;
    const auto cut = cut_of_pattern(text != nullptr ? std::string_view(*text) : "");
    if (auto ok = only(rule, "Split.", {"type", "pattern", "behavior", "invert"}); !ok) return ok;
    if (!cut || !tables_.bytes || !is(rule, "behavior", "Isolated") || is(rule, "invert", true))
      return unknown("the pre_tokenizer", rule);
    tables_.cuts.push_back(*cut);
    return {};
  }

  Result<void> read_processor() {
    for (const auto& rule : rules_of(member(file_, "post_processor"), "processors")) {
      const auto type = type_of(rule);
      if (type == "ByteLevel") continue;  // of offsets alone
      const bool roberta = type == "RobertaProcessing";
      if (roberta || type == "BertProcessing") {
        const auto first = id_of_pair(rule.get_object(), "cls"), end = id_of_pair(rule.get_object(), "sep");
        if (!first || !end) return unknown("the post_processor", rule);
        marks_.before = {*first};
        marks_.after = {*end};
        marks_.between = std::vector<std::int64_t>(roberta ? 2 : 1, *end);
      } else if (type != "TemplateProcessing" || !read_template(rule.get_object())) {
        return unknown("the post_processor", rule);
      }
    }
    if (marks_.before.size() + marks_.between.size() + marks_.after.size() > Tokenizer::kMostMarks)
      return bad(fmt::format("its rows have more than {} marks.", Tokenizer::kMostMarks));
    return {};
  }

  // ["</s>", 2]
  std::optional<std::int64_t> id_of_pair(const json::object& rule, const char* key) const {
    const auto* pair = member(rule, key).if_array();
    const auto* name = pair != nullptr && pair->size() == 2 ? pair->at(0).if_string() : nullptr;
    return name != nullptr ? id_of(*name) : std::nullopt;
  }
  std::optional<std::int64_t> id_of(std::string_view name) const {
    const auto found = tables_.marks.find(std::string(name));
    return found == tables_.marks.end() ? std::nullopt : std::optional(found->second);
  }

  // Reads the marks of a template. False unless `single` is before, A, after and `pair` has the
  // same around its two texts.
  bool read_template(const json::object& rule) {
    const auto single = parts_of(member(rule, "single"), "A");
    const auto pair = parts_of(member(rule, "pair"), "AB");
    if (!single || !pair || single->front() != pair->front() || single->back() != pair->back()) return false;
    marks_.before = pair->at(0);
    marks_.between = pair->at(1);
    marks_.after = pair->at(2);
    return true;
  }
  // The marks before, between and after the texts, which must be those of `names`, in this order.
  std::optional<std::vector<std::vector<std::int64_t>>> parts_of(const json::value& list,
                                                                 std::string_view names) const {
    if (!list.is_array()) return std::nullopt;
    std::vector<std::vector<std::int64_t>> parts(1);
    for (const auto& item : list.get_array()) {
      const auto* object = item.if_object();
      if (object == nullptr || object->size() != 1) return std::nullopt;
      const auto& [kind, value] = *object->begin();
      const auto* name = value.is_object() ? member(value.get_object(), "id").if_string() : nullptr;
      if (name == nullptr) return std::nullopt;
      if (kind == "Sequence") {
        if (parts.size() > names.size() || *name != names.substr(parts.size() - 1, 1)) return std::nullopt;
        parts.emplace_back();
        continue;
      }
      const auto id = id_of(*name);
      if (kind != "SpecialToken" || !id) return std::nullopt;
      parts.back().push_back(*id);
    }
    if (parts.size() != names.size() + 1) return std::nullopt;
    return parts;
  }

  Result<void> read_config() {
    const auto config = tokenizer_config(folder_, "");
    if (!config) return config.error();
    const auto token = [&](const char* key) -> std::optional<std::int64_t> {
      const auto name = token_name(*config, key);
      return name ? id_of(*name) : std::nullopt;
    };
    const auto* padding = member(file_, "padding").if_object();
    const auto* own = padding != nullptr ? member(*padding, "pad_id").if_int64() : nullptr;
    marks_.end = token("eos_token");
    auto filler = token("pad_token");
    if (!filler && own != nullptr) filler = *own;
    if (!filler) filler = marks_.end;
    if (!filler || *filler < 0)
      return error(folder_ +
                   "/tokenizer_config.json: must name an 'eos_token' or 'pad_token' of tokenizer.json.");
    marks_.padding = *filler;
    return {};
  }

  std::string folder_, path_;
  const json::object& file_;
  PairTables tables_;
  Tokenizer::Marks marks_;
  Blank blank_ = Blank::as_is;
  bool replaces_ = false;
};

Result<JsonTokens> JsonTokens::load(const std::string& folder) {
  const auto path = folder + "/tokenizer.json";
  const auto file = read_json_file(path);
  if (!file) return file.error();
  if (!file->is_object()) return error(path + ": is not an object.");
  return JsonReader(folder, file->get_object()).read();
}

std::vector<std::int64_t> JsonTokens::encode(std::string_view text) {
  if (text.empty()) return {};
  std::string whole(text);
  const std::string blank = bytes_ ? " " : kMetaspace;
  if (!bytes_) boost::replace_all(whole, " ", kMetaspace);
  if (blank_ == Blank::always || (blank_ == Blank::where_none && !whole.starts_with(blank)))
    whole.insert(0, blank);
  return pairs_.encode(whole);
}

std::optional<std::string> JsonTokens::decode(const std::vector<std::int64_t>& ids) const {
  auto text = pairs_.text_of(ids);
  if (!bytes_) boost::replace_all(text, kMetaspace, " ");
  return blank_ != Blank::as_is && text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace hyfreedp::datasets
