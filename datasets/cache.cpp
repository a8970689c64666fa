#include "datasets/cache.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/base/file_lock.h"
#include "harness/base/files.h"
#include "harness/base/mapped_file.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::string_view kMagic = "hyfreedp features 1\n";
constexpr std::size_t kHeaderBytes = CacheLayout::kHeaderBytes;

std::string header_text(const std::vector<TableShape>& shapes, const std::string& sha256) {
  json::array splits;
  for (const auto& shape : shapes) {
    json::object split = {{"name", shape.name}, {"rows", shape.rows}, {"columns", shape.columns}};
    if (shape.type == TableType::byte) split["type"] = "uint8";
    splits.push_back(std::move(split));
  }
  std::string text =
      std::string(kMagic) + canonical_json(json::object{{"sha256", sha256}, {"splits", splits}});
  HYFREEDP_CHECK(text.size() <= kHeaderBytes, "the cache's header outgrew its page");
  text.resize(kHeaderBytes, '\0');
  return text;
}

// Size, header and checksum agree with what is wanted.
bool is_sound(std::string_view file, const std::vector<TableShape>& shapes, const CacheLayout& layout) {
  if (file.size() != layout.file_bytes) return false;
  return file.substr(0, kHeaderBytes) == header_text(shapes, sha256_hex(file.substr(kHeaderBytes)));
}

std::vector<SplitData> tensors_of(const SharedBytes& file, const std::vector<TableShape>& shapes,
                                  const CacheLayout& layout) {
  std::vector<SplitData> tables;
  // The copy in each tensor holds the mapping open.
  const auto keep = [owner = file.owner](void*) {};
  const auto at_offset = [&file](std::size_t offset) {
    return const_cast<char*>(file.bytes.data()) + offset;
  };
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& [name, rows, columns, type] = shapes[i];
    const auto element = type == TableType::byte ? at::kByte : at::kFloat;
    tables.push_back({.features = at::from_blob(at_offset(layout.places[i].features), {rows, columns}, keep,
                                                at::TensorOptions().dtype(element)),
                      .labels = at::from_blob(at_offset(layout.places[i].labels), {rows}, keep,
                                              at::TensorOptions().dtype(at::kLong))});
  }
  return tables;
}

// The tables when the file is sound, nothing when it is absent or damaged.
std::optional<std::vector<SplitData>> open_sound(const std::string& path,
                                                 const std::vector<TableShape>& shapes,
                                                 const CacheLayout& layout) {
  const auto file = map_file(path);
  if (!file || !is_sound(file->bytes, shapes, layout)) return std::nullopt;
  return tensors_of(*file, shapes, layout);
}

// A file of so many zeros, mapped for writing; it is removed again unless it is renamed.
class NewFile {
 public:
  static Result<std::unique_ptr<NewFile>> make(const std::string& path, std::size_t size) {
    auto file = std::unique_ptr<NewFile>(new NewFile(path, size));
    const int flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC;
    file->descriptor_ = ::open(path.c_str(), flags, 0600);
    if (file->descriptor_ < 0) return failed(path, "cannot be made", errno);
    // Where the disk is too small this fails; writing to the mapping would end the process.
    if (const int code = ::posix_fallocate(file->descriptor_, 0, static_cast<off_t>(size)); code != 0) {
      return failed(path, fmt::format("{} bytes cannot be had", size), code);
    }
    file->data_ = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor_, 0);
    if (file->data_ == MAP_FAILED) return failed(path, "cannot be mapped into memory", errno);
    return file;
  }
  ~NewFile() {
    if (data_ != MAP_FAILED) ::munmap(data_, size_);
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  char* data() const { return static_cast<char*>(data_); }
  // Makes it durable under its final name.
  Result<void> rename_to(const std::string& path) {
    if (::fsync(descriptor_) != 0) return failed(path_, "cannot be written", errno);
    if (::rename(path_.c_str(), path.c_str()) != 0) return failed(path, "cannot be renamed to", errno);
    path_.clear();
    return sync_folder(std::filesystem::path(path).parent_path().string());
  }

 private:
  NewFile(std::string path, std::size_t size) : path_(std::move(path)), size_(size) {}
  static Error failed(const std::string& path, const std::string& what, int code) {
    return error(fmt::format("{}: {} ({}).", path, what, std::strerror(code)));
  }

  std::string path_;
  std::size_t size_;
  int descriptor_ = -1;
  void* data_ = MAP_FAILED;
};

Result<void> write_file(const std::string& path, const std::vector<TableShape>& shapes,
                        const CacheLayout& layout, const TableMaker& make) {
  auto file = NewFile::make(path + ".part", layout.file_bytes);  // PATH.lock is held
  if (!file) return file.error();
  char* content = (**file).data();
  std::vector<TableSpace> spaces;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto rows = static_cast<std::size_t>(shapes[i].rows);
    const auto values = rows * static_cast<std::size_t>(shapes[i].columns);
    char* features = content + layout.places[i].features;
    TableSpace space{.features = {},
                     .bytes = {},
                     .labels = {reinterpret_cast<std::int64_t*>(content + layout.places[i].labels), rows}};
    if (shapes[i].type == TableType::byte) {
      space.bytes = {reinterpret_cast<std::uint8_t*>(features), values};
    } else {
      space.features = {reinterpret_cast<float*>(features), values};
    }
    spaces.push_back(space);
  }
  if (const auto made = make(spaces); !made) return made.error();
  const std::string_view tables(content + kHeaderBytes, layout.file_bytes - kHeaderBytes);
  std::memcpy(content, header_text(shapes, sha256_hex(tables)).data(), kHeaderBytes);
  return (**file).rename_to(path);
}

// Where the file is another user's this cannot be done, and is theirs to do.
void close_to_others(const std::string& path) {
  for (const auto& file : {path, path + ".lock"}) static_cast<void>(::chmod(file.c_str(), 0600));
}

}  // namespace

Result<std::vector<SplitData>> load_or_make(const std::string& path, const std::vector<TableShape>& shapes,
                                            const TableMaker& make) {
  const CacheLayout layout = cache_layout(shapes);
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
