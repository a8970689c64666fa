#include "results/store/database_file.h"

#include <SQLiteCpp/Database.h>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/base/text.h"

namespace hyfreedp::results {
namespace {

// the first bytes of every database
constexpr std::string_view kSqliteHead{"SQLite format 3\0", 16};
constexpr const char* kDatabaseName = "hyfreedp.sqlite";  // in an output folder
constexpr const char* kSliceName = "slice.sqlite";        // in an archive
constexpr std::size_t kMostNamed = 5;                     // folders, by a refusal

}  // namespace

void make_private(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor >= 0) ::close(descriptor);
}

Result<void> check_is_sqlite(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    return error(path + ": this is a folder, not a database; in an output folder it is hyfreedp.sqlite.");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file && std::filesystem::exists(path)) {
    return error(path + ": cannot open (" + std::strerror(errno) +
                 "). A database is its owner's alone; its owner can show tables or an archive.");
  }
  std::string head(kSqliteHead.size(), '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (head.empty() || head == kSqliteHead) return {};
  return error(
      path +
      " is not an SQLite database: it is damaged, or another program's file. Put back a copy, or name "
      "another output folder.");
}

namespace {

bool has_bytes(const std::string& path) {
  std::error_code absent;
  const auto bytes = std::filesystem::file_size(path, absent);
  return !absent && bytes > 0;
}

// Changes that the file itself has not, and changes in the file that a writer, who was killed, did
// not complete.
bool has_log(const std::string& path) { return has_bytes(path + "-wal"); }
bool has_incomplete(const std::string& path) { return has_bytes(path + "-journal"); }
bool may_complete(const std::string& path) {
  return is_writable_folder(folder_of(path)) && ::access(path.c_str(), W_OK) == 0;
}

// https://www.sqlite.org/uri.html
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const unsigned char c : std::filesystem::path(path).lexically_normal().string()) {
    if (std::isalnum(c) != 0 ||
        std::string_view("/._-~").find(static_cast<char>(c)) != std::string_view::npos)
      uri += static_cast<char>(c);
    else
      uri += fmt::format("%{:02X}", c);
  }
  return uri + "?immutable=1";
}

}  // namespace

ReadAccess read_access(const std::string& path) {
  // SQLite undoes what is incomplete when it reads, and may do so only where it may write.
  if (has_incomplete(path))
    return {path, may_complete(path) ? SQLite::OPEN_READWRITE : SQLite::OPEN_READONLY};
  if (has_log(path) || is_writable_folder(folder_of(path))) return {path, SQLite::OPEN_READONLY};
  return {uri_of(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI};
}

std::string advice_on_log(const std::string& path) {
  std::string what;
  if (has_incomplete(path) && !may_complete(path)) {
    what = fmt::format("{}-journal undoes a change that was not completed, which", path);
  } else if (has_log(path) && !is_writable_folder(folder_of(path))) {
    what = fmt::format("The last changes are in {}-wal, which", path);
  } else {
    return "";
  }
  return fmt::format(
      " {} SQLite can only read where it may write beside it: copy the folder to a place where you "
      "may write, and name the copy.",
      what);
}

namespace {

// Folders near one without a database that have one: those in it, and `out`, where runs write.
std::vector<std::string> folders_with_database(const std::filesystem::path& near) {
  std::error_code failure;
  std::set<std::string> folders{"out"};
  for (const auto& entry : std::filesystem::directory_iterator(near, failure)) {
    folders.insert(entry.path().lexically_normal().string());
  }
  std::vector<std::string> found;
  for (const auto& folder : folders) {
    if (std::filesystem::is_regular_file(folder + "/" + kDatabaseName, failure)) found.push_back(folder);
  }
  return found;
}

}  // namespace

Error no_database(const std::string& path) {
  const std::filesystem::path file(path);
  if (file.filename() != kDatabaseName) return error("there is no file " + path + ".");
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  std::error_code failure;
  if (std::filesystem::is_regular_file(folder / kSliceName, failure)) {
    return error(fmt::format(
        "{0} is an archive, not an output folder. `hyfreedp archive --check {0}` tests it, and `hyfreedp "
        "epsilon --db {0}/{1} --study ID` prices a study; for other commands copy {0}/{1} to {2} in a new "
        "folder and "
        "name that by --out.",
        folder.string(), kSliceName, kDatabaseName));
  }
  const auto what = std::filesystem::is_directory(folder, failure)
                        ? fmt::format("the folder {} has no database ({})", folder.string(), kDatabaseName)
                        : fmt::format("there is no folder {}", folder.string());
  auto others = folders_with_database(folder);
  if (others.empty()) {
    return error(fmt::format("{}. `hyfreedp run SPEC.yaml --out {}` makes it.", what, folder.string()));
  }
  const auto more = others.size() > kMostNamed ? others.size() - kMostNamed : 0;
  others.resize(others.size() - more);
  return error(fmt::format("{}; there is a database in {}{}.", what, join(others, ", "),
                           more > 0 ? fmt::format(" and {} more folders", more) : ""));
}

}  // namespace hyfreedp::results
