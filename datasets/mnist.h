// MNIST: 60,000 + 10,000 grey 28 x 28 images of handwritten digits (LeCun, Bottou, Bengio, Haffner:
// Gradient-Based Learning Applied to Document Recognition, 1998). Splits: idx_images.h.
#pragma once

#include "datasets/idx_images.h"

namespace hyfreedp::datasets {

struct Mnist : IdxImages {
  static Facts facts() {
    // The checksums are those of TensorFlow Datasets (url_checksums/mnist.txt).
    constexpr std::array kChecksums = {"440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                                       "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                                       "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                                       "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"};
    constexpr std::array<std::uint64_t, 4> kBytes = {9'912'422, 28'881, 1'648'877, 4'542};
    auto facts = with_idx_images(
        {.name = "mnist",
         .title = "MNIST",
         .source = "LeCun, Bottou, Bengio, Haffner: Gradient-Based Learning Applied to Document "
                   "Recognition, Proceedings of the IEEE 86 (1998)",
         .how_to_get = "the four files from https://storage.googleapis.com/cvdf-datasets/mnist/",
         .search_paths = {"$HYFREEDP_DATA/mnist"},
         .licence = "CC BY-SA 3.0"},
        kChecksums);
    for (std::size_t i = 0; i < kBytes.size(); ++i) {
      const std::string name = kIdxFiles[i];
      facts.supply.downloads.push_back({.name = name,
                                        .urls = {"https://storage.googleapis.com/cvdf-datasets/mnist/" + name,
                                                 "https://ossci-datasets.s3.amazonaws.com/mnist/" + name},
                                        .bytes = kBytes[i],
                                        .sha256 = kChecksums[i]});
      facts.supply.bytes += kBytes[i];
    }
    return facts;
  }
};

}  // namespace hyfreedp::datasets
