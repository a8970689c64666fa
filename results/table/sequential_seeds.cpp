#include "results/table/sequential_seeds.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "results/store/states.h"
#include "results/table/anytime_interval.h"

namespace hyfreedp::results {
namespace {

constexpr double kPercent = 100;

// The accuracy in percent of the reported run's last evaluation; none for a study that failed.
Result<std::optional<double>> accuracy_of(const Store& store, const StudyRecord& study) {
  if (study.reported_trial.empty()) return std::optional<double>{};
  const auto last = store.last_metrics(study.reported_trial, "test", "accuracy", 1);
  if (!last) return last.error();
  return last->empty() ? std::optional<double>{} : kPercent * last->front().value;
}

std::string column_text(const std::optional<double>& epsilon) {
  return epsilon ? "\u03b5 " + short_number(*epsilon) : "Non-private";
}

std::string text_of(const SeedLook& look) {
  if (!look.interval) return "the differences give no interval yet";
  return fmt::format("the interval is {:.2f} to {:.2f}", look.interval->low, look.interval->high);
}

std::string note_of(const spec::SequentialSeeds& rule, const std::string& column, const SeedLook& look,
                    bool has_stopped) {
  const auto looks = look.seeds - rule.from + 1;
  if (looks < 1) return fmt::format("{}: {} of the first {} seeds so far", column, look.seeds, rule.from);
  const auto looked = counted(looks, "look");
  if (has_stopped || look.is_decided()) {
    const char* why = look.is_narrow && look.excludes_zero ? "narrow enough, without 0"
                      : look.is_narrow                     ? "narrow enough"
                      : look.excludes_zero                 ? "without 0"
                                                           : "an earlier look had decided";
    return fmt::format("{}: stopped after {} of {} seeds ({}): {}, {}", column, look.seeds, rule.to, looked,
                       text_of(look), why);
  }
  if (look.seeds == rule.to) {
    return fmt::format("{}: all {} seeds were trained ({}) and nothing is decided: {}", column, rule.to,
                       looked, text_of(look));
  }
  return fmt::format("{}: {} of at most {} seeds so far ({}): {}", column, look.seeds, rule.to, looked,
                     text_of(look));
}

// Columns of the panel that a row does not have.
std::vector<std::string> columns_without(const spec::Panel& panel, const spec::Row& row) {
  std::vector<std::string> columns;
  for (const auto& other : panel.rows) {
    for (const auto& epsilon : spec::targets_of(other.epsilons)) {
      const auto text = column_text(epsilon);
      if (!has_column(row, epsilon) && std::ranges::find(columns, text) == columns.end())
        columns.push_back(text);
    }
  }
  return columns;
}

}  // namespace

bool has_column(const spec::Row& row, const std::optional<double>& epsilon) {
  const auto targets = spec::targets_of(row.epsilons);
  return std::ranges::find(targets, epsilon) != targets.end();
}

SeedLook look_at(const spec::SequentialSeeds& rule, std::int64_t seeds, std::vector<double> differences) {
  SeedLook look{.seeds = seeds, .differences = std::move(differences), .interval = {}};
  look.interval = anytime_interval(look.differences, rule.confidence);
  if (!look.interval) return look;
  look.excludes_zero = rule.excludes_zero && (look.interval->low > 0 || look.interval->high < 0);
  look.is_narrow = rule.narrower && look.interval->high - look.interval->low < *rule.narrower;
  return look;
}

void ComparedSeeds::add(const StudyRecord& study) {
  if (study.row == rule_.first) first_[study.seed] = study;
  if (study.row == rule_.second) second_[study.seed] = study;
}

std::int64_t ComparedSeeds::known() const {
  std::int64_t seeds = 0;
  const auto has = [&](const std::map<std::int64_t, StudyRecord>& row) {
    const auto found = row.find(seeds);
    return found != row.end() && is_answered(found->second) && !is_not_needed(found->second) &&
           !is_cancelled(found->second);
  };
  while (has(first_) && has(second_)) ++seeds;
  return seeds;
}

bool ComparedSeeds::has_stopped() const {
  const auto any = [](const std::map<std::int64_t, StudyRecord>& row) {
    return std::ranges::any_of(row, [](const auto& one) { return is_not_needed(one.second); });
  };
  return any(first_) || any(second_);
}

bool ComparedSeeds::can_look(std::int64_t seeds) const { return has_stopped() || known() >= seeds; }

Result<SeedLook> ComparedSeeds::look(std::int64_t seeds) const {
  const auto known_seeds = std::min(seeds, known());
  std::vector<double> differences;
  for (std::int64_t seed = 0; seed < known_seeds; ++seed) {
    const auto first = accuracy_of(store_, first_.at(seed));
    if (!first) return first.error();
    const auto second = accuracy_of(store_, second_.at(seed));
    if (!second) return second.error();
    if (*first && *second) differences.push_back(**first - **second);
  }
  return look_at(rule_, known_seeds, std::move(differences));
}

Result<std::vector<std::string>> sequential_notes(const Store& store, const spec::Panel& panel,
                                                  const std::vector<const StudyRecord*>& studies) {
  const auto& rule = *panel.sequential;
  std::vector<std::string> notes{fmt::format(
      "Seeds: from {} to {}, until the {}, in percentage points of test accuracy, at confidence {} %, each "
      "column by itself. The interval holds at all looks together, and so does that of the mark of the best "
      "row; it takes the differences between seeds as normal. Standard deviations and other intervals here "
      "take the number of seeds as chosen beforehand. The odometer counts the seeds that were not needed, "
      "too.",
      rule.from, rule.to, rule.until, short_number(kPercent * rule.confidence))};
  const auto* row = spec::find_row(panel, rule.first);
  if (row == nullptr) return notes;
  std::vector<std::string> columns;
  for (const auto& epsilon : spec::targets_of(row->epsilons)) {
    ComparedSeeds compared(store, rule);
    for (const auto* study : studies) {
      if (study->epsilon_target == epsilon) compared.add(*study);
    }
    const auto look = compared.look(rule.to);
    if (!look) return look.error();
    columns.push_back(note_of(rule, column_text(epsilon), *look, compared.has_stopped()));
  }
  if (const auto others = columns_without(panel, *row); !others.empty()) {
    columns.push_back(fmt::format("{}: {}, since the two rows are not there", join(others, ", "),
                                  counted(rule.from, "seed")));
  }
  notes.push_back(fmt::format("{} - {}. {}.", rule.first, rule.second, join(columns, "; ")));
  return notes;
}

}  // namespace hyfreedp::results
