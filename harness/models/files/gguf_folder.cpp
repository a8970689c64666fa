#include "harness/models/files/gguf_folder.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "harness/base/files.h"
#include "harness/base/safetensors_file.h"
#include "harness/base/utf8.h"
#include "harness/models/files/gguf_tokenizer.h"

namespace hyfreedp::models {
namespace {

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

// A float32 as the shortest decimal that reads back to it: 1e-05, not 9.999999747378752e-06.
json::value shortest(double value) {
  return std::strtod(fmt::format("{}", static_cast<float>(value)).c_str(), nullptr);
}

// The names after `llama.` and `tokenizer.ggml.` that are known; other values there are refused.
constexpr std::string_view kKnown =
    " embedding_length feed_forward_length block_count context_length vocab_size attention.head_count"
    " attention.head_count_kv attention.layer_norm_rms_epsilon attention.key_length attention.value_length"
    " rope.dimension_count rope.freq_base"
    " model pre tokens token_type merges scores bos_token_id eos_token_id padding_token_id unknown_token_id"
    " add_bos_token add_eos_token add_space_prefix ";

Result<void> check_known(const GgufFile& file, const std::string& where) {
  for (const auto& item : file.values) {
    const std::string_view name(item.key());
    for (const std::string_view prefix : {"llama.", "tokenizer.ggml."}) {
      if (name.starts_with(prefix) &&
          (name.find(' ') != std::string_view::npos ||
           kKnown.find(fmt::format(" {} ", name.substr(prefix.size()))) == std::string_view::npos))
        return error(fmt::format("{}: the value '{}' is not known here.", where, as_one_line(name)));
    }
  }
  return {};
}

Result<json::object> config_of(const GgufFile& file, const std::string& where) {
  if (const auto architecture = file.value("general.architecture"); architecture != "llama")
    return error(fmt::format("{}: its architecture is {}; llama alone is read.", where, shown(architecture)));
  const auto table = file.tensors.find("token_embd.weight");
  if (table == file.tensors.end()) return error(where + ": has no tensor 'token_embd.weight'.");
  json::object config{
      {"model_type", "llama"}, {"architectures", json::array{"LlamaForCausalLM"}}, {"hidden_act", "silu"}};
  const auto size_of = [&](const std::string& name, std::optional<std::int64_t> otherwise) {
    auto size = otherwise && !file.values.contains(name) ? Result<std::int64_t>(*otherwise)
                                                         : get_int(file.values, name, where);
    if (size && (*size < 1 || *size > 1 << 24))
      size = error(fmt::format("{}: '{}' cannot be {}.", where, name, *size));
    return size;
  };
  constexpr std::pair<const char*, const char*> kSizes[] = {{"embedding_length", "hidden_size"},
                                                            {"feed_forward_length", "intermediate_size"},
                                                            {"block_count", "num_hidden_layers"},
                                                            {"attention.head_count", "num_attention_heads"},
                                                            {"context_length", "max_position_embeddings"}};
  for (const auto& [theirs, ours] : kSizes) {
    const auto size = size_of(std::string("llama.") + theirs, {});
    if (!size) return size.error();
    config[ours] = *size;
  }
  const auto heads = config["num_attention_heads"].get_int64();
  const auto kv_heads = size_of("llama.attention.head_count_kv", heads);
  const auto width = size_of("llama.attention.key_length", config["hidden_size"].get_int64() / heads);
  if (!kv_heads) return kv_heads.error();
  if (!width) return width.error();
  if (*width % 2 != 0) return error(fmt::format("{}: heads cannot be {} wide.", where, *width));
  for (const char* name : {"llama.attention.value_length", "llama.rope.dimension_count"}) {
    const auto same = size_of(name, *width);
    if (!same) return same.error();
    if (*same != *width)
      return error(fmt::format("{}: '{}' is {}, and the heads are {} wide.", where, name, *same, *width));
  }
  const auto epsilon = get_double(file.values, "llama.attention.layer_norm_rms_epsilon", where);
  const auto base = file.values.contains("llama.rope.freq_base")
                        ? get_double(file.values, "llama.rope.freq_base", where)
                        : Result<double>(10000.0);
  if (!epsilon) return epsilon.error();
  if (!base) return base.error();
  config["vocab_size"] = table->second.shape.front();
  config["num_key_value_heads"] = *kv_heads;
  config["head_dim"] = *width;
  config["rms_norm_eps"] = shortest(*epsilon);
  config["rope_theta"] = shortest(*base);
  config["tie_word_embeddings"] = !file.tensors.contains("output.weight");
  config["attention_bias"] = file.tensors.contains("blk.0.attn_q.bias");
  config["mlp_bias"] = file.tensors.contains("blk.0.ffn_up.bias");
  for (const auto& [ours, theirs] :
       {std::pair{"bos_token_id", "bos_token_id"}, std::pair{"eos_token_id", "eos_token_id"},
        std::pair{"pad_token_id", "padding_token_id"}})
    config[ours] = file.value(std::string("tokenizer.ggml.") + theirs);
  return config;
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

Result<std::map<std::string, std::string>> texts_of_gguf(const GgufFile& file, const std::string& where) {
  if (auto known = check_known(file, where); !known) return known.error();
  const auto config = config_of(file, where);
  if (!config) return config.error();
  auto texts = tokenizer_files_of(file, where);
  if (texts) texts->emplace("config.json", pretty_json(*config));
  return texts;
}

Result<void> write_folder_of_gguf(const std::string& path, const std::string& folder) {
  const auto file = read_gguf(path);
  if (!file) return file.error();
  const auto texts = texts_of_gguf(*file, path);
  if (!texts) return texts.error();
  const auto tensors = tensors_of(*file, config_of(*file, path).value(), path);
  if (!tensors) return tensors.error();
  for (const auto& [name, text] : *texts) {
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
