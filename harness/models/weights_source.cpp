#include "harness/models/weights_source.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace hyfreedp::models {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// What the folder lacks; empty: nothing.
std::string lacks(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return "no such folder";
  if (!is_file(folder / kConfig)) return fmt::format("no {}", kConfig);
  if (!is_file(folder / kSingle) && !is_file(folder / kIndex)) {
    return fmt::format("neither {} nor {}", kSingle, kIndex);
  }
  return "";
}

Result<std::set<std::string>> weight_files(const fs::path& folder) {
  std::set<std::string> names = {kConfig};
  if (is_file(folder / kSingle)) {
    names.insert(kSingle);
    return names;
  }
  names.insert(kIndex);
  const auto path = (folder / kIndex).string();
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

}  // namespace

Result<std::string> locate_weights(const std::string& folder) {
  std::vector<std::string> looked_in;
  const auto suits = [&](const fs::path& path) {
    const auto missing = lacks(path);
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
  return error(
      fmt::format("The weights '{}' are not on this machine. Needed: a folder with {} and {} (or {} and its "
                  "shards). Looked in: {}. Leave 'weights' out to start from drawn weights.",
                  folder, kConfig, kSingle, kIndex, join(looked_in, ", ")));
}

Result<json::object> weights_config(const std::string& folder) {
  const auto path = (fs::path(folder) / kConfig).string();
  auto config = read_json_file(path);
  if (!config) return config.error();
  if (!config->is_object()) return error(path + ": must be an object.");
  return config->get_object();
}

Result<std::string> weights_checksum(const std::string& folder) {
  const auto names = weight_files(folder);
  if (!names) return names.error();
  std::string list;
  for (const auto& name : *names) {
    const auto content = read_file((fs::path(folder) / name).string());
    if (!content) return content.error();
    list += fmt::format("{} {}\n", name, sha256_hex(*content));
  }
  return sha256_hex(list);
}

}  // namespace hyfreedp::models
