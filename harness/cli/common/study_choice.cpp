#include "harness/cli/common/study_choice.h"

#include <fmt/format.h>
#include <utility>

#include "harness/base/text.h"
#include "harness/cli/common/spec_request.h"
#include "harness/runner/execute/only.h"
#include "results/store/records.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

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

void add_choice_options(options::options_description& all, StudyChoice& choice, const std::string& what) {
  auto add = all.add_options();
  add("help,h", "this text");
  add("only", options::value(&choice.only)->composing()->value_name("KEY=VALUE,..."),
      (what + " these studies alone, named as for `hyfreedp run --only`: panel, row, epsilon, "
              "noise_multiplier, seed (row=prodigy,epsilon=3); repeated: these too. Default: all of the spec")
          .c_str());
  add("preset", options::value(&choice.preset)->value_name("PRESET"),
      "where a spec is given as a file: which of its presets");
  add("out", options::value(&choice.out)->default_value("out")->value_name("DIR"),
      "output folder of `hyfreedp run`");
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

}  // namespace hyfreedp::cli
