#include "harness/models/facts/named_files.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/facts/weights_source.h"
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

using FromFolder = Result<std::string> (*)(const std::string&);

// Fills in KEY_sha256 of the folder that option KEY names, or compares with what the options say.
Result<void> complete_checksum(json::object& options, const std::string& key, FromFolder locate,
                               FromFolder checksum_of) {
  const auto name = key + "_sha256";
  const bool has_checksum = given(options, name.c_str());
  if (!given(options, key.c_str())) {
    if (has_checksum)
      return error(fmt::format("'{}' has no effect without '{}'; give both or neither.", name, key));
    return {};
  }
  const auto value = string_or(options, key, "");
  const auto folder = locate(value);
  if (!folder) return key == "weights" && find_pretrained(value) != nullptr ? Result<void>() : folder.error();
  const auto checksum = checksum_of(*folder);
  if (!checksum) return checksum.error();
  if (has_checksum && string_or(options, name, "") != *checksum) {
    return error(fmt::format("{}: the checksum of the {} is {}, but '{}' is {}.", *folder, key, *checksum,
                             name, string_or(options, name, "")));
  }
  options[name] = *checksum;
  return {};
}

}  // namespace

Result<FolderConfig> folder_config(const json::object& options) {
  const auto name = string_or(options, "weights", "");
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
  const auto trainable = string_or(options, "trainable", "full");
  const bool adapts = trainable == "lora" || trainable == "lora-head";
  if (given(options, "adapter")) {
    if (!adapts) {
      return error(
          fmt::format("model {}: 'adapter' needs 'trainable: lora' or lora-head, not {}.", name, trainable));
    }
    const ModelInput no_data;
    const Request request{name, options, no_data, {}};
    if (auto alone = decides_alone(request, "adapter", {"lora_alpha", "lora_targets"}); !alone)
      return alone.error();
    const auto folder = locate_adapter(string_or(options, "adapter", ""));
    if (!folder) return folder.error();
    auto read = read_adapter_config(*folder);
    if (!read) return read.error();
    return std::optional<Lora>(std::move(*read));
  }
  if (!adapts) return std::optional<Lora>();
  Lora lora;
  lora.rank = int_or(options, "lora_rank", kDefaultRank);
  lora.alpha = double_or(options, "lora_alpha", static_cast<double>(lora.rank));
  lora.targets = comma_separated(given(options, "lora_targets") ? string_or(options, "lora_targets", "")
                                                                : facts.adapter_targets);
  if (lora.targets.empty()) return error("model " + name + ": 'lora_targets' names no layer.");
  return std::optional<Lora>(std::move(lora));
}

Result<json::object> complete_options(json::object options) {
  if (auto weights = complete_checksum(options, "weights", locate_weights, weights_checksum); !weights) {
    return weights.error();
  }
  if (auto adapter = complete_checksum(options, "adapter", locate_adapter, adapter_checksum); !adapter) {
    return adapter.error();
  }
  if (auto program = complete_checksum(options, "program", locate_program, program_checksum); !program) {
    return program.error();
  }
  return options;
}

}  // namespace hyfreedp::models
