#include "harness/models/files/weights_file.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "harness/base/json.h"
#include "harness/base/safetensors_file.h"
#include "harness/models/files/numpy_pickle.h"
#include "harness/models/files/state_dict.h"

namespace hyfreedp::models {
namespace {

namespace fs = std::filesystem;

Result<StoredTensors> read_shards(const fs::path& folder) {
  const auto index_path = (folder / "model.safetensors.index.json").string();
  const auto index = read_json_file(index_path);
  if (!index) return index.error();
  const auto* object = index->if_object();
  const auto* map = object != nullptr ? object->if_contains("weight_map") : nullptr;
  if (map == nullptr || !map->is_object()) return error(index_path + ": 'weight_map' must be an object");
  std::map<std::string, StoredTensors> shards;
  StoredTensors all;
  for (const auto& item : map->get_object()) {
    const std::string name(item.key());
    if (!item.value().is_string())
      return error(fmt::format("{}: the shard of '{}' must be a file name", index_path, name));
    const std::string shard(item.value().get_string());
    if (fs::path(shard).filename() != shard || shard == "." || shard == "..") {
      return error(fmt::format("{}: shard '{}' is not a file of the same folder", index_path, shard));
    }
    if (!shards.contains(shard)) {
      auto read = read_stored_safetensors((folder / shard).string());
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

Result<StoredTensors> read_files(const fs::path& folder) {
  const auto in = [&folder](const char* name) { return (folder / name).string(); };
  if (fs::exists(folder / "model.safetensors")) return read_stored_safetensors(in("model.safetensors"));
  if (fs::exists(folder / "model.safetensors.index.json")) return read_shards(folder);
  if (fs::exists(folder / "pytorch_model.bin")) return read_state_dict(in("pytorch_model.bin"));
  if (fs::exists(folder / "weights.pkl")) return read_numpy_pickle(in("weights.pkl"));
  return error(
      folder.string() +
      ": none of model.safetensors, model.safetensors.index.json, pytorch_model.bin and weights.pkl is in "
      "this folder");
}

}  // namespace

Result<StoredTensors> read_stored_weights(const std::string& folder) {
  auto tensors = read_files(folder);
  if (!tensors) return tensors;
  return without_wrappers(std::move(*tensors));
}

StoredTensors without_wrappers(StoredTensors tensors) {
  const auto all_begin = [&](const std::string& wrapper) {
    return !tensors.empty() && std::ranges::all_of(tensors, [&](const auto& one) {
      return one.first.size() > wrapper.size() && one.first.starts_with(wrapper);
    });
  };
  for (bool found = true; found;) {
    found = false;
    for (const std::string wrapper : {"module.", "_orig_mod."}) {
      if (!all_begin(wrapper)) continue;
      StoredTensors shorter;
      for (auto& [name, tensor] : tensors) shorter[name.substr(wrapper.size())] = std::move(tensor);
      tensors = std::move(shorter);
      found = true;
    }
  }
  return tensors;
}

}  // namespace hyfreedp::models
