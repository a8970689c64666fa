#include "harness/models/facts/weights_fit.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

#include "harness/base/safetensors_file.h"
#include "harness/models/facts/published_tensors.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/files/tensor_values.h"
#include "harness/models/files/weights_file.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/vit.h"

namespace hyfreedp::models {
namespace {

using Sizes = std::vector<std::int64_t>;

// Running statistics are what BatchNorm leaves in a file.
Result<void> refuse_batch_norm(const TensorShapes& file) {
  std::vector<std::string> layers;
  for (const auto& [name, shape] : file) {
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

// The name under which the file has the tied embedding itself; empty if it does not.
std::string own_name_of_tied(const TensorShapes& file, const LoadRules& rules) {
  if (rules.tied.empty()) return {};
  if (file.contains(rules.tied)) return rules.tied;
  if (!rules.tied.starts_with(rules.prefix)) return {};
  const auto shorter = rules.tied.substr(rules.prefix.size());
  return file.contains(shorter) ? shorter : std::string();
}

bool is_stored_mask(const std::string& name) {
  // The last: which row of BEiT's table is of which pair of positions, in older files.
  for (const char* stored :
       {".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq", ".relative_position_index"}) {
    if (name.ends_with(stored)) return true;
  }
  return false;
}

std::int64_t classes_of(const Blueprint& plan) { return int_or(plan.description.config, "classes", 0); }

NamedShapes parameters_of(const Blueprint& plan) {
  NamedShapes shapes;
  for (const auto& one : plan.parameters) shapes.emplace_back(one.name, one.shape);
  return shapes;
}

// Checks a published file's values, but for a head that is drawn anew and the BatchNorms' counters.
Result<void> check_published_values(const StoredTensors& stored, const std::string& head, bool new_head) {
  for (const auto& [name, tensor] : stored) {
    if ((new_head && name.starts_with(head)) || name.ends_with(".num_batches_tracked")) continue;
    if (auto sound = check_values(name, tensor); !sound) return sound;
  }
  return {};
}

Result<void> check_filled_values(const StoredTensors& stored, const std::vector<Filled>& filled) {
  for (const auto& one : filled) {
    if (auto sound = check_values(one.entry, stored.at(one.entry)); !sound) return sound;
  }
  return {};
}

Result<void> check_base(const Blueprint& plan, const json::object& options, const std::string& folder) {
  const auto config = weights_config(folder);
  if (!config) return config.error();
  if (auto same = check_own_config(plan, *config, folder + "/config.json"); !same) return same;
  const auto stored = read_stored_weights(folder);
  if (!stored) return stored.error();
  auto file = shapes_of(*stored);
  const bool new_head = draws_new_head(plan, options, *config);
  // The worker brings such files into the network's form.
  if (const auto& form = plan.description.published; is_published(form, file)) {
    auto fits = check_published(form, file, !new_head);
    if (fits) fits = check_published_values(*stored, head_in_file(form), new_head);
    return fits ? fits : in_context(folder, fits.error());
  }
  if (const auto patches = resampled_patches(plan); patches && file.contains(kPositions)) {
    auto& positions = file.at(kPositions);
    if (auto square = check_positions(positions); !square) return in_context(folder, square.error());
    positions[1] = *patches + 1;
  }
  const auto rules = rules_of(plan, new_head);
  const auto matched = match_weights(parameters_of(plan), file, rules);
  if (matched) {
    const auto sound = check_filled_values(*stored, *matched);
    if (!sound) return in_context(folder, sound.error());
    const auto both = both_of_tied(file, rules);
    const bool differ = !both.empty() && !are_equal(stored->at(both[0]), stored->at(both[1]));
    return differ ? Result<void>(in_context(folder, differ_though_tied(both))) : Result<void>();
  }
  const bool lacks_projection = plan.graph.head == "lm_head." && !file.contains(kOutputProjection);
  return in_context(folder,
                    lacks_projection
                        ? error(matched.error().message +
                                " If the output projection is the token embedding, config.json must say so: "
                                "\"tie_word_embeddings\": true.")
                        : matched.error());
}

Result<void> check_adapter(const Blueprint& plan, const std::string& folder) {
  const auto path = folder + "/adapter_model.safetensors";
  auto read = read_stored_safetensors(path);
  if (!read) return read.error();
  const auto stored = without_wrappers(std::move(*read));
  const auto matched = match_weights(parameters_of(plan), shapes_of(stored), rules_of_adapter());
  if (matched) {
    const auto sound = check_filled_values(stored, *matched);
    return sound ? sound : in_context(path, sound.error());
  }
  return error(fmt::format("{}: {} In adapter_config.json beside it 'r' is {}.", path,
                           matched.error().message, plan.lora ? plan.lora->rank : 0));
}

}  // namespace

Result<std::vector<Filled>> match_weights(const NamedShapes& parameters, const TensorShapes& file,
                                          const LoadRules& rules) {
  if (auto refused = refuse_batch_norm(file); !refused) return refused.error();
  const std::map<std::string, Sizes> wanted(parameters.begin(), parameters.end());
  const auto is_of_new_head = [&](const std::string& name) {
    return !rules.new_head.empty() && name.starts_with(rules.new_head);
  };
  const bool tied_twice = !own_name_of_tied(file, rules).empty();
  std::vector<Filled> filled;
  std::set<std::string> done;
  Misfits misfits;
  for (const auto& [entry, shape] : file) {
    if (is_of_new_head(entry)) continue;
    auto name = entry;
    if (entry == kOutputProjection && !rules.tied.empty()) {
      if (tied_twice) continue;
      name = rules.tied;
    }
    if (!wanted.contains(name) && !rules.prefix.empty()) name = rules.prefix + entry;
    const auto target = wanted.find(name);
    if (target == wanted.end()) {
      if (!rules.may_be_left || !rules.may_be_left(entry)) misfits.unexpected.push_back(entry);
      continue;
    }
    if (!done.insert(name).second) {
      misfits.unexpected.push_back(entry);
    } else if (target->second != shape) {
      misfits.add_misshaped(entry, shape, target->second);
    } else {
      filled.push_back({entry, name});
    }
  }
  for (const auto& [name, shape] : parameters) {
    if (done.contains(name) || is_of_new_head(name) || (rules.may_be_absent && rules.may_be_absent(name)))
      continue;
    misfits.missing.push_back(name);
  }
  if (auto fits = misfits.result(); !fits) return fits.error();
  return filled;
}

std::vector<std::string> both_of_tied(const TensorShapes& file, const LoadRules& rules) {
  const auto own = own_name_of_tied(file, rules);
  if (own.empty() || !file.contains(kOutputProjection)) return {};
  return {own, kOutputProjection};
}

Error differ_though_tied(const std::vector<std::string>& both) {
  return error(
      fmt::format("The weights have other values in {} than in {}, but config.json says that they are one "
                  "(tie_word_embeddings).",
                  both.at(1), both.at(0)));
}

TensorShapes shapes_of(const StoredTensors& tensors) {
  TensorShapes shapes;
  for (const auto& [name, tensor] : tensors) shapes[name] = tensor.shape;
  return shapes;
}

bool draws_new_head(const Blueprint& plan, const json::object& options, const json::object& config) {
  if (plan.description.has_sizes_of_folder) return read_options<SharedOptions>(options).head == "new";
  const auto* const classes = config.if_contains("classes");
  return classes != nullptr && *classes != json::value(classes_of(plan));
}

LoadRules rules_of(const Blueprint& plan, bool new_head) {
  const auto& description = plan.description;
  LoadRules rules{.prefix = description.prefix};
  for (const auto& place : plan.graph.places) {
    if (place.again >= 0) rules.tied = graph::parameter_names(place).front();
  }
  rules.may_be_left = [ignored = description.ignored](const std::string& entry) {
    return is_stored_mask(entry) ||
           std::ranges::any_of(ignored, [&](const std::string& begin) { return entry.starts_with(begin); });
  };
  rules.may_be_absent = is_adapter;
  if (new_head) rules.new_head = plan.graph.task;
  return rules;
}

LoadRules rules_of_adapter() {
  LoadRules rules;
  rules.may_be_absent = [](const std::string& name) { return !is_adapter(name); };
  return rules;
}

Result<void> check_own_config(const Blueprint& plan, const json::object& config, const std::string& where) {
  if (plan.description.has_sizes_of_folder) return {};
  const auto& here = plan.description.config;
  auto there = config;
  if (canonical_json(here) == canonical_json(there)) return {};
  const bool is_head_alone = plan.graph.blocks.empty();
  if (!is_head_alone && there.contains("classes")) there["classes"] = here.at("classes");
  if (canonical_json(here) == canonical_json(there)) return {};
  return error(fmt::format("{} describes another network: it has {}, the spec has {}.", where,
                           canonical_json(config), canonical_json(here)));
}

std::optional<std::int64_t> resampled_patches(const Blueprint& plan) {
  for (const auto& parameter : plan.parameters) {
    if (parameter.name == kPositions) return parameter.shape.at(1) - 1;
  }
  return std::nullopt;
}

Result<void> check_positions(const std::vector<std::int64_t>& shape) {
  if (shape.size() != 3 || shape[0] != 1 || shape[1] < 2) {
    return error("The weights' 'pos_embed' is not [1, 1 + patches, width].");
  }
  const auto patches = shape[1] - 1;
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(patches))));
  if (side * side != patches) return error("The weights' 'pos_embed' is not of a square of patches.");
  return {};
}

Result<void> check_fit(const Blueprint& plan, const json::object& options) {
  const auto shared = read_options<SharedOptions>(options);
  const auto weights = shared.weights.value_or(""), adapter = shared.adapter.value_or("");
  if (const auto folder = locate_weights(weights); folder && !weights.empty()) {
    if (auto fits = check_base(plan, options, *folder); !fits) return fits;
  }
  const auto folder = locate_adapter(adapter);
  return folder && !adapter.empty() ? check_adapter(plan, *folder) : Result<void>();
}

std::string fit_note(const Blueprint& plan, const json::object& options) {
  const auto name = read_options<SharedOptions>(options).weights.value_or("");
  if (name.empty() || plan.description.has_sizes_of_folder) return {};
  const auto folder = locate_weights(name);
  const auto config = folder ? weights_config(*folder) : Result<json::object>(folder.error());
  if (!config || !draws_new_head(plan, options, *config)) return {};
  return fmt::format(
      "The weights '{}' are of {} classes and the dataset has {}: the last layer, {}, is drawn anew.", name,
      json::serialize(config->at("classes")), classes_of(plan),
      plan.graph.head.substr(0, plan.graph.head.size() - 1));
}

std::string frozen_head_note(const Blueprint& plan, const json::object& options) {
  const auto shared = read_options<SharedOptions>(options);
  const auto name = shared.weights.value_or("");
  const auto folder = name.empty() ? Result<std::string>(error("none")) : locate_weights(name);
  const auto config = folder ? weights_config(*folder) : Result<json::object>(folder.error());
  if (!config || plan.graph.head.empty() || !draws_new_head(plan, options, *config)) return {};
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    const auto& parameter = plan.parameters[i].name;
    // A bias alone makes no classifier of drawn weights.
    if (plan.trainable[i] && parameter.starts_with(plan.graph.head) && parameter.ends_with("weight"))
      return {};
  }
  const auto& trainable = shared.trainable;
  const bool has_other = trainable == "lora" || trainable == "bitfit";
  return fmt::format(
      "The last layer, {}, is drawn anew, and 'trainable: {}' does not train its weight.{}",
      plan.graph.head.substr(0, plan.graph.head.size() - 1), trainable,
      has_other ? fmt::format(" Use 'trainable: {}-head', or 'head: file' for the weights' own.", trainable)
                : std::string());
}

std::string positions_note(const std::string& model, const std::string& weights) {
  const auto folder = weights.empty() ? Result<std::string>(error("none")) : locate_weights(weights);
  const auto config = folder ? weights_config(*folder) : Result<json::object>(folder.error());
  if (!config) return {};
  using Family = VitShape::Family;
  for (const auto family : {Family::vit, Family::beit, Family::clip, Family::eva02}) {
    if (VitShape::of(family).model() != model) continue;
    const auto shape = VitShape::from_json(*config, "", family);
    const auto stored = shape ? read_stored_weights(*folder) : Result<StoredTensors>(shape.error());
    if (!stored || !stored->contains("pos_embed")) return {};
    const auto& positions = stored->at("pos_embed").shape;
    if (!check_positions(positions) || positions[1] == shape->patches() + 1) return {};
    const auto patches = std::sqrt(static_cast<double>(positions[1] - 1));
    return fmt::format(
        "'{}': config.json says images of {} pixels, but the position embedding is of images of {}. The "
        "embedding "
        "is believed, and resampled where the dataset's images are of another size.",
        weights, shape->image, std::llround(patches) * shape->patch);
  }
  return {};
}

}  // namespace hyfreedp::models
