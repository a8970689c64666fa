#include <fmt/format.h>

#include "datasets/own_files.h"
#include "datasets/published_images.h"

namespace hyfreedp::datasets {
namespace {

// Fills in the checksum of the user's own copy.
Result<json::object> complete(json::object options) {
  const auto path = string_or(options, "path", "");
  if (path.empty()) {
    for (const char* name : {"sha256", "files_mark"}) {
      if (!string_or(options, name, "").empty()) {
        return error(fmt::format("'{}' has no effect without 'path'.", name));
      }
    }
    return complete_image_options(std::move(options));
  }
  if (const auto place = locate_own_files(path)) {
    auto marked = with_checksum(std::move(options), *place);
    if (!marked) return marked;
    options = std::move(*marked);
  }
  return complete_image_options(std::move(options));
}

}  // namespace

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
  facts.complete = complete;
  return facts;
}

Sizes published_image_sizes(const Sizes& all, const json::object& options) {
  return with_image_sizes(with_counts(all, options), options);
}

}  // namespace hyfreedp::datasets
