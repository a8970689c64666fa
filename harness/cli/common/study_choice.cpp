#include "harness/cli/common/study_choice.h"

#include <fmt/format.h>
#include <map>
#include <utility>

#include "harness/base/text.h"
#include "harness/cli/common/spec_request.h"
#include "harness/runner/execute/only.h"
#include "results/store/records.h"
#include "results/store/states.h"

namespace hyfreedp::cli {
namespace {

Result<results::SpecRecord> recorded(const results::Store& store, const std::string& name) {
  auto all = store.specs();
  if (!all) return all.error();
  std::vector<std::string> names;
  for (auto& one : *all) {
    if (one.name == name) return std::move(one);
    names.push_back(one.name);
  }
  return error(fmt::format("the database has no spec '{}'.{} It has {}.", name, did_you_mean(name, names),
                           names.empty() ? "none" : join(names, ", ")));
}

}  // namespace

void StudyChoice::describe(Options& options, const std::string& what) {
  options.positional(spec, "spec", "SPEC");
  options.in_usage("[--only KEY=VALUE,...]");
  options.value(only, "only", "KEY=VALUE,...",
                what +
                    " these studies alone, named as for `hyfreedp run --only`: panel, row, epsilon, "
                    "noise_multiplier, seed (row=prodigy,epsilon=3); repeated: these too. Default: all of "
                    "the spec");
  describe_preset(options, preset);
  describe_out(options, out);
}

Result<ChosenStudies> chosen_studies(const results::Store& store, const StudyChoice& choice) {
  if (choice.spec.empty()) return error("name a spec of the database, for example quick.");
  const auto name = name_of_spec(choice.spec, choice.preset);
  if (!name) return name.error();
  auto record = recorded(store, *name);
  if (!record) return record.error();
  auto studies = store.studies(*name);
  if (!studies) return studies.error();
  if (!choice.only.empty()) {
    auto content = results::spec_of(*record);
    if (!content) return content.error();
    const auto only = runner::Only::read(
        choice.only, {.path = *name, .text = record->text, .content = std::move(*content)});
    if (!only) return only.error();
    std::erase_if(*studies, [&](const results::StudyRecord& study) {
      baselines::Cell cell;
      cell.panel = study.panel;
      cell.row = study.row;
      cell.epsilon = study.epsilon_target;
      cell.seed = study.seed;
      return !only->covers(cell);
    });
  }
  return ChosenStudies{std::move(*record), std::move(*studies)};
}

Result<std::string> hand_in_for(const StudyChoice& choice, runner::StudyRequest request) {
  const auto store = open_for_reading(choice.out);
  if (!store) return store.error();
  const auto chosen = chosen_studies(**store, choice);
  if (!chosen) return chosen.error();
  for (const auto& study : chosen->studies) request.studies.push_back(study.id);
  if (auto done = runner::hand_in({choice.out}, request); !done) return done.error();
  return studies_text(chosen->studies.size(), chosen->spec.name);
}

std::string studies_text(std::size_t count, const std::string& spec) {
  return fmt::format("{} of '{}'", counted(static_cast<std::int64_t>(count), "study", "studies"), spec);
}

std::string study_counts(const std::vector<results::StudyRecord>& studies) {
  std::map<results::StudyState, std::size_t> states;
  std::map<std::string, std::size_t> kinds;
  std::size_t not_needed = 0;
  for (const auto& study : studies) {
    if (results::is_not_needed(study)) {
      ++not_needed;
      continue;
    }
    ++states[study.state];
    if (study.state == results::StudyState::failed) ++kinds[study.failure_kind];
  }
  auto text = fmt::format("{}: {} concluded, {} open, {} failed",
                          counted(static_cast<std::int64_t>(studies.size()), "study", "studies"),
                          states[results::StudyState::concluded], states[results::StudyState::open],
                          states[results::StudyState::failed]);
  if (not_needed > 0) text += fmt::format(", {} not needed", not_needed);
  const char* separator = " (";
  for (const auto& [kind, count] : kinds) {
    text += fmt::format("{}{} {}", separator, count, kind);
    separator = ", ";
  }
  return kinds.empty() ? text : text + ")";
}

}  // namespace hyfreedp::cli
