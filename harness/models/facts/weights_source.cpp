#include "harness/models/facts/weights_source.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/networks/options.h"

namespace hyfreedp::models {
namespace {

namespace fs = std::filesystem;

// The files of a folder.
struct Kind {
  const char* what;
  const char* config;
  const char* single;
  const char* index;    // of shards; null: never
  const char* pickled;  // a PyTorch state dict; null: never
  const char* arrays;   // pickled NumPy arrays; null: never
  const char* advice;
};
constexpr Kind kWeights = {"weights folder",
                           "config.json",
                           "model.safetensors",
                           "model.safetensors.index.json",
                           "pytorch_model.bin",
                           "weights.pkl",
                           "Without 'weights' a model starts from drawn ones."};
constexpr Kind kAdapter = {"adapter folder",
                           "adapter_config.json",
                           "adapter_model.safetensors",
                           nullptr,
                           nullptr,
                           nullptr,
                           "Leave 'adapter' out to start from a new one."};

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// Names what the folder lacks; empty if it is complete.
std::string lacks(const fs::path& folder, const Kind& kind) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return "no such folder";
  if (!is_file(folder / kind.config)) return fmt::format("no {}", kind.config);
  if (is_file(folder / kind.single)) return "";
  if (kind.index == nullptr) return fmt::format("no {}", kind.single);
  for (const char* name : {kind.index, kind.pickled, kind.arrays}) {
    if (is_file(folder / name)) return "";
  }
  return fmt::format("none of {}, {}, {} and {}", kind.single, kind.index, kind.pickled, kind.arrays);
}

Result<std::set<std::string>> weight_files(const fs::path& folder, const Kind& kind) {
  std::set<std::string> names = {kind.config};
  if (kind.index == nullptr || is_file(folder / kind.single)) {
    names.insert(kind.single);
    return names;
  }
  for (const char* name : {kind.pickled, kind.arrays}) {
    if (is_file(folder / kind.index) || !is_file(folder / name)) continue;
    names.insert(name);
    return names;
  }
  names.insert(kind.index);
  const auto path = (folder / kind.index).string();
  const auto index = read_json_file(path);
  if (!index) return index.error();
  const auto* object = index->if_object();
  const auto* map = object != nullptr ? object->if_contains("weight_map") : nullptr;
  if (map == nullptr || !map->is_object()) return error(path + ": 'weight_map' must be an object.");
  for (const auto& item : map->get_object()) {
    if (!item.value().is_string()) return error(path + ": a shard must be a file name.");
    const std::string shard(item.value().get_string());
    if (fs::path(shard).filename() != shard || shard == "." || shard == "..") {
      return error(fmt::format("{}: shard '{}' is not a file of the same folder.", path, shard));
    }
    names.insert(shard);
  }
  return names;
}

Result<std::string> locate(const std::string& folder, const Kind& kind) {
  std::vector<std::string> looked_in;
  const auto suits = [&](const fs::path& path) {
    const auto missing = lacks(path, kind);
    if (missing.empty()) return true;
    looked_in.push_back(fmt::format("{} ({})", path.string(), missing));
    return false;
  };
  const char* data = std::getenv("HYFREEDP_DATA");
  const bool relative = fs::path(folder).is_relative();
  if (relative && data != nullptr && *data != '\0') {
    const auto path = fs::path(data) / folder;
    if (suits(path)) return path.string();
  } else if (relative) {
    looked_in.push_back(fmt::format("$HYFREEDP_DATA/{} (HYFREEDP_DATA is not set)", folder));
  }
  if (suits(folder)) return folder;
  const bool may_be_fetched = &kind == &kWeights && !folder.empty() && fs::path(folder).filename() == folder;
  if (may_be_fetched && suits(fetched_weights_folder(folder))) return fetched_weights_folder(folder);
  const auto* const known = may_be_fetched ? find_pretrained(folder) : nullptr;
  const bool by_hand = known != nullptr && known->supply.empty();
  const auto command = by_hand            ? fmt::format("To get it: {}. ", known->how_to_get)
                       : known != nullptr ? fmt::format("To get it: `hyfreedp data fetch {}`. ", folder)
                                          : std::string();
  const auto others = kind.index == nullptr ? std::string()
                                            : fmt::format(" (or {} and its shards, or {}, or {})", kind.index,
                                                          kind.pickled, kind.arrays);
  return error(fmt::format(
      "The {} '{}' is not on this machine. {}Needed: a folder with {} and {}{}. Looked in: {}. {}", kind.what,
      folder, command, kind.config, kind.single, others, join(looked_in, ", "), kind.advice));
}

Result<json::object> config_of(const std::string& folder, const Kind& kind) {
  const auto path = (fs::path(folder) / kind.config).string();
  auto config = read_json_file(path);
  if (!config) return config.error();
  if (!config->is_object()) return error(path + ": must be an object.");
  return config->get_object();
}

Result<std::string> checksum_of(const std::string& folder, const Kind& kind) {
  auto names = weight_files(folder, kind);
  if (!names) return names.error();
  if (is_file(fs::path(folder) / kTrialMetadata)) names->insert(kTrialMetadata);
  std::string list;
  for (const auto& name : *names) {
    const auto content = read_file((fs::path(folder) / name).string());
    if (!content) return content.error();
    list += fmt::format("{} {}\n", name, sha256_hex(*content));
  }
  return sha256_hex(list);
}

}  // namespace

std::string fetched_weights_folder(const std::string& name) { return cache_folder() + "/weights/" + name; }

std::string weights_named(const json::object& options) {
  return read_options<SharedOptions>(options).weights.value_or("");
}

Result<std::string> locate_weights(const std::string& folder) { return locate(folder, kWeights); }
Result<json::object> weights_config(const std::string& folder) { return config_of(folder, kWeights); }
Result<std::string> weights_checksum(const std::string& folder) { return checksum_of(folder, kWeights); }

Result<std::string> locate_program(const std::string& file) {
  const char* data = std::getenv("HYFREEDP_DATA");
  if (data != nullptr && *data != '\0' && fs::path(file).is_relative() && is_file(fs::path(data) / file))
    return (fs::path(data) / file).string();
  if (is_file(file)) return file;
  return error(fmt::format(
      "The program '{}' is not on this machine: no such file in $HYFREEDP_DATA or the working folder. Save a "
      "network by torch.jit.script(network.eval()).save(\"{}\").",
      file, fs::path(file).filename().string()));
}
Result<std::string> program_checksum(const std::string& file) {
  const auto content = read_file(file);
  if (!content) return content.error();
  return sha256_hex(*content);
}

Result<std::string> locate_adapter(const std::string& folder) { return locate(folder, kAdapter); }
Result<Lora> read_adapter_config(const std::string& folder) {
  const auto config = config_of(folder, kAdapter);
  if (!config) return config.error();
  return Lora::from_json(*config, (fs::path(folder) / kAdapter.config).string());
}
Result<std::string> adapter_checksum(const std::string& folder) { return checksum_of(folder, kAdapter); }

}  // namespace hyfreedp::models
