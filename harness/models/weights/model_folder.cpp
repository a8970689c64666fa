#include "harness/models/weights/model_folder.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "datasets/text/tokenizer.h"
#include "harness/base/files.h"
#include "harness/models/facts/weights_fit.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/networks/options.h"
#include "harness/models/weights/weights.h"

namespace hyfreedp::models {
namespace {

namespace fs = std::filesystem;

// True if all but the adapters is as in the weights folder: nothing of it trained, no head drawn.
bool is_as_in_folder(const Blueprint& plan, const SharedOptions& options) {
  if (options.weights.value_or("").empty() || options.head == "new") return false;
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    if (plan.trainable[i] && !is_adapter(plan.parameters[i].name)) return false;
  }
  return true;
}

bool reads_tokens(const Blueprint& plan) {
  return std::holds_alternative<graph::Embedding>(plan.graph.places.front().layer);
}

bool predicts_tokens(const Blueprint& plan) {
  const auto& head = plan.graph.head;
  return reads_tokens(plan) && (head.empty() || std::string_view(kOutputProjection).starts_with(head));
}

// The tokenizer belongs to the weights: that of the folder with which the network began goes on.
Result<void> copy_tokenizer(const SharedOptions& options, const fs::path& to) {
  const auto name = options.weights.value_or("");
  const auto folder = name.empty() ? Result<std::string>(std::string()) : locate_weights(name);
  if (!folder) return folder.error();
  for (const char* file : datasets::kTokenizerFiles) {
    const auto from = fs::path(*folder) / file;
    std::error_code ignored;
    if (folder->empty() || !fs::is_regular_file(from, ignored)) continue;
    const auto text = read_file(from.string());
    if (!text) return text.error();
    if (auto written = write_file_atomically((to / file).string(), *text); !written) return written;
  }
  return {};
}

// GPT-2's Conv1D weights are [in, out].
bool has_transposed_weights(const Blueprint& plan) {
  return std::ranges::any_of(plan.graph.places, [](const graph::Place& place) {
    const auto* const linear = std::get_if<graph::Linear>(&place.layer);
    return linear != nullptr && linear->transposed;
  });
}

// Entries of adapter_config.json beside rank, scale and targets.
json::object adapter_facts(const Blueprint& plan, const SharedOptions& options, bool has_network) {
  json::object facts;
  if (reads_tokens(plan)) facts["task_type"] = predicts_tokens(plan) ? "CAUSAL_LM" : "SEQ_CLS";
  if (has_transposed_weights(plan)) facts["fan_in_fan_out"] = true;
  if (!has_network) facts["base_model_name_or_path"] = options.weights.value_or("");
  return facts;
}

// Special tokens are no part of a network's sizes. Those of a folder go on. Where a reader is told
// of none it takes its family's, which is right of GPT-2's own vocabulary alone.
Result<json::object> config_of(const Blueprint& plan, const SharedOptions& options) {
  auto config = plan.description.config;
  if (!predicts_tokens(plan)) return config;
  constexpr std::int64_t kGpt2Vocabulary = 50257;
  json::object tokens;
  if (const auto weights = options.weights.value_or(""); !weights.empty()) {
    const auto folder = locate_weights(weights);
    if (!folder) return folder.error();
    auto theirs = weights_config(*folder);
    if (!theirs) return theirs.error();
    tokens = std::move(*theirs);
  } else if (config.at("model_type") != "gpt2" || config.at("vocab_size") != kGpt2Vocabulary) {
    tokens = {{"bos_token_id", nullptr}, {"eos_token_id", nullptr}, {"pad_token_id", nullptr}};
  }
  for (const char* name : {"bos_token_id", "eos_token_id", "pad_token_id"}) {
    if (const auto* token = tokens.if_contains(name)) config[name] = *token;
  }
  return config;
}

}  // namespace

Result<ModelFolder> write_model_folder(const Network& network, const Blueprint& plan,
                                       const json::object& options, const std::string& folder) {
  const auto shared = read_options<SharedOptions>(options);
  ModelFolder written;
  written.has_adapter = plan.lora.has_value();
  written.has_network = !written.has_adapter || !is_as_in_folder(plan, shared);
  if (written.has_adapter) {
    const auto facts = adapter_facts(plan, shared, written.has_network);
    if (auto adapter = write_adapter(network, *plan.lora, folder, facts); !adapter) return adapter.error();
  }
  if (!written.has_network) return written;
  const fs::path base(folder);
  const auto config = config_of(plan, shared);
  if (!config) return config.error();
  if (auto file = write_file_atomically((base / "config.json").string(), pretty_json(*config)); !file) {
    return file.error();
  }
  const auto of_network = [](const std::string& name) { return !is_adapter(name); };
  auto tensors = write_safetensors((base / "model.safetensors").string(), named_tensors(network, of_network),
                                   {{kKeptMark, kKeptNote}});
  if (!tensors) return tensors.error();
  if (auto copied = copy_tokenizer(shared, base); !copied) return copied.error();
  return written;
}

}  // namespace hyfreedp::models
