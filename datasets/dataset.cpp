#include "datasets/dataset.h"

#include <ATen/ATen.h>

#include "datasets/registry.h"
#include "harness/random/partition.h"

namespace hyfreedp::datasets {
namespace {

using Load = Result<Dataset> (*)(const Facts&, const json::object&, const std::string&);

// A dataset's load, which takes a device where it computes with a network.
template <class Each>
Result<Dataset> load_one(const Facts& facts, const json::object& options, const std::string& device) {
  if constexpr (requires { Each::load(facts, options, device); }) {
    return Each::load(facts, options, device);
  } else {
    return Each::load(facts, options);
  }
}

// Null for a name that no entry has.
template <class... Each>
Load loader_of(const std::string& name, List<Each...> /*registered*/) {
  Load found = nullptr;
  ((Each::facts().name == name ? found = load_one<Each> : found), ...);
  return found;
}

// The training split's records of one part; the other splits as they are.
Dataset only_part(Dataset dataset, const random::Part& part) {
  auto& train = dataset.private_train;
  const auto indices = random::part_indices(part, train.features.size(0));
  const auto rows = at::tensor(indices, torch::kInt64);
  train = {train.features.index_select(0, rows), train.labels.index_select(0, rows), train.scale,
           train.copies};
  return dataset;
}

}  // namespace

torch::Tensor SplitData::values(std::int64_t first, std::int64_t count, torch::ScalarType type) const {
  const auto rows = features.narrow(0, first, count);
  return scale ? scaled(rows, *scale, type) : rows.to(type);
}

Result<Dataset> load_dataset(const std::string& name, const json::object& options,
                             const std::string& device) {
  const auto facts = find_dataset(name);
  if (!facts) return facts.error();
  const auto part = random::part_of(options);
  if (!part) return in_context(name, part.error());
  auto dataset = loader_of(name, Registered())(**facts, random::without_part(options), device);
  return dataset && *part ? only_part(std::move(*dataset), **part) : std::move(dataset);
}

const SplitData& Dataset::split(Split which) const {
  switch (which) {
    case Split::private_train:
      return private_train;
    case Split::private_validation:
      return private_validation;
    case Split::test:
      return test;
    case Split::public_data:
      break;
  }
  HYFREEDP_CHECK(false, "this dataset has no split '" + to_string(which) + "'");
  return test;
}

}  // namespace hyfreedp::datasets
