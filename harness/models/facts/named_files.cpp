#include "harness/models/facts/named_files.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

std::vector<std::string> comma_separated(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : text + ",") {
    if (c == ' ') continue;
    if (c != ',') {
      part.push_back(c);
      continue;
    }
    if (!part.empty()) parts.push_back(part);
    part.clear();
  }
  return parts;
}

// The option KEY, which names a folder or file, and KEY_sha256.
struct NamedFile {
  using FromFolder = Result<std::string> (*)(const std::string&);
  std::string key;
  std::optional<std::string> value, checksum;
  FromFolder locate, checksum_of;
};

// Fills in KEY_sha256, or compares with what the options say.
Result<void> complete_checksum(json::object& options, const NamedFile& file) {
  const auto& key = file.key;
  const auto name = key + "_sha256";
  if (!file.value) {
    if (file.checksum)
      return error(fmt::format("'{}' has no effect without '{}'; give both or neither.", name, key));
    return {};
  }
  const auto folder = file.locate(*file.value);
  if (!folder)
    return key == "weights" && find_pretrained(*file.value) != nullptr ? Result<void>() : folder.error();
  const auto checksum = file.checksum_of(*folder);
  if (!checksum) return checksum.error();
  if (file.checksum && *file.checksum != *checksum) {
    return error(fmt::format("{}: the checksum of the {} is {}, but '{}' is {}.", *folder, key, *checksum,
                             name, *file.checksum));
  }
  options[name] = *checksum;
  return {};
}

}  // namespace

Result<FolderConfig> folder_config(const json::object& options) {
  const auto name = read_options<SharedOptions>(options).weights.value_or("");
  const auto folder = locate_weights(name);
  if (!folder) {
    const auto* known = find_pretrained(name);
    if (known == nullptr) return folder.error();
    return FolderConfig{{{"architecture", known->architecture}}, "weights " + name};
  }
  auto config = weights_config(*folder);
  if (!config) return config.error();
  return FolderConfig{std::move(*config), *folder + "/config.json"};
}

Result<std::optional<Lora>> lora_of(const Facts& facts, const json::object& options) {
  const auto& name = facts.name;
  const auto shared = read_options<SharedOptions>(options);
  if (shared.adapter) {
    if (!shared.has_adapters()) {
      return error(fmt::format("model {}: 'adapter' needs 'trainable: lora' or lora-head, not {}.", name,
                               shared.trainable));
    }
    auto alone = decides_alone("model " + name, options, "adapter", {"lora_alpha", "lora_targets"});
    if (!alone) return alone.error();
    const auto folder = locate_adapter(*shared.adapter);
    if (!folder) return folder.error();
    auto read = read_adapter_config(*folder);
    if (!read) return read.error();
    return std::optional<Lora>(std::move(*read));
  }
  if (!shared.has_adapters()) return std::optional<Lora>();
  Lora lora;
  lora.rank = shared.lora_rank;
  lora.alpha = shared.lora_alpha.value_or(static_cast<double>(lora.rank));
  lora.targets = comma_separated(shared.lora_targets.value_or(facts.adapter_targets));
  if (lora.targets.empty()) return error("model " + name + ": 'lora_targets' names no layer.");
  return std::optional<Lora>(std::move(lora));
}

Result<json::object> complete_options(json::object options) {
  const auto shared = read_options<SharedOptions>(options);
  for (const auto& file :
       {NamedFile{"weights", shared.weights, shared.weights_sha256, locate_weights, weights_checksum},
        NamedFile{"adapter", shared.adapter, shared.adapter_sha256, locate_adapter, adapter_checksum},
        NamedFile{"program", shared.program, shared.program_sha256, locate_program, program_checksum}}) {
    if (auto completed = complete_checksum(options, file); !completed) return completed.error();
  }
  return options;
}

}  // namespace hyfreedp::models
