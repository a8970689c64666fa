// Whether weights files fit a model, by the names, shapes and values of their tensors, without
// LibTorch. A spec is checked by it while it is planned, and the worker asks again before it loads
// by the same rules (weights.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/stored_tensor.h"
#include "harness/models/facts/blueprint.h"
#include "harness/models/facts/misfits.h"

namespace hyfreedp::models {

inline constexpr const char* kOutputProjection = "lm_head.weight";

struct LoadRules {
  // Prepended to a file's names that lack it: GPT-2's files say "wte.weight" for
  // "transformer.wte.weight".
  std::string prefix = {};
  // The token embedding, where the output projection is tied to it. A file may have it under its
  // own name, as "lm_head.weight", or both.
  std::string tied = {};
  // Beginning of the names of a head that keeps the network's initial values, whatever the file
  // has.
  std::string new_head = {};
  // Whether a network parameter may be absent from the file, and keeps its value
  // (a new adapter).
  std::function<bool(const std::string&)> may_be_absent = {};
  // Whether an entry of the file may be ignored (stored masks).
  std::function<bool(const std::string&)> may_be_left = {};
};

// Of a network's parameters, in its order.
using NamedShapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;
// Which entry of a file gives which parameter.
struct Filled {
  std::string entry;
  std::string parameter;
};
// All of them, or one error that lists every missing, unexpected and misshaped tensor by name, or
// the file's BatchNorms.
Result<std::vector<Filled>> match_weights(const NamedShapes& parameters, const TensorShapes& file,
                                          const LoadRules& rules);
// Where a file has the tied embedding under both names, the two entries; else nothing.
std::vector<std::string> both_of_tied(const TensorShapes& file, const LoadRules& rules);
// That these two have other values.
Error differ_though_tied(const std::vector<std::string>& both);

TensorShapes shapes_of(const StoredTensors& tensors);

// Whether the network's head is drawn anew although there are weights: `head: new`, or, of a
// network without that option, a folder for another number of classes. `config`: the folder's.
bool draws_new_head(const Blueprint& plan, const json::object& options, const json::object& config);
// The rules of a model's weights folder, and of its adapter's.
LoadRules rules_of(const Blueprint& plan, bool new_head);
LoadRules rules_of_adapter();
// The folder's config.json must say the same network, where its sizes are options: shapes of
// tensors do not tell one activation from another. The number of classes may differ.
Result<void> check_own_config(const Blueprint& plan, const json::object& config, const std::string& where);
// The patches to which a position embedding of another number is resampled; nothing where the
// network has none. It must be of a square of patches.
inline constexpr const char* kPositions = "pos_embed";
std::optional<std::int64_t> resampled_patches(const Blueprint& plan);
Result<void> check_positions(const std::vector<std::int64_t>& shape);

// Whether the files of the folders that the options `weights` and `adapter` name fit the model, and
// what they give it are finite numbers (tensor_values.h). Nothing is checked of folders that are
// not here.
Result<void> check_fit(const Blueprint& plan, const json::object& options);
// What a person should know of weights that fit: that the head is drawn anew because the classes
// differ. Empty: nothing.
std::string fit_note(const Blueprint& plan, const json::object& options);
// That a head is drawn anew and its weight does not train.
std::string frozen_head_note(const Blueprint& plan, const json::object& options);
// That the folder's config.json says images of another size than the position embedding beside it
// is of. `model`: the registered name.
std::string positions_note(const std::string& model, const std::string& weights);

}  // namespace hyfreedp::models
