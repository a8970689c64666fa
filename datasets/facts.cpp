#include "datasets/facts.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>

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
                   .default_value = "hog",
                   .help = "hog: 716 fixed gradient-orientation features; pixels: the 784 pixels, each image "
                           "centred and scaled by itself",
                   .choices = {"hog", "pixels"}}},
  };
}

OptionSpec count_option(std::string name, std::int64_t default_value, double min, double max,
                        std::string help) {
  return {.name = std::move(name),
          .type = OptionType::integer,
          .default_value = default_value,
          .help = std::move(help),
          .min = min,
          .max = max};
}

OptionSpec real_option(std::string name, double default_value, double max, std::string help,
                       std::string unit) {
  return {.name = std::move(name),
          .type = OptionType::real,
          .default_value = default_value,
          .help = std::move(help),
          .unit = std::move(unit),
          .min = 0,
          .max = max};
}

// `own`: the options that say what its examples look like.
Facts generated(std::string name, std::string title, std::vector<OptionSpec> own) {
  Facts facts{.name = std::move(name),
              .title = std::move(title),
              .source = "generated from a fixed random stream; holds nobody's data",
              .how_to_get = "nothing: it is generated",
              .search_paths = {},
              .files = {},
              .options = {count_option("train", 2000, 1, 1e7, "examples in private_train"),
                          count_option("validation", 500, 1, 1e7, "examples in private_validation"),
                          count_option("test", 500, 1, 1e7, "examples in test")},
              .public_train = true};
  std::move(own.begin(), own.end(), std::back_inserter(facts.options));
  return facts;
}

Facts synthetic() {
  return generated("synthetic", "Gaussian classes",
                   {count_option("classes", 3, 2, 1000, "number of classes"),
                    count_option("features", 16, 1, 1e5, "length of an example"),
                    real_option("separation", 3.0, 1e3, "distance of each class's mean from the origin",
                                "sd within a class")});
}

Facts synthetic_images() {
  return generated("synthetic-images", "Generated images",
                   {count_option("classes", 4, 2, 1000, "number of classes"),
                    count_option("channels", 3, 1, 1024, "of an image"),
                    count_option("side", 16, 1, 4096, "pixels, of a square image"),
                    real_option("contrast", 0.5, 1e3, "root mean square of a class's pattern",
                                "sd of a pixel within a class")});
}

Facts synthetic_tokens() {
  return generated("synthetic-tokens", "Generated sequences",
                   {count_option("vocabulary", 32, 2, 1e6, "different tokens"),
                    count_option("length", 16, 2, 65536, "tokens of an example"),
                    real_option("noise", 0.2, 1, "probability that a token is drawn at random", "")});
}

Facts synthetic_regression() {
  return generated("synthetic-regression", "Generated linear regression",
                   {count_option("features", 10, 1, 1e5, "length of an example, uniform in [0, 1)"),
                    real_option("weight", 10.0, 1e6, "of every feature in the label", "")});
}

constexpr std::int64_t kGpt2Vocabulary = 50257;

Facts e2e() {
  return {.name = "e2e-dev",
          .title = "E2E NLG challenge, development set, GPT-2 tokens",
          .source =
              "Novikova, Dusek, Rieser: The E2E Dataset: New Challenges For End-to-End Generation, "
              "arXiv:1706.09254",
          .how_to_get =
              "e2e/devset.csv and e2e/testset_w_refs.csv from the challenge's page, gpt2/encoder.json and "
              "gpt2/vocab.bpe from "
              "GPT-2's release",
          .search_paths = {"$HYFREEDP_DATA"},
          .files = {{"e2e/devset.csv", "fc26b78cdb849c80545f513b223d1e051138b43882eeb79e3eb153e689c864f9"},
                    {"e2e/testset_w_refs.csv",
                     "edc8db685e39bb9824d5bd70c18b1c9b0412d14b527aa960e2d1c8251ee15ccd"},
                    {"gpt2/encoder.json", "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"},
                    {"gpt2/vocab.bpe", "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"}},
          .private_train = 4172,
          .private_validation = 500,
          .test = 4693,
          .classes = kGpt2Vocabulary,
          .options = {count_option("length", 64, 2, 1024,
                                   "tokens of an example; longer ones are cut, shorter ones padded")}};
}

Facts adult() {
  return {.name = "adult",
          .title = "Adult (census income)",
          .source = "Becker, Kohavi: Adult, UCI Machine Learning Repository, 1996, doi:10.24432/C5XW20",
          .how_to_get =
              "adult/adult.csv: adult.data of the UCI repository without the blanks after its commas, its "
              "question marks left empty, with a line of column names",
          .search_paths = {"$HYFREEDP_DATA/adult"},
          .files = {{"adult.csv", "5138b5b5c98caed85f1d168fa268339cfe6e9d033c3957515ab3a00396877174"}},
          // Of the 30,162 complete rows, by a keyed hash: 80 % train and validation, 20 % test
          // (not UCI's own test part).
          .private_train = 20000,
          .private_validation = 4129,
          .test = 6033,
          .classes = 2,
          .options = {{.name = "capital",
                       .type = OptionType::choice,
                       .default_value = "linear",
                       .help = "capital gains and losses: linear: divided by 100,000 and 5,000 dollars; log: "
                               "log(1 + x) / log(100,000)",
                       .choices = {"linear", "log"}}}};
}

// What does not depend on a real dataset's options.
Sizes fixed_sizes(const Facts& facts) {
  return {.private_train = facts.private_train,
          .private_validation = facts.private_validation,
          .public_data = facts.public_data,
          .test = facts.test,
          .classes = facts.classes};
}

// Sizes of a generated dataset, but for what its examples look like.
Sizes generated_sizes(const json::object& options) {
  return {.private_train = int_or(options, "train", 2000),
          .private_validation = int_or(options, "validation", 500),
          .public_data = 0,
          .test = int_or(options, "test", 500)};
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
  static const std::vector<Facts> facts = {fashion_mnist(),       synthetic(), synthetic_images(),
                                           synthetic_tokens(),    e2e(),       adult(),
                                           synthetic_regression()};
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
  auto sizes = generated_sizes(options);
  if (facts.name == "synthetic") {
    sizes.classes = int_or(options, "classes", 3);
    sizes.features = int_or(options, "features", 16);
  } else if (facts.name == "synthetic-images") {
    const auto side = int_or(options, "side", 16);
    sizes.classes = int_or(options, "classes", 4);
    sizes.image = {int_or(options, "channels", 3), side, side};
    sizes.features = sizes.image[0] * side * side;
  } else if (facts.name == "synthetic-tokens") {
    sizes.vocabulary = sizes.classes = int_or(options, "vocabulary", 32);
    sizes.length = sizes.features = int_or(options, "length", 16);
  } else if (facts.name == "synthetic-regression") {
    sizes.classes = 1;
    sizes.features = int_or(options, "features", 10);
    sizes.real_labels = true;
  } else if (facts.name == "e2e-dev") {
    sizes = fixed_sizes(facts);
    sizes.vocabulary = facts.classes;
    sizes.length = sizes.features = int_or(options, "length", 64);
  } else if (facts.name == "adult") {
    sizes = fixed_sizes(facts);
    sizes.features = 104;
  } else if (facts.name == "fashion-mnist") {
    const bool pixels = string_or(options, "features", "hog") == "pixels";
    sizes = fixed_sizes(facts);
    sizes.features = pixels ? 784 : 716;
    if (pixels) sizes.image = {1, 28, 28};
  } else {
    HYFREEDP_CHECK(false, "the dataset '" + facts.name +
                              "' has no sizes; give it a case in sizes() (datasets/facts.cpp)");
  }
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
