#include "harness/cli/show/archive.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <sstream>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/cli/common/outputs.h"
#include "results/provenance/ledger.h"
#include "results/provenance/slice.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/table/cell_place.h"

namespace hyfreedp::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSlice = "slice.sqlite";
constexpr const char* kProvenance = "provenance.json";
constexpr const char* kSums = "SHA256SUMS";

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> check_name(const std::string& name) {
  const auto ok = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!name.empty() && name[0] != '.' && std::all_of(name.begin(), name.end(), ok)) return {};
  return error(
      fmt::format("'{}' is not a valid name of an archive. Use letters, digits, '-', '_' and '.', and do not "
                  "begin with '.'.",
                  name));
}

// "1 study was", "2 studies were".
std::string unfinished_text(std::size_t count, const char* one, const char* several) {
  return counted(static_cast<std::int64_t>(count), "cell") + " " + (count == 1 ? one : several);
}

// Cells of which a seed is planned and has no answer yet, or was lost.
std::size_t unfinished_cells(const results::TableModel& table) {
  std::size_t count = 0;
  for (const auto& panel : table.panels) {
    for (const auto& row : panel.rows) {
      for (const auto& cell : row.cells) {
        if (cell.kind == results::CellModel::Kind::not_planned) continue;
        const auto waits = [](const results::SeedResult& seed) {
          return !seed.value && (seed.study.empty() || seed.state == results::StudyState::open ||
                                 results::may_be_tried_again(seed.failure_kind) ||
                                 seed.failure_kind == results::kCancelledStudy);
        };
        if (cell.seeds.empty() || std::any_of(cell.seeds.begin(), cell.seeds.end(), waits)) ++count;
      }
    }
  }
  return count;
}

Result<void> copy_figures(const results::Store& store, const std::string& spec, const std::string& folder) {
  const auto drawn = ScratchFolder::make();
  if (!drawn) return drawn.error();
  const auto paths = write_plots(store, spec, drawn->path());
  if (!paths) return paths.error();
  for (const auto& path : paths->paths) {
    if (fs::path(path).extension() != ".svg") continue;
    const auto content = read_file(path);
    if (!content) return content.error();
    const auto target = folder + "/" + fs::path(path).filename().string();
    if (auto written = write_file_atomically(target, *content); !written) return written.error();
  }
  return {};
}

json::object provenance_of(const ArchiveRequest& request, const results::SpecRecord& spec,
                           const results::SliceCounts& counts, const std::vector<std::string>& machines,
                           std::size_t unfinished) {
  return {{"format", "hyfreedp-archive"},
          {"format_version", 1},
          {"spec", spec.name},
          {"hash", spec.hash},
          {"ran_by", spec.version},
          {"archived_by", program_version()},
          {"command", fmt::format("hyfreedp archive {} --name {}{}", request.spec, request.name,
                                  unfinished > 0 ? " --partial" : "")},
          {"partial", unfinished > 0},
          {"unfinished_cells", unfinished},
          {"machines", as_json(machines)},
          {"slice", {{"studies", counts.studies}, {"trials", counts.trials}, {"metrics", counts.metrics}}}};
}

std::string readme_of(const ArchiveRequest& request, const results::TableModel& table,
                      const std::vector<std::string>& machines, std::size_t unfinished) {
  std::string text = fmt::format("# {}\n\n", request.name);
  if (unfinished > 0)
    text += fmt::format("**PARTIAL**: {} not finished when this was frozen.\n\n",
                        unfinished_text(unfinished, "was", "were"));
  text += fmt::format(
      "\"{}\", run from `spec.yaml` (resolved hash {}) by hyfreedp {}, and frozen.\n\n"
      "- `table.*`: the table; `*.svg`: the figures\n"
      "- `slice.sqlite`: the part of the database that the table rests on, without confidential values and "
      "without step\n"
      "  records but the last hash of each run\n"
      "- `provenance.json`: what ran and on which machines; `SHA256SUMS`: of all files\n\n"
      "`hyfreedp archive --check FOLDER` looks at the checksums and builds the tables anew from the slice. "
      "`hyfreedp run\n"
      "spec.yaml` trains it all again: the same digits on the same build and kind of processor where the "
      "spec has a\n"
      "`noise_seed`, else other noise. Ran on:\n\n",
      table.title, table.hash, table.version);
  for (const auto& machine : machines) text += "- " + machine + "\n";
  return text;
}

Result<void> write_sums(const std::string& folder) {
  std::string sums;
  for (const auto& name : files_in(folder)) {
    const auto content = read_file(fmt::format("{}/{}", folder, name));
    if (!content) return content.error();
    sums += fmt::format("{}  {}\n", sha256_hex(*content), name);
  }
  return write_file_atomically(folder + "/" + kSums, sums);
}

Result<std::vector<ArchivedFile>> make_read_only(const std::string& folder) {
  std::vector<ArchivedFile> files;
  for (const auto& name : files_in(folder)) {
    const fs::path path = fmt::format("{}/{}", folder, name);
    std::error_code failure;
    fs::permissions(path, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read, failure);
    if (failure)
      return error(fmt::format("{}: cannot be made read-only ({})", path.string(), failure.message()));
    files.push_back({name, fs::file_size(path, failure)});
  }
  return files;
}

Result<void> fill(const results::Store& store, const ArchiveRequest& request,
                  const results::TableModel& table, std::size_t unfinished, const std::string& folder) {
  const auto spec = results::find_spec(store, request.spec);
  if (!spec) return spec.error();
  if (auto written = write_tables(table, folder); !written) return written.error();
  if (auto copied = copy_figures(store, request.spec, folder); !copied) return copied.error();
  if (auto written = write_file_atomically(folder + "/spec.yaml", spec->text); !written)
    return written.error();
  const auto counts = results::write_slice(store, request.spec, folder + "/" + kSlice);
  if (!counts) return counts.error();
  const auto rows = results::table_of_rows(store, request.spec);
  if (!rows) return rows.error();
  const auto machines = results::fingerprints(store, *rows);
  if (!machines) return machines.error();
  const auto provenance = provenance_of(request, *spec, *counts, *machines, unfinished);
  if (auto written = write_file_atomically(folder + "/" + kProvenance, pretty_json(provenance)); !written) {
    return written.error();
  }
  if (auto written =
          write_file_atomically(folder + "/README.md", readme_of(request, table, *machines, unfinished));
      !written) {
    return written.error();
  }
  return write_sums(folder);
}

// Reads the checksums in SHA256SUMS, by file.
Result<std::map<std::string, std::string>> read_sums(const std::string& folder) {
  const auto text = read_file(folder + "/" + kSums);
  if (!text) return error(fmt::format("{} is not an archive: {}", folder, text.error().message));
  std::map<std::string, std::string> sums;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const auto gap = line.find("  ");
    if (gap == std::string::npos)
      return error(fmt::format("{}/{}: a line is not a checksum.", folder, kSums));
    sums[line.substr(gap + 2)] = line.substr(0, gap);
  }
  return sums;
}

class Checker {
 public:
  explicit Checker(std::string folder) : folder_(std::move(folder)) {}

  Result<ArchiveCheck> check() {
    const auto sums = read_sums(folder_);
    if (!sums) return sums.error();
    check_files(*sums);
    const auto provenance = read_json_file(folder_ + "/" + kProvenance);
    if (!provenance) return provenance.error();
    if (!provenance->is_object())
      return error(fmt::format("{}/{} must be a JSON object.", folder_, kProvenance));
    const auto spec = get_string(provenance->get_object(), "spec", kProvenance);
    if (!spec) return spec.error();
    if (auto checked = check_slice(*spec, provenance->get_object()); !checked) return checked.error();
    return std::move(check_);
  }

 private:
  void note(bool good, const std::string& text) { (good ? check_.passed : check_.failed).push_back(text); }

  void check_files(const std::map<std::string, std::string>& sums) {
    std::size_t wrong = 0;
    for (const auto& [name, sum] : sums) {
      const auto path = fmt::format("{}/{}", folder_, name);
      const auto content = read_file(path);
      const bool is_link = fs::is_symlink(fs::path(path));
      if (content && !is_link && sha256_hex(*content) == sum) continue;
      note(false, name + (!content  ? ": is missing"
                          : is_link ? ": is a link, not the file"
                                    : ": its checksum differs"));
      ++wrong;
    }
    for (const auto& name : files_in(folder_)) {
      if (name == kSums || sums.contains(name)) continue;
      note(false, name + ": has no checksum");
      ++wrong;
    }
    if (wrong == 0) note(true, fmt::format("checksums of {} files", sums.size()));
  }

  Result<void> check_slice(const std::string& spec, const json::object& provenance) {
    const auto work = ScratchFolder::make();
    if (!work) return work.error();
    std::error_code failure;
    // An older schema is brought up to date, and an archive is never written to.
    const auto copy = work->path() + "/" + kSlice;
    fs::copy_file(folder_ + "/" + kSlice, copy, failure);
    if (failure) return error(fmt::format("{}/{}: cannot be read ({})", folder_, kSlice, failure.message()));
    fs::permissions(copy, fs::perms::owner_read | fs::perms::owner_write, failure);
    const auto store = results::Store::open(copy, results::Store::Mode::read_write);
    if (!store) return store.error();
    const auto clean = results::check_slice(**store, spec);
    note(clean.has_value(), clean ? "the slice contains nothing confidential" : clean.error().message);
    const auto record = results::find_spec(**store, spec);
    if (!record) return record.error();
    const auto text = read_file(folder_ + "/spec.yaml");
    note(text && *text == record->text, "spec.yaml is the one that was run");
    note(string_or(provenance, "hash", "") == record->hash, "provenance.json names the spec's hash");
    const auto table = results::build_table(**store, spec);
    if (!table) return table.error();
    const auto rows = results::table_of_rows(**store, spec);
    if (!rows) return rows.error();
    const auto unfinished = unfinished_cells(*rows);
    note(unfinished == 0 || bool_or(provenance, "partial", false),
         unfinished == 0 ? "every cell is finished"
                         : unfinished_text(unfinished, "is", "are") + " not finished, as the archive states");
    return compare_tables(*table, work->path() + "/again");
  }

  Result<void> compare_tables(const results::TableModel& table, const std::string& again) {
    const auto paths = write_tables(table, again);
    if (!paths) return paths.error();
    for (const auto& path : *paths) {
      const auto name = fs::path(path).filename().string();
      const auto rebuilt = read_file(path);
      if (!rebuilt) return rebuilt.error();
      const auto kept = read_file(folder_ + "/" + name);
      note(kept && *kept == *rebuilt,
           kept ? fmt::format("{} built from the slice is the same, byte for byte", name)
                : name + " is missing");
      if (kept && *kept != *rebuilt) check_.failed.back() = name + " built from the slice differs";
    }
    return {};
  }

  std::string folder_;
  ArchiveCheck check_;
};

}  // namespace

Result<Archived> archive(const results::Store& store, const ArchiveRequest& request) {
  if (auto named = check_name(request.name); !named) return named.error();
  const auto spec = results::find_spec(store, request.spec);
  if (!spec) return spec.error();
  Archived archived{.folder = request.root + "/" + request.name, .files = {}};
  if (fs::exists(archived.folder)) {
    return error(fmt::format(
        "{} exists, and archives are never overwritten. Give another --name, or remove that folder.",
        archived.folder));
  }
  const auto table = results::build_table(store, request.spec);
  if (!table) return table.error();
  if (table->panels.empty())
    return error(fmt::format("{} trains nothing, so there are no rows to keep.", request.spec));
  const auto rows = results::table_of_rows(store, request.spec);
  if (!rows) return rows.error();
  archived.unfinished = unfinished_cells(*rows);
  if (archived.unfinished > 0 && !request.partial) {
    return error(
        fmt::format("{} of {} not finished. `hyfreedp run` continues; --partial archives the table as it is "
                    "and marks it as "
                    "partial.",
                    counted(static_cast<std::int64_t>(archived.unfinished), "cell"),
                    request.spec + (archived.unfinished == 1 ? " is" : " are")));
  }
  const auto making = fmt::format("{}/.{}.tmp-{}", request.root, request.name, ::getpid());
  if (auto made = make_folders(making); !made) return made.error();
  std::error_code failure;
  if (auto filled = fill(store, request, *table, archived.unfinished, making); !filled) {
    fs::remove_all(making, failure);
    return filled.error();
  }
  auto files = make_read_only(making);
  if (files) fs::rename(making, archived.folder, failure);
  if (!files || failure) {
    std::error_code ignored;
    fs::remove_all(making, ignored);
    if (!files) return files.error();
    return error(fmt::format("{}: cannot be made ({})", archived.folder, failure.message()));
  }
  archived.files = std::move(*files);
  return archived;
}

Result<ArchiveCheck> check_archive(const std::string& folder) { return Checker(folder).check(); }

}  // namespace hyfreedp::cli
