#include "harness/cli/run/watched_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "harness/accounting/accountant.h"
#include "harness/base/text.h"
#include "harness/runner/progress/live_block.h"
#include "harness/trial/event_tally.h"
#include "results/table/cell_text.h"
#include "results/table/released_scalars.h"

namespace hyfreedp::cli {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;  // bytes; some milliseconds
constexpr std::size_t kCurveTitleWidth = 14;
constexpr std::size_t kNumbersWidth = 36;
constexpr std::size_t kLeastCurveWidth = 8;
constexpr std::size_t kMostCurveWidth = 60;
constexpr std::array kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// Accuracy where the run has it, else its loss, else whatever is first.
void add_test_curve(const mechanism::Journal& journal, std::vector<WatchedCurve>& curves) {
  std::map<std::string, WatchedCurve> by_name;
  for (const auto& metric : journal.metrics) {
    if (metric.visibility != trial::Visibility::test || metric.split != "test") continue;
    by_name[metric.name].values.push_back(metric.value);
  }
  if (by_name.empty()) return;
  auto found = by_name.find("accuracy");
  if (found == by_name.end()) found = by_name.find("loss");
  if (found == by_name.end()) found = by_name.begin();
  auto& [name, curve] = *found;
  curve.title = "test " + name;
  curve.is_share = name == "accuracy";
  curves.push_back(std::move(curve));
}

void add_scalar_curve(const mechanism::Journal& journal, const std::string& name, const std::string& title,
                      std::vector<WatchedCurve>& curves) {
  WatchedCurve curve{.title = title};
  for (const auto& step : journal.steps) {
    if (const auto found = step.scalars.find(name); found != step.scalars.end())
      curve.values.push_back(found->second);
  }
  if (!curve.values.empty()) curves.push_back(std::move(curve));
}

std::string number_text(const WatchedCurve& curve, double value) {
  if (!std::isfinite(value)) return "not finite";
  return curve.is_share ? fmt::format("{:.1f}", 100 * value) : short_number(value, 3);
}

// "86.3 %  (10.1 to 86.3)"
std::string numbers_of(const WatchedCurve& curve) {
  std::optional<double> least, greatest;
  for (const double value : curve.values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least.value_or(value), value);
    greatest = std::max(greatest.value_or(value), value);
  }
  auto text = number_text(curve, curve.values.back()) + (curve.is_share ? " %" : "");
  if (!least || *least == *greatest) return text;
  return fmt::format("{}  ({} to {})", text, number_text(curve, *least), number_text(curve, *greatest));
}

}  // namespace

std::string block_line(const std::vector<double>& values, std::size_t width) {
  const auto count = std::min(values.size(), width);
  std::vector<double> means;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    std::size_t finite = 0;
    for (auto at = i * values.size() / count; at < (i + 1) * values.size() / count; ++at) {
      if (!std::isfinite(values[at])) continue;
      sum += values[at];
      ++finite;
    }
    means.push_back(finite > 0 ? sum / static_cast<double>(finite) : std::nan(""));
  }
  std::optional<double> least, greatest;
  for (const double mean : means) {
    if (std::isnan(mean)) continue;
    least = std::min(least.value_or(mean), mean);
    greatest = std::max(greatest.value_or(mean), mean);
  }
  std::string text;
  for (const double mean : means) {
    if (std::isnan(mean)) {
      text += ' ';
      continue;
    }
    const double range = *greatest - *least;
    const double place = range > 0 ? (mean - *least) / range : 0;
    text += kBlocks.at(static_cast<std::size_t>(std::lround(place * (kBlocks.size() - 1))));
  }
  return text;
}

WatchedRun::WatchedRun(const runner::OutFolder& folder, const std::string& trial)
    : journal_(folder.journal(trial)) {}

bool WatchedRun::read() {
  const auto all = journal_.read(kPiece);
  problem_ = all ? "" : all.error().message;
  is_all_ = !all || *all;
  return !is_all_;
}

// The booked events are priced again only when they have grown, every 128 steps.
std::string WatchedRun::epsilon(double delta) {
  const auto& journal = journal_.journal();
  if (journal.trial.empty()) return "";
  if (!journal.config.privacy.is_private) return "no privacy";
  const accounting::Events events{.events = trial::EventTally(journal_.charged()).events()};
  auto what = canonical_json(accounting::events_to_json(events));
  if (!priced_ || priced_->first != what) {
    const auto reported = accounting::report_epsilon(events, delta);
    auto text = reported ? fmt::format("ε {} booked (δ {})", results::epsilon_text(reported->epsilon),
                                       short_number(delta, 2))
                         : "ε not known: " + reported.error().message;
    priced_.emplace(std::move(what), std::move(text));
  }
  return priced_->second;
}

WatchedView WatchedRun::view(const runner::SnapshotRun& run) {
  const auto& journal = journal_.journal();
  const auto done = journal.steps.empty() ? 0 : journal.steps.back().step + 1;
  WatchedView view{.title = run.title,
                   .step = std::max(run.step, done),
                   .steps = run.steps,
                   .steps_per_second = run.steps_per_second,
                   .epsilon = epsilon(run.delta),
                   .problem = problem_};
  if (!is_all_) view.problem = "its journal is still being read";
  if (journal.trial.empty()) return view;
  view.is_reproducible = journal.config.privacy.is_private && journal.config.noise_seed.has_value();
  add_test_curve(journal, view.curves);
  if (results::scalars_are_released(journal.config.to_json()))
    add_scalar_curve(journal, "private_loss", "private loss", view.curves);
  add_scalar_curve(journal, "eta", "step size η", view.curves);
  return view;
}

std::vector<std::string> lines_of(const WatchedView& view, std::size_t width) {
  std::vector<std::string> facts;
  if (view.steps > 0) facts.push_back(fmt::format("step {}/{}", view.step, view.steps));
  if (view.steps_per_second) {
    const double rate = *view.steps_per_second;
    facts.push_back((rate < 100 ? short_number(rate, 3) : fmt::format("{:.0f}", rate)) + " steps/s");
  }
  if (!view.epsilon.empty()) facts.push_back(view.epsilon);
  std::vector<std::string> lines = {fmt::format("  {}: {}", view.title, join(facts, ", "))};
  const auto beside = kCurveTitleWidth + kNumbersWidth;
  const auto curve_width = std::clamp(width > beside ? width - beside : 0, kLeastCurveWidth, kMostCurveWidth);
  for (const auto& curve : view.curves) {
    lines.push_back(fmt::format("    {}{}  {}", runner::padded_to(curve.title, kCurveTitleWidth),
                                runner::padded_to(block_line(curve.values, curve_width), curve_width),
                                numbers_of(curve)));
  }
  if (!view.problem.empty()) lines.push_back("    " + view.problem);
  for (auto& line : lines) line = runner::cut_to(line, width);
  return lines;
}

}  // namespace hyfreedp::cli
