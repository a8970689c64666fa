// Which file of the cache has a dataset's tables, and how large it is, without LibTorch: for the
// loaders (cache.h), and to tell beforehand what a spec will take on the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/facts.h"

namespace hyfreedp::datasets {

enum class TableType { real, byte };

struct TableShape {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  TableType type = TableType::real;  // float32; byte: uint8

  bool operator==(const TableShape&) const = default;
};

// Where each table's arrays lie, from the start of the file.
struct TablePlace {
  std::size_t features = 0;
  std::size_t labels = 0;
};
struct CacheLayout {
  static constexpr std::size_t kHeaderBytes = 4096;
  std::vector<TablePlace> places;
  std::size_t file_bytes = kHeaderBytes;
};
CacheLayout cache_layout(const std::vector<TableShape>& shapes);

// One table each for private_train, private_validation and test.
std::vector<TableShape> table_shapes(const Sizes& sizes, TableType type);

// Images that pass through a frozen network at once, where they have so many values each. A GPU's
// number for small images is never above 256.
std::int64_t frozen_images_at_once(std::int64_t values, bool on_cpu);

// Returns what images are, as the cache knows them: the dataset's name and `files`, the checksums
// of its files or the mark of a user's own.
json::object image_identity(const std::string& dataset, json::value files);
// The path of images, or of the features that a frozen network gives. `device`: where it computes.
std::string image_cache_path(const json::object& identity, const json::object& options,
                             const std::string& device);
// The path of a user's own table, whose files are known by `mark`.
std::string table_path(const Facts& facts, const json::object& options, const std::string& mark);
// The path of the own features of MNIST and its kin; `marks`: what the files are known by.
std::string idx_features_path(const Facts& facts, const json::array& marks, const json::object& options);

// The file that a run on the dataset maps. `options` were resolved and completed (facts.h).
struct CacheFile {
  std::string path;  // empty: not known before the files or weights are on this machine
  std::uint64_t bytes = 0;
};
// Nothing for a dataset without a cache, whose tables each worker has in its memory.
std::optional<CacheFile> cache_file(const Facts& facts, const json::object& options,
                                    const std::string& device);

}  // namespace hyfreedp::datasets
