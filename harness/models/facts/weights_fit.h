// Checks that weights files fit a model, by the names, shapes and values of their tensors, without
// LibTorch. A spec is checked while it is planned, and the worker repeats the check by the same
// rules before it loads (weights.h).
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
  // Says whether a parameter may be absent from the file and keep its value (a new adapter).
  std::function<bool(const std::string&)> may_be_absent = {};
  // Says whether an entry of the file may be ignored (stored masks).
  std::function<bool(const std::string&)> may_be_left = {};
};

// A network's parameters, in its order.
using NamedShapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;
// An entry of a file and the parameter whose value it is.
struct Filled {
  std::string entry;
  std::string parameter;
};
// All of them, or one error that lists every missing, unexpected and misshaped tensor by name, or
// the file's BatchNorms.
Result<std::vector<Filled>> match_weights(const NamedShapes& parameters, const TensorShapes& file,
                                          const LoadRules& rules);
// The two entries, if a file has the tied embedding under both names; else empty.
std::vector<std::string> both_of_tied(const TensorShapes& file, const LoadRules& rules);
// The error for two entries of a tied embedding that have different values.
Error differ_though_tied(const std::vector<std::string>& both);

TensorShapes shapes_of(const StoredTensors& tensors);

// True if the network's head is drawn anew although there are weights: with `head: new` or, if the
// network lacks that option, with a folder for another number of classes. `config`: the folder's.
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

// Checks that the folders named by the options `weights` and `adapter` fit the model, and that the
// values they give it are finite (tensor_values.h). Folders that are not here are not checked.
Result<void> check_fit(const Blueprint& plan, const json::object& options);
// A note that the head is drawn anew because the numbers of classes differ; else empty.
std::string fit_note(const Blueprint& plan, const json::object& options);
// A note that the head is drawn anew and its weight does not train; else empty.
std::string frozen_head_note(const Blueprint& plan, const json::object& options);
// A note that the folder's config.json gives another image size than its position embedding has;
// else empty. `model`: the registered name.
std::string positions_note(const std::string& model, const std::string& weights);

}  // namespace hyfreedp::models
