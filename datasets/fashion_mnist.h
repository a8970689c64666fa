// Fashion-MNIST: 60,000 + 10,000 grey 28 x 28 images of clothes in 10 classes
// (Xiao, Rasul, Vollgraf, arXiv:1708.07747). Splits: idx_images.h.
#pragma once

#include "datasets/idx_images.h"

namespace hyfreedp::datasets {

struct FashionMnist : IdxImages {
  static Facts facts() {
    auto facts = with_idx_images(
        {.name = "fashion-mnist",
         .title = "Fashion-MNIST",
         .source =
             "Xiao, Rasul, Vollgraf: Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning "
             "Algorithms, arXiv:1708.07747",
         .how_to_get = "apt-get install dataset-fashion-mnist",
         .search_paths = {"$HYFREEDP_DATA/fashion-mnist", "/usr/share/datasets/fashion-mnist"},
         .licence = "MIT"},
        {"b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7",
         "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056",
         "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa",
         "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05"});
    // The package's files are those that were published, packed again without their names and
    // dates, so that these have other checksums.
    facts.supply.bytes = 30'900'000;
    facts.supply.debian_packages = {{.name = "dataset-fashion-mnist", .members = {}}};
    for (const auto& file : facts.files) {
      facts.supply.debian_packages[0].members.push_back(
          {"usr/share/datasets/fashion-mnist/" + file.name, file.name, file.sha256});
    }
    return facts;
  }
};

}  // namespace hyfreedp::datasets
