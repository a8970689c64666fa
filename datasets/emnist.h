// EMNIST: grey 28 x 28 images of handwritten digits and letters (Cohen, Afshar, Tapson, van Schaik:
// EMNIST: an Extension of MNIST to Handwritten Letters, IJCNN 2017), in six selections of NIST's
// Special Database 19, of which the option `split` names one:
//
//   balanced  112,800 + 18,800 of 47 classes: a letter whose two forms look alike is one class
//   byclass   697,932 + 116,323 of 62 classes: digits, capitals, small letters
//   bymerge   the same images, of 47 classes
//   digits    240,000 + 40,000 of 10 classes
//   letters   124,800 + 20,800 of 26 classes: a capital and its small letter are one class
//   mnist     60,000 + 10,000 digits, chosen as MNIST's were; not MNIST's own
//
// Read are the IDX files of gzip.zip, in it or in a folder. They hold each image column by column
// and count the classes of `letters` from 1; both are undone, so that images stand as MNIST's do. A
// keyed tenth of the training images is private_validation. The selections share images, and to the
// odometer all of them are the same data.
#pragma once

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "datasets/idx_images.h"
#include "datasets/own/own_files.h"
#include "datasets/published_files.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {

struct EmnistSplit {
  const char* name;
  std::int64_t train;  // images of the training file
  std::int64_t test;
  std::int64_t classes;
  int first_label = 0;
};

struct EmnistOptions {
  std::string split = "balanced";
};
BOOST_DESCRIBE_STRUCT(EmnistOptions, (), (split))

struct Emnist {
  static constexpr std::array<EmnistSplit, 6> kSplits = {{{"balanced", 112'800, 18'800, 47},
                                                          {"byclass", 697'932, 116'323, 62},
                                                          {"bymerge", 697'932, 116'323, 47},
                                                          {"digits", 240'000, 40'000, 10},
                                                          {"letters", 124'800, 20'800, 26, 1},
                                                          {"mnist", 60'000, 10'000, 10}}};

  static Facts facts() {
    // The checksum is that of TensorFlow Datasets (url_checksums/emnist.txt).
    const Download archive{.name = "gzip.zip",
                           .urls = {"https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
                                    "https://www.itl.nist.gov/iaui/vip/cs_links/EMNIST/gzip.zip"},
                           .bytes = 561'753'746,
                           .sha256 = "fb9bb67e33772a9cc0b895e4ecf36d2cf35be8b709693c3564cea2a019fcda8e"};
    auto facts = with_idx_options(
        {.name = "emnist",
         .title = "EMNIST",
         .source = "Cohen, Afshar, Tapson, van Schaik: EMNIST: an Extension of MNIST to Handwritten Letters, "
                   "IJCNN 2017, arXiv:1702.05373",
         .how_to_get = archive.name + " from https://www.nist.gov/itl/products-and-services/emnist-dataset",
         .search_paths = {"$HYFREEDP_DATA/emnist"},
         .files = {{archive.name, archive.sha256}},
         .sizes = sizes,
         .complete = complete,
         .licence = "none is stated; its images are those of NIST's Special Database 19",
         .supply = {.downloads = {archive}, .bytes = archive.bytes}},
        count_options(all({{"split", "byclass"}}), "of the selection"));
    auto split =
        plain_option("split",
                     "the selection: balanced and bymerge have 47 classes of digits and letters, byclass 62, "
                     "letters 26, digits and mnist 10");
    for (const auto& one : kSplits) split.choices.emplace_back(one.name);
    facts.options =
        joined({options_of<EmnistOptions>({split}), facts.options,
                own_files_options(
                    "your own copy, gzip.zip or a folder of its .gz files, instead of the fetched file")});
    return facts;
  }
  static const EmnistSplit& split_of(const json::object& options) {
    return *std::ranges::find(kSplits, read_options<EmnistOptions>(options).split, &EmnistSplit::name);
  }
  // The sizes of the selection's files.
  static Sizes all(const json::object& options) {
    const auto& split = split_of(options);
    const auto validation = split.train / 10;
    return {.private_train = split.train - validation,
            .private_validation = validation,
            .test = split.test,
            .classes = split.classes};
  }
  static Sizes sizes(const json::object& options) { return idx_image_sizes(all(options), options); }
  static Result<json::object> complete(json::object options, Notes& /*notes*/) {
    const auto fits =
        check_counts(all(options), options, fmt::format("of split: {}", split_of(options).name));
    if (!fits) return fits.error();
    auto completed = complete_own_copy(std::move(options));
    return completed ? complete_image_options(std::move(*completed), true) : completed;
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options, const std::string& device);
};

}  // namespace hyfreedp::datasets
