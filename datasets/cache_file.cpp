#include "datasets/cache_file.h"

#include <algorithm>

#include "datasets/image_options.h"
#include "datasets/table_file.h"
#include "harness/base/files.h"

namespace hyfreedp::datasets {
namespace {

// Part of the cache's name: raise it when image_tables.cpp, resizing or a network's features
// change.
constexpr int kImageCodeVersion = 2;
// The same for hog.cpp, normalise.h and the choice of examples in idx_images.cpp.
constexpr int kIdxCodeVersion = 1;
// The same for table_file.cpp.
constexpr int kTableCodeVersion = 1;
constexpr std::size_t kAlignment = 64;
// Values of images that pass through a network on a processor at once: 18 images of 96 pixels.
// With larger batches each layer's result is memory that the system gives anew and takes back:
// 10,000 images through EfficientNet-Lite0 took 51 s by 256 and 18 s so, on two cores.
constexpr std::int64_t kMostValuesAtOnce = std::int64_t{1} << 19;
// The same on a GPU, so that large images do not fill its memory: 256 of 224 pixels, 49 of 512. Not
// measured.
constexpr std::int64_t kMostOnDevice = std::int64_t{256} * 3 * 224 * 224;
constexpr std::int64_t kMostImagesOnDevice = 256;

std::size_t bytes_of(TableType type) { return type == TableType::byte ? 1 : sizeof(float); }

std::string path_of(const json::object& identity) {
  return cache_folder() + "/features/" + sha256_hex(canonical_json(identity)) + ".bin";
}

bool has_option(const Facts& facts, const char* name) {
  return std::ranges::any_of(facts.options, [name](const auto& option) { return option.name == name; });
}

// Like idx_images.h.
bool makes_hog_features(const Facts& facts) {
  return std::ranges::any_of(facts.options, [](const auto& option) {
    return option.name == "features" && std::ranges::find(option.choices, "hog") != option.choices.end();
  });
}

}  // namespace

CacheLayout cache_layout(const std::vector<TableShape>& shapes) {
  CacheLayout layout;
  const auto reserve = [&layout](std::size_t bytes) {
    const std::size_t at = layout.file_bytes;
    layout.file_bytes = (at + bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  };
  for (const auto& shape : shapes) {
    const auto rows = static_cast<std::size_t>(shape.rows);
    const auto columns = static_cast<std::size_t>(shape.columns);
    const std::size_t features = reserve(rows * columns * bytes_of(shape.type));
    layout.places.push_back({.features = features, .labels = reserve(rows * sizeof(std::int64_t))});
  }
  return layout;
}

std::vector<TableShape> table_shapes(const Sizes& sizes, TableType type) {
  std::vector<TableShape> shapes;
  for (const auto& [split, rows] : {std::pair{Split::private_train, sizes.private_train},
                                    {Split::private_validation, sizes.private_validation},
                                    {Split::test, sizes.test}}) {
    const auto copies = split == Split::private_train ? sizes.copies : 1;
    shapes.push_back(
        {.name = to_string(split), .rows = rows, .columns = copies * sizes.features, .type = type});
  }
  return shapes;
}

std::int64_t frozen_images_at_once(std::int64_t values, bool on_cpu) {
  const auto each = std::max<std::int64_t>(1, values);
  if (on_cpu) return std::max<std::int64_t>(1, kMostValuesAtOnce / each);
  return std::clamp<std::int64_t>(kMostOnDevice / each, 1, kMostImagesOnDevice);
}

json::object image_identity(const std::string& dataset, json::value files) {
  return {{"dataset", dataset}, {"files", std::move(files)}};
}

std::string image_cache_path(const json::object& identity, const json::object& options,
                             const std::string& device) {
  auto own = options;
  // Where files lie, and what is said of them, is nothing of what they are.
  for (const char* said : {"weights", "path", "public"}) own.erase(said);
  const bool pixels = read_options<ImageOptions>(options).features == ImageFeatures::pixels;
  if (pixels) own.erase("normalise");
  json::object all = {{"images", identity}, {"options", own}, {"image_code_version", kImageCodeVersion}};
  // Where a network's features were computed decides their last bits.
  if (!pixels) all["device"] = device;
  return path_of(all);
}

std::string table_path(const Facts& facts, const json::object& options, const std::string& mark) {
  auto own = options;
  own.erase("path");
  return path_of({{"dataset", facts.name},
                  {"files", mark},
                  {"options", own},
                  {"feature_code_version", kTableCodeVersion}});
}

std::string idx_features_path(const Facts& facts, const json::array& marks, const json::object& options) {
  auto own = options;
  own.erase("path");
  return path_of({{"dataset", facts.name},
                  {"files", marks},
                  {"options", own},
                  {"feature_code_version", kIdxCodeVersion}});
}

std::optional<CacheFile> cache_file(const Facts& facts, const json::object& options,
                                    const std::string& device) {
  const auto own = read_options<OwnFilesOptions>(options);
  const auto mark = own.files_mark.value_or(own.sha256.value_or(""));
  if (facts.name == TableFile::kName) {
    return CacheFile{.path = mark.empty() ? "" : table_path(facts, options, mark),
                     .bytes = cache_layout(table_shapes(sizes(facts, options), TableType::real)).file_bytes};
  }
  if (!has_option(facts, "interpolation")) return std::nullopt;
  const bool network = uses_network(options);
  const bool own_features = !network && makes_hog_features(facts);
  const auto type = network || own_features ? TableType::real : TableType::byte;
  CacheFile file{.path = "", .bytes = cache_layout(table_shapes(sizes(facts, options), type)).file_bytes};
  if (network && !has_text(read_options<OpenOptions>(options).weights_sha256)) return file;
  auto marks = checksums(facts);
  if (has_text(own.path)) {
    if (mark.empty()) return file;
    marks = json::array{json::value(mark)};
  }
  if (own_features) {
    file.path = idx_features_path(facts, marks, options);
    return file;
  }
  const auto files = facts.own_records ? json::value(mark) : json::value(marks);
  file.path = image_cache_path(image_identity(facts.name, files), options, device);
  return file;
}

}  // namespace hyfreedp::datasets
