#include "datasets/dataset.h"

#include <ATen/ATen.h>

#include "datasets/adult.h"
#include "datasets/e2e.h"
#include "datasets/fashion_mnist.h"
#include "datasets/synthetic.h"
#include "datasets/synthetic_images.h"
#include "datasets/synthetic_regression.h"
#include "datasets/synthetic_tokens.h"
#include "harness/random/partition.h"

namespace hyfreedp::datasets {
namespace {

struct Loader {
  std::string name;
  Result<Dataset> (*load)(const Facts&, const json::object&);
};

// One line a dataset; the names are those of dataset_facts().
const std::vector<Loader>& loaders() {
  static const std::vector<Loader> table = {
      {"fashion-mnist", load_fashion_mnist},
      {"synthetic", load_synthetic},
      {"synthetic-images", load_synthetic_images},
      {"synthetic-tokens", load_synthetic_tokens},
      {"e2e-dev", load_e2e},
      {"adult", load_adult},
      {"synthetic-regression", load_synthetic_regression},
  };
  return table;
}

// The training split's records of one part; the other splits as they are.
Dataset only_part(Dataset dataset, const random::Part& part) {
  auto& train = dataset.private_train;
  const auto indices = random::part_indices(part, train.features.size(0));
  const auto rows = at::tensor(indices, torch::kInt64);
  train = {train.features.index_select(0, rows), train.labels.index_select(0, rows)};
  return dataset;
}

}  // namespace

Result<Dataset> load_dataset(const std::string& name, const json::object& options) {
  const auto facts = find_dataset(name);
  if (!facts) return facts.error();
  const auto part = random::part_of(options);
  if (!part) return in_context(name, part.error());
  for (const auto& loader : loaders()) {
    if (loader.name != name) continue;
    auto dataset = loader.load(**facts, random::without_part(options));
    return dataset && *part ? only_part(std::move(*dataset), **part) : std::move(dataset);
  }
  HYFREEDP_CHECK(false, "dataset '" + name + "' has facts but no loader");
  return error("unreachable");
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
