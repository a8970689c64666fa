// CIFAR-10 and CIFAR-100: 50,000 + 10,000 colour 32 x 32 images in 10 or 100 classes
// (Krizhevsky: Learning Multiple Layers of Features from Tiny Images, University of Toronto, 2009).
//
// Read are the binary files (formats/cifar.h); CIFAR-100's labels are the fine ones. A keyed tenth
// of the training images is private_validation.
#pragma once

#include "datasets/formats/cifar.h"
#include "datasets/published_images.h"

namespace hyfreedp::datasets {

// What the two share. `archive`: the file on the authors' page.
inline Facts cifar_facts(std::string name, std::string title, Download archive, const Sizes& all) {
  Facts facts{.name = name,
              .title = std::move(title),
              .source =
                  "Krizhevsky: Learning Multiple Layers of Features from Tiny Images, University of "
                  "Toronto, 2009",
              .how_to_get = archive.name + " from https://www.cs.toronto.edu/~kriz/cifar.html",
              .search_paths = {"$HYFREEDP_DATA/" + name, "$HYFREEDP_DATA"},
              .files = {{archive.name, archive.sha256}},
              .licence = "none is stated; the page asks to cite the report"};
  archive.urls = {"https://www.cs.toronto.edu/~kriz/" + archive.name};
  facts.supply = {.downloads = {archive}, .bytes = archive.bytes};
  return with_published_images(std::move(facts), all);
}
// The sizes of the files.
inline Sizes cifar_sizes(std::int64_t classes) {
  return {.private_train = 45000, .private_validation = 5000, .test = 10000, .classes = classes};
}

struct Cifar10 {
  static Facts facts() {
    Facts facts = cifar_facts("cifar10", "CIFAR-10",
                              {.name = "cifar-10-binary.tar.gz",
                               .bytes = 170'052'171,
                               .sha256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"},
                              all());
    facts.sizes = sizes;
    facts.complete = complete;
    return facts;
  }
  static Sizes all() { return cifar_sizes(10); }
  static Sizes sizes(const json::object& options) { return published_image_sizes(all(), options); }
  static Result<ImageSplits> read(const std::string& path) { return read_cifar(path, CifarLabels::cifar10); }
  static Result<json::object> complete(json::object options, Notes& notes) {
    return complete_published_images(std::move(options), facts().supply, all(), read, notes);
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options, const std::string& device);
};

struct Cifar100 {
  static Facts facts() {
    Facts facts = cifar_facts("cifar100", "CIFAR-100",
                              {.name = "cifar-100-binary.tar.gz",
                               .sha256 = "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"},
                              all());
    facts.sizes = sizes;
    facts.complete = complete;
    return facts;
  }
  static Sizes all() { return cifar_sizes(100); }
  static Sizes sizes(const json::object& options) { return published_image_sizes(all(), options); }
  static Result<ImageSplits> read(const std::string& path) {
    return read_cifar(path, CifarLabels::cifar100_fine);
  }
  static Result<json::object> complete(json::object options, Notes& notes) {
    return complete_published_images(std::move(options), facts().supply, all(), read, notes);
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options, const std::string& device);
};

}  // namespace hyfreedp::datasets
