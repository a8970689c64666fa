#include "harness/models/files/gguf_folder.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "harness/base/files.h"
#include "harness/base/safetensors_file.h"
#include "harness/base/utf8.h"

namespace hyfreedp::models {
namespace {

// Of `tokenizer.ggml.token_type`: those that no text becomes.
constexpr std::int64_t kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5;

constexpr std::pair<const char*, const char*> kNames[] = {
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
constexpr std::pair<const char*, const char*> kBlockNames[] = {
    {"attn_norm", "input_layernorm"}, {"ffn_norm", "post_attention_layernorm"},
    {"attn_q", "self_attn.q_proj"},   {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},   {"attn_output", "self_attn.o_proj"},
    {"ffn_gate", "mlp.gate_proj"},    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
};

// The names that are in `names` and end in .weight or .bias; nothing for another.
template <std::size_t n>
std::optional<std::string> renamed(std::string_view name,
                                   const std::pair<const char*, const char*> (&names)[n]) {
  for (const std::string_view end : {".weight", ".bias"}) {
    if (!name.ends_with(end)) continue;
    const auto stem = name.substr(0, name.size() - end.size());
    const auto* const found = std::ranges::find(names, stem, &std::pair<const char*, const char*>::first);
    if (found != std::end(names)) return std::string(found->second).append(end);
  }
  return std::nullopt;
}

// "blk.0.attn_q.weight": "model.layers.0.self_attn.q_proj.weight".
std::optional<std::string> name_at_hugging_face(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  if (!name.starts_with(kPrefix)) return renamed(name, kNames);
  const auto dot = name.find('.', kPrefix.size());
  if (dot == std::string_view::npos) return std::nullopt;
  const auto layer = name.substr(kPrefix.size(), dot - kPrefix.size());
  const auto inner = renamed(name.substr(dot + 1), kBlockNames);
  if (layer.empty() || layer.size() > 6 || layer.find_first_not_of("0123456789") != std::string_view::npos ||
      !inner)
    return std::nullopt;
  return fmt::format("model.layers.{}.{}", layer, *inner);
}

class Values {
 public:
  Values(const json::object& values, const std::string& where) : values_(values), where_(where) {}

  const json::value* find(const std::string& name) const { return values_.if_contains(name); }
  Result<std::int64_t> whole(const std::string& name) const { return get_int(values_, name, where_); }
  // Null where it is absent.
  json::value given(const std::string& name) const {
    const auto* found = find(name);
    return found != nullptr ? *found : nullptr;
  }
  Result<std::vector<std::string>> texts(const std::string& name) const {
    const auto* found = find(name);
    if (found == nullptr || !found->is_array())
      return error(fmt::format("{}: '{}' is not a list.", where_, name));
    std::vector<std::string> texts;
    for (const auto& item : found->get_array()) {
      if (!item.is_string()) return error(fmt::format("{}: '{}' is not a list of texts.", where_, name));
      texts.emplace_back(item.get_string());
    }
    return texts;
  }

 private:
  const json::object& values_;
  const std::string& where_;
};

// A float32 as the shortest decimal that reads back to it: 1e-05, not 9.999999747378752e-06.
json::value shortest(double value) {
  return std::strtod(fmt::format("{}", static_cast<float>(value)).c_str(), nullptr);
}

// Values that are read, of what follows llama. or tokenizer.ggml.; the last three mean nothing
// here.
constexpr std::string_view kKnown[] = {"embedding_length",
                                       "feed_forward_length",
                                       "block_count",
                                       "attention.head_count",
                                       "context_length",
                                       "vocab_size",
                                       "attention.head_count_kv",
                                       "attention.layer_norm_rms_epsilon",
                                       "attention.key_length",
                                       "attention.value_length",
                                       "rope.dimension_count",
                                       "rope.freq_base",
                                       "model",
                                       "pre",
                                       "tokens",
                                       "token_type",
                                       "merges",
                                       "bos_token_id",
                                       "eos_token_id",
                                       "padding_token_id",
                                       "add_bos_token",
                                       "add_eos_token",
                                       "unknown_token_id",
                                       "add_space_prefix",
                                       "scores"};

Result<void> check_known(const GgufFile& file, const std::string& where) {
  for (const auto& item : file.values) {
    const std::string_view name(item.key());
    for (const std::string_view prefix : {"llama.", "tokenizer.ggml."}) {
      if (name.starts_with(prefix) &&
          std::ranges::find(kKnown, name.substr(prefix.size())) == std::end(kKnown))
        return error(fmt::format("{}: the value '{}' is not known here.", where, as_one_line(name)));
    }
  }
  return {};
}

Result<json::object> config_of(const GgufFile& file, const std::string& where) {
  const Values values(file.values, where);
  if (const auto architecture = values.given("general.architecture"); architecture != "llama") {
    return error(fmt::format("{}: its architecture is {}; llama alone is read.", where, shown(architecture)));
  }
  json::object config{
      {"model_type", "llama"}, {"architectures", json::array{"LlamaForCausalLM"}}, {"hidden_act", "silu"}};
  constexpr std::pair<const char*, const char*> kSizes[] = {{"embedding_length", "hidden_size"},
                                                            {"feed_forward_length", "intermediate_size"},
                                                            {"block_count", "num_hidden_layers"},
                                                            {"attention.head_count", "num_attention_heads"},
                                                            {"context_length", "max_position_embeddings"}};
  for (const auto& [theirs, ours] : kSizes) {
    const auto size = values.whole(std::string("llama.") + theirs);
    if (!size) return size.error();
    if (*size < 1 || *size > 1 << 24)
      return error(fmt::format("{}: 'llama.{}' cannot be {}.", where, theirs, *size));
    config[ours] = *size;
  }
  const auto or_else = [&](const char* name, std::int64_t otherwise) {
    return values.find(name) != nullptr ? values.whole(name) : Result<std::int64_t>(otherwise);
  };
  const auto heads = config["num_attention_heads"].get_int64();
  const auto kv_heads = or_else("llama.attention.head_count_kv", heads);
  if (!kv_heads) return kv_heads.error();
  const auto width = or_else("llama.attention.key_length", config["hidden_size"].get_int64() / heads);
  if (!width) return width.error();
  if (*kv_heads < 1 || *width < 2 || *width > 1 << 24 || *width % 2 != 0)
    return error(fmt::format("{}: its heads cannot be so many or so wide.", where));
  for (const char* name : {"llama.attention.value_length", "llama.rope.dimension_count"}) {
    const auto same = or_else(name, *width);
    if (!same) return same.error();
    if (*same != *width)
      return error(fmt::format("{}: '{}' is {}, and the heads are {} wide.", where, name, *same, *width));
  }
  const auto epsilon = get_double(file.values, "llama.attention.layer_norm_rms_epsilon", where);
  if (!epsilon) return epsilon.error();
  const auto base = values.find("llama.rope.freq_base") == nullptr
                        ? Result<double>(10000.0)
                        : get_double(file.values, "llama.rope.freq_base", where);
  if (!base) return base.error();
  const auto table = file.tensors.find("token_embd.weight");
  if (table == file.tensors.end()) return error(where + ": has no tensor 'token_embd.weight'.");
  config["vocab_size"] = table->second.shape.front();
  config["num_key_value_heads"] = *kv_heads;
  config["head_dim"] = *width;
  config["rms_norm_eps"] = shortest(*epsilon);
  config["rope_theta"] = shortest(*base);
  config["tie_word_embeddings"] = !file.tensors.contains("output.weight");
  config["attention_bias"] = file.tensors.contains("blk.0.attn_q.bias");
  config["mlp_bias"] = file.tensors.contains("blk.0.ffn_up.bias");
  for (const char* mark : {"bos", "eos", "padding"}) {
    config[mark == std::string_view("padding") ? "pad_token_id" : fmt::format("{}_token_id", mark)] =
        values.given(fmt::format("tokenizer.ggml.{}_token_id", mark));
  }
  return config;
}

// How llama.cpp's `pre` cuts texts; null: not known.
json::value cut_of(const std::string& pre) {
  json::value bytes{
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  if (pre == "gpt-2") return bytes;
  if (pre != "smollm") return nullptr;
  const json::value digits{{"type", "Digits"}, {"individual_digits", true}};
  return {{"type", "Sequence"}, {"pretokenizers", json::array{digits, bytes}}};
}

// A token that stands around texts, with its id; an empty one is none.
using Mark = std::pair<std::string, std::size_t>;

json::value template_of(const Mark& first, const Mark& last) {
  if (first.first.empty() && last.first.empty()) return nullptr;
  json::object rule{{"type", "TemplateProcessing"}};
  json::object marks;
  for (const auto& [name, id] : {first, last}) {
    if (!name.empty()) marks[name] = {{"id", name}, {"ids", json::array{id}}, {"tokens", json::array{name}}};
  }
  for (const std::string texts : {"A", "AB"}) {
    json::array parts;
    const auto add = [&](const char* kind, const std::string& name) {
      if (!name.empty()) parts.push_back(json::object{{kind, json::object{{"id", name}, {"type_id", 0}}}});
    };
    for (const char text : texts) {
      add("SpecialToken", first.first);
      add("Sequence", std::string(1, text));
      add("SpecialToken", last.first);
    }
    rule[texts.size() == 1 ? "single" : "pair"] = std::move(parts);
  }
  rule["special_tokens"] = std::move(marks);
  return rule;
}

Result<std::map<std::string, json::object>> tokenizer_of(const GgufFile& file, const std::string& where) {
  const Values values(file.values, where);
  const std::string prefix = "tokenizer.ggml.";
  const auto model = get_string(file.values, prefix + "model", where);
  const auto pre = get_string(file.values, prefix + "pre", where);
  if (!model) return model.error();
  if (*model != "gpt2")
    return error(fmt::format("{}: a tokenizer '{}' is not known here.", where, as_one_line(*model)));
  if (!pre) return pre.error();
  const auto cut = cut_of(*pre);
  if (cut.is_null())
    return error(fmt::format("{}: the '{}pre' '{}' is not known here.", where, prefix, as_one_line(*pre)));
  const auto tokens = values.texts(prefix + "tokens"), merges = values.texts(prefix + "merges");
  if (!tokens) return tokens.error();
  if (!merges) return merges.error();
  const auto types = values.given(prefix + "token_type");
  if (!types.is_array() || types.get_array().size() != tokens->size())
    return error(fmt::format("{}: '{}token_type' has not as many items as there are tokens.", where, prefix));
  json::object vocabulary;
  json::array added;
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    const auto& token = (*tokens)[i];
    if (!vocabulary.emplace(token, i).second)
      return error(fmt::format("{}: the token '{}' is there twice.", where, as_one_line(token)));
    const auto& type = types.get_array()[i];
    if (type == kUnknown || type == kControl || type == kUserDefined || type == kUnused) {
      added.push_back({{"id", i},
                       {"content", token},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", type != kUserDefined}});
    }
  }
  const auto mark = [&](const char* name) -> Mark {
    const auto id = to_int(values.given(prefix + name), name);
    const auto place = id && *id >= 0 ? static_cast<std::size_t>(*id) : tokens->size();
    return place < tokens->size() ? Mark((*tokens)[place], place) : Mark();
  };
  const auto asked = [&](const char* flag, const char* name) {
    return values.given(prefix + flag) == true ? mark(name) : Mark();
  };
  json::object config{{"tokenizer_class", "PreTrainedTokenizerFast"}};
  for (const auto& [key, name] :
       {std::pair{"bos_token", "bos_token_id"}, std::pair{"eos_token", "eos_token_id"},
        std::pair{"pad_token", "padding_token_id"}}) {
    if (const auto token = mark(name).first; !token.empty()) config[key] = token;
  }
  json::object described{
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", std::move(added)},
      {"normalizer", nullptr},
      {"pre_tokenizer", cut},
      {"post_processor",
       template_of(asked("add_bos_token", "bos_token_id"), asked("add_eos_token", "eos_token_id"))},
      {"decoder",
       {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}}},
      {"model",
       {{"type", "BPE"},
        {"dropout", nullptr},
        {"unk_token", nullptr},
        {"continuing_subword_prefix", nullptr},
        {"end_of_word_suffix", nullptr},
        {"fuse_unk", false},
        {"byte_fallback", false},
        {"ignore_merges", false},
        {"vocab", std::move(vocabulary)},
        {"merges", json::array(merges->begin(), merges->end())}}}};
  return std::map<std::string, json::object>{{"tokenizer.json", std::move(described)},
                                             {"tokenizer_config.json", std::move(config)}};
}

// The rows of `heads` heads in Hugging Face's order.
SharedBytes with_ordered_rows(const StoredTensor& tensor, std::int64_t heads) {
  const auto rows = static_cast<std::size_t>(tensor.shape.front());
  const auto bytes = tensor.values.bytes.size() / rows;
  const auto width = rows / static_cast<std::size_t>(heads);
  std::string ordered;
  ordered.reserve(tensor.values.bytes.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const auto in_head = row % width, half = width / 2;
    const auto from = row - in_head + 2 * (in_head % half) + in_head / half;
    ordered += tensor.values.bytes.substr(from * bytes, bytes);
  }
  return owned_bytes(std::move(ordered));
}

Result<std::map<std::string, UnwrittenTensor>> tensors_of(const GgufFile& file, const json::object& config,
                                                          const std::string& where) {
  std::map<std::string, UnwrittenTensor> tensors;
  for (const auto& [name, tensor] : file.tensors) {
    const auto theirs = name_at_hugging_face(name);
    if (!theirs)
      return error(fmt::format("{}: the tensor '{}' is not known here.", where, as_one_line(name)));
    const bool queries = name.find(".attn_q.") != std::string::npos;
    const bool keys = name.find(".attn_k.") != std::string::npos;
    const auto heads =
        config.at(queries ? "num_attention_heads" : "num_key_value_heads").to_number<std::int64_t>();
    if ((queries || keys) && tensor.shape.front() != heads * config.at("head_dim").to_number<std::int64_t>())
      return error(fmt::format("{}: the tensor '{}' has {} rows, which are not those of {} heads.", where,
                               as_one_line(name), tensor.shape.front(), heads));
    const auto values = [&tensor = tensor, heads, ordered = queries || keys] {
      const auto numbers = numbers_of(tensor);
      return ordered ? with_ordered_rows(numbers, heads) : numbers.values;
    };
    tensors[*theirs] = {.type = element_type_of(tensor.type), .shape = tensor.shape, .values = values};
  }
  return tensors;
}

}  // namespace

Result<std::map<std::string, json::object>> json_files_of(const GgufFile& file, const std::string& where) {
  if (auto known = check_known(file, where); !known) return known.error();
  auto config = config_of(file, where);
  if (!config) return config.error();
  auto files = tokenizer_of(file, where);
  if (!files) return files;
  files->emplace("config.json", std::move(*config));
  return files;
}

Result<void> write_folder_of_gguf(const std::string& path, const std::string& folder) {
  const auto file = read_gguf(path);
  if (!file) return file.error();
  const auto texts = json_files_of(*file, path);
  if (!texts) return texts.error();
  const auto tensors = tensors_of(*file, texts->at("config.json"), path);
  if (!tensors) return tensors.error();
  for (const auto& [name, content] : *texts) {
    const auto text = name == "tokenizer.json" ? json::serialize(content) + "\n" : pretty_json(content);
    if (auto written = write_file_atomically(fmt::format("{}/{}", folder, name), text); !written)
      return written;
  }
  auto weights = AtomicFile::create(folder + "/model.safetensors");
  if (!weights) return weights.error();
  const auto append = [&](std::string_view piece) { return weights->append(piece); };
  if (auto written = serialize_safetensors(*tensors, {{"format", "pt"}}, append); !written) return written;
  return weights->move_into_place();
}

}  // namespace hyfreedp::models
