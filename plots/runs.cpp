#include "plots/runs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <sstream>
#include <tuple>

#include "datasets/labels.h"
#include "harness/base/text.h"
#include "plots/layout.h"
#include "results/table/cell_text.h"
#include "results/table/released_scalars.h"
#include "results/table/statistics.h"

namespace hyfreedp::plots {
namespace {

using results::FigureRequest;
using results::StudyRecord;

constexpr double kSameSetting = 1e-9;  // relative

const json::object* object_at(const json::object& object, std::string_view key) {
  const auto* found = object.if_contains(key);
  return found != nullptr && found->is_object() ? &found->get_object() : nullptr;
}

std::optional<double> number_at(const json::object* object, std::string_view key) {
  const auto* found = object == nullptr ? nullptr : object->if_contains(key);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}

const json::object* options_at(const json::object& config, const char* part) {
  const auto* named = object_at(config, part);
  return named == nullptr ? nullptr : object_at(*named, "options");
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(trimmed(part));
  return parts;
}

std::optional<double> at_path(const json::object& config, const std::string& path) {
  const auto names = split(path, '.');
  const auto* at = &config;
  for (std::size_t i = 0; i + 1 < names.size() && at != nullptr; ++i) at = object_at(*at, names[i]);
  return number_at(at, names.back());
}

std::optional<double> rate_of(const json::object& config) {
  for (const char* part : {"controller", "optimizer"}) {
    for (const char* name : {"lr", "rate", "peak"}) {
      if (const auto found = number_at(options_at(config, part), name)) return found;
    }
  }
  return std::nullopt;
}

std::optional<double> one_setting(const Run& run, const std::string& name) {
  if (name == "epsilon") return run.epsilon;
  if (name == "seed") return static_cast<double>(run.seed);
  if (name == "rate" || name == "lr") return rate_of(run.config);
  if (name.find('.') != std::string::npos) return at_path(run.config, name);
  if (const auto found = number_at(&run.config, name)) return found;
  for (const char* part : {"optimizer", "controller"}) {
    if (const auto found = number_at(options_at(run.config, part), name)) return found;
  }
  if (const auto found = number_at(object_at(run.config, "privacy"), name)) return found;
  for (const char* part : {"model", "dataset"}) {
    if (const auto found = number_at(options_at(run.config, part), name)) return found;
  }
  return number_at(object_at(run.config, "training"), name);
}

class Collector {
 public:
  Collector(const Source& source, const FigureRequest& request, Which which, const std::string& metric)
      : source_(source), request_(request), which_(which), metric_(metric) {}

  Result<RunList> collect() {
    auto studies = source_.store.studies(source_.table.spec);
    if (!studies) return studies.error();
    std::map<std::tuple<std::string, std::string, std::optional<double>>, std::vector<const StudyRecord*>>
        by_cell;
    for (const auto& study : *studies)
      by_cell[{study.panel, study.row, study.epsilon_target}].push_back(&study);
    const auto groups = row_groups(source_.spec);
    for (const auto& panel : source_.table.panels) {
      if (!request_.wants_panel(panel.id)) continue;
      for (const auto& epsilon : panel.columns) {
        if (!request_.wants_epsilon(epsilon)) continue;
        for (const auto& row : panel.rows) {
          const auto group = groups.find({panel.id, row.id});
          const auto name = group == groups.end() ? std::string() : group->second;
          if (!request_.wants_row(row.id, name)) continue;
          for (const auto* study : by_cell[{panel.id, row.id, epsilon}]) {
            const Run frame{.panel = panel.id,
                            .panel_title = panel.title,
                            .row = row.id,
                            .row_title = row.title,
                            .group = name.empty() ? row.id : name,
                            .method = row.method,
                            .epsilon = epsilon,
                            .arm = results::arm_title(panel, epsilon),
                            .delta = study->delta,
                            .seed = study->seed,
                            .trial = {},
                            .config = {},
                            .seconds = 0,
                            .events = {},
                            .curve = {}};
            if (auto added = add_study(*study, frame); !added) return added.error();
          }
        }
      }
    }
    return std::move(list_);
  }

 private:
  Result<void> add_study(const StudyRecord& study, const Run& frame) {
    if (study.state != results::StudyState::concluded) {
      list_.any_left_open = list_.any_left_open || study.state == results::StudyState::open;
      return {};
    }
    if (which_ == Which::reported)
      return study.reported_trial.empty() ? Result<void>() : add_run(study.reported_trial, frame);
    if (!study.composition.shows_run_count() && !source_.table.confidential) {
      if (std::find(list_.refused.begin(), list_.refused.end(), frame.row_title) == list_.refused.end()) {
        list_.refused.push_back(frame.row_title);
      }
      return {};
    }
    for (const auto& trial : study.trials) {
      if (auto added = add_run(trial, frame); !added) return added;
    }
    return {};
  }

  // A run may be of several rows, but is one run of a row.
  Result<void> add_run(const std::string& id, Run run) {
    if (!seen_.insert({run.panel, run.group, run.epsilon, id}).second) return {};
    auto trial = source_.store.trial(id);
    if (!trial) return trial.error();
    if (!*trial || (**trial).state != trial::TrialState::finished) return {};
    run.trial = id;
    run.config = std::move((**trial).config);
    run.seconds = (**trial).seconds;
    run.events = std::move((**trial).events);
    if (!metric_.empty()) {
      const auto metrics = source_.store.metrics(id);
      if (!metrics) return metrics.error();
      const double unit = metric_ == "accuracy" ? 100 : 1;
      for (const auto& one : *metrics) {
        if (one.split == "test" && one.name == metric_) run.curve[one.step] = unit * one.value;
      }
      if (run.curve.empty() || !std::isfinite(run.last())) return {};
    }
    list_.runs.push_back(std::move(run));
    return {};
  }

  const Source& source_;
  const FigureRequest& request_;
  Which which_;
  std::string metric_;
  RunList list_;
  std::set<std::tuple<std::string, std::string, std::optional<double>, std::string>> seen_;
};

}  // namespace

std::map<std::pair<std::string, std::string>, std::string> row_groups(const spec::Spec& spec) {
  std::map<std::pair<std::string, std::string>, std::string> groups;
  for (const auto& panel : spec.panels) {
    for (const auto& row : panel.rows) {
      if (!row.group.empty()) groups[{panel.id, row.id}] = row.group;
    }
  }
  return groups;
}

std::string RunList::refusal() const {
  std::string text;
  if (!refused.empty()) {
    text = fmt::format(" Left out, since the runs of a private selection are confidential: {}.",
                       join(refused, "; "));
  }
  if (any_unreleased)
    text += " Non-private runs on private data are left out: their losses are not released.";
  return text;
}

std::string RunList::nothing(const std::string& wanted) const {
  if (!refused.empty() && runs.empty()) {
    return fmt::format(
        "only rows of private selection have runs ({}), and those are shown with --confidential alone",
        join(refused, "; "));
  }
  return fmt::format("no finished run {}{}{}", wanted, any_left_open ? "; some are not run yet" : "",
                     any_unreleased
                         ? "; non-private runs on private data are left out, since their losses are "
                           "not released (--confidential shows them)"
                         : "");
}

void leave_out_unreleased(const Source& source, RunList& list) {
  if (source.table.confidential) return;
  const auto left_out =
      std::erase_if(list.runs, [](const Run& run) { return !results::scalars_are_released(run.config); });
  list.any_unreleased = list.any_unreleased || left_out > 0;
}

Result<RunList> runs_of(const Source& source, const FigureRequest& request, Which which,
                        const std::string& metric) {
  return Collector(source, request, which, metric).collect();
}

trial::Named named_in(const json::object& config, const char* key) {
  const auto* const found = config.if_contains(key);
  auto named = found == nullptr ? Result<trial::Named>(trial::Named{}) : from_json<trial::Named>(*found, key);
  return named ? std::move(*named) : trial::Named{};
}

std::optional<double> setting(const Run& run, const std::string& name) {
  double product = 1;
  for (const auto& part : split(name, '*')) {
    const auto value = one_setting(run, part);
    if (!value) return std::nullopt;
    product *= *value;
  }
  return product;
}

Result<std::vector<std::pair<std::string, double>>> parse_settings(const std::string& text) {
  std::vector<std::pair<std::string, double>> settings;
  for (const auto& part : split(text, ',')) {
    const auto sign = part.find('=');
    char* end = nullptr;
    const auto number = sign == std::string::npos ? std::string() : trimmed(part.substr(sign + 1));
    const double value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0') {
      return error(
          fmt::format("'{}' is not a list of settings; write for example 'rate=0.001, beta1=0.9'", text));
    }
    settings.emplace_back(trimmed(part.substr(0, sign)), value);
  }
  return settings;
}

bool has_settings(const Run& run, const std::vector<std::pair<std::string, double>>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
    const auto value = setting(run, one.first);
    return value && std::abs(*value - one.second) <= kSameSetting * std::abs(one.second);
  });
}

std::string setting_label(const std::string& name) {
  static const std::map<std::string, std::string> kLabels = {{"rate", "learning rate η"},
                                                             {"lr", "learning rate η"},
                                                             {"clipping_constant", "clipping threshold C"},
                                                             {"steps", "steps T"},
                                                             {"epsilon", "target ε"},
                                                             {"batch_size", "expected batch size B"},
                                                             {"sample_rate", "sampling rate q"},
                                                             {"gradient_noise", "noise multiplier σ"},
                                                             {"beta1", "β₁"},
                                                             {"beta2", "β₂"},
                                                             {"rate * steps", "total step size η·T"},
                                                             {"steps * rate", "total step size η·T"}};
  const auto found = kLabels.find(name);
  return found == kLabels.end() ? name : found->second;
}

std::string metric_label(const std::string& metric) {
  return metric == "accuracy" ? "test accuracy (%)" : "test loss";
}

std::string metric_sentence(const std::string& metric) {
  return metric == "accuracy" ? "Test accuracy in percent"
                              : fmt::format("Test loss ({})", datasets::kLossUnit);
}

namespace {

// A line does not break in it.
std::string unbroken(std::string text) {
  for (auto at = text.find(' '); at != std::string::npos; at = text.find(' ', at))
    text.replace(at, 1, "\u00A0");
  return text;
}

}  // namespace

std::vector<RunCell> cells_of(const Source& source, const std::vector<Run>& runs) {
  std::vector<RunCell> cells;
  std::set<std::string> panels;
  std::map<std::pair<std::string, std::optional<double>>, std::size_t> index;
  for (const auto& run : runs) {
    panels.insert(run.panel);
    const auto [found, is_new] = index.try_emplace({run.panel, run.epsilon}, cells.size());
    if (is_new) cells.push_back({fmt::format("{}, {}", run.panel_title, unbroken(run.arm)), {}});
    cells[found->second].runs.push_back(&run);
  }
  if (cells.size() == 1) cells[0].title = runs[0].panel_title;
  if (cells.size() > 1 && panels.size() == 1 && source.table.panels.size() == 1) {
    for (auto& cell : cells) cell.title = cell.runs[0]->arm;
  }
  return cells;
}

double Candidate::value() const {
  std::vector<double> values;
  for (const auto* run : runs) values.push_back(run->last());
  return results::mean(values);
}

std::map<std::int64_t, double> Candidate::curve() const {
  std::map<std::int64_t, double> curve;
  for (const auto& [step, first] : runs.front()->curve) {
    double sum = 0;
    const bool all = std::all_of(runs.begin(), runs.end(), [&, s = step](const Run* run) {
      const auto found = run->curve.find(s);
      if (found == run->curve.end()) return false;
      sum += found->second;
      return true;
    });
    if (all) curve[step] = sum / static_cast<double>(runs.size());
  }
  return curve;
}

std::vector<Candidate> candidates_of(const RunCell& cell, By by) {
  std::vector<Candidate> candidates;
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (const auto* run : cell.runs) {
    auto settings = run->config;
    for (const char* key : {"seed", "noise_seed", "repetition"}) settings.erase(key);
    const auto family = by == By::group ? run->group : run->row;
    const auto [found, is_new] = index.try_emplace({family, canonical_json(settings)}, candidates.size());
    if (is_new) candidates.push_back({family, {}});
    candidates[found->second].runs.push_back(run);
  }
  return candidates;
}

std::vector<Family> families_of(const std::vector<Run>& runs, By by, const results::TableModel& table) {
  const auto colours = colours_of(table);
  std::vector<Family> families;
  std::map<std::string, std::size_t> variants;
  for (const auto& run : runs) {
    const auto& id = by == By::group ? run.group : run.row;
    if (std::any_of(families.begin(), families.end(), [&](const auto& known) { return known.id == id; }))
      continue;
    families.push_back({id, id == run.row ? run.row_title : id,
                        colours.style(run.method, variants[run.method]++, families.size())});
    if (const auto own = table.colours.find(id); own != table.colours.end())
      families.back().style.colour = own->second;
  }
  return families;
}

}  // namespace hyfreedp::plots
