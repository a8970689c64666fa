#include "harness/models/weights/weights.h"

#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "harness/base/files.h"
#include "harness/base/safetensors_file.h"
#include "harness/base/text.h"
#include "harness/models/weights/misfits.h"
#include "harness/models/weights/numpy_pickle.h"
#include "harness/models/weights/safetensors.h"
#include "harness/models/weights/state_dict.h"
#include "harness/models/weights/tensor_types.h"

namespace hyfreedp::models {
namespace {

namespace fs = std::filesystem;
using torch::Tensor;

Result<NamedTensors> read_shards(const fs::path& folder) {
  const auto index_path = (folder / "model.safetensors.index.json").string();
  const auto index = read_json_file(index_path);
  if (!index) return index.error();
  const auto* object = index->if_object();
  const auto* map = object != nullptr ? object->if_contains("weight_map") : nullptr;
  if (map == nullptr || !map->is_object()) return error(index_path + ": 'weight_map' must be an object");
  std::map<std::string, NamedTensors> shards;
  NamedTensors all;
  for (const auto& item : map->get_object()) {
    const std::string name(item.key());
    if (!item.value().is_string())
      return error(fmt::format("{}: the shard of '{}' must be a file name", index_path, name));
    const std::string shard(item.value().get_string());
    if (fs::path(shard).filename() != shard || shard == "." || shard == "..") {
      return error(fmt::format("{}: shard '{}' is not a file of the same folder", index_path, shard));
    }
    if (!shards.contains(shard)) {
      auto read = read_safetensors((folder / shard).string());
      if (!read) return read.error();
      shards[shard] = std::move(*read);
    }
    const auto found = shards[shard].find(name);
    if (found == shards[shard].end()) {
      return error(fmt::format("{}: '{}' has no tensor '{}'", index_path, shard, name));
    }
    all[name] = found->second;
  }
  return all;
}

Result<NamedTensors> views(const Result<StoredTensors>& stored) {
  if (!stored) return stored.error();
  NamedTensors tensors;
  for (const auto& [name, one] : *stored) tensors[name] = view_of(one);
  return tensors;
}

// Running statistics are what BatchNorm leaves in a file.
Result<void> refuse_batch_norm(const NamedTensors& weights) {
  std::vector<std::string> layers;
  for (const auto& [name, value] : weights) {
    for (const std::string statistic : {".running_mean", ".running_var"}) {
      if (!name.ends_with(statistic)) continue;
      const auto layer = name.substr(0, name.size() - statistic.size());
      if (layers.empty() || layers.back() != layer) layers.push_back(layer);
    }
  }
  if (layers.empty()) return {};
  return error(
      "The weights have BatchNorm layers (" + listed(layers) +
      "), which mix the samples of a batch; private training needs a network with GroupNorm or LayerNorm.");
}

}  // namespace

Result<NamedTensors> read_weights(const std::string& path) {
  if (!fs::is_directory(path)) return read_safetensors(path);
  const fs::path folder(path);
  if (fs::exists(folder / "model.safetensors"))
    return read_safetensors((folder / "model.safetensors").string());
  if (fs::exists(folder / "model.safetensors.index.json")) return read_shards(folder);
  const auto in = [&folder](const char* name) { return (folder / name).string(); };
  if (fs::exists(folder / "pytorch_model.bin")) return views(read_state_dict(in("pytorch_model.bin")));
  if (fs::exists(folder / "weights.pkl")) return views(read_numpy_pickle(in("weights.pkl")));
  return error(
      path +
      ": none of model.safetensors, model.safetensors.index.json, pytorch_model.bin and weights.pkl is in "
      "this folder");
}

Result<void> load_weights(Network& network, const NamedTensors& weights, const LoadRules& rules) {
  if (auto refused = refuse_batch_norm(weights); !refused) return refused;
  std::vector<std::pair<Tensor, Tensor>> copies;
  Misfits misfits;
  std::set<std::string> filled;
  for (const auto& [given, value] : weights) {
    auto name = given;
    auto target = network.tensor(name);
    if (!target.defined() && !rules.prefix.empty()) {
      name = rules.prefix + given;
      target = network.tensor(name);
    }
    if (!target.defined()) {
      if (!rules.may_be_left || !rules.may_be_left(given)) misfits.unexpected.push_back(given);
      continue;
    }
    if (!filled.insert(name).second) {
      misfits.unexpected.push_back(given);
    } else if (target.sizes() != value.sizes()) {
      misfits.add_misshaped(given, value.sizes(), target.sizes());
    } else {
      copies.emplace_back(std::move(target), value);
    }
  }
  for (const auto* layout : {&network.layout(), &network.frozen_layout()}) {
    for (const auto& slice : *layout) {
      if (filled.contains(slice.name) || (rules.may_be_absent && rules.may_be_absent(slice.name))) continue;
      misfits.missing.push_back(slice.name);
    }
  }
  if (auto fits = misfits.result(); !fits) return fits;
  for (auto& [target, value] : copies) target.copy_(value);
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
  const auto weights = read_safetensors(path);
  if (!weights) return weights.error();
  LoadRules rules;
  rules.may_be_absent = [](const std::string& name) { return !is_adapter(name); };
  auto loaded = load_weights(network, *weights, rules);
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
  return write_safetensors((base / "adapter_model.safetensors").string(), named_tensors(network, is_adapter));
}

}  // namespace hyfreedp::models
