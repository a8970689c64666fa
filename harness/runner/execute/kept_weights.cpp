#include "harness/runner/execute/kept_weights.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "datasets/facts.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/facts/weights_source.h"
#include "harness/runner/execute/weights_metadata.h"
#include "harness/runner/lineage/initial_weights.h"
#include "harness/runner/odometer/release.h"
#include "results/provenance/weights_release.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;

std::int64_t release_of(const PlannedStudy& study) {
  return study.cell.base.repetition / kRepetitionsPerRelease;
}

// `release` from 0 on.
std::string place_of(const PlannedStudy& study, std::int64_t release) {
  const auto& cell = study.cell;
  const auto arm = cell.epsilon ? fmt::format("eps-{}", *cell.epsilon) : std::string("non-private");
  const auto place = fmt::format("{}/{}.{}.seed-{}", cell.panel, cell.row, arm, cell.seed);
  return release == 0 ? place : fmt::format("{}.release-{}", place, release + 1);
}
std::string place_of(const PlannedStudy& study) { return place_of(study, release_of(study)); }

bool is_published(const fs::path& folder, const results::StudyRecord& study) {
  const auto metadata = read_json_file((folder / models::kTrialMetadata).string());
  if (!metadata || !metadata->is_object()) return false;
  return string_or(metadata->get_object(), "study", "") == study.id &&
         string_or(metadata->get_object(), "trial", "") == study.reported_trial;
}

std::string row_of(const PlannedStudy& study) { return study.cell.panel + ", " + study.cell.row; }

void name_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

// Returns the SHA-256 of each file of a staged folder that is published.
Result<json::object> checksums(const fs::path& folder) {
  json::object found;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const auto name = entry.path().filename().string();
    if (name == models::kStagedMetadata) continue;
    const auto content = read_file(entry.path().string());
    if (!content) return content.error();
    found[name] = sha256_hex(*content);
  }
  if (failure)
    return error(fmt::format("{}: cannot read the folder ({})", folder.string(), failure.message()));
  return found;
}

// Copies, so that no file says when its run ended.
Result<void> copy_files(const fs::path& from, const fs::path& to, const json::object& files) {
  for (const auto& file : files) {
    const std::string name(file.key());
    std::error_code failure;
    fs::copy_file(from / name, to / name, failure);
    if (failure)
      return error(fmt::format("{}: cannot copy the weights ({})", to.string(), failure.message()));
  }
  return {};
}

// Computes the tag from the members as they will be read.
Result<void> add_tag(json::object& metadata) {
  const auto read = parse_json(pretty_json(metadata), models::kTrialMetadata);
  if (!read) return read.error();
  auto tag = tag_of(read->get_object());
  if (!tag) return tag.error();
  metadata["tag"] = *tag;
  return {};
}

// The metadata first: weights that lie there without them would pass for public weights.
Result<void> put_into_place(const fs::path& staged, const fs::path& folder, const json::object& metadata) {
  const fs::path partial = folder.string() + ".partial";
  std::error_code failure;
  fs::remove_all(partial, failure);
  auto written = make_folders(partial.string());
  if (written)
    written = write_file_atomically((partial / models::kTrialMetadata).string(), pretty_json(metadata));
  if (written) written = copy_files(staged, partial, metadata.at("files").as_object());
  if (written) {
    fs::remove_all(folder, failure);
    fs::rename(partial, folder, failure);
    if (failure)
      written = error(fmt::format("{}: cannot move into place ({})", folder.string(), failure.message()));
  }
  if (!written) fs::remove_all(partial, failure);
  return written;
}

// Returns what has been seen by the weights that the trial began with, and by those that made its
// features. An error if these are not the very files that it used.
Result<SeenData> seen_by_start(const results::TrialRecord& trial) {
  const auto& model = trial.config.at("model").at("options").as_object();
  if (auto same = models::complete_options(model); !same) return same.error();
  auto seen = private_data_of_start(model);
  const auto& dataset = trial.config.at("dataset").at("options").as_object();
  if (!dataset.contains("weights") || !seen) return seen;
  if (auto same = models::complete_options(dataset); !same) return same.error();
  const auto more = private_data_of_start(dataset);
  if (!more) return more.error();
  seen->is_known = seen->is_known && more->is_known;
  for (const auto& release : more->releases) {
    if (std::ranges::find(seen->releases, release) == seen->releases.end()) seen->releases.push_back(release);
  }
  return seen;
}

}  // namespace

KeptWeights::KeptWeights(OutFolder out, std::string spec, bool confidential)
    : out_(std::move(out)), spec_(std::move(spec)), confidential_(confidential) {}

Result<void> KeptWeights::open() const {
  const fs::path folder = out_.staged_weights(spec_);
  if (auto made = make_private_folder(folder.parent_path().string()); !made) return made;
  return make_private_folder(folder.string());
}

std::string KeptWeights::why_not(const PlannedStudy& study) const {
  const auto label = study.cell.epsilon ? study.baseline->label : baselines::Label::non_private;
  return results::why_weights_are_confidential(baselines::to_string(label), study.cell.base.to_json());
}

KeptForecast KeptWeights::foresee(const std::vector<PlannedStudy>& studies) const {
  KeptForecast forecast{.studies = studies.size()};
  for (const auto& study : studies) {
    if (wants(study)) ++forecast.kept;
    if (const auto why = why_not(study); !why.empty()) name_once(forecast.confidential[why], row_of(study));
  }
  return forecast;
}

std::string KeptWeights::staged(const std::string& trial) const {
  return out_.staged_weights(spec_) + "/" + trial;
}

void KeptWeights::note_problem(const std::string& trial, const std::string& problem) {
  problems_[trial] = problem;
}

std::vector<std::string> KeptWeights::of_earlier_releases(const std::vector<PlannedStudy>& studies) const {
  std::vector<std::string> folders;
  for (const char* kind : {"weights", "weights.confidential"}) {
    const auto root = fs::path(out_.derived(spec_)) / kind;
    for (const auto& study : studies) {
      if (fs::exists(root / place_of(study))) continue;
      for (auto release = release_of(study) - 1; release >= 0; --release) {
        const auto folder = root / place_of(study, release);
        if (fs::exists(folder)) folders.push_back(folder.string());
      }
    }
  }
  return folders;
}

Result<KeptReport> KeptWeights::publish(const results::Store& store,
                                        const std::vector<PlannedStudy>& studies) const {
  const auto spec = store.spec(spec_);
  if (!spec) return spec.error();
  if (!*spec) return error(fmt::format("The database has no spec '{}'.", spec_));
  KeptReport report;
  for (const auto& study : studies) {
    if (auto done = publish_one(store, **spec, study, report); !done) return done.error();
  }
  return report;
}

Result<void> KeptWeights::publish_one(const results::Store& store, const results::SpecRecord& spec,
                                      const PlannedStudy& planned, KeptReport& report) const {
  const auto study = store.study(planned.id);
  if (!study) return study.error();
  // A row without a value says why itself.
  if (!*study || (**study).state != results::StudyState::concluded || (**study).reported_trial.empty())
    return {};
  const auto trial = store.trial((**study).reported_trial);
  if (!trial) return trial.error();
  if (!*trial) return {};
  auto why = results::why_weights_are_confidential((**study).label, (**trial).config);
  const bool is_public = datasets::training_split_is_public((**trial).config.at("dataset").as_object());
  if (why.empty() && !is_public && !(**study).total) why = "what the row spent is not known";
  if (!why.empty() && !confidential_) {
    name_once(report.confidential[why], row_of(planned));
    return {};
  }
  const auto place = place_of(planned);
  const fs::path root = fs::path(out_.derived(spec_)) / (why.empty() ? "weights" : "weights.confidential");
  const fs::path folder = root / place;
  if (is_published(folder, **study)) {
    report.folders.push_back(folder.string());
    return {};
  }
  const auto lose = [&](const std::string& reason) {
    report.lost.push_back(fmt::format("{}: {}", place, reason));
  };
  const fs::path source = staged((**trial).id);
  const auto draft = read_json_file((source / models::kStagedMetadata).string());
  // A draft of another attempt does not count: its noise is not that of the row.
  const bool is_there =
      draft && draft->is_object() && int_or(draft->get_object(), "attempt", -1) == (**trial).attempts - 1;
  if (!is_there) {
    const auto problem = problems_.find((**trial).id);
    const bool is_seeded = planned.cell.base.noise_seed.has_value();
    lose(problem != problems_.end()
             ? problem->second
             : fmt::format("its weights were not kept when its run ended; {}",
                           is_seeded
                               ? "a run in another folder (--out DIR) trains the same, with the same noise"
                               : "--fresh trains anew and spends its epsilon again"));
    return {};
  }
  const auto seen = seen_by_start(**trial);
  const auto files = seen ? checksums(source) : Result<json::object>(seen.error());
  if (!files) {
    lose(files.error().message);
    report.waiting.insert((**trial).id);
    return {};
  }
  const auto metrics = store.metrics((**trial).id);
  if (!metrics) return metrics.error();
  auto metadata = to_json({.spec = spec,
                           .study = **study,
                           .trial = **trial,
                           .metrics = *metrics,
                           .kept = draft->get_object(),
                           .private_data = seen->releases,
                           .files = *files,
                           .why_confidential = why});
  // The weights get no tag if it is not known what their start had seen.
  auto put = seen->is_known ? add_tag(metadata) : Result<void>();
  if (put && !why.empty()) put = make_private_folder(root.string());
  if (put) put = put_into_place(source, folder, metadata);
  if (!put) {
    lose(put.error().message);
    report.waiting.insert((**trial).id);
  } else {
    report.folders.push_back(folder.string());
  }
  return {};
}

Result<void> discard_staged(const OutFolder& out, const std::string& spec,
                            const std::set<std::string>& waiting) {
  const fs::path folder = out.staged_weights(spec);
  std::error_code failure;
  if (waiting.empty()) {
    fs::remove_all(folder, failure);
  } else {
    for (const auto& entry : fs::directory_iterator(folder, failure)) {
      if (!failure && !waiting.contains(entry.path().filename().string()))
        fs::remove_all(entry.path(), failure);
    }
  }
  if (failure) {
    return error(
        fmt::format("{}: cannot remove the staged weights ({})", folder.string(), failure.message()));
  }
  std::error_code not_empty;
  fs::remove(folder.parent_path(), not_empty);
  return {};
}

}  // namespace hyfreedp::runner
