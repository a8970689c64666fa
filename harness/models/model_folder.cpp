#include "harness/models/model_folder.h"

#include <filesystem>

#include "harness/base/files.h"
#include "harness/models/model_config.h"
#include "harness/models/weights.h"

namespace hyfreedp::models {
namespace {

namespace fs = std::filesystem;

// What stands beside the adapters is the file's own: nothing of it trained, and no head was drawn.
bool is_as_in_folder(const Blueprint& plan, const json::object& options) {
  if (string_or(options, "weights", "").empty()) return false;
  if (std::holds_alternative<VitShape>(plan.shape) && string_or(options, "head", "new") == "new")
    return false;
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    if (plan.trainable[i] && !is_adapter(plan.parameters[i].name)) return false;
  }
  return true;
}

// What peft must know beside rank, scale and targets.
json::object adapter_facts(const Blueprint& plan, const json::object& options, bool has_network) {
  json::object facts;
  const bool causal = !std::holds_alternative<VitShape>(plan.shape);
  if (causal) facts["task_type"] = "CAUSAL_LM";
  // GPT-2's Conv1D weights are [in, out].
  if (std::holds_alternative<Gpt2Shape>(plan.shape)) facts["fan_in_fan_out"] = true;
  if (!has_network) facts["base_model_name_or_path"] = string_or(options, "weights", "");
  return facts;
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
  if (auto config =
          write_file_atomically((base / "config.json").string(), pretty_json(model_config(plan.shape)));
      !config) {
    return config.error();
  }
  const auto of_network = [](const std::string& name) { return !is_adapter(name); };
  auto tensors = write_safetensors((base / "model.safetensors").string(), named_tensors(network, of_network));
  if (!tensors) return tensors.error();
  return written;
}

}  // namespace hyfreedp::models
