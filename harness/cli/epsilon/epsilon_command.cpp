#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <ostream>
#include <set>
#include <sstream>
#include <string>

#include "baselines/baseline.h"
#include "harness/accounting/calibration_search.h"
#include "harness/accounting/mechanism.h"
#include "harness/base/text.h"
#include "harness/cli/common/accounting_flags.h"
#include "harness/cli/common/command.h"
#include "harness/cli/epsilon/epsilon_boxes.h"
#include "harness/cli/epsilon/events_file.h"
#include "harness/cli/epsilon/print_epsilon.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/out_folder.h"
#include "results/provenance/export.h"
#include "results/provenance/ledger.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/store/store.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

using accounting::Events;
using accounting::ReportedEpsilon;

constexpr std::string_view kText = R"(
hyfreedp epsilon: what was released about the data, as epsilon at a delta.

  hyfreedp epsilon --sample-rate 0.02 --noise-multiplier 1.6 --steps 250 --delta 1e-5 --plot e.svg
  hyfreedp epsilon --events events.json --delta 1e-5 --accountant pld --json
  hyfreedp epsilon --out out --study STUDY

An events file: {"neighbouring": "add-remove", "events": [
  {"type": "poisson-gaussian", "sample_rate": 0.02, "noise_multiplier": 1.6, "count": 200},
  {"type": "batch", "sample_rate": 0.02, "count": 50,
   "releases": [{"noise_multiplier": 1.6}, {"noise_multiplier": 6, "count": 3}]}]}
Further types: gaussian, laplace (noise_multiplier, count; laplace also sample_rate); repeat (base,
a list of events, and count); selection (distribution geometric, logarithmic,
truncated-negative-binomial with eta, poisson or liu-talwar; mean number of runs, or gamma in its
place; base, the events of one run); not-accountable (reason). Each may name the disjoint "split" of
the data that it touched.)";

struct EpsilonRequest : AccountingRequest {
  Given events, noise_multiplier, db, out, trial, study;

  void describe(Options& options) {
    options.value(events, "events", "FILE", "price the events in FILE");
    describe_sampling(options);
    options.value(noise_multiplier, "noise-multiplier", "sigma", "noise over sensitivity, > 0");
    options.value(neighbouring, "neighbouring", "R", "add-remove (default) or replace-one, with flags");
    options.value(delta, "delta", "D",
                  "delta, (0, 1) (default N^-1.1 with --records); several with commas: a line for each");
    options.value(accountant, "accountant", "A",
                  "pld, rdp or gdp; default: PLD and RDP, of which the smaller is reported");
    options.value(orders, "orders", "LIST", "Renyi orders for rdp, such as 1.5,2,3,4,8,16");
    options.flag(json, "json", "print a JSON object");
    options.value(plot, "plot", "FILE",
                  "draw epsilon over steps and noise (events file: over repetitions and relative noise) as "
                  ".svg, .png or .pdf");
    options.value(db, "db", "FILE", "read the executed events from a results database");
    options.value(out, "out", "DIR",
                  "read the executed events from an output folder of `hyfreedp run` (DIR/hyfreedp.sqlite)");
    options.value(trial, "trial", "ID", "with --db or --out: the trial to price");
    options.value(study, "study", "ID", "with --db or --out: the study to price, all its trials composed");
  }
};

// The request, checked.
struct Question {
  Events events;
  std::string file;        // of the events; empty: flags
  Sampling sampling = {};  // of the flags
  double noise_multiplier = 0;
  std::vector<double> deltas;
  std::string accountant;  // empty: PLD beside RDP
  std::vector<double> orders;
};

Result<void> read_flags(const EpsilonRequest& request, Question& question) {
  constexpr const char* kWays = "; give --events FILE, or --sample-rate, --noise-multiplier and --steps";
  const auto sampling = request.sampling(kWays);
  if (!sampling) return sampling.error();
  if (!request.noise_multiplier) return error(fmt::format("--noise-multiplier is missing{}.", kWays));
  const auto noise = positive_of(request.noise_multiplier);
  if (!noise) return noise.error();
  const auto neighbouring = request.neighbours();
  if (!neighbouring) return neighbouring.error();
  question.sampling = *sampling;
  question.noise_multiplier = *noise;
  question.events = {*neighbouring, {accounting::poisson_gaussian(sampling->rate, *noise, sampling->steps)}};
  return {};
}

Result<Question> question_of(const EpsilonRequest& request) {
  if (auto ok = excluded(request.events,
                         {&request.sample_rate, &request.noise_multiplier, &request.steps, &request.records,
                          &request.batch_size, &request.epochs, &request.neighbouring});
      !ok) {
    return ok.error();
  }
  for (const auto* id : {&request.trial, &request.study}) {
    if (*id) return error(fmt::format("--{} needs --db FILE or --out DIR.", id->name));
  }
  Question question;
  if (request.accountant) {
    if (auto ok = one_of(request.accountant, {"pld", "rdp", "gdp"}); !ok) return ok.error();
    question.accountant = *request.accountant.text;
  }
  if (request.orders && question.accountant != "rdp") return error("--orders needs --accountant rdp.");
  auto orders = request.renyi_orders();
  if (!orders) return orders.error();
  question.orders = std::move(*orders);
  if (!request.events) {
    if (auto ok = read_flags(request, question); !ok) return ok.error();
  }
  auto deltas =
      request.deltas(question.sampling, "--delta is missing: the delta at which epsilon is stated.");
  if (!deltas) return deltas.error();
  if (deltas->size() > 1 && request.plot) return error("--plot draws one --delta.");
  question.deltas = std::move(*deltas);
  if (request.events) {
    question.file = *request.events.text;
    auto events = read_events_file(question.file);
    if (!events) return events.error();
    question.events = std::move(*events);
  }
  return question;
}

Result<void> plot(const Question& question, double epsilon, const std::string& path) {
  const double delta = question.deltas.front();
  EpsilonFigure figure{
      .delta = delta, .orders = question.orders, .gdp = question.accountant == "gdp", .boxes = {}};
  const MarkedPoint mark{.epsilon = epsilon, .title = "requested: ε = " + short_number(epsilon)};
  if (question.file.empty()) {
    figure.title = gaussian_title(question.sampling.rate, delta, question.events.neighbouring);
    figure.boxes = gaussian_boxes(question.sampling.rate, question.noise_multiplier, question.sampling.steps,
                                  question.events.neighbouring, mark);
  } else {
    figure.title = fmt::format("Events of {}, δ = {}, {} neighbours",
                               std::filesystem::path(question.file).filename().string(), short_number(delta),
                               to_string(question.events.neighbouring));
    figure.boxes = events_boxes(question.events, mark);
  }
  return draw_epsilon(figure, path);
}

struct Priced {
  double epsilon = 0, lower = 0;
  json::object object;
  std::string text;  // for people
};

Result<Priced> price(const Question& question, double delta) {
  const auto& events = question.events;
  std::ostringstream text;
  if (question.accountant.empty()) {
    const auto report = accounting::report_epsilon(events, delta);
    if (!report) return report.error();
    print_epsilon(*report, events.neighbouring, false, text);
    return Priced{report->epsilon, report->epsilon_lower, epsilon_to_json(*report, events.neighbouring),
                  text.str()};
  }
  const auto answer = question.accountant == "gdp"
                          ? accounting::epsilon_gdp(events, delta)
                          : accounting::epsilon_by(question.accountant, events, delta, question.orders);
  if (!answer) return answer.error();
  print_epsilon(*answer, false, text);
  return Priced{answer->epsilon, answer->epsilon_lower, epsilon_to_json(*answer), text.str()};
}

// Prints the answer; draws first, so that a plot that fails leaves nothing printed.
Outcome answer(const EpsilonRequest& request, std::ostream& out) {
  const auto question = question_of(request);
  if (!question) return question.error();
  if (auto can = request.check_plot(); !can) return can.error();
  const bool as_json = request.json;
  const bool is_one = question->deltas.size() == 1;
  std::ostringstream text;
  json::array objects;
  double epsilon = 0;
  if (!is_one && !as_json) text << fmt::format("{:<12}  {:<12}  at least\n", "delta", "epsilon");
  for (const double delta : question->deltas) {
    const auto priced = price(*question, delta);
    if (!priced) return priced.error();
    epsilon = priced->epsilon;
    if (as_json) {
      objects.push_back(priced->object);
    } else if (is_one) {
      text << priced->text;
    } else {
      text << fmt::format("{:<12.6g}  {:<12}  {}\n", delta, rounded_up(epsilon), rounded_down(priced->lower));
    }
  }
  if (as_json) text << (is_one ? pretty_json(objects.front()) : pretty_json(objects));
  if (request.plot) {
    const auto drawn = plot(*question, epsilon, *request.plot.text);
    if (!drawn) return in_context("--plot", drawn.error());
  }
  if (question->sampling.records > 0 && !as_json) out << question->sampling.text();
  out << text.str();
  return 0;
}

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
  if (!record.composition.rule) {
    return error("study " + id + " (" + row_text(record) +
                 ") failed before it released anything: " + record.failure_message);
  }
  const auto& composition = record.composition;
  const bool is_lost = composition.is_selection() && composition.trials.empty() && !composition.drew_no_run &&
                       !composition.unlisted;
  if (is_lost) {
    return error("study " + id + " (" + row_text(record) + ") has no epsilon yet: " + record.failure_message);
  }
  const auto unpriced = results::has_unpriced_runs(store, record);
  if (!unpriced) return unpriced.error();
  if (*unpriced) {
    return error("study " + id + " (" + row_text(record) + ") has no epsilon yet: " + record.failure_message +
                 " `hyfreedp odometer` counts what its runs released.");
  }
  auto events = trial::compose(
      composition, [&](const std::string& trial) { return executed_by(store, trial); }, record.trials);
  if (!events) return events.error();
  auto derived = derive(*events, record.delta);
  if (!derived) return derived.error();
  derived->row = row_text(record);
  derived->recorded = record.total;
  return std::vector<Derived>{std::move(*derived)};
}

// Prices the trial at the delta of each study that uses it; beside it stands what the study
// recorded for its reported run.
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
    if (!reported && !study.composition.shows_run_count()) continue;
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

// "study": composes the executed events of the study's trials by its rule and prints epsilon beside
// the recorded one; 1 if they differ. "trial": prices the trial alone, at the delta of each study
// that has it.
Outcome epsilon_from_db(const std::string& db, const std::string& kind, const std::string& id, bool json,
                        std::ostream& out) {
  HYFREEDP_CHECK(kind == "study" || kind == "trial", "unknown kind " + kind);
  const auto store = results::Store::open(db, results::Store::Mode::read_only);
  if (!store) return store.error();
  const auto derived = kind == "study" ? derive_study(**store, id) : derive_trial(**store, id);
  if (!derived) return derived.error();
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

Outcome answer_from_db(const EpsilonRequest& request, std::ostream& out) {
  if (request.out && request.db) return error("--db and --out both name a database; give one.");
  const auto& source = request.out ? request.out : request.db;
  if (auto ok =
          excluded(source, {&request.events, &request.sample_rate, &request.noise_multiplier, &request.steps,
                            &request.records, &request.batch_size, &request.epochs, &request.neighbouring,
                            &request.delta, &request.accountant, &request.orders, &request.plot});
      !ok) {
    return ok.error();
  }
  if (bool(request.trial) == bool(request.study)) {
    return error(fmt::format("--{} needs either --trial ID or --study ID.", source.name));
  }
  const auto& id = request.trial ? request.trial : request.study;
  const auto db = request.out ? runner::OutFolder{*source.text}.database() : *source.text;
  return epsilon_from_db(db, id.name, *id.text, request.json, out);
}

Outcome epsilon(const EpsilonRequest& request, std::ostream& out, std::ostream&) {
  return request.db || request.out ? answer_from_db(request, out) : answer(request, out);
}

}  // namespace

Command epsilon_command() {
  return {"epsilon", kText, action<EpsilonRequest>(epsilon),
          "what given steps cost, or what a stored row really spent",
          "hyfreedp epsilon --sample-rate 0.02 --noise-multiplier 1.6 --steps 250 --delta 1e-5"};
}

}  // namespace hyfreedp::cli
