#include "datasets/own_files.h"
#include "datasets/published_files.h"
#include "datasets/published_images.h"

namespace hyfreedp::datasets {

Result<json::object> complete_published_images(json::object options) {
  auto completed = complete_own_copy(std::move(options));
  return completed ? complete_image_options(std::move(*completed)) : completed;
}

Facts with_published_images(Facts facts, const Sizes& all) {
  const auto own =
      own_files_options("your own copy, a folder or archive as published, instead of the fetched files");
  for (const auto& more : {own, count_options(all), image_options({"pixels", "network"})}) {
    facts.options.insert(facts.options.end(), more.begin(), more.end());
  }
  // Larger images stay as they are unless the spec says otherwise. Their side is part of the
  // resolved options, so that whoever reads these needs to know no set's own.
  for (auto& option : facts.options) {
    if (option.name != "side" || all.image[1] == 0) continue;
    option.default_value = all.image[1];
    option.stored_always = true;
  }
  facts.complete = complete_published_images;
  return facts;
}

Sizes published_image_sizes(const Sizes& all, const json::object& options) {
  return with_image_sizes(with_counts(all, options), options);
}

}  // namespace hyfreedp::datasets
