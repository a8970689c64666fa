#include "harness/runner/odometer/release_record_file.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>

#include "harness/base/files.h"
#include "results/store/records.h"

namespace hyfreedp::runner {
namespace {

constexpr const char* kFormat = "hyfreedp-releases";
constexpr std::int64_t kVersion = 1;
constexpr std::string_view kEnding = ".releases.json";

json::object to_json(const ReleaseRecord& record) {
  json::array studies;
  for (const auto& one : record.studies) {
    json::array runs;
    for (const auto& run : one.runs) {
      runs.push_back(json::object{
          {"trial", run.id}, {"config", run.config}, {"charged", results::to_json(run.charged)}});
    }
    json::object study{
        {"study", as_json(one.study)}, {"journals", as_json(one.journals)}, {"runs", std::move(runs)}};
    if (!one.shared_journals.empty()) study["shared_journals"] = as_json(one.shared_journals);
    if (one.has_begun) study["begun"] = true;
    if (!one.dearest.empty()) study["dearest"] = accounting::events_to_json({.events = one.dearest});
    studies.push_back(std::move(study));
  }
  json::object object{{"hash", record.spec.hash},     {"resolved", record.spec.resolved},
                      {"text", record.spec.text},     {"program", record.spec.version},
                      {"complete", record.complete},  {"draws", record.draws},
                      {"studies", std::move(studies)}};
  if (!record.data.empty()) object["data"] = as_json(record.data);
  json::array others;
  for (const auto& one : record.others)
    others.push_back(
        json::object{{"id", one.id}, {"method", one.method}, {"composition", one.composition.to_json()}});
  if (!others.empty()) object["others"] = std::move(others);
  return object;
}

// Reads `runs`, which a file of an older version does not have (null).
Result<std::vector<results::TrialRecord>> runs_from(const json::value* value, const std::string& where) {
  std::vector<results::TrialRecord> runs;
  if (value == nullptr) return runs;
  if (!value->is_array()) return error(where + ": 'runs' must be a list");
  for (const auto& element : value->get_array()) {
    const auto* one = element.if_object();
    const auto* config = one != nullptr ? one->if_contains("config") : nullptr;
    const auto* charged = one != nullptr ? one->if_contains("charged") : nullptr;
    if (config == nullptr || !config->is_object() || charged == nullptr) {
      return error(where + ": each of 'runs' needs 'config' and 'charged'");
    }
    results::TrialRecord run;
    run.id = string_or(*one, "trial", "");
    run.config = config->get_object();
    auto attempts = results::charged_from(*charged, where + ": 'charged'");
    if (!attempts) return attempts.error();
    run.charged = std::move(*attempts);
    run.events = trial::events_of(run.charged);
    runs.push_back(std::move(run));
  }
  return runs;
}

Result<ReleaseRecord> release_record_from(const json::value& value, const std::string& spec,
                                          const std::string& where) {
  if (!value.is_object()) return error(where + ": a release must be an object");
  const auto& object = value.get_object();
  const auto hash = get_string(object, "hash", where);
  if (!hash) return hash.error();
  const auto* resolved = object.if_contains("resolved");
  const auto* studies = object.if_contains("studies");
  if (resolved == nullptr || !resolved->is_object() || studies == nullptr || !studies->is_array()) {
    return error(where + ": a release needs 'resolved', an object, and 'studies', a list");
  }
  ReleaseRecord record{.spec = {.name = spec,
                                .hash = *hash,
                                .resolved = resolved->get_object(),
                                .text = string_or(object, "text", ""),
                                .version = string_or(object, "program", "")},
                       .complete = bool_or(object, "complete", false),
                       .draws = string_or(object, "draws", ""),
                       .studies = {}};
  for (const auto& element : studies->get_array()) {
    const auto* one = element.if_object();
    const auto* of_study = one != nullptr ? one->if_contains("study") : nullptr;
    const auto* of_journals = one != nullptr ? one->if_contains("journals") : nullptr;
    if (of_study == nullptr || of_journals == nullptr) {
      return error(where + ": each of 'studies' needs 'study' and 'journals'");
    }
    auto study = from_json<results::StudyRecord>(*of_study, where);
    if (!study) return study.error();
    auto journals = from_json<std::vector<std::string>>(*of_journals, where + ": 'journals'");
    if (!journals) return journals.error();
    std::vector<std::string> shared;
    if (const auto* of_others = one->if_contains("shared_journals")) {
      auto ids = from_json<std::vector<std::string>>(*of_others, where + ": 'shared_journals'");
      if (!ids) return ids.error();
      shared = std::move(*ids);
    }
    auto runs = runs_from(one->if_contains("runs"), where);
    if (!runs) return runs.error();
    RecordedStudy recorded{.study = std::move(*study),
                           .journals = std::move(*journals),
                           .shared_journals = std::move(shared),
                           .runs = std::move(*runs),
                           .has_begun = bool_or(*one, "begun", false)};
    if (const auto* dearest = one->if_contains("dearest")) {
      auto events = accounting::events_from_json(*dearest, where + ": 'dearest'");
      if (!events) return events.error();
      recorded.dearest = std::move(events->events);
    }
    record.studies.push_back(std::move(recorded));
  }
  if (const auto* others = object.if_contains("others")) {
    if (!others->is_array()) return error(where + ": 'others' must be a list");
    for (const auto& element : others->get_array()) {
      const auto* one = element.if_object();
      const auto* composition = one != nullptr ? one->if_contains("composition") : nullptr;
      if (composition == nullptr || !composition->is_object())
        return error(where + ": each of 'others' needs 'composition'");
      auto read = trial::Composition::from_json(composition->get_object(), where + ": 'others'");
      if (!read) return read.error();
      record.others.push_back({.id = string_or(*one, "id", ""),
                               .spec = spec,
                               .method = string_or(*one, "method", ""),
                               .composition = std::move(*read),
                               .trials = {}});
    }
  }
  if (const auto* data = object.if_contains("data")) {
    auto known = from_json<std::map<std::string, std::vector<json::object>>>(*data, where + ": 'data'");
    if (!known) return known.error();
    record.data = std::move(*known);
  }
  return record;
}

}  // namespace

Result<void> write_release_records(const OutFolder& out, const std::string& spec,
                                   const std::vector<ReleaseRecord>& records) {
  json::array releases;
  for (const auto& record : records) releases.push_back(to_json(record));
  json::object file{
      {"format", kFormat}, {"version", kVersion}, {"spec", spec}, {"releases", std::move(releases)}};
  file["checksum"] = sha256_hex(canonical_json(file));
  if (auto made = make_closed_folder(out.journals()); !made) return made.error();
  return write_file_atomically(out.release_record(spec), canonical_json(file) + "\n", 0600);
}

Result<std::vector<ReleaseRecord>> read_release_records(const OutFolder& out, const std::string& spec) {
  const auto path = out.release_record(spec);
  std::vector<ReleaseRecord> records;
  if (!std::filesystem::exists(path)) return records;
  const auto damaged = [&](const std::string& what) {
    return error(
        fmt::format("{}: {}. This file says what '{}' has released already, and without it the same data "
                    "could be released a "
                    "second time unseen. Put it back from a copy, or use --out DIR.",
                    path, what, spec));
  };
  const auto text = read_file(path);
  if (!text) return text.error();
  auto value = parse_json(*text, path);
  if (!value || !value->is_object()) return damaged("it is not a JSON object");
  auto& file = value->get_object();
  const auto checksum = string_or(file, "checksum", "");
  file.erase("checksum");
  if (checksum != sha256_hex(canonical_json(file))) return damaged("its checksum is not that of its content");
  if (string_or(file, "format", "") != kFormat || int_or(file, "version", 0) != kVersion) {
    return damaged("it was not written by this program or an earlier one");
  }
  if (string_or(file, "spec", "") != spec) return damaged("it is another spec's");
  const auto* releases = file.if_contains("releases");
  if (releases == nullptr || !releases->is_array()) return damaged("it has no list 'releases'");
  for (const auto& release : releases->get_array()) {
    auto record = release_record_from(release, spec, path);
    if (!record) return damaged(record.error().message);
    records.push_back(std::move(*record));
  }
  return records;
}

Result<std::vector<std::string>> specs_with_records(const OutFolder& out) {
  const auto paths = entries_of(out.journals());
  if (!paths) return paths.error();
  std::vector<std::string> names;
  for (const auto& path : *paths) {
    const auto name = path.filename().string();
    if (name.ends_with(kEnding)) names.push_back(name.substr(0, name.size() - kEnding.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hyfreedp::runner
