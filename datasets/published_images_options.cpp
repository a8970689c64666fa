#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "datasets/own/own_files.h"
#include "datasets/published_files.h"
#include "datasets/published_images.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {
namespace {

bool has_published_sizes(const Supply& supply, const std::string& path) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  return !supply.downloads.empty() && std::ranges::all_of(supply.downloads, [&](const Download& file) {
    const auto at = is_folder ? path + "/" + file.name : path;
    return file.bytes > 0 && std::filesystem::file_size(at, ignored) == file.bytes;
  });
}

}  // namespace

Result<Sizes> sizes_of_copy(Sizes all, const json::object& options, const ImageSplits& images) {
  const auto training = images.train.count, published = all.private_train + all.private_validation;
  if (training == published && images.test.count == all.test) return all;
  if (training > published || images.test.count > all.test) {
    return error(fmt::format("has {} training and {} test images; {} and {} are published.", training,
                             images.test.count, published, all.test));
  }
  const auto asked = read_options<CountOptions>(options);
  const auto left = std::max<std::int64_t>(training - asked.train.value_or(0), 0);
  all.private_validation = asked.validation.value_or(std::min(training / 10, left));
  all.private_train = training - all.private_validation;
  all.test = images.test.count;
  if (auto fits = check_counts(all, options); !fits) {
    return error(
        fmt::format("has {} training and {} test images. {}", training, all.test, fits.error().message));
  }
  return all;
}

Result<json::object> complete_published_images(json::object options, const Supply& supply, const Sizes& all,
                                               const ReadImages& read, Notes& notes) {
  auto completed = complete_own_copy(std::move(options));
  if (!completed) return completed;
  const auto given = own_path(*completed);
  const auto path = locate_own_files(given);
  if (given.empty() || !path || has_published_sizes(supply, *path)) {
    return complete_image_options(std::move(*completed));
  }
  const auto images = read(*path);
  if (!images) return images.error();
  const auto own = sizes_of_copy(all, *completed, *images);
  if (!own) return in_context(*path, own.error());
  if (*own != all) {
    for (const auto& [name, published, count] :
         {std::tuple{"train", all.private_train, own->private_train},
          {"validation", all.private_validation, own->private_validation},
          {"test", all.test, own->test}}) {
      if (published > 0 && !is_given(*completed, name)) (*completed)[name] = count;
    }
    notes.push_back(
        fmt::format("{}: has {} training and {} test images, where {} and {} are published; the "
                    "counts are those of this copy",
                    *path, images->train.count, images->test.count,
                    all.private_train + all.private_validation, all.test));
  }
  return complete_image_options(std::move(*completed));
}

Facts with_published_images(Facts facts, const Sizes& all) {
  ImageOptions defaults;
  // Larger images stay as they are unless the spec says otherwise.
  if (all.image[1] > 0) defaults.side = all.image[1];
  facts.options = joined(
      {facts.options,
       own_files_options("your own copy, a folder or archive as published, instead of the fetched files"),
       count_options(all), image_options(defaults)});
  return facts;
}

Sizes published_image_sizes(const Sizes& all, const json::object& options) {
  return with_image_sizes(with_counts(all, options), options);
}

}  // namespace hyfreedp::datasets
