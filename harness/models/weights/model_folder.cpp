#include "harness/models/weights/model_folder.h"

#include <algorithm>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/weights/weights.h"

namespace hyfreedp::models {
namespace {

namespace fs = std::filesystem;

// What stands beside the adapters is the file's own: nothing of it trained, and no head was drawn.
bool is_as_in_folder(const Blueprint& plan, const json::object& options) {
  if (string_or(options, "weights", "").empty()) return false;
  if (string_or(options, "head", "file") == "new") return false;
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    if (plan.trainable[i] && !is_adapter(plan.parameters[i].name)) return false;
  }
  return true;
}

bool reads_tokens(const Blueprint& plan) {
  return std::holds_alternative<graph::Embedding>(plan.graph.places.front().layer);
}

// GPT-2's Conv1D weights are [in, out].
bool has_transposed_weights(const Blueprint& plan) {
  return std::ranges::any_of(plan.graph.places, [](const graph::Place& place) {
    const auto* const linear = std::get_if<graph::Linear>(&place.layer);
    return linear != nullptr && linear->transposed;
  });
}

// What peft must know beside rank, scale and targets.
json::object adapter_facts(const Blueprint& plan, const json::object& options, bool has_network) {
  json::object facts;
  if (reads_tokens(plan)) facts["task_type"] = "CAUSAL_LM";
  if (has_transposed_weights(plan)) facts["fan_in_fan_out"] = true;
  if (!has_network) facts["base_model_name_or_path"] = string_or(options, "weights", "");
  return facts;
}

// Special tokens are no part of a network's sizes. Those of a folder go on. Where a reader is told
// of none it takes GPT-2's or Llama's, which is right of GPT-2's own vocabulary alone.
Result<json::object> config_of(const Blueprint& plan, const json::object& options) {
  auto config = plan.description.config;
  if (!reads_tokens(plan)) return config;
  constexpr std::int64_t kGpt2Vocabulary = 50257;
  json::object tokens;
  if (const auto weights = string_or(options, "weights", ""); !weights.empty()) {
    auto folder = weights_config(weights);
    if (!folder) return folder.error();
    tokens = std::move(*folder);
  } else if (config.at("model_type") != "gpt2" || config.at("vocab_size") != kGpt2Vocabulary) {
    tokens = {{"bos_token_id", nullptr}, {"eos_token_id", nullptr}};
  }
  for (const char* name : {"bos_token_id", "eos_token_id", "pad_token_id"}) {
    if (const auto* token = tokens.if_contains(name)) config[name] = *token;
  }
  return config;
}

}  // namespace

Result<ModelFolder> write_model_folder(const Network& network, const Blueprint& plan,
                                       const json::object& options, const std::string& folder) {
  ModelFolder written;
  written.has_adapter = plan.lora.has_value();
  written.has_network = !written.has_adapter || !is_as_in_folder(plan, options);
  if (written.has_adapter) {
    const auto facts = adapter_facts(plan, options, written.has_network);
    if (auto adapter = write_adapter(network, *plan.lora, folder, facts); !adapter) return adapter.error();
  }
  if (!written.has_network) return written;
  const fs::path base(folder);
  const auto config = config_of(plan, options);
  if (!config) return config.error();
  if (auto file = write_file_atomically((base / "config.json").string(), pretty_json(*config)); !file) {
    return file.error();
  }
  const auto of_network = [](const std::string& name) { return !is_adapter(name); };
  auto tensors = write_safetensors((base / "model.safetensors").string(), named_tensors(network, of_network));
  if (!tensors) return tensors.error();
  return written;
}

}  // namespace hyfreedp::models
