#include "harness/runner/upkeep/doctor_files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "results/store/states.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;
using Findings = std::vector<Finding>;

constexpr mode_t kOthers = 077;

bool is_alive(int process) { return process > 0 && (::kill(process, 0) == 0 || errno == EPERM); }

// The entries of a folder; none where it cannot be read, which access_of() tells of.
std::vector<fs::path> readable_entries(const fs::path& folder) {
  auto entries = entries_of(folder.string());
  return entries ? std::move(*entries) : std::vector<fs::path>{};
}

enum class Access { closed, open_to_others, of_another_user };

Access access_of(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0 || S_ISLNK(found.st_mode)) return Access::closed;
  if (found.st_uid != ::geteuid()) return Access::of_another_user;
  return (found.st_mode & kOthers) != 0 ? Access::open_to_others : Access::closed;
}

// A link that took the file's place meanwhile is not followed.
Result<void> close_to_others(const fs::path& path) {
  struct stat found {};
  const bool closed = ::lstat(path.c_str(), &found) == 0 && !S_ISLNK(found.st_mode) &&
                      ::chmod(path.c_str(), found.st_mode & 07777 & ~kOthers) == 0;
  if (closed) return {};
  return error(fmt::format("{}: its mode cannot be changed ({})", path.string(), std::strerror(errno)));
}

Result<void> close_all(const std::vector<fs::path>& paths) {
  for (const auto& path : paths) {
    if (auto closed = close_to_others(path); !closed) return closed;
  }
  return {};
}

Finding of_another_user(const std::string& where) {
  return {.where = where,
          .problem = "it belongs to another user, who can read what is confidential",
          .remedy = "Make it this user's: chown.",
          .cost = ""};
}

void judge(const fs::path& path, Findings& found) {
  const auto access = access_of(path);
  if (access == Access::of_another_user) found.push_back(of_another_user(path.string()));
  if (access != Access::open_to_others) return;
  found.push_back({.where = path.string(),
                   .problem = "other users can open it",
                   .remedy = fmt::format("Close it: chmod go= {}.", path.string()),
                   .cost = "",
                   .repair = [path] { return close_to_others(path); }});
}

// The files in a folder whose number is confidential.
void judge_files_in(const fs::path& folder, bool confidential, Findings& found) {
  std::vector<fs::path> open;
  bool has_foreign = false;
  for (const auto& path : readable_entries(folder)) {
    const auto access = access_of(path);
    if (access == Access::open_to_others) open.push_back(path);
    has_foreign = has_foreign || access == Access::of_another_user;
  }
  if (has_foreign) found.push_back(of_another_user(folder.string() + "/*"));
  if (open.empty()) return;
  found.push_back({.where = folder.string() + "/*",
                   .problem = confidential
                                  ? fmt::format("other users may read {}",
                                                counted(static_cast<std::int64_t>(open.size()), "file"))
                                  : "other users may read files in it",
                   .remedy = fmt::format("Close them: chmod -R go= {}.", folder.string()),
                   .cost = "",
                   .repair = [open] { return close_all(open); }});
}

// The process in the name NAME.tmp-PID or NAME.tmp-PID.EXTENSION; 0: not such a name.
int process_in(const std::string& name) {
  constexpr std::string_view kMark = ".tmp-";
  const auto mark = name.rfind(kMark);
  if (mark == std::string::npos) return 0;
  int process = 0;
  const char* begin = name.data() + mark + kMark.size();
  const char* end = name.data() + name.size();
  const auto [rest, failure] = std::from_chars(begin, end, process);
  return failure == std::errc() && (rest == end || *rest == '.') ? process : 0;
}

std::vector<fs::path> leftovers_in(const fs::path& root) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (auto entry = fs::recursive_directory_iterator(root, failure); !failure && entry != fs::end(entry);
       entry.increment(failure)) {
    const auto process = process_in(entry->path().filename().string());
    if (process > 0 && !is_alive(process) && entry->symlink_status().type() == fs::file_type::regular) {
      files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<void> remove_files(const std::vector<fs::path>& files) {
  for (const auto& file : files) {
    std::error_code failure;
    fs::remove(file, failure);
    if (failure) return error(fmt::format("{}: cannot be removed ({})", file.string(), failure.message()));
  }
  return {};
}

Finding leftover(const std::string& where, const std::string& problem, std::vector<fs::path> files) {
  return {.where = where,
          .problem = problem,
          .remedy = "Remove it.",
          .cost = "",
          .repair = [files = std::move(files)] { return remove_files(files); }};
}

}  // namespace

Result<Findings> check_permissions(const Patient& patient) {
  const auto& out = patient.out;
  Findings found;
  for (const char* end : {"", "-wal", "-shm"}) judge(out.database() + end, found);
  for (const auto& entry : readable_entries(out.root)) {
    const auto name = entry.filename().string();
    if (is_taken_in_out_folder(name)) {
      judge(entry, found);
      judge_files_in(entry, patient.confidential, found);
      continue;
    }
    // Checks what --confidential wrote beside a spec's tables.
    if (!fs::is_directory(fs::symlink_status(entry))) continue;
    for (const auto& derived : readable_entries(entry)) {
      if (derived.filename().string().find(".confidential") != std::string::npos) judge(derived, found);
    }
  }
  return found;
}

Result<Findings> check_leftovers(const Patient& patient) {
  if (patient.at_work) return Findings{};
  Findings found;
  for (const auto& entry : readable_entries(patient.out.root)) {
    const auto name = entry.filename().string();
    if (fs::is_directory(fs::symlink_status(entry))) {
      const auto files = leftovers_in(entry);
      if (files.empty()) continue;
      if (is_taken_in_out_folder(name) && !patient.confidential) {
        found.push_back(
            leftover(entry.string(), "processes that were killed left temporary files in it", files));
        continue;
      }
      for (const auto& file : files) {
        found.push_back(
            leftover(file.string(), "a process that was killed left this temporary file", {file}));
      }
    } else if (const int process = process_in(name); process > 0 && !is_alive(process)) {
      found.push_back(
          leftover(entry.string(), "a process that was killed left this temporary file", {entry}));
    }
  }
  return found;
}

Result<Findings> check_staged_weights(const Patient& patient) {
  if (patient.at_work || patient.store == nullptr) return Findings{};
  Findings found;
  const fs::path staged = fs::path(patient.out.staged_weights("x")).parent_path();
  for (const auto& folder : readable_entries(staged)) {
    const auto spec = folder.filename().string();
    const auto known = patient.store->spec(spec);
    if (!known) return known.error();
    const auto studies = patient.store->studies(spec);
    if (!studies) return studies.error();
    if (!*known) {
      found.push_back({.where = folder.string(),
                       .problem = "weights were staged for a spec that the database does not have",
                       .remedy = "Remove the folder if that spec is not to go on.",
                       .cost = "what its rows would have published must be trained again"});
    } else if (std::ranges::all_of(*studies, results::is_answered)) {
      found.push_back({.where = folder.string(),
                       .problem = "weights are staged though every row of the spec has its answer",
                       .remedy = "Run the spec again, with --keep-weights to publish those of reported runs, "
                                 "without to remove them.",
                       .cost = "no training"});
    }
  }
  return found;
}

}  // namespace hyfreedp::runner
