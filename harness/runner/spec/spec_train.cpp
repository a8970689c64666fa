#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/spec/spec.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::runner {
namespace {

constexpr double kCountShare = 0.05;  // of the batch: Andrew et al. take sigma_b = m / 20

enum class Device { cpu, cuda };
BOOST_DESCRIBE_ENUM(Device, cpu, cuda)

// `train` as it is given; what is empty depends on something else.
struct GivenTrain {
  trial::Sampler sampler = trial::Sampler::poisson;
  std::optional<double> sample_rate;
  std::optional<double> batch_size;
  std::optional<std::int64_t> steps;
  trial::ClippingRule clipping = trial::ClippingRule::auto_s;
  std::optional<double> clipping_constant;
  trial::ClippingGroups clipping_groups = trial::ClippingGroups::all;
  trial::GroupShares clipping_shares = trial::GroupShares::uniform;
  std::optional<double> clipping_quantile;
  std::optional<double> clipping_rate;
  std::optional<double> count_noise;
  spec::Control control = spec::Control::sampling_only;
  Device device = Device::cpu;
};
BOOST_DESCRIBE_STRUCT(GivenTrain, (),
                      (sampler, sample_rate, batch_size, steps, clipping, clipping_constant, clipping_groups,
                       clipping_shares, clipping_quantile, clipping_rate, count_noise, control, device))

double default_constant(trial::ClippingRule clipping) {
  if (clipping == trial::ClippingRule::abadi) return 1;
  return clipping == trial::ClippingRule::adaptive ? 0.1 : 0.01;
}

trial::Clipping clipping_of(const GivenTrain& given, double batch_size) {
  trial::Clipping clipping{.rule = given.clipping,
                           .constant = given.clipping_constant.value_or(default_constant(given.clipping)),
                           .groups = given.clipping_groups,
                           .shares = given.clipping_shares};
  if (given.clipping == trial::ClippingRule::adaptive) {
    auto& adaptive = clipping.adaptive.emplace();
    adaptive.quantile = given.clipping_quantile.value_or(adaptive.quantile);
    adaptive.rate = given.clipping_rate.value_or(adaptive.rate);
    adaptive.count_noise = given.count_noise.value_or(kCountShare * batch_size) / trial::kCountSensitivity;
  }
  return clipping;
}

// An option that says nothing where another has the value it has is a mistake of the spec, not to
// be passed over.
void only_where(const Layers& train, const char* option, bool applies, const std::string& condition,
                Problems& problems) {
  const auto given = train.find(option);
  if (!applies && given) problems.add(given->wrong("is for " + condition, ""));
}

void check_clipping(const Layers& train, const GivenTrain& given, Problems& problems) {
  using trial::ClippingRule;
  const bool adaptive = given.clipping == ClippingRule::adaptive;
  const bool per_layer = given.clipping_groups == trial::ClippingGroups::per_layer;
  for (const char* option : {"clipping_quantile", "clipping_rate", "count_noise"}) {
    only_where(train, option, adaptive, "clipping adaptive", problems);
  }
  only_where(train, "clipping_constant", given.clipping != ClippingRule::auto_v,
             "clippings with a constant, and auto-v has none", problems);
  only_where(train, "clipping_shares", per_layer, "clipping_groups: per-layer", problems);
  if (const auto fits = clipping_of(given, 1).check(); per_layer && !fits) {
    problems.add(train.find("clipping_groups")->wrong(fits.error().message, ""));
  }
  if (given.control == spec::Control::clip_only && given.clipping == ClippingRule::none) {
    problems.add(train.find("control")->wrong("clip-only needs a clipping other than none", ""));
  }
}

bool gives(const Layers& train, const char* key) {
  const auto given = train.find(key);
  return given && !given->is_null();
}

// Checks that the steps and the batch size are given, and the latter only once, whatever else is
// wrong.
void check_sizes(const Layers& train, Problems& problems) {
  if (!gives(train, "steps")) train.need("steps", problems);
  const bool has_rate = gives(train, "sample_rate");
  const bool has_batch = gives(train, "batch_size");
  if (has_rate && has_batch) {
    problems.add(train.find("batch_size")->wrong("and 'sample_rate' say the same; keep one", ""));
  }
  const auto sampler = train.find("sampler");
  const bool draws = !sampler || sampler->shown() == "'poisson'" || sampler->shown() == "'shuffle'";
  if (draws && !has_rate && !has_batch) train.need("sample_rate", problems);
}

// The sampling rate, from what was given instead.
double rate_of(const Layers& train, const GivenTrain& given, double population, Problems& problems) {
  const bool full = given.sampler == trial::Sampler::full_batch;
  const double rate = full                ? 1.0
                      : given.sample_rate ? *given.sample_rate
                                          : given.batch_size.value_or(0) / population;
  if (full && given.sample_rate.value_or(1) != 1) {
    problems.add(train.find("sample_rate")->wrong("must be 1 (or left out) with sampler full-batch", ""));
  }
  if (full && given.batch_size.value_or(population) != population) {
    problems.add(
        train.find("batch_size")
            ->wrong(fmt::format("must be {:.0f} (or left out) with sampler full-batch", population), ""));
  }
  if (rate > 1) {
    problems.add(
        train.find("batch_size")->wrong(fmt::format("exceeds the {:.0f} training examples", population)));
  }
  if (given.sample_rate && rate * population < 1 - 1e-9) {
    problems.add(
        train.find("sample_rate")
            ->wrong(fmt::format("makes a batch of {} of the {:.0f} training examples, on average; it "
                                "must be at least 1",
                                short_number(rate * population), population),
                    ""));
  }
  return rate;
}

std::vector<OptionSpec> with_asked(std::vector<OptionSpec> table) {
  for (const auto& asked : mechanism::asked_releases()) {
    for (auto option : asked.options) {
      option.name = asked.option(option);
      table.push_back(std::move(option));
    }
  }
  return table;
}

// Each release is asked for with all its numbers or not at all.
trial::AskedReleases asked_releases(const Layers& train, const json::object& options, Problems& problems) {
  json::object all;
  for (const auto& asked : mechanism::asked_releases()) {
    json::object numbers;
    std::vector<std::string> missing;
    std::string given;
    for (const auto& option : asked.options) {
      const auto name = asked.option(option);
      if (const auto& value = options.at(name); value.is_null()) {
        missing.push_back(name);
      } else {
        given = name;
        numbers[option.name] = value;
      }
    }
    if (numbers.empty()) continue;
    if (missing.empty()) {
      all[asked.member()] = std::move(numbers);
    } else {
      problems.add(train.find(given)->wrong(fmt::format("needs '{}' beside it", missing.front()), ""));
    }
  }
  return from_json<trial::AskedReleases>(all, "train").value();
}

spec::Train filled_in(const GivenTrain& given, double rate, double population) {
  return {.steps = given.steps.value_or(0),
          .sampler = given.sampler,
          .sample_rate = rate,
          .batch_size = rate * population,
          .clipping = clipping_of(given, rate * population),
          .device = name_of(given.device)};
}

}  // namespace

const std::vector<OptionSpec>& train_options() {
  static const auto table = with_asked(options_of<GivenTrain>({
      {.name = "sampler", .help = "how batches are drawn; shuffle for non-private rows only"},
      {.name = "sample_rate", .help = "q: probability that an example is in a batch", .min = 1e-9, .max = 1},
      {.name = "batch_size", .help = "B = q N, instead of sample_rate", .min = 1, .max = 1e12},
      {.name = "steps", .help = "T", .min = 1, .max = 1e9},
      {.name = "clipping", .help = "of per-sample gradients in private rows"},
      {.name = "clipping_constant",
       .help =
           "auto-s: the stability constant (default 0.01); abadi: C (default 1); adaptive: C at the first "
           "step (default 0.1)",
       .min = 1e-12,
       .max = 1e12},
      {.name = "clipping_groups",
       .help = "what is clipped together: the whole gradient, or each layer to its share of the threshold"},
      {.name = "clipping_shares", .help = "a layer's share: 1 / sqrt(L), or sqrt(d_l / d)"},
      {.name = "clipping_quantile",
       .help = "adaptive: the fraction of samples to leave unclipped (default 0.5)",
       .min = 0,
       .max = 1},
      {.name = "clipping_rate",
       .help = "adaptive: rate of the threshold's geometric update (default 0.2)",
       .min = 1e-6,
       .max = 100},
      {.name = "count_noise",
       .help = "adaptive: sd of the noised count of unclipped samples (default batch_size / 20)",
       .unit = "samples",
       .min = 1e-6,
       .max = 1e8},
      {.name = "control",
       .help =
           "what cells of epsilon inf keep of private training: its batches, its batches and clipping, or "
           "nothing (shuffled batches)"},
      {.name = "device", .help = "where trials run"},
  }));
  return table;
}

std::vector<std::string> train_option_names() {
  std::vector<std::string> names{"optimizer"};
  for (const auto& option : train_options()) names.push_back(option.name);
  return names;
}

std::optional<ReadTrain> read_train(const Layers& train, std::optional<std::int64_t> population,
                                    Problems& problems) {
  const auto before = problems.added();
  auto beside = training_option_names();
  beside.emplace_back("optimizer");
  const auto options = options_from(train_options(), train, problems, beside);
  check_sizes(train, problems);
  if (!options) return std::nullopt;
  const auto given = from_json<GivenTrain>(*options, "train").value();
  const auto asked = asked_releases(train, *options, problems);
  if (problems.added() > before) return std::nullopt;
  const double size = static_cast<double>(population.value_or(0));
  const double rate = population ? rate_of(train, given, size, problems) : 0;
  check_clipping(train, given, problems);
  if (!population || problems.added() > before) return std::nullopt;
  ReadTrain read{filled_in(given, rate, size), given.control};
  read.train.asked = asked;
  return read;
}

void check_private_training(const spec::Train& train, const Layers& layers, Problems& problems) {
  if (train.sampler == trial::Sampler::shuffle) {
    problems.add(layers.find("sampler")->wrong("shuffle cannot be priced; use poisson, or epsilon: [inf]"));
  }
  if (train.clipping.rule == trial::ClippingRule::none) {
    problems.add(
        layers.find("clipping")
            ->wrong("none is not private; use auto-s, auto-v, abadi or adaptive, or epsilon: [inf]"));
  }
}

}  // namespace hyfreedp::runner
