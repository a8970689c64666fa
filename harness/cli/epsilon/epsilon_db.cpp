#include "harness/cli/epsilon/epsilon_db.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "baselines/baseline.h"
#include "harness/base/text.h"
#include "harness/cli/common/command_line.h"
#include "harness/runner/odometer/charge.h"
#include "results/provenance/export.h"
#include "results/provenance/ledger.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/store/store.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

using accounting::ReportedEpsilon;

// relative; the same events give the same bits, another build nearly
constexpr double kSame = 1e-9;

struct Derived {
  ReportedEpsilon epsilon;
  std::string events;                       // in words
  std::string row;                          // which row it is, in words
  std::optional<ReportedEpsilon> recorded;  // the row's own
  bool agrees() const {
    return !recorded || std::abs(recorded->epsilon - epsilon.epsilon) <= kSame * std::abs(epsilon.epsilon) ||
           recorded->epsilon == epsilon.epsilon;
  }
};

std::string row_text(const results::StudyRecord& study) {
  return fmt::format("{} / {} / {} / ε {} / seed {}", study.spec, study.panel, study.row,
                     study.epsilon_target ? short_number(*study.epsilon_target) : "none", study.seed);
}

Result<std::vector<accounting::Event>> executed_by(const results::Store& store, const std::string& id) {
  auto trial = store.trial(id);
  if (!trial) return trial.error();
  if (!*trial)
    return error("the database holds no trial '" + id + "'. `hyfreedp export rows SPEC` names them.");
  const auto& run = **trial;
  if (run.begun_after && run.events.empty() && run.charged.empty()) {
    return error("what the trial '" + id +
                 "' executed is not recorded: it is under way, or its journal could not be read. `hyfreedp "
                 "odometer` counts what is known of it.");
  }
  return runner::charged_events(run);
}

Result<Derived> derive(const accounting::Events& events, double delta) {
  Derived derived;
  derived.events = events.events.empty() ? "none" : results::describe_events(events.events);
  derived.epsilon.delta = delta;
  if (events.events.empty()) {
    derived.epsilon.accountant = "none";
    derived.epsilon.note = "no private event was executed";
    return derived;
  }
  auto epsilon = accounting::report_epsilon(events, delta);
  if (!epsilon) return epsilon.error();
  derived.epsilon = std::move(*epsilon);
  return derived;
}

Result<std::vector<Derived>> derive_study(const results::Store& store, const std::string& id) {
  auto study = store.study(id);
  if (!study) return study.error();
  if (!*study)
    return error("the database holds no study '" + id + "'. `hyfreedp export rows SPEC` names them.");
  const auto& record = **study;
  if (record.state == results::StudyState::open) {
    return error("study " + id + " (" + row_text(record) + ") is not finished yet.");
  }
  if (results::is_not_needed(record)) {
    return error("study " + id + " (" + row_text(record) +
                 ") was not needed, so it has no epsilon of its own: " + record.failure_message +
                 " `hyfreedp odometer` charges what it would have released.");
  }
  // A method that failed has spent what its runs released all the same.
  if (record.composition.empty()) {
    return error("study " + id + " (" + row_text(record) +
                 ") failed before it released anything: " + record.failure_message);
  }
  const auto* listed = record.composition.if_contains("trials");
  const bool lost = string_or(record.composition, "rule", "") == "selection" && listed != nullptr &&
                    listed->is_array() && listed->get_array().empty() &&
                    !bool_or(record.composition, "drew_no_run", false) &&
                    !record.composition.contains("unlisted");
  if (lost) {
    return error("study " + id + " (" + row_text(record) + ") has no epsilon yet: " + record.failure_message);
  }
  auto composition = baselines::Composition::from_json(record.composition, "study " + id);
  if (!composition) return composition.error();
  const auto unpriced = results::has_unpriced_runs(store, record);
  if (!unpriced) return unpriced.error();
  if (*unpriced) {
    return error("study " + id + " (" + row_text(record) + ") has no epsilon yet: " + record.failure_message +
                 " `hyfreedp odometer` counts what its runs released.");
  }
  auto events = baselines::compose(
      *composition, [&](const std::string& trial) { return executed_by(store, trial); }, record.trials);
  if (!events) return events.error();
  auto derived = derive(*events, record.delta);
  if (!derived) return derived.error();
  derived->row = row_text(record);
  derived->recorded = record.total;
  return std::vector<Derived>{std::move(*derived)};
}

// At the delta of each study that uses the trial; beside it what the study recorded for its
// reported run.
Result<std::vector<Derived>> derive_trial(const results::Store& store, const std::string& id) {
  auto events = executed_by(store, id);
  if (!events) return events.error();
  if (auto checked = results::check_releasable(store, id); !checked) return checked.error();
  auto studies = store.all_studies();
  if (!studies) return studies.error();
  std::vector<Derived> all;
  std::set<double> alone;  // deltas of studies that use but do not report it
  for (const auto& study : *studies) {
    if (std::find(study.trials.begin(), study.trials.end(), id) == study.trials.end()) continue;
    const bool reported = study.reported_trial == id;
    if (!reported && !results::run_count_is_public(study)) continue;
    if (!reported && !alone.insert(study.delta).second) continue;
    auto derived = derive({.events = *events}, study.delta);
    if (!derived) return derived.error();
    derived->row = reported ? row_text(study) : "this trial alone";
    if (reported) derived->recorded = study.training;
    all.push_back(std::move(*derived));
  }
  if (all.empty()) return error("no study uses trial " + id + ", so there is no delta to price it at.");
  return all;
}

void print_text(const Derived& derived, std::ostream& out) {
  const auto& epsilon = derived.epsilon;
  out << fmt::format(
      "{}\n  events    {}\n  epsilon   {:.6f} at delta {:.6g} ({}; true value at least {:.6f})\n",
      derived.row, derived.events, epsilon.epsilon, epsilon.delta, epsilon.accountant, epsilon.epsilon_lower);
  if (epsilon.pld) out << fmt::format("  pld       {:.6f}\n", *epsilon.pld);
  if (epsilon.rdp) out << fmt::format("  rdp       {:.6f}\n", *epsilon.rdp);
  if (!epsilon.note.empty()) out << "  note      " << epsilon.note << '\n';
  if (derived.recorded) {
    out << fmt::format("  recorded  {:.6f}, {}\n", derived.recorded->epsilon,
                       derived.agrees() ? "the same" : "DIFFERENT: the row does not follow from its events");
  }
}

json::object to_json(const Derived& derived) {
  json::object object{{"row", derived.row},
                      {"events", derived.events},
                      {"derived", as_json(derived.epsilon)},
                      {"recorded", nullptr},
                      {"agrees", derived.agrees()}};
  if (derived.recorded) object["recorded"] = as_json(*derived.recorded);
  return object;
}

}  // namespace

int epsilon_from_db(const std::string& db, const std::string& kind, const std::string& id, bool json,
                    std::ostream& out, std::ostream& err) {
  const auto refuse = [&](const Error& failure) { return refused("epsilon", failure, err); };
  HYFREEDP_CHECK(kind == "study" || kind == "trial", "unknown kind " + kind);
  const auto store = results::Store::open(db, results::Store::Mode::read_only);
  if (!store) return refuse(store.error());
  const auto derived = kind == "study" ? derive_study(**store, id) : derive_trial(**store, id);
  if (!derived) return refuse(derived.error());
  json::array list;
  bool agrees = true;
  for (const auto& one : *derived) {
    agrees = agrees && one.agrees();
    if (json)
      list.push_back(to_json(one));
    else
      print_text(one, out);
  }
  if (json) out << pretty_json(json::object{{kind, id}, {"epsilons", list}});
  return agrees ? 0 : 1;
}

}  // namespace hyfreedp::cli
