#include "datasets/facts.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::string_view kDataVariable = "$HYFREEDP_DATA";

Facts fashion_mnist() {
  return {
      .name = "fashion-mnist",
      .title = "Fashion-MNIST",
      .source =
          "Xiao, Rasul, Vollgraf: Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning "
          "Algorithms, arXiv:1708.07747",
      .how_to_get = "apt-get install dataset-fashion-mnist",
      .search_paths = {"$HYFREEDP_DATA/fashion-mnist", "/usr/share/datasets/fashion-mnist"},
      .files =
          {{"train-images-idx3-ubyte.gz", "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7"},
           {"train-labels-idx1-ubyte.gz", "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056"},
           {"t10k-images-idx3-ubyte.gz", "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa"},
           {"t10k-labels-idx1-ubyte.gz", "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05"}},
      .private_train = 50000,  // the first 50,000 of the training file
      .private_validation = 10000,
      .test = 10000,
      .classes = 10,
      .options = {{.name = "features",
                   .type = OptionType::choice,
                   .otherwise = "hog",
                   .help = "hog: 716 fixed gradient-orientation features; pixels: the 784 pixels, each image "
                           "centred and scaled by itself",
                   .choices = {"hog", "pixels"}}},
  };
}

OptionSpec count_option(std::string name, std::int64_t otherwise, double min, double max, std::string help) {
  return {.name = std::move(name),
          .type = OptionType::integer,
          .otherwise = otherwise,
          .help = std::move(help),
          .min = min,
          .max = max};
}

Facts synthetic() {
  return {
      .name = "synthetic",
      .title = "Gaussian classes",
      .source = "generated from a fixed random stream; holds nobody's data",
      .how_to_get = "nothing: it is generated",
      .search_paths = {},
      .files = {},
      .options = {count_option("train", 2000, 1, 1e7, "examples in private_train"),
                  count_option("validation", 500, 1, 1e7, "examples in private_validation"),
                  count_option("test", 500, 1, 1e7, "examples in test"),
                  count_option("classes", 3, 2, 1000, "number of classes"),
                  count_option("features", 16, 1, 1e5, "length of an example"),
                  {.name = "separation",
                   .type = OptionType::real,
                   .otherwise = 3.0,
                   .help = "distance of each class's mean from the origin",
                   .unit = "sd within a class",
                   .min = 0,
                   .max = 1e3}},
      .public_train = true,
  };
}

std::int64_t image_features(const json::object& options) {
  return string_or(options, "features", "hog") == "pixels" ? 784 : 716;
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

Result<Split> split_from(const std::string& name) {
  std::vector<std::string> names;
  for (const auto split :
       {Split::private_train, Split::private_validation, Split::public_data, Split::test}) {
    if (to_string(split) == name) return split;
    names.push_back(to_string(split));
  }
  return error("unknown split '" + name + "'." + did_you_mean(name, names) + " Splits: " + join(names, ", ") +
               ".");
}

const std::vector<Facts>& dataset_facts() {
  static const std::vector<Facts> facts = {fashion_mnist(), synthetic()};
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
  if (facts.name == "synthetic") {
    return {.private_train = int_or(options, "train", 2000),
            .private_validation = int_or(options, "validation", 500),
            .public_data = 0,
            .test = int_or(options, "test", 500),
            .classes = int_or(options, "classes", 3),
            .features = int_or(options, "features", 16)};
  }
  Sizes sizes{.private_train = facts.private_train,
              .private_validation = facts.private_validation,
              .public_data = facts.public_data,
              .test = facts.test,
              .classes = facts.classes,
              .features = image_features(options)};
  if (string_or(options, "features", "hog") == "pixels") sizes.image = {1, 28, 28};
  return sizes;
}

std::int64_t split_size(const Sizes& sizes, Split split) {
  switch (split) {
    case Split::private_train:
      return sizes.private_train;
    case Split::private_validation:
      return sizes.private_validation;
    case Split::public_data:
      return sizes.public_data;
    case Split::test:
      return sizes.test;
  }
  return 0;
}

std::int64_t feature_count(const Facts& facts, const json::object& options) {
  return sizes(facts, options).features;
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
  return error(
      fmt::format("The dataset {} is not on this machine. To get it: {}; or set HYFREEDP_DATA to a folder "
                  "that has it in {}/. "
                  "Looked in: {}.",
                  facts.name, facts.how_to_get, facts.name, join(looked_in, ", ")));
}

}  // namespace hyfreedp::datasets
