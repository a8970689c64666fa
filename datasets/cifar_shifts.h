// Test sets of CIFAR's classes whose images are of another distribution, for `ood_test`.
//
// cifar10-1: CIFAR-10.1, version 6, 2,000 images chosen anew as CIFAR-10's were (Recht, Roelofs,
// Schmidt, Shankar: Do CIFAR-10 Classifiers Generalize to CIFAR-10?, arXiv:1806.00451).
//
// cifar10-c, cifar100-c: the 10,000 test images of CIFAR-10 and CIFAR-100 after a `corruption` in
// five severities (Hendrycks, Dietterich: Benchmarking Neural Network Robustness to Common
// Corruptions and Perturbations, ICLR 2019, arXiv:1903.12261). One `severity` is read, or all
// 50,000 images, whose accuracy is the mean over the severities.
//
// Read are the arrays of NumPy (formats/npy.h) as they are published: two files of CIFAR-10.1, a
// tar of each of the others, in which CORRUPTION.npy has the severities 1 to 5 one after another.
#pragma once

#include "datasets/formats/npy.h"
#include "datasets/published_images.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {

// Returns what reads the images of these files as a test part.
inline ReadImages npy_test_images(const NpyImageFiles& files) {
  return [files](const std::string& path) -> Result<ImageSplits> {
    auto images = read_npy_images(path, files);
    if (!images) return images.error();
    return ImageSplits{.train = {}, .test = std::move(*images)};
  };
}

struct Cifar10Point1 : PublishedImages<Cifar10Point1> {
  static constexpr const char* kPixels = "cifar10.1_v6_data.npy";
  static constexpr const char* kLabels = "cifar10.1_v6_labels.npy";

  static Facts facts() {
    // The checksums are those of TensorFlow Datasets (url_checksums/cifar10_1.txt).
    const std::string place = "https://github.com/modestyachts/CIFAR-10.1/raw/master/datasets/";
    const Download pixels{.name = kPixels,
                          .urls = {place + kPixels},
                          .bytes = 6'144'128,
                          .sha256 = "2997188e5816f5bd545dc77771b6227828c28146049fcecf3fa10775474cacc6"};
    const Download labels{.name = kLabels,
                          .urls = {place + kLabels},
                          .bytes = 8'128,
                          .sha256 = "ae40beda001693674edc94d925ee8268cfe68905f8f9aff800c8dcdfcd6c9448"};
    Facts facts{.name = "cifar10-1",
                .title = "CIFAR-10.1 (test set alone)",
                .source =
                    "Recht, Roelofs, Schmidt, Shankar: Do CIFAR-10 Classifiers Generalize to CIFAR-10?, "
                    "arXiv:1806.00451",
                .how_to_get = "the two files of version 6 from https://github.com/modestyachts/CIFAR-10.1",
                .search_paths = {"$HYFREEDP_DATA/cifar10-1"},
                .files = {{pixels.name, pixels.sha256}, {labels.name, labels.sha256}},
                .licence = "MIT, of the repository that has them",
                .supply = {.downloads = {pixels, labels}, .bytes = pixels.bytes + labels.bytes},
                .test_only = true};
    return published(std::move(facts));
  }
  static Sizes all(const json::object& /*options*/) { return {.test = 2000, .classes = 10}; }
  static ReadImages reader(const json::object& options) {
    return npy_test_images({.pixels = kPixels, .labels = kLabels, .classes = all(options).classes});
  }
};

struct CorruptionOptions {
  std::string corruption = "gaussian_blur";
  std::optional<std::int64_t> severity;
};
BOOST_DESCRIBE_STRUCT(CorruptionOptions, (), (corruption, severity))

template <std::int64_t kClasses>
struct CorruptedCifar : PublishedImages<CorruptedCifar<kClasses>> {
  static constexpr std::int64_t kSeverities = 5;
  static constexpr std::int64_t kImages = 10'000;  // of each severity

  static Facts facts() {
    constexpr bool ten = kClasses == 10;
    const std::string name = ten ? "cifar10-c" : "cifar100-c", record = ten ? "2535967" : "3555552";
    // The checksum is that of TensorFlow Datasets (url_checksums/cifar10_corrupted.txt). The page
    // of the other has an MD5 alone (11f0ed0f1191edbf9fa23466ae6021d3).
    Download archive{.name = ten ? "CIFAR-10-C.tar" : "CIFAR-100-C.tar",
                     .bytes = ten ? 2'918'471'680U : 2'918'473'216U,
                     .sha256 = ten ? "c72763e101c723b7c507b96205f7e938912a5d587376173b825850cf3cb876a7" : ""};
    archive.urls = {"https://zenodo.org/records/" + record + "/files/" + archive.name};
    Facts facts{.name = name,
                .title = ten ? "CIFAR-10-C (test set alone)" : "CIFAR-100-C (test set alone)",
                .source =
                    "Hendrycks, Dietterich: Benchmarking Neural Network Robustness to Common Corruptions and "
                    "Perturbations, ICLR 2019, arXiv:1903.12261",
                .how_to_get = archive.name + " from https://zenodo.org/records/" + record,
                .search_paths = {"$HYFREEDP_DATA/" + name, "$HYFREEDP_DATA"},
                .files = {{archive.name, archive.sha256}},
                .licence = "CC BY 4.0",
                .supply = {.downloads = {archive}, .bytes = archive.bytes},
                .test_only = true};
    auto corruption = plain_option("corruption", "what was done to the images");
    corruption.choices = {"gaussian_blur",     "gaussian_noise", "shot_noise",      "impulse_noise",
                          "speckle_noise",     "defocus_blur",   "glass_blur",      "motion_blur",
                          "zoom_blur",         "snow",           "frost",           "fog",
                          "spatter",           "brightness",     "contrast",        "saturate",
                          "elastic_transform", "pixelate",       "jpeg_compression"};
    const auto severity = later_option(
        ranged_option("severity", 1, kSeverities, "how strong it is (default: all five, 50,000 images)"));
    facts.options = options_of<CorruptionOptions>({corruption, severity});
    return CorruptedCifar::published(std::move(facts));
  }
  static Sizes all(const json::object& options) {
    return {.test = read_options<CorruptionOptions>(options).severity ? kImages : kSeverities * kImages,
            .classes = kClasses};
  }
  static ReadImages reader(const json::object& options) {
    const auto own = read_options<CorruptionOptions>(options);
    NpyImageFiles files{.pixels = own.corruption + ".npy", .labels = "labels.npy", .classes = kClasses};
    if (own.severity) {
      files.first = (*own.severity - 1) * kImages;
      files.count = kImages;
    }
    return npy_test_images(files);
  }
};

using Cifar10C = CorruptedCifar<10>;
using Cifar100C = CorruptedCifar<100>;

}  // namespace hyfreedp::datasets
