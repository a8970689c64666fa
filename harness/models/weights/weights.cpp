#include "harness/models/weights/weights.h"

#include <filesystem>
#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/safetensors_file.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/files/weights_file.h"
#include "harness/models/weights/safetensors.h"
#include "harness/models/weights/tensor_types.h"

namespace hyfreedp::models {
namespace {

namespace fs = std::filesystem;

NamedTensors views(const StoredTensors& stored) {
  NamedTensors tensors;
  for (const auto& [name, one] : stored) tensors[name] = view_of(one);
  return tensors;
}

NamedShapes parameters_of(const Network& network) {
  NamedShapes shapes;
  for (const auto* layout : {&network.layout(), &network.frozen_layout()}) {
    for (const auto& slice : *layout) shapes.emplace_back(slice.name, slice.shape);
  }
  return shapes;
}

}  // namespace

Result<NamedTensors> read_weights(const std::string& path) {
  if (!fs::is_directory(path)) return read_safetensors(path);
  const auto stored = read_stored_weights(path);
  if (!stored) return stored.error();
  return views(*stored);
}

TensorShapes shapes_of(const NamedTensors& tensors) {
  TensorShapes shapes;
  for (const auto& [name, value] : tensors) shapes[name] = value.sizes().vec();
  return shapes;
}

Result<void> load_weights(Network& network, const NamedTensors& weights, const LoadRules& rules) {
  const auto file = shapes_of(weights);
  const auto filled = match_weights(parameters_of(network), file, rules);
  if (!filled) return filled.error();
  if (const auto twice = both_of_tied(file, rules);
      !twice.empty() && !at::equal(weights.at(twice[0]), weights.at(twice[1]))) {
    return differ_though_tied(twice);
  }
  for (const auto& [entry, parameter] : *filled) network.tensor(parameter).copy_(weights.at(entry));
  return {};
}

NamedTensors named_tensors(const Network& network, const std::function<bool(const std::string&)>& wanted) {
  NamedTensors found;
  for (const auto* layout : {&network.layout(), &network.frozen_layout()}) {
    for (const auto& slice : *layout) {
      if (!wanted || wanted(slice.name)) found[slice.name] = network.tensor(slice.name);
    }
  }
  return found;
}

Result<void> load_adapter(Network& network, const std::string& folder) {
  const auto path = (fs::path(folder) / "adapter_model.safetensors").string();
  auto stored = read_stored_safetensors(path);
  if (!stored) return stored.error();
  auto loaded = load_weights(network, views(without_wrappers(std::move(*stored))), rules_of_adapter());
  return loaded ? loaded : in_context(path, loaded.error());
}

Result<void> write_adapter(const Network& network, const Lora& lora, const std::string& folder,
                           const json::object& more) {
  json::array targets;
  for (const auto& target : lora.targets) targets.push_back(json::value(target));
  json::object config{{"peft_type", "LORA"},
                      {"r", lora.rank},
                      {"lora_alpha", lora.alpha},
                      {"use_rslora", lora.root_scaling},
                      {"target_modules", targets},
                      {"bias", "none"},
                      {"lora_dropout", 0.0},
                      {"inference_mode", true},
                      {"base_model_name_or_path", nullptr}};
  for (const auto& item : more) config[item.key()] = item.value();
  if (auto made = make_folders(folder); !made) return made;
  const fs::path base(folder);
  if (auto written = write_file_atomically((base / "adapter_config.json").string(), pretty_json(config));
      !written) {
    return written;
  }
  return write_safetensors((base / "adapter_model.safetensors").string(), named_tensors(network, is_adapter),
                           {{kKeptMark, kKeptNote}});
}

}  // namespace hyfreedp::models
