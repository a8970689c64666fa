// Fashion-MNIST: 60,000 + 10,000 grey 28 x 28 images of clothes in 10 classes
// (Xiao, Rasul, Vollgraf, arXiv:1708.07747).
//
// private_train is the first 50,000 images of the training file, private_validation its last
// 10,000, test the test file. The source files' checksums are verified when the feature cache is
// made, and not at each start.
#pragma once

#include "datasets/facts.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {

struct FashionMnist {
  static Facts facts() {
    return {
        .name = "fashion-mnist",
        .title = "Fashion-MNIST",
        .source =
            "Xiao, Rasul, Vollgraf: Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning "
            "Algorithms, arXiv:1708.07747",
        .how_to_get = "apt-get install dataset-fashion-mnist",
        .search_paths = {"$HYFREEDP_DATA/fashion-mnist", "/usr/share/datasets/fashion-mnist"},
        .files = {{"train-images-idx3-ubyte.gz",
                   "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7"},
                  {"train-labels-idx1-ubyte.gz",
                   "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056"},
                  {"t10k-images-idx3-ubyte.gz",
                   "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa"},
                  {"t10k-labels-idx1-ubyte.gz",
                   "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05"}},
        .options = {choice_option(
            "features", {"hog", "pixels"},
            "hog: 716 fixed gradient-orientation features; pixels: the 784 pixels, each image "
            "centred and scaled by itself")},
        .sizes = sizes};
  }
  static Sizes sizes(const json::object& options) {
    const bool pixels = string_or(options, "features", "hog") == "pixels";
    return {.private_train = 50000,  // the first 50,000 of the training file
            .private_validation = 10000,
            .test = 10000,
            .classes = 10,
            .features = pixels ? 784 : 716,
            .image = pixels ? std::array<std::int64_t, 3>{1, 28, 28} : std::array<std::int64_t, 3>{}};
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

}  // namespace hyfreedp::datasets
