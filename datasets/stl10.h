// STL-10: 5,000 + 8,000 colour 96 x 96 images in 10 classes (Coates, Lee, Ng: An Analysis of
// Single-Layer Networks in Unsupervised Feature Learning, AISTATS 2011).
//
// Read are the binary files (formats/stl10.h); the 100,000 unlabelled images are not used. Classes
// are in the files' own order: airplane, bird, car, cat, deer, dog, horse, monkey, ship, truck. A
// keyed tenth of the training images is private_validation. With `labels: cifar10` the monkeys are
// left out and the other nine classes have CIFAR-10's numbers, of which 6 (frog) does not occur:
// 4,050 + 450 and 7,200 test images. Its images are from ImageNet, so
// weights which were trained on that have seen some of them.
#pragma once

#include "datasets/formats/stl10.h"
#include "datasets/published_images.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {

struct Stl10Options {
  Stl10Labels labels = Stl10Labels::own;
};
BOOST_DESCRIBE_STRUCT(Stl10Options, (), (labels))

struct Stl10 : PublishedImages<Stl10> {
  static Facts facts() {
    // The checksum is that of TensorFlow Datasets (url_checksums/stl10.txt).
    const Download archive{.name = "stl10_binary.tar.gz",
                           .urls = {"https://cs.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
                                    "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz"},
                           .bytes = 2'640'397'119,
                           .sha256 = "f31fd99273a1acb8609c8db427cebb1de3f71de77758cdc0e22956e1289b9866"};
    Facts facts{.name = "stl10",
                .title = "STL-10",
                .source =
                    "Coates, Lee, Ng: An Analysis of Single-Layer Networks in Unsupervised Feature Learning, "
                    "AISTATS 2011",
                .how_to_get = archive.name + " from https://cs.stanford.edu/~acoates/stl10/",
                .search_paths = {"$HYFREEDP_DATA/stl10", "$HYFREEDP_DATA"},
                .files = {{archive.name, archive.sha256}},
                .licence = "none is stated; its images are ImageNet's",
                .part_of = "ImageNet",
                .supply = {.downloads = {archive}, .bytes = archive.bytes}};
    facts = published(std::move(facts));
    const auto labels =
        later_option(plain_option("labels",
                                  "numbers of the classes: its own ten, or CIFAR-10's of the nine that both "
                                  "have, whose images alone are read (4,050, 450 and 7,200)"));
    facts.options = joined({facts.options, options_of<Stl10Options>({labels})});
    return facts;
  }
  static Stl10Labels labels_of(const json::object& options) {
    return read_options<Stl10Options>(options).labels;
  }
  // The sizes of the files, without the monkeys where these are left out.
  static Sizes all(const json::object& options) {
    Sizes all{
        .private_train = 4500, .private_validation = 500, .test = 8000, .classes = 10, .image = {3, 96, 96}};
    if (labels_of(options) == Stl10Labels::own) return all;
    all.private_train = 4050;
    all.private_validation = 450;
    all.test = 7200;
    return all;
  }
  static ReadImages reader(const json::object& options) {
    return [labels = labels_of(options)](const std::string& path) { return read_stl10(path, labels); };
  }
};

}  // namespace hyfreedp::datasets
