// A tar of files, as bytes, or a tar or zip on the disk.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace hyfreedp::datasets {

using NamedBytes = std::vector<std::pair<std::string, std::string>>;

inline void add_to_tar(archive* writer, const std::string& name, const std::string& bytes) {
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, name.c_str());
  archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, 0644);
  archive_write_header(writer, entry);
  archive_write_data(writer, bytes.data(), bytes.size());
  archive_entry_free(entry);
}

inline std::vector<std::uint8_t> tar_of(const NamedBytes& files) {
  std::size_t room = 20'000;
  for (const auto& [name, bytes] : files) room += bytes.size() + 4096;
  std::vector<std::uint8_t> tar(room);
  std::size_t used = 0;
  archive* writer = archive_write_new();
  archive_write_set_format_ustar(writer);
  archive_write_open_memory(writer, tar.data(), tar.size(), &used);
  for (const auto& [name, bytes] : files) add_to_tar(writer, name, bytes);
  archive_write_close(writer);
  archive_write_free(writer);
  tar.resize(used);
  return tar;
}

// Written file by file: a zip or gzipped if its name ends so. Its folders are made.
class TarFile {
 public:
  explicit TarFile(const std::filesystem::path& path) : writer_(archive_write_new()) {
    std::filesystem::create_directories(path.parent_path());
    if (path.extension() == ".zip") {
      archive_write_set_format_zip(writer_);
    } else {
      archive_write_set_format_ustar(writer_);
    }
    if (path.extension() == ".gz") {
      archive_write_add_filter_gzip(writer_);
      archive_write_set_filter_option(writer_, "gzip", "compression-level", "1");
    }
    archive_write_open_filename(writer_, path.c_str());
  }
  ~TarFile() { archive_write_free(writer_); }
  TarFile(const TarFile&) = delete;
  TarFile& operator=(const TarFile&) = delete;

  void add(const std::string& name, const std::string& bytes) { add_to_tar(writer_, name, bytes); }
  void close() { archive_write_close(writer_); }

 private:
  archive* writer_;
};

}  // namespace hyfreedp::datasets
