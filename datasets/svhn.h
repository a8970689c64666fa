// SVHN's cropped digits: 73,257 + 26,032 colour 32 x 32 images of house numbers in 10 classes, of
// which class c is the digit c (Netzer, Wang, Coates, Bissacco, Wu, Ng: Reading Digits in Natural
// Images with Unsupervised Feature Learning, NIPS Workshop 2011).
//
// Read are the files of format 2 (formats/svhn.h). A keyed tenth of the training images is
// private_validation; the 531,131 images of extra_32x32.mat are not used. One image is one record,
// though several may be digits of one house number.
#pragma once

#include "datasets/formats/svhn.h"
#include "datasets/published_images.h"

namespace hyfreedp::datasets {

struct Svhn : PublishedImages<Svhn> {
  static Facts facts() {
    const std::string page = "http://ufldl.stanford.edu/housenumbers/";
    // The checksums are those of TensorFlow Datasets (url_checksums/svhn_cropped.txt).
    const Download train{.name = "train_32x32.mat",
                         .urls = {page + "train_32x32.mat"},
                         .bytes = 182'040'794,
                         .sha256 = "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"};
    const Download test{.name = "test_32x32.mat",
                        .urls = {page + "test_32x32.mat"},
                        .bytes = 64'275'384,
                        .sha256 = "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"};
    Facts facts{.name = "svhn",
                .title = "SVHN, cropped digits",
                .source =
                    "Netzer, Wang, Coates, Bissacco, Wu, Ng: Reading Digits in Natural Images with "
                    "Unsupervised Feature Learning, NIPS Workshop 2011",
                .how_to_get = train.name + " and " + test.name + " from " + page,
                .search_paths = {"$HYFREEDP_DATA/svhn", "$HYFREEDP_DATA"},
                .files = {{train.name, train.sha256}, {test.name, test.sha256}},
                .licence = "for non-commercial use only (its page)",
                .supply = {.downloads = {train, test}, .bytes = train.bytes + test.bytes}};
    return published(std::move(facts));
  }
  static Sizes all(const json::object& /*options*/) {
    return {.private_train = 65932, .private_validation = 7325, .test = 26032, .classes = 10};
  }
  static ReadImages reader(const json::object& /*options*/) { return read_svhn_folder; }
};

}  // namespace hyfreedp::datasets
