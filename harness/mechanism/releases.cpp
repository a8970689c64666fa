#include "harness/mechanism/releases.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "harness/base/text.h"

namespace hyfreedp::mechanism {
namespace {

using When = Schedule::When;

accounting::Event event_of(const Release& release) {
  auto event = accounting::batch(release.sample_rate, {release.priced()}, 1);
  event.split = release.split;
  return event;
}

// The number of steps in [first, first + count) that are multiples of `every`.
std::int64_t multiples(std::int64_t every, std::int64_t first, std::int64_t count) {
  const auto below = [&](std::int64_t step) { return (step + every - 1) / every; };
  return below(first + count) - below(first);
}

// The steps at which exactly some of the periods fall due, by inclusion and exclusion.
class DueSteps {
 public:
  DueSteps(std::vector<std::int64_t> periods, std::int64_t first, std::int64_t count)
      : periods_(std::move(periods)), first_(first), count_(count) {}

  std::size_t kinds() const { return std::size_t{1} << periods_.size(); }
  bool is_due(std::size_t kind, std::int64_t period) const {
    const auto place = std::find(periods_.begin(), periods_.end(), period) - periods_.begin();
    return (kind >> place & 1U) != 0;
  }
  std::int64_t count(std::size_t kind) const {
    std::int64_t found = 0;
    for (std::size_t more = 0; more < kinds(); ++more) {
      if ((more & kind) != kind) continue;
      const bool is_odd = (std::popcount(more) - std::popcount(kind)) % 2 != 0;
      found += is_odd ? -count_of_all(more) : count_of_all(more);
    }
    return found;
  }

 private:
  std::int64_t count_of_all(std::size_t kind) const {
    std::int64_t common = 1;
    for (const auto period : periods_) {
      if (!is_due(kind, period)) continue;
      common = std::lcm(common, period);
      // No step of the range but step 0 is a multiple of that.
      if (common >= first_ + count_) return first_ == 0 ? 1 : 0;
    }
    return multiples(common, first_, count_);
  }

  std::vector<std::int64_t> periods_;
  std::int64_t first_;
  std::int64_t count_;
};

std::vector<std::int64_t> periods_of(const std::vector<Release>& releases) {
  std::vector<std::int64_t> periods;
  periods.reserve(releases.size());
  for (const auto& release : releases) periods.push_back(release.schedule.every);
  std::sort(periods.begin(), periods.end());
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
  return periods;
}

// The events of releases on one batch.
void add_events(const std::vector<Release>& on_batch, std::int64_t first, std::int64_t count,
                std::vector<accounting::Event>& events) {
  const DueSteps due(periods_of(on_batch), first, count);
  for (std::size_t kind = 1; kind < due.kinds(); ++kind) {
    const auto steps = due.count(kind);
    if (steps == 0) continue;
    std::vector<accounting::Release> made;
    for (const auto& release : on_batch) {
      if (due.is_due(kind, release.schedule.every)) made.push_back(release.priced());
    }
    events.push_back(accounting::batch(on_batch.front().sample_rate, std::move(made), steps));
    events.back().split = on_batch.front().split;
  }
}

Release score_release(double noise_counts, const std::string& split) {
  return {.purpose = kScore,
          .split = split,
          .batch = kWholeSplit,
          .sensitivity = 1,
          .noise_multiplier = noise_counts,
          .schedule = {.when = When::after},
          .stream = random::Purpose::score_noise};
}

}  // namespace

std::string Asked::member() const {
  auto name = purpose;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

accounting::Release Release::priced() const {
  return {.noise_multiplier = noise_multiplier,
          .count = std::max<std::int64_t>(values, 1),
          .noise = noise,
          .purpose = purpose};
}

const std::vector<Asked>& asked_releases() {
  static const std::vector<Asked> table = {
      {.purpose = trial::FeatureMean::kPurpose,
       .options = {{.name = "noise",
                    .help = "releases the mean of the training features before step 0 and takes it off all "
                            "features: sd of its noise",
                    .unit = "feature_mean_norm",
                    .min = 1e-3,
                    .max = 1e8},
                   {.name = "norm",
                    .help = "to which each feature vector is clipped for that mean",
                    .min = 1e-12,
                    .max = 1e12}},
       .footnote = "Features less a mean of the training features that each run releases before its first "
                   "step; the price is in epsilon.",
       .lacking = [](const datasets::Sizes& sizes) -> std::string {
         if (sizes.copies > 1) return "one vector of features for each record, not of copies of it";
         return sizes.length > 0 ? "a vector of features for each record" : "";
       }}};
  return table;
}

const char* followed(const trial::PrivacyPlan& plan) {
  return plan.released == trial::Released::loss_change ? kLossChange : kGradient;
}

bool is_followed(const std::string& purpose) { return purpose == kGradient || purpose == kLossChange; }

std::vector<Release> releases(const trial::PrivacyPlan& plan) {
  std::vector<Release> list;
  if (const auto& mean = plan.asked.feature_mean) {
    list.push_back({.purpose = trial::FeatureMean::kPurpose,
                    .batch = kWholeSplit,
                    .sensitivity = mean->norm,
                    .noise_multiplier = mean->noise,
                    .values = 0,
                    .divisor = static_cast<double>(plan.population),
                    .schedule = {.when = When::before},
                    .stream = random::Purpose::gradient_noise,
                    .lane = 1});
  }
  list.push_back(
      {.purpose = followed(plan),
       .sample_rate = plan.sample_rate,
       .sensitivity = plan.clipping.adaptive ? std::nullopt : std::optional(plan.clipping.sensitivity()),
       .noise_multiplier = plan.gradient_noise,
       .values = plan.released == trial::Released::loss_change ? 1 : 0,
       .divisor = plan.batch_size,
       .stream = random::Purpose::gradient_noise});
  if (plan.clipping.adaptive) {
    // Its terms are centred (training/adaptive_clipping.h): half of B is added back.
    list.push_back({.purpose = kClipCount,
                    .sample_rate = plan.sample_rate,
                    .sensitivity = trial::kCountSensitivity,
                    .noise_multiplier = plan.clipping.adaptive->count_noise,
                    .divisor = plan.batch_size,
                    .offset = 0.5,
                    .stream = random::Purpose::clip_count_noise});
  }
  if (plan.probe) {
    const auto& probe = *plan.probe;
    list.push_back({.purpose = kProbe,
                    .batch = probe.separate_batch ? kProbeBatch : kGradientBatch,
                    .sample_rate = probe.separate_batch ? probe.sample_rate : plan.sample_rate,
                    .noise_multiplier = probe.noise,
                    .noise = probe.distribution,
                    .values = probe.points,
                    .divisor = probe.batch_size,
                    .schedule = {.every = probe.interval},
                    .stream = random::Purpose::probe_noise});
  }
  return list;
}

std::vector<Release> releases(const trial::TrialConfig& config) {
  auto list = releases(config.privacy);
  if (const auto& score = config.evaluation.score) {
    list.push_back(score_release(score->noise_counts, trial::kValidationSplit));
  }
  return list;
}

const Release* find(const std::vector<Release>& list, const std::string& purpose) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Release& release) { return release.purpose == purpose; });
  return found == list.end() ? nullptr : &*found;
}

std::vector<accounting::Event> events(const trial::PrivacyPlan& plan, std::int64_t first,
                                      std::int64_t count) {
  std::vector<accounting::Event> events;
  if (!plan.is_private || count <= 0) return events;
  const auto list = releases(plan);
  for (const auto& release : list) {
    if (release.schedule.when == When::before && first == 0) events.push_back(event_of(release));
  }
  for (const std::string batch : {kGradientBatch, kProbeBatch}) {
    std::vector<Release> on_batch;
    std::copy_if(list.begin(), list.end(), std::back_inserter(on_batch), [&](const Release& release) {
      return release.schedule.when == When::steps && release.batch == batch;
    });
    add_events(on_batch, first, count, events);
  }
  return events;
}

std::vector<accounting::Event> events(const trial::TrialConfig& config) {
  auto all = events(config.privacy, 0, config.steps);
  for (const auto& release : releases(config)) {
    if (release.schedule.when == When::after) all.push_back(event_of(release));
  }
  return all;
}

accounting::Event score_event(double noise_counts, const std::string& split) {
  return event_of(score_release(noise_counts, split));
}

Result<double> gradient_noise_for(const trial::PrivacyPlan& plan, double sigma) {
  if (!plan.is_private) return sigma;
  double left = 1 / (sigma * sigma);
  const Release* last = nullptr;
  for (const auto& release : releases(plan)) {
    // The noise of probes is chosen together with the gradient's (probe_split.h).
    const bool at_every_step = release.batch == kGradientBatch && release.schedule.every == 1 &&
                               release.schedule.when == When::steps;
    if (!at_every_step || is_followed(release.purpose) || release.purpose == kProbe) continue;
    HYFREEDP_CHECK(release.noise == accounting::Noise::gaussian, "only Gaussian releases fold into one");
    left -=
        static_cast<double>(release.priced().count) / (release.noise_multiplier * release.noise_multiplier);
    last = &release;
    if (!(left > 0)) {
      const double unit = release.sensitivity.value_or(1);
      return error(fmt::format(
          "the releases '{}' alone cost the whole budget: their noise is {} and must be above {}; raise it "
          "(of clip counts: 'count_noise').",
          release.purpose, short_number(release.noise_multiplier * unit), short_number(sigma * unit)));
    }
  }
  return last == nullptr ? sigma : (1 + 1e-9) / std::sqrt(left);
}

}  // namespace hyfreedp::mechanism
