#include "datasets/fetch/fetch.h"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

#include "datasets/fetch/download.h"
#include "datasets/fetch/packages.h"
#include "datasets/fetch/record.h"
#include "datasets/fetch/unpack.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/models/files/gguf_folder.h"

namespace hyfreedp::datasets {
namespace {

CheckedFile checked(const SuppliedFile& file, const std::string& folder) {
  const auto path = folder + "/" + file.name;
  CheckedFile one{.name = file.name, .state = FileState::absent, .expected = file.sha256, .found = ""};
  const auto record = file.sha256.empty() ? read_record(path) : std::nullopt;
  if (record) one.expected = record->sha256;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return one;
  const auto found = sha256_of_file(path);
  if (found) one.found = *found;
  one.state = one.expected.empty()        ? FileState::unknown
              : one.found != one.expected ? FileState::different
              : record                    ? FileState::as_recorded
                                          : FileState::as_pinned;
  return one;
}

// An unpinned file without a record is not.
bool is_there(const SuppliedFile& file, const std::string& folder) {
  const auto state = checked(file, folder).state;
  return state == FileState::as_pinned || state == FileState::as_recorded;
}

bool are_there(const std::vector<Member>& members, const std::string& folder) {
  return std::ranges::all_of(members, [&](const Member& member) {
    return is_there({member.name, member.sha256}, folder);
  });
}

Result<void> fetch_one(const Download& wanted, const std::string& folder, const Transport& transport) {
  const auto path = folder + "/" + wanted.name;
  const bool is_archive = !wanted.members.empty();
  if (is_archive ? are_there(wanted.members, folder) : is_there({wanted.name, wanted.sha256}, folder))
    return {};
  const WantedFile file{.urls = wanted.urls, .path = path, .bytes = wanted.bytes, .sha256 = wanted.sha256};
  if (auto got = download(file, transport); !got) return got;
  if (!is_archive) return {};
  const auto record = read_record(path);
  const auto from = record ? record->from + " (sha256 " + record->sha256 + ")" : wanted.urls.front();
  auto unpacked = unpack(path, wanted.members, folder, from);
  // Also after an error: what cannot be unpacked must not be taken for the finished file.
  ::unlink(path.c_str());
  ::unlink(record_path(path).c_str());
  return unpacked;
}

std::vector<SuppliedFile> converted_files(const Supply& supply) {
  std::vector<SuppliedFile> files;
  if (supply.gguf.empty()) return files;
  for (const char* name : models::kFromGguf) files.push_back({.name = name, .sha256 = {}});
  return files;
}

// A GGUF file into what its folder lacks, with records of where that came from.
Result<void> convert(const Supply& supply, const std::string& folder) {
  const auto files = converted_files(supply);
  if (std::ranges::all_of(files, [&](const SuppliedFile& file) { return is_there(file, folder); })) return {};
  const auto from = folder + "/" + supply.gguf;
  if (auto converted = models::write_folder_of_gguf(from, folder); !converted) return converted;
  const auto sha256 = sha256_of_file(from);
  if (!sha256) return sha256.error();
  for (const auto& file : files) {
    const auto path = folder + "/" + file.name;
    const auto sum = sha256_of_file(path);
    if (!sum) return sum.error();
    std::error_code ignored;
    Record record{.from = supply.gguf + " (sha256 " + *sha256 + "), converted",
                  .bytes = std::filesystem::file_size(path, ignored),
                  .sha256 = *sum};
    if (auto recorded = write_record(path, std::move(record)); !recorded) return recorded;
  }
  return {};
}

}  // namespace

std::vector<SuppliedFile> supplied_files(const Supply& supply) {
  std::vector<SuppliedFile> files;
  const auto add = [&files](const std::vector<Member>& members) {
    for (const auto& member : members) files.push_back({member.name, member.sha256});
  };
  for (const auto& download : supply.downloads) {
    if (download.members.empty()) files.push_back({download.name, download.sha256});
    add(download.members);
  }
  for (const auto& package : supply.python_packages) add(package.members);
  for (const auto& package : supply.debian_packages) add(package.members);
  for (const auto& file : supply.written) files.push_back({file.name, sha256_hex(file.content)});
  for (auto& file : converted_files(supply)) files.push_back(std::move(file));
  return files;
}

Result<void> fetch(const Supply& supply, const std::string& folder, const Transport& transport) {
  if (auto made = make_folders(folder); !made) return made;
  for (const auto& one : supply.downloads) {
    if (auto got = fetch_one(one, folder, transport); !got) return got;
  }
  for (const auto& package : supply.python_packages) {
    if (are_there(package.members, folder)) continue;
    if (auto got = fetch_python_package(package, folder, transport); !got) return got;
  }
  for (const auto& package : supply.debian_packages) {
    if (are_there(package.members, folder)) continue;
    if (auto got = fetch_debian_package(package, folder, transport); !got) return got;
  }
  for (const auto& file : supply.written) {
    if (is_there({file.name, sha256_hex(file.content)}, folder)) continue;
    if (auto written = write_file_atomically(folder + "/" + file.name, file.content); !written)
      return written;
  }
  return convert(supply, folder);
}

std::vector<CheckedFile> check_files(const std::vector<SuppliedFile>& files, const std::string& folder) {
  std::vector<CheckedFile> all;
  all.reserve(files.size());
  for (const auto& file : files) all.push_back(checked(file, folder));
  return all;
}

}  // namespace hyfreedp::datasets
