// CIFAR-10 and CIFAR-100: 50,000 + 10,000 colour 32 x 32 images in 10 or 100 classes
// (Krizhevsky: Learning Multiple Layers of Features from Tiny Images, University of Toronto, 2009).
//
// Read are the binary files (formats/cifar.h); CIFAR-100's labels are the fine ones. A keyed tenth
// of the training images is private_validation.
#pragma once

#include "datasets/formats/cifar.h"
#include "datasets/published_images.h"

namespace hyfreedp::datasets {

template <std::int64_t kClasses>
struct CifarOf : PublishedImages<CifarOf<kClasses>> {
  static Facts facts() {
    constexpr bool ten = kClasses == 10;
    const std::string name = ten ? "cifar10" : "cifar100";
    Download archive{.name = ten ? "cifar-10-binary.tar.gz" : "cifar-100-binary.tar.gz",
                     .bytes = ten ? 170'052'171U : 0U,
                     .sha256 = ten ? "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
                                   : "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"};
    archive.urls = {"https://www.cs.toronto.edu/~kriz/" + archive.name};
    return CifarOf::published(
        {.name = name,
         .title = ten ? "CIFAR-10" : "CIFAR-100",
         .source = "Krizhevsky: Learning Multiple Layers of Features from Tiny Images, "
                   "University of Toronto, 2009",
         .how_to_get = archive.name + " from https://www.cs.toronto.edu/~kriz/cifar.html",
         .search_paths = {"$HYFREEDP_DATA/" + name, "$HYFREEDP_DATA"},
         .files = {{archive.name, archive.sha256}},
         .licence = "none is stated; the page asks to cite the report",
         .supply = {.downloads = {archive}, .bytes = archive.bytes}});
  }
  static Sizes all(const json::object& /*options*/) {
    return {.private_train = 45000, .private_validation = 5000, .test = 10000, .classes = kClasses};
  }
  static ReadImages reader(const json::object& /*options*/) {
    return [](const std::string& path) {
      return read_cifar(path, kClasses == 10 ? CifarLabels::cifar10 : CifarLabels::cifar100_fine);
    };
  }
};
using Cifar10 = CifarOf<10>;
using Cifar100 = CifarOf<100>;

}  // namespace hyfreedp::datasets
