#include "harness/runner/execute/run_keys.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/random/key_file.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record.h"
#include "results/store/states.h"

namespace hyfreedp::runner {
namespace {

void draw_from(const random::Key& key, std::vector<PlannedStudy>& planned) {
  const std::string secret(reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size());
  for (auto& study : planned) {
    const auto release = study.cell.base.repetition / kRepetitionsPerRelease;
    study.cell.draw_secret = sha256_hex("draws " + std::to_string(release) + " " + secret);
  }
}

}  // namespace

Result<std::optional<std::string>> hide_draws(const OutFolder& out, std::vector<PlannedStudy>& planned,
                                              const Spec& spec,
                                              const std::map<std::string, results::StudyRecord>& recorded) {
  // `cancelled` are the studies that `retry` may open again, `open` those without an answer yet.
  std::vector<PlannedStudy> open, cancelled;
  bool was_begun = false;
  for (const auto& study : planned) {
    const auto found = recorded.find(study.id);
    const bool is_new = found == recorded.end();
    if (!is_new && results::is_cancelled(found->second)) cancelled.push_back(study);
    if (!is_new && results::is_answered(found->second)) continue;
    open.push_back(study);
    was_begun = was_begun || !is_new;
  }
  if (open.empty()) return std::optional<std::string>{};
  const auto& name = spec.content.name;
  const std::string path = out.draw_key(name);
  const auto lost = has_lost_its_draws(out, name, spec.hash());
  if (!lost) return lost.error();
  const bool is_gone = *lost || (!std::filesystem::exists(path) && (was_begun || draws_anything(cancelled)));
  if (is_gone && draws_anything(open)) {
    return error(fmt::format(
        "{}: the key of this spec's draws is gone, so its open rows cannot go on: other draws would release "
        "the same data a "
        "second time unseen. Put the file back from a copy, or make that new release with --fresh.",
        path));
  }
  // A new key would stand in the place of the one that is gone.
  if (is_gone) return std::optional<std::string>{};
  const auto key = random::create_or_read_key(path);
  if (!key) return key.error();
  draw_from(*key, planned);
  return std::optional(path);
}

Result<void> show_draws(const OutFolder& out, std::vector<PlannedStudy>& planned, const std::string& spec,
                        const std::string& hash) {
  const auto lost = has_lost_its_draws(out, spec, hash);
  if (!lost) return lost.error();
  if (*lost) return {};
  const auto key = random::read_key(out.draw_key(spec));
  if (!key) return key.error();
  if (*key) draw_from((**key).key, planned);
  return {};
}

Result<void> forget_draws(const results::Store& store, const OutFolder& out, const Spec& spec) {
  const auto& name = spec.content.name;
  const auto planned = plan_release(spec);
  if (!planned) return planned.error();
  std::vector<PlannedStudy> cancelled;
  for (const auto& study : *planned) {
    const auto recorded = store.study(study.id);
    if (!recorded) return recorded.error();
    if (*recorded && results::is_cancelled(**recorded)) cancelled.push_back(study);
  }
  const bool may_be_retried = std::filesystem::exists(out.draw_key(name)) && draws_anything(cancelled);
  if (auto written = write_release_record(store, out, name, !may_be_retried); !written) return written;
  if (may_be_retried) return {};
  return random::delete_key(out.draw_key(name));
}

Result<void> delete_abandoned_keys(const results::Store& store, const OutFolder& out, TrialBook& book) {
  const auto specs = store.specs();
  if (!specs) return specs.error();
  for (const auto& spec : *specs) {
    const auto studies = store.studies(spec.name);
    if (!studies) return studies.error();
    if (studies->empty() || !std::ranges::all_of(*studies, results::is_answered)) return {};
    // `retry` may go on with its runs.
    if (std::ranges::any_of(*studies, results::is_cancelled)) return {};
  }
  std::vector<std::string> keys, unfinished;
  const auto paths = entries_of(out.keys());
  if (!paths) return paths.error();
  for (const auto& path : *paths) {
    const auto name = path.filename().string();
    if (name.ends_with(".key")) keys.push_back(path.string());
    if (name.find(".key.tmp-") != std::string::npos) unfinished.push_back(path.string());
  }
  // Their worker was killed before it put the key in place, so nothing was drawn from it.
  for (const auto& path : unfinished) {
    if (auto deleted = random::delete_key(path); !deleted) return deleted;
  }
  for (const auto& key : keys) {
    const auto settled = book.settle_key(key);
    if (!settled) return settled.error();
    if (!*settled) continue;
    if (auto deleted = random::delete_key(key); !deleted) return deleted;
  }
  if (auto removed = remove_folder(out.all_checkpoints()); !removed) return removed;
  return {};
}

}  // namespace hyfreedp::runner
