#include "datasets/facts.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

#include "datasets/image_options.h"
#include "datasets/own/own_files.h"
#include "datasets/registry.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/models/facts/weights_source.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::string_view kDataVariable = "$HYFREEDP_DATA";

template <class... Each>
std::vector<Facts> facts_of(List<Each...> /*registered*/) {
  return {Each::facts()...};
}

// The path with $HYFREEDP_DATA replaced; empty where the variable is needed and not set.
std::string expanded(const std::string& path) {
  if (!path.starts_with(kDataVariable)) return path;
  const char* data = std::getenv("HYFREEDP_DATA");
  if (data == nullptr || *data == '\0') return "";
  return data + path.substr(kDataVariable.size());
}

// The first of the dataset's files that the folder lacks; empty when all are there.
std::string first_missing(const Facts& facts, const std::string& folder) {
  std::error_code ignored;
  for (const auto& file : facts.files) {
    if (!std::filesystem::is_regular_file(folder + "/" + file.name, ignored)) return file.name;
  }
  return "";
}

// Checks a file that has no known checksum.
Result<void> check_size(const Facts& facts, const std::string& name, const std::string& path) {
  const auto wanted = std::ranges::find(facts.supply.downloads, name, &Download::name);
  if (wanted == facts.supply.downloads.end() || wanted->bytes == 0) return {};
  std::error_code failure;
  const auto bytes = std::filesystem::file_size(path, failure);
  if (!failure && bytes == wanted->bytes) return {};
  return error(fmt::format("{}: it has not the {} bytes of the published file. To get it: {}.", path,
                           wanted->bytes, facts.how_to_get));
}

// "images of 3 x 32 x 32"
std::string form_of(const Sizes& sizes) {
  if (sizes.image[0] > 0) {
    return fmt::format("images of {} x {} x {}", sizes.image[0], sizes.image[1], sizes.image[2]);
  }
  if (sizes.length > 0) return fmt::format("sequences of {} tokens", sizes.length);
  return "no images";
}

}  // namespace

std::string to_string(Split split) {
  switch (split) {
    case Split::private_train:
      return "private_train";
    case Split::private_validation:
      return "private_validation";
    case Split::public_data:
      return "public";
    case Split::test:
      return "test";
  }
  return "?";
}

const std::vector<Facts>& dataset_facts() {
  static const std::vector<Facts> facts = facts_of(Registered());
  return facts;
}

Result<const Facts*> find_dataset(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& facts : dataset_facts()) {
    if (facts.name == name) return &facts;
    names.push_back(facts.name);
  }
  return error("unknown dataset '" + name + "'." + did_you_mean(name, names) +
               " Known datasets: " + join(names, ", ") + ".");
}

Sizes sizes(const Facts& facts, const json::object& options) {
  HYFREEDP_CHECK(facts.sizes != nullptr,
                 "the dataset '" + facts.name + "' has no sizes; its facts name no function");
  return facts.sizes(options);
}

Result<json::object> complete_options(const Facts& facts, json::object options, Notes* notes) {
  if (facts.complete == nullptr) return options;
  Notes own;
  auto completed = facts.complete(std::move(options), notes != nullptr ? *notes : own);
  return completed ? std::move(completed) : in_context(facts.name, completed.error());
}

Result<void> check_data(const Facts& facts, const json::object& options) {
  auto checked = check_present(facts, options);
  if (!checked) return checked;
  if (own_path(options).empty()) {
    const auto folder = locate(facts);
    checked = folder ? verify_files(facts, *folder) : Result<void>(folder.error());
  } else if (facts.check != nullptr) {
    checked = facts.check(options);
  }
  return checked ? checked : in_context(facts.name, checked.error());
}

Result<json::object> test_alone(const Facts& facts, json::object options) {
  for (const char* split : {"train", "validation"}) {
    const auto counts = [split](const OptionSpec& option) { return option.name == split; };
    if (std::ranges::any_of(facts.options, counts)) {
      options[split] = 0;
    } else if (!facts.test_only) {
      return error(fmt::format(
          "the dataset '{}' has no option '{}', so its test split cannot be loaded without the others.",
          facts.name, split));
    }
  }
  return options;
}

Result<void> check_ood_test(const std::string& id, const Sizes& shifted, const Sizes& panel) {
  if (shifted.private_train > 0 || shifted.private_validation > 0) {
    return error(fmt::format("the ood_test '{}' would load records for training or validation.", id));
  }
  if (shifted.labels != panel.labels || shifted.classes != panel.classes) {
    return error(fmt::format("the ood_test '{}' has {} classes, and what is trained on has {}.", id,
                             shifted.classes, panel.classes));
  }
  const bool same_form = shifted.image == panel.image && shifted.length == panel.length &&
                         shifted.vocabulary == panel.vocabulary;
  if (shifted.features != panel.features || !same_form) {
    return error(fmt::format(
        "the ood_test '{}' has {} features ({}), and what is trained on has {} ({}); give both the same "
        "options of features.",
        id, shifted.features, form_of(shifted), panel.features, form_of(panel)));
  }
  return {};
}

std::string data_name(const std::string& dataset, const json::object& options) {
  const auto facts = find_dataset(dataset);
  if (!facts || !(**facts).own_records) return dataset;
  return fmt::format("{} ({})", dataset, own_name(own_path(options)).name);
}

Result<std::string> locate(const Facts& facts) {
  if (facts.files.empty()) return std::string();
  std::vector<std::string> looked_in;
  for (const auto& path : facts.search_paths) {
    const std::string folder = expanded(path);
    if (folder.empty()) {
      looked_in.push_back(path + " (HYFREEDP_DATA is not set)");
      continue;
    }
    const std::string missing = first_missing(facts, folder);
    if (missing.empty()) return folder;
    looked_in.push_back(fmt::format("{} (no {})", folder, missing));
  }
  const auto fetched = fetched_folder(facts);
  const auto missing = first_missing(facts, fetched);
  if (missing.empty()) return fetched;
  looked_in.push_back(fmt::format("{} (no {})", fetched, missing));
  const auto command =
      facts.supply.empty() ? std::string() : fmt::format("`hyfreedp data fetch {}`, or ", facts.name);
  return error(
      fmt::format("The dataset {} is not on this machine. To get it: {}{}; or set HYFREEDP_DATA to a folder "
                  "that has it in {}/. "
                  "Looked in: {}.",
                  facts.name, command, facts.how_to_get, facts.name, join(looked_in, ", ")));
}

Facts with_needed_files(Facts facts, const json::object& options) {
  std::erase_if(facts.files, [&](const SourceFile& file) {
    const auto* given = options.if_contains(file.unless);
    return given != nullptr && given->is_string() && !given->get_string().empty();
  });
  return facts;
}

std::string fetched_folder(const Facts& facts) { return cache_folder() + "/data/" + facts.name; }

Result<void> check_present(const Facts& facts, const json::object& options) {
  if (const auto path = own_path(options); !path.empty()) {
    const auto own = locate_own_files(path);
    if (!own) return in_context(facts.name, own.error());
  } else if (const auto folder = locate(with_needed_files(facts, options)); !folder) {
    return folder.error();
  }
  for (const auto& name :
       {read_options<OpenOptions>(options).weights, read_options<TokenizerOptions>(options).tokenizer}) {
    const auto folder = has_text(name) ? models::locate_weights(*name) : std::string();
    if (!folder) return in_context(facts.name, folder.error());
  }
  return {};
}

json::array checksums(const Facts& facts) {
  json::array all;
  for (const auto& file : facts.files) all.push_back(json::value(file.sha256));
  return all;
}

Result<void> verify_files(const Facts& facts, const std::string& folder) {
  for (const auto& file : facts.files) {
    const std::string path = folder + "/" + file.name;
    if (file.sha256.empty()) {
      if (auto sized = check_size(facts, file.name, path); !sized) return sized;
      continue;
    }
    const auto found = sha256_of_file(path);
    if (!found) return found.error();
    if (*found != file.sha256) {
      return error(fmt::format(
          "{}: SHA-256 is {} but {} is expected, so this is not the file that the splits were defined on. "
          "To get it: {}.",
          path, *found, file.sha256, facts.how_to_get));
    }
  }
  return {};
}

bool training_split_is_public(const std::string& dataset, const json::object& options) {
  const auto facts = find_dataset(dataset);
  return facts && ((**facts).public_train || read_options<OpenOptions>(options).is_public);
}

bool training_split_is_public(const json::object& dataset) {
  const auto* options = dataset.if_contains("options");
  const bool has_options = options != nullptr && options->is_object();
  return training_split_is_public(string_or(dataset, "name", ""),
                                  has_options ? options->get_object() : json::object{});
}

bool training_values_are_released(bool is_private, const std::string& dataset, const json::object& options) {
  return is_private || training_split_is_public(dataset, options);
}

}  // namespace hyfreedp::datasets
