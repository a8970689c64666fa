#include "harness/runner/execute/weights_metadata.h"

#include <algorithm>
#include <fmt/format.h>

#include "datasets/facts.h"
#include "datasets/notes/weights_notes.h"
#include "datasets/same_data.h"
#include "datasets/table_columns.h"
#include "datasets/table_file.h"
#include "harness/base/text.h"
#include "harness/models/facts/facts.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/networks/options.h"
#include "harness/runner/lineage/initial_weights.h"
#include "results/table/cell_text.h"
#include "results/table/table_model.h"

namespace hyfreedp::runner {
namespace {

constexpr const char* kFolder = "FOLDER";

const json::object& object_at(const json::object& object, const char* key) {
  return object.at(key).as_object();
}

// Sizes come from the folder where its config.json decides them, as of the models whose head may be
// the file's or that may have adapters; else from the same options as before.
bool has_sizes_in_folder(const std::string& model) {
  const auto facts = models::find_model(model);
  if (!facts) return false;
  for (const auto& option : (**facts).options) {
    if (option.name == "adapter" || option.name == "head") return true;
  }
  return false;
}

// True if the option `pool` says what the head reads, and the folder's config.json does not, as for
// BERT.
bool is_pool_not_in_folder(const std::string& model) {
  const auto facts = models::find_model(model);
  if (!facts) return false;
  const auto pool = std::ranges::find((**facts).options, "pool", &OptionSpec::name);
  return pool != (**facts).options.end() && !pool->default_value.is_null();
}

json::object model_entry(const json::object& config, const json::object& kept) {
  const auto& model = object_at(config, "model");
  const auto name = string_or(model, "name", "");
  const auto& options = object_at(model, "options");
  json::object entry{{"name", name}};
  if (!has_sizes_in_folder(name)) {
    for (const auto& option : options) {
      if (!option.value().is_null()) entry[option.key()] = option.value();
    }
    entry.erase("weights_sha256");
    entry["weights"] = kFolder;
  } else {
    const bool adapter = bool_or(kept, "adapter", false);
    const bool network = bool_or(kept, "network", false);
    entry["weights"] = network ? kFolder : models::weights_named(options);
    if (adapter) entry["adapter"] = kFolder;
    const auto shared = read_options<models::SharedOptions>(options);
    if (shared.head) entry["head"] = network ? "file" : *shared.head;
    if (is_pool_not_in_folder(name) && options.contains("pool")) entry["pool"] = options.at("pool");
    entry["trainable"] = shared.trainable;
    if (const auto* pattern = options.if_contains("trainable_pattern");
        pattern != nullptr && !pattern->is_null()) {
      entry["trainable_pattern"] = *pattern;
    }
  }
  return entry;
}

json::object dataset_of(const json::object& config) {
  auto dataset = object_at(config, "dataset");
  const auto name = string_or(dataset, "name", "");
  const auto facts = datasets::find_dataset(name);
  if (!facts) return dataset;
  const auto classes = datasets::sizes(**facts, object_at(dataset, "options")).classes;
  dataset["classes"] = classes;
  const auto names = datasets::own_class_names(name, object_at(dataset, "options"));
  // A folder of images may have changed since.
  if (names && std::ssize(*names) == classes) {
    dataset["class_names"] = json::array(names->begin(), names->end());
  }
  if (name != datasets::TableFile::kName) return dataset;
  // If the table has changed since, its columns are left out.
  const auto columns = datasets::columns_sha256(object_at(dataset, "options"));
  if (columns && !columns->empty()) dataset["columns_sha256"] = *columns;
  return dataset;
}

std::string privacy_claim(const WeightsMetadata& metadata) {
  if (!metadata.why_confidential.empty()) {
    return fmt::format("confidential: not a release under any epsilon: {}.", metadata.why_confidential);
  }
  const auto& data = object_at(metadata.trial.config, "dataset");
  const auto dataset = datasets::data_name(string_or(data, "name", ""), object_at(data, "options"));
  const bool is_public = datasets::training_split_is_public(data);
  if (!metadata.study.total) {
    return fmt::format("'{}' has public training examples; no privacy is claimed.", dataset);
  }
  auto claim = fmt::format(
      "Private training examples enter these weights at epsilon {} and delta {}, the search for settings "
      "included, when one example is added or removed. Other rows, seeds and runs on the same data add to it "
      "(hyfreedp odometer).",
      results::epsilon_text(metadata.study.total->epsilon), metadata.study.delta);
  if (!is_public) return claim;
  return fmt::format("{} '{}' has public training examples, so nobody's privacy rests on this.", claim,
                     dataset);
}

std::string statement(const WeightsMetadata& metadata) {
  auto text = privacy_claim(metadata);
  std::vector<std::string> seen;
  for (const auto& value : metadata.private_data) {
    const auto& release = value.get_object();
    const auto* epsilon = release.if_contains("epsilon");
    const bool claimed = epsilon != nullptr && !epsilon->is_null();
    seen.push_back(string_or(release, "dataset", "") +
                   (claimed ? fmt::format(" (epsilon {}, delta {})",
                                          results::epsilon_text(double_or(release, "epsilon", 0)),
                                          double_or(release, "delta", 0))
                            : " (without an epsilon)"));
  }
  if (seen.empty()) return text;
  return fmt::format("{} The run began with weights that have seen more: {}.", text, join(seen, ", "));
}

json::object privacy_of(const WeightsMetadata& metadata) {
  const auto& study = metadata.study;
  json::object privacy{{"epsilon", nullptr},
                       {"delta", nullptr},
                       {"neighbouring", "add-remove"},
                       {"label", study.label},
                       {"flags", json::array(study.flags.begin(), study.flags.end())},
                       {"statement", statement(metadata)}};
  if (study.total) {
    privacy["epsilon"] = number(study.total->epsilon);
    privacy["delta"] = study.total->delta;
  }
  if (study.claimed_epsilon) privacy["claimed_epsilon"] = number(*study.claimed_epsilon);
  return privacy;
}

json::array private_data_of(const WeightsMetadata& metadata) {
  auto seen = metadata.private_data;
  const auto& dataset = object_at(metadata.trial.config, "dataset");
  const auto own = string_or(dataset, "name", "");
  // Data that are declared public are listed: a private run on them must not begin with these
  // weights.
  const auto facts = datasets::find_dataset(own);
  if (facts && (**facts).public_train) return seen;
  auto release = named_data(datasets::identity_of(own, object_at(dataset, "options")));
  release["epsilon"] = nullptr;
  release["delta"] = nullptr;
  if (metadata.study.total && metadata.why_confidential.empty()) {
    release["epsilon"] = number(metadata.study.total->epsilon);
    release["delta"] = metadata.study.total->delta;
  }
  seen.push_back(release);
  return seen;
}

json::object test_of(const WeightsMetadata& metadata) {
  json::object test;
  for (const auto& metric : metadata.metrics) {
    if (metric.split == "test") test[metric.name] = number(metric.value);
  }
  return test;
}

}  // namespace

json::object to_json(const WeightsMetadata& metadata) {
  json::object object{{"spec", metadata.spec.name},
                      {"spec_hash", metadata.spec.hash},
                      {"panel", metadata.study.panel},
                      {"row", metadata.study.row},
                      {"method", metadata.study.method},
                      {"seed", metadata.study.seed},
                      {"study", metadata.study.id},
                      {"trial", metadata.trial.id},
                      {"program", metadata.spec.version},
                      {"private_data", private_data_of(metadata)},
                      {"files", metadata.files},
                      {"dataset", dataset_of(metadata.trial.config)},
                      {"config", metadata.trial.config},
                      {"weights", string_or(metadata.kept, "values", "")},
                      {"model", model_entry(metadata.trial.config, metadata.kept)},
                      {"test", test_of(metadata)},
                      {"privacy", privacy_of(metadata)}};
  if (bool_or(metadata.kept, "centred", false)) {
    object["features"] = "the mean in features.safetensors is taken off every feature before the network";
  }
  if (!metadata.why_confidential.empty()) object["watermark"] = results::kWatermark;
  return object;
}

}  // namespace hyfreedp::runner
