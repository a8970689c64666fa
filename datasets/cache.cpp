#include "datasets/cache.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/base/files.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::string_view kMagic = "hyfreedp features 1\n";
constexpr std::size_t kHeaderBytes = 4096;
constexpr std::size_t kAlignment = 64;

// Where each table's arrays lie, from the start of the file.
struct Place {
  std::size_t features = 0;
  std::size_t labels = 0;
};
struct Layout {
  std::vector<Place> places;
  std::size_t file_bytes = kHeaderBytes;
};

Layout layout_of(const std::vector<TableShape>& shapes) {
  Layout layout;
  const auto reserve = [&layout](std::size_t bytes) {
    const std::size_t at = layout.file_bytes;
    layout.file_bytes = (at + bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  };
  for (const auto& shape : shapes) {
    const auto rows = static_cast<std::size_t>(shape.rows);
    const auto columns = static_cast<std::size_t>(shape.columns);
    const std::size_t features = reserve(rows * columns * sizeof(float));
    layout.places.push_back({.features = features, .labels = reserve(rows * sizeof(std::int64_t))});
  }
  return layout;
}

std::string header_text(const std::vector<TableShape>& shapes, const std::string& sha256) {
  json::array splits;
  for (const auto& shape : shapes) {
    splits.push_back(json::object{{"name", shape.name}, {"rows", shape.rows}, {"columns", shape.columns}});
  }
  std::string text =
      std::string(kMagic) + canonical_json(json::object{{"sha256", sha256}, {"splits", splits}});
  HYFREEDP_CHECK(text.size() <= kHeaderBytes, "the cache's header outgrew its page");
  text.resize(kHeaderBytes, '\0');
  return text;
}

// A read-only view of a file, shared by the tensors that lie in it.
class Mapping {
 public:
  Mapping(void* data, std::size_t size) : data_(data), size_(size) {}
  ~Mapping() { ::munmap(data_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  char* at(std::size_t offset) const { return static_cast<char*>(data_) + offset; }
  std::string_view text(std::size_t offset) const { return {at(offset), size_ - offset}; }
  std::size_t size() const { return size_; }

 private:
  void* data_;
  std::size_t size_;
};

Result<std::shared_ptr<Mapping>> map_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return error(path + ": cannot open (" + std::strerror(errno) + ")");
  struct stat status {};
  void* data = MAP_FAILED;
  if (::fstat(descriptor, &status) == 0 && status.st_size > 0) {
    data = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, descriptor, 0);
  }
  ::close(descriptor);
  if (data == MAP_FAILED) return error(path + ": cannot be mapped into memory");
  return std::make_shared<Mapping>(data, static_cast<std::size_t>(status.st_size));
}

// Size, header and checksum agree with what is wanted.
bool is_sound(const Mapping& file, const std::vector<TableShape>& shapes, const Layout& layout) {
  if (file.size() != layout.file_bytes) return false;
  const auto header = file.text(0).substr(0, kHeaderBytes);
  return header == header_text(shapes, sha256_hex(file.text(kHeaderBytes)));
}

std::vector<SplitData> tensors_of(const std::shared_ptr<Mapping>& file, const std::vector<TableShape>& shapes,
                                  const Layout& layout) {
  std::vector<SplitData> tables;
  const auto keep = [file](void*) {};  // the copy in each tensor holds the mapping open
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& [name, rows, columns] = shapes[i];
    tables.push_back({.features = at::from_blob(file->at(layout.places[i].features), {rows, columns}, keep,
                                                at::TensorOptions().dtype(at::kFloat)),
                      .labels = at::from_blob(file->at(layout.places[i].labels), {rows}, keep,
                                              at::TensorOptions().dtype(at::kLong))});
  }
  return tables;
}

// The tables when the file is sound, nothing when it is absent or damaged.
std::optional<std::vector<SplitData>> open_sound(const std::string& path,
                                                 const std::vector<TableShape>& shapes,
                                                 const Layout& layout) {
  const auto file = map_file(path);
  if (!file || !is_sound(**file, shapes, layout)) return std::nullopt;
  return tensors_of(*file, shapes, layout);
}

// Held until destroyed, or until the process dies however it dies.
class FileLock {
 public:
  static Result<std::unique_ptr<FileLock>> take(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return error(path + ": cannot create the lock file (" + std::strerror(errno) + ")");
    auto lock = std::make_unique<FileLock>(descriptor);
    while (::flock(descriptor, LOCK_EX) != 0) {
      if (errno != EINTR) return error(path + ": cannot lock (" + std::strerror(errno) + ")");
    }
    return lock;
  }
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  ~FileLock() { ::close(descriptor_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

Result<void> write_file(const std::string& path, const std::vector<TableShape>& shapes, const Layout& layout,
                        const TableMaker& make) {
  std::string content(layout.file_bytes, '\0');  // operator new aligns it enough for int64
  std::vector<TableSpace> spaces;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto rows = static_cast<std::size_t>(shapes[i].rows);
    const auto columns = static_cast<std::size_t>(shapes[i].columns);
    spaces.push_back(
        {.features = {reinterpret_cast<float*>(content.data() + layout.places[i].features), rows * columns},
         .labels = {reinterpret_cast<std::int64_t*>(content.data() + layout.places[i].labels), rows}});
  }
  if (const auto made = make(spaces); !made) return made.error();
  const auto header = header_text(shapes, sha256_hex(std::string_view(content).substr(kHeaderBytes)));
  std::memcpy(content.data(), header.data(), kHeaderBytes);
  return write_file_atomically(path, content, 0600);
}

// Where the file is another user's this cannot be done, and is theirs to do.
void close_to_others(const std::string& path) {
  for (const auto& file : {path, path + ".lock"}) static_cast<void>(::chmod(file.c_str(), 0600));
}

}  // namespace

Result<std::vector<SplitData>> load_or_make(const std::string& path, const std::vector<TableShape>& shapes,
                                            const TableMaker& make) {
  const Layout layout = layout_of(shapes);
  if (const auto made = make_closed_folder(std::filesystem::path(path).parent_path().string()); !made)
    return made.error();
  close_to_others(path);
  if (auto tables = open_sound(path, shapes, layout)) return std::move(*tables);
  const auto lock = FileLock::take(path + ".lock");
  if (!lock) return lock.error();
  // Another worker may have made it while this one waited.
  if (auto tables = open_sound(path, shapes, layout)) return std::move(*tables);
  if (std::filesystem::exists(path)) {
    fmt::print(stderr, "note: the feature cache {} is damaged; it is made again.\n", path);
  }
  if (const auto written = write_file(path, shapes, layout, make); !written) return written.error();
  if (auto tables = open_sound(path, shapes, layout)) return std::move(*tables);
  return error(path + ": the feature cache was written but does not read back as written; check the disk.");
}

}  // namespace hyfreedp::datasets
