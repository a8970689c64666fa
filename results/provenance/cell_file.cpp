#include "results/provenance/cell_file.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "harness/accounting/accountant.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/trial/event_tally.h"
#include "harness/trial/trial_config.h"
#include "results/provenance/cell_claims.h"
#include "results/provenance/ledger.h"
#include "results/store/records.h"
#include "results/table/statistics.h"
#include "results/table/table_options.h"

namespace hyfreedp::results {
namespace {

using accounting::Event;
using accounting::Events;
using trial::EventTally;

constexpr double kSameNumber = 1e-12;  // relative; the same sums in the same order
constexpr double kSameEpsilon = 1e-9;  // relative; another build's rounding
constexpr std::size_t kIdLength = 16;

bool same(const std::optional<double>& a, const std::optional<double>& b, double tolerance) {
  if (!a || !b) return a.has_value() == b.has_value();
  return *a == *b || std::abs(*a - *b) <= tolerance * std::abs(*b);
}

std::string shown_value(const std::optional<double>& value) {
  return value ? fmt::format("{:.10g}", *value) : std::string("none");
}

Result<const json::object*> object_at(const json::object& object, const char* key, const std::string& where) {
  const auto* found = object.if_contains(key);
  if (found == nullptr || !found->is_object())
    return error(fmt::format("{}: '{}' must be an object", where, key));
  return &found->get_object();
}

Result<const json::array*> array_at(const json::object& object, const char* key, const std::string& where) {
  const auto* found = object.if_contains(key);
  if (found == nullptr || !found->is_array())
    return error(fmt::format("{}: '{}' must be a list", where, key));
  return &found->get_array();
}

// Present, and a number or null.
Result<std::optional<double>> optional_at(const json::object& object, const char* key,
                                          const std::string& where) {
  const auto* found = object.if_contains(key);
  if (found == nullptr) return error(fmt::format("{}: '{}' is missing", where, key));
  if (found->is_null()) return std::optional<double>{};
  const auto value = to_double(*found, fmt::format("{}: '{}'", where, key));
  if (!value) return value.error();
  return std::optional<double>(*value);
}

Result<std::optional<accounting::ReportedEpsilon>> epsilon_at(const json::object& object, const char* key,
                                                              const std::string& where) {
  const auto* found = object.if_contains(key);
  if (found == nullptr) return error(fmt::format("{}: '{}' is missing", where, key));
  if (found->is_null()) return std::optional<accounting::ReportedEpsilon>{};
  auto epsilon = reported_epsilon_from(*found, fmt::format("{}: '{}'", where, key));
  if (!epsilon) return epsilon.error();
  return std::optional<accounting::ReportedEpsilon>(std::move(*epsilon));
}

Result<Events> events_at(const json::object& object, const char* key, const std::string& where) {
  const auto* found = object.if_contains(key);
  if (found == nullptr) return error(fmt::format("{}: '{}' is missing", where, key));
  return accounting::events_from_json(*found, fmt::format("{}: '{}'", where, key));
}

// NaN where it is absent or no number: the file may hold anything.
double any_number(const json::object& object, const char* key) {
  const auto* found = object.if_contains(key);
  const auto value = found != nullptr ? to_double(*found, key) : Result<double>(std::nan(""));
  return value ? *value : std::nan("");
}

std::string any_text(const json::object& object, const char* key) {
  const auto* found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string("?");
}

// Removes white space outside of strings.
std::string compact(const std::string& text) {
  std::string kept;
  bool in_string = false, escaped = false;
  for (const char c : text) {
    if (!in_string && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) continue;
    kept += c;
    if (c == '"' && !escaped) in_string = !in_string;
    escaped = in_string && c == '\\' && !escaped;
  }
  return kept;
}

std::string checksum_of(json::object cell) {
  cell.erase("checksum");
  return sha256_hex(canonical_json(cell));
}

// The results that follow from one seed's values.
struct SeedOutcome {
  std::optional<double> value;  // percent, derived
  std::optional<double> epsilon;
};

class Verifier {
 public:
  Result<CellVerification> verify(const json::object& file);

 private:
  Result<SeedOutcome> verify_seed(const json::object& seed);
  Result<double> derive_value(const json::object& seed, const std::string& where);
  Result<std::optional<double>> derive_epsilon(const json::object& seed, const std::string& where,
                                               const char* claim, const Events& events);
  Result<void> verify_run(const json::object& seed, const std::string& where, const Events& training);
  Result<void> verify_composition(const json::object& seed, const std::string& where, const Events& total,
                                  const Events& training);
  Result<void> verify_cell_numbers(const json::object& file, const std::vector<SeedOutcome>& seeds);

  void number(const std::string& what, const std::optional<double>& claimed,
              const std::optional<double>& derived, double tolerance) {
    text(what, shown_value(claimed), shown_value(derived), same(claimed, derived, tolerance));
  }
  void text(const std::string& what, const std::string& claimed, const std::string& derived) {
    text(what, claimed, derived, claimed == derived);
  }
  void text(const std::string& what, const std::string& claimed, const std::string& derived, bool agrees) {
    verification_.checks.push_back({what, claimed, derived, agrees});
  }

  CellVerification verification_;
  spec::Metric metric_ = spec::Metric::accuracy;
  std::int64_t checkpoints_ = 1;
  double delta_ = 0;
  std::string neighbouring_;
  std::int64_t last_step_ = 0;  // of the seed's accuracies
};

Result<double> Verifier::derive_value(const json::object& seed, const std::string& where) {
  const auto measured = array_at(seed, "test", where);
  if (!measured) return measured.error();
  std::map<std::int64_t, double> by_step;
  for (const auto& pair : **measured) {
    if (!pair.is_array() || pair.get_array().size() != 2 || !pair.get_array()[0].is_int64()) {
      return error(where + ": 'test' must be a list of pairs of step and accuracy");
    }
    const auto accuracy = to_double(pair.get_array()[1], where + ": 'test'");
    if (!accuracy) return accuracy.error();
    by_step[pair.get_array()[0].get_int64()] = *accuracy;
  }
  last_step_ = by_step.empty() ? 0 : by_step.rbegin()->first;
  if (by_step.empty()) return error(where + ": 'test' is empty");
  std::vector<double> last;  // fewer than asked for where there were no more
  for (auto it = by_step.rbegin(); it != by_step.rend() && std::ssize(last) < checkpoints_; ++it) {
    last.push_back(shown_value(metric_facts(metric_), it->second));
  }
  std::reverse(last.begin(), last.end());
  return last.size() == 1 ? last[0] : mean(last);
}

Result<std::optional<double>> Verifier::derive_epsilon(const json::object& seed, const std::string& where,
                                                       const char* claim, const Events& events) {
  const auto claimed = epsilon_at(seed, claim, where);
  if (!claimed) return claimed.error();
  const auto what = fmt::format("{}: epsilon, {}", where, claim);
  if (*claimed && (**claimed).delta != delta_) {
    number(what + ", delta", (**claimed).delta, delta_, 0);
  }
  if (events.events.empty()) {
    number(what, *claimed ? std::optional<double>((**claimed).epsilon) : std::nullopt, std::nullopt, 0);
    return std::optional<double>{};
  }
  const auto derived = accounting::report_epsilon(events, delta_);
  if (!derived) return in_context(what, derived.error());
  number(what, *claimed ? std::optional<double>((**claimed).epsilon) : std::nullopt, derived->epsilon,
         kSameEpsilon);
  if (!*claimed) return std::optional<double>(derived->epsilon);
  const auto& record = **claimed;
  number(what + ", lower bound", record.epsilon_lower, derived->epsilon_lower, kSameEpsilon);
  number(what + ", PLD", record.pld, derived->pld, kSameEpsilon);
  number(what + ", RDP", record.rdp, derived->rdp, kSameEpsilon);
  text(what + ", accountant", record.accountant, derived->accountant);
  return std::optional<double>(derived->epsilon);
}

// Checks that the run's id is its config's hash, and that it executed at least what the config
// plans.
Result<void> Verifier::verify_run(const json::object& seed, const std::string& where,
                                  const Events& training) {
  const auto config = object_at(seed, "config", where);
  if (!config) return config.error();
  const auto id = get_string(seed, "trial", where);
  if (!id) return id.error();
  text(where + ": run, the hash of its config", *id,
       sha256_hex(canonical_json(**config)).substr(0, kIdLength));
  const auto seed_number = get_int(seed, "seed", where);
  if (!seed_number) return seed_number.error();
  text(where + ": seed of the config", std::to_string(*seed_number),
       short_number(any_number(**config, "seed"), 17));
  const auto steps = get_int(**config, "steps", where + ": 'config'");
  if (!steps) return steps.error();
  text(where + ": last test accuracy after step", std::to_string(last_step_), std::to_string(*steps));
  const auto read = trial::TrialConfig::from_json(**config, where + ": 'config'");
  if (!read) return read.error();
  const EventTally planned(mechanism::events(*read)), executed(training.events);
  text(where + ": executed, what the config plans", describe_events(training.events),
       describe_events(planned.events()), executed.contains(planned));
  return {};
}

// A missing split is the default one.
std::vector<Event> with_splits(std::vector<Event> events) {
  for (auto& event : events) {
    if (event.split.empty()) event.split = accounting::kDefaultSplit;
  }
  return events;
}

// The law of the number of runs, "truncated-negative-binomial, eta 1, mean 4"; the other laws have
// no eta.
std::string law_of(const accounting::Selection& selection) {
  const auto name = name_of(selection.distribution);
  const auto mean = shown_value(selection.mean);
  return selection.distribution == accounting::Selection::Distribution::truncated_negative_binomial
             ? fmt::format("{}, eta {}, mean {}", name, shown_value(selection.eta), mean)
             : fmt::format("{}, mean {}", name, mean);
}

// Checks that the events which the row pays for hold those of the reported run, composed by the
// rule that is named.
Result<void> Verifier::verify_composition(const json::object& seed, const std::string& where,
                                          const Events& total, const Events& training) {
  using Rule = trial::Composition::Rule;
  const auto object = object_at(seed, "composition", where);
  if (!object) return object.error();
  const auto composition = trial::Composition::from_json(**object, where + ": composition");
  if (!composition) return composition.error();
  if (!composition->rule) return error(where + ": 'composition' has no rule");
  auto own = training.events;
  const auto part = composition->parts.find(any_text(seed, "trial"));
  if (part != composition->parts.end()) trial::tell_part(part->second, own);
  const EventTally mine(own);
  const auto what = where + ": composition, " + name_of(*composition->rule);
  const auto rule = composition->rule;
  if (rule == Rule::none) {
    text(what, "nothing private", total.events.empty() ? "nothing private" : describe_events(total.events));
  } else if (rule == Rule::trial) {
    const EventTally all(total.events);
    text(what, describe_events(total.events), describe_events(training.events),
         all.contains(mine) && mine.contains(all));
  } else if (rule == Rule::sum) {
    text(what, describe_events(total.events), "at least " + describe_events(mine.events()),
         EventTally(total.events).contains(mine));
  } else {
    if (!composition->selection) return error(where + ": 'composition' has no 'selection'");
    EventTally base;
    for (const auto& event : total.events) {
      const auto* selection = std::get_if<accounting::Selection>(&event.what);
      text(what, law_of(*composition->selection),
           selection != nullptr ? law_of(*selection) : "not a selection");
      if (selection == nullptr) continue;
      for (auto one : selection->base) {
        if (one.split.empty()) one.split = event.split;
        base.add(with_splits({one}));
      }
    }
    text(what + ", one run", describe_events(base.events()), "at least " + describe_events(training.events),
         base.contains(EventTally(with_splits(training.events))));
  }
  return {};
}

Result<SeedOutcome> Verifier::verify_seed(const json::object& seed) {
  const auto number_read = get_int(seed, "seed", "seeds");
  if (!number_read) return number_read.error();
  const auto where = fmt::format("seed {}", *number_read);
  SeedOutcome outcome;
  if (!seed.contains("value")) {
    const auto failure = get_string(seed, "failure", where);
    if (!failure) return failure.error();
    text(where + ": no value", *failure, "not checked: a failure leaves nothing to derive",
         !failure->empty());
    return outcome;
  }
  const auto claimed = get_double(seed, "value", where);
  if (!claimed) return claimed.error();
  const auto value = derive_value(seed, where);
  if (!value) return value.error();
  outcome.value = *value;
  number(fmt::format("{}: test {}", where, name_of(metric_)), *claimed, *value, kSameNumber);
  const auto total = events_at(seed, "events", where);
  if (!total) return total.error();
  const auto training = events_at(seed, "training_events", where);
  if (!training) return training.error();
  for (const auto* events : {&*total, &*training}) {
    const auto* name =
        events->neighbouring == accounting::Neighbouring::add_remove ? "add-remove" : "replace-one";
    if (name != neighbouring_) text(where + ": neighbouring", name, neighbouring_);
  }
  if (auto checked = verify_run(seed, where, *training); !checked) return checked.error();
  if (auto checked = verify_composition(seed, where, *total, *training); !checked) return checked.error();
  const auto spent = derive_epsilon(seed, where, "total", *total);
  if (!spent) return spent.error();
  outcome.epsilon = *spent;
  if (auto checked = derive_epsilon(seed, where, "training", *training); !checked) return checked.error();
  return outcome;
}

Result<void> Verifier::verify_cell_numbers(const json::object& file, const std::vector<SeedOutcome>& seeds) {
  const auto cell = object_at(file, "cell", "file");
  if (!cell) return cell.error();
  std::vector<double> values;
  std::optional<double> most, least;
  for (const auto& seed : seeds) {
    if (seed.value) values.push_back(*seed.value);
    if (!seed.epsilon) continue;
    most = std::max(most.value_or(*seed.epsilon), *seed.epsilon);
    least = std::min(least.value_or(*seed.epsilon), *seed.epsilon);
  }
  if (values.empty()) return error("file: no seed has a value");
  const auto n = get_int(**cell, "n", "cell");
  if (!n) return n.error();
  text("n, seeds with a value", std::to_string(*n), std::to_string(values.size()));
  for (const auto& [key, what, derived, tolerance] :
       {std::tuple{"mean", "mean", std::optional<double>(mean(values)), kSameNumber},
        std::tuple{"sd", "sample standard deviation", sample_sd(values), kSameNumber},
        std::tuple{"epsilon", "epsilon, largest over seeds", most, kSameEpsilon},
        std::tuple{"epsilon_least", "epsilon, smallest over seeds", least, kSameEpsilon}}) {
    const auto claimed = optional_at(**cell, key, "cell");
    if (!claimed) return claimed.error();
    number(what, *claimed, derived, tolerance);
  }
  return {};
}

Result<CellVerification> Verifier::verify(const json::object& file) {
  const auto format = get_string(file, "format", "file");
  if (!format) return format.error();
  const auto version = get_int(file, "format_version", "file");
  if (!version) return version.error();
  if (*format != kCellFormat || *version != kCellFormatVersion) {
    return error(fmt::format("the file is '{}' version {}; this program reads '{}' version {}.", *format,
                             *version, kCellFormat, kCellFormatVersion));
  }
  const auto spec = object_at(file, "spec", "file");
  const auto panel = object_at(file, "panel", "file");
  const auto row = object_at(file, "row", "file");
  const auto metric = object_at(file, "metric", "file");
  const auto seeds = array_at(file, "seeds", "file");
  for (const auto* part : {&spec, &panel, &row, &metric}) {
    if (!*part) return part->error();
  }
  if (!seeds) return seeds.error();
  const auto delta = get_double(file, "delta", "file");
  if (!delta) return delta.error();
  const auto neighbouring = get_string(file, "neighbouring", "file");
  if (!neighbouring) return neighbouring.error();
  const auto* column = file.if_contains("column");
  if (column == nullptr) return error("file: 'column' is missing");
  delta_ = *delta;
  neighbouring_ = *neighbouring;
  const auto name = get_string(**metric, "name", "metric");
  if (!name) return name.error();
  const auto known = enum_from<spec::Metric>(*name, "metric: 'name'");
  if (!known) return known.error();
  if (metric_facts(*known).recorded.empty()) {
    return error(fmt::format("metric: '{}' follows from nothing that the file could hold", *name));
  }
  metric_ = *known;
  const auto checkpoints = get_int(**metric, "checkpoints", "metric");
  if (!checkpoints) return checkpoints.error();
  if (*checkpoints < 1) return error("metric: 'checkpoints' must be at least 1");
  checkpoints_ = *checkpoints;
  verification_.title = fmt::format(
      "{} / {} / {} / {}", any_text(**spec, "name"), any_text(**panel, "id"), any_text(**row, "id"),
      column->is_string() ? any_text(file, "column") : shown_value(any_number(file, "column")));
  text("checksum", any_text(file, "checksum"), checksum_of(file));
  std::vector<SeedOutcome> outcomes;
  std::vector<DerivedSeed> derived;
  for (const auto& seed : **seeds) {
    if (!seed.is_object()) return error("file: each of 'seeds' must be an object");
    const auto outcome = verify_seed(seed.get_object());
    if (!outcome) return outcome.error();
    outcomes.push_back(*outcome);
    if (outcome->value) derived.push_back({&seed.get_object(), outcome->epsilon});
  }
  const auto claims = claim_checks(file, derived);
  verification_.checks.insert(verification_.checks.end(), claims.begin(), claims.end());
  number("delta of the panel", any_number(**panel, "delta"), delta_, 0);
  if (auto checked = verify_cell_numbers(file, outcomes); !checked) return checked.error();
  return std::move(verification_);
}

constexpr const char* kUnknowable =
    "Not to be known from a file alone: that these events are what was executed, that these accuracies are "
    "what "
    "the runs\nmeasured, and that the spec of this hash is the one that ran and asked for this panel and "
    "row, with "
    "these titles, notes,\nepsilons, seeds and this method and label: whoever changes a thing and all that "
    "follows "
    "from it makes a file that agrees\nwith itself. Running the spec again shows it.\n";

}  // namespace

void seal_cell(json::object& cell) { cell["checksum"] = checksum_of(cell); }

bool CellVerification::agrees() const {
  return std::all_of(checks.begin(), checks.end(), [](const CellCheck& check) { return check.agrees; });
}

Result<CellVerification> verify_cell(const json::value& file) {
  if (!file.is_object()) return error("the file must hold a JSON object.");
  return Verifier().verify(file.get_object());
}

Result<CellVerification> verify_cell_text(const std::string& text, const std::string& where) {
  const auto value = parse_json(text, where);
  if (!value) return value.error();
  auto verification = verify_cell(*value);
  if (!verification) return in_context(where, verification.error());
  const bool same_text = compact(text) == compact(pretty_json(*value));
  verification->checks.insert(verification->checks.begin(),
                              {"text", same_text ? "as it was written" : "other than it was written",
                               "as it was written", same_text});
  return verification;
}

std::string verification_text(const CellVerification& verification) {
  std::string text = verification.title + "\n";
  std::size_t failed = 0;
  for (const auto& check : verification.checks) {
    if (!check.agrees) ++failed;
    if (check.agrees) {
      text += fmt::format("  agrees     {}: {}\n", check.what, check.claimed);
    } else {
      text += fmt::format("  DIFFERENT  {}: the file says {}; derived: {}\n", check.what, check.claimed,
                          check.derived);
    }
  }
  text += failed == 0 ? fmt::format("verdict      agrees: {} checks\n", verification.checks.size())
                      : fmt::format("verdict      DOES NOT AGREE: {} of {} checks\n", failed,
                                    verification.checks.size());
  return text + kUnknowable;
}

json::object verification_json(const CellVerification& verification) {
  json::array checks;
  for (const auto& check : verification.checks) {
    checks.push_back({{"what", check.what},
                      {"claimed", check.claimed},
                      {"derived", check.derived},
                      {"agrees", check.agrees}});
  }
  return {{"cell", verification.title}, {"agrees", verification.agrees()}, {"checks", checks}};
}

}  // namespace hyfreedp::results
