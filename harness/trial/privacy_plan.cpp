#include "harness/trial/privacy_plan.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "harness/base/text.h"
#include "harness/trial/sum_rounding.h"

namespace hyfreedp::trial {
namespace {

std::string name_of(Sampler sampler) {
  switch (sampler) {
    case Sampler::poisson:
      return "poisson";
    case Sampler::full_batch:
      return "full-batch";
    case Sampler::shuffle:
      return "shuffle";
  }
  return "?";
}

template <class Value>
using Names = std::vector<std::pair<Value, std::string>>;

const Names<Clipping>& clipping_names() {
  static const Names<Clipping> names = {{Clipping::auto_s, "auto-s"},
                                        {Clipping::auto_v, "auto-v"},
                                        {Clipping::abadi, "abadi"},
                                        {Clipping::adaptive, "adaptive"},
                                        {Clipping::none, "none"}};
  return names;
}

const Names<ClippingGroups>& group_names() {
  static const Names<ClippingGroups> names = {{ClippingGroups::all, "all"},
                                              {ClippingGroups::per_layer, "per-layer"}};
  return names;
}

const Names<GroupShares>& share_names() {
  static const Names<GroupShares> names = {{GroupShares::uniform, "uniform"}, {GroupShares::size, "size"}};
  return names;
}

const Names<accounting::Noise>& distribution_names() {
  static const Names<accounting::Noise> names = {{accounting::Noise::gaussian, "gaussian"},
                                                 {accounting::Noise::laplace, "laplace"}};
  return names;
}

template <class Value>
std::string name_in(const Names<Value>& names, Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "?";
}

template <class Value>
Result<Value> value_in(const Names<Value>& names, const std::string& name, const std::string& what,
                       const std::string& where) {
  std::vector<std::string> all;
  for (const auto& [known, text] : names) {
    if (text == name) return known;
    all.push_back(text);
  }
  return error(where + ": unknown " + what + " '" + name + "' (one of " + join(all, ", ") + ")");
}

Result<Sampler> sampler_from(const std::string& name, const std::string& where) {
  for (const auto sampler : {Sampler::poisson, Sampler::full_batch, Sampler::shuffle}) {
    if (name_of(sampler) == name) return sampler;
  }
  return error(where + ": unknown sampler '" + name + "' (poisson, full-batch or shuffle)");
}

Error bad(const std::string& what) { return error("privacy plan: " + what); }

Result<void> check_clipping(const PrivacyPlan& plan) {
  if (plan.adaptive.has_value() != (plan.clipping == Clipping::adaptive)) {
    return bad("clipping adaptive, and no other, has a quantile, a rate and a count");
  }
  const bool uses_constant = plan.clipping != Clipping::none && plan.clipping != Clipping::auto_v;
  if (uses_constant && !(plan.clipping_constant > 0)) return bad("the clipping constant must be positive");
  const bool per_layer = plan.groups == ClippingGroups::per_layer;
  if (per_layer && (plan.clipping == Clipping::none || plan.adaptive)) {
    return bad("per-layer groups are for clipping auto-s, auto-v and abadi");
  }
  if (plan.shares != GroupShares::uniform && !per_layer) return bad("shares are for per-layer groups");
  if (!plan.adaptive) return {};
  if (!(plan.adaptive->quantile >= 0 && plan.adaptive->quantile <= 1)) {
    return bad("the quantile of adaptive clipping must lie in [0, 1]");
  }
  if (!(plan.adaptive->rate > 0) || !std::isfinite(plan.adaptive->rate)) {
    return bad("the rate of adaptive clipping must be positive");
  }
  if (!std::isfinite(plan.clipping_constant)) return bad("adaptive clipping begins at a finite threshold");
  return {};
}

Result<AdaptiveThreshold> adaptive_from(const json::object& object, const std::string& where) {
  const auto quantile = get_double(object, "quantile", where);
  const auto rate = get_double(object, "rate", where);
  const auto noise = get_double(object, "count_noise", where);
  if (!quantile) return quantile.error();
  if (!rate) return rate.error();
  if (!noise) return noise.error();
  return AdaptiveThreshold{.quantile = *quantile, .rate = *rate, .count_noise = *noise};
}

// What a plan holds beside the fields that every plan writes.
Result<void> read_clipping_extras(const json::object& object, const std::string& where, PrivacyPlan& plan) {
  const auto groups =
      value_in(group_names(), string_or(object, "clipping_groups", "all"), "clipping_groups", where);
  if (!groups) return groups.error();
  const auto shares =
      value_in(share_names(), string_or(object, "clipping_shares", "uniform"), "clipping_shares", where);
  if (!shares) return shares.error();
  plan.groups = *groups;
  plan.shares = *shares;
  return {};
}

Result<void> read_adaptive(const json::object& object, const std::string& where, PrivacyPlan& plan) {
  const auto* given = object.if_contains("adaptive");
  if (given == nullptr || given->is_null()) return {};
  if (!given->is_object()) return error(where + ": 'adaptive' must be an object or null");
  const auto adaptive = adaptive_from(given->get_object(), where + ".adaptive");
  if (!adaptive) return adaptive.error();
  plan.adaptive = *adaptive;
  return {};
}

Result<void> read_feature_mean(const json::object& object, const std::string& where, PrivacyPlan& plan) {
  const auto* given = object.if_contains("feature_mean");
  if (given == nullptr || given->is_null()) return {};
  if (!given->is_object()) return error(where + ": 'feature_mean' must be an object or null");
  const auto norm = get_double(given->get_object(), "norm", where + ".feature_mean");
  if (!norm) return norm.error();
  const auto noise = get_double(given->get_object(), "noise", where + ".feature_mean");
  if (!noise) return noise.error();
  plan.feature_mean = FeatureMean{.norm = *norm, .noise = *noise};
  return {};
}

Result<void> check_feature_mean(const PrivacyPlan& plan) {
  if (!plan.feature_mean) return {};
  const auto& [norm, noise] = *plan.feature_mean;
  if (!(norm > 0) || !std::isfinite(norm)) return bad("the norm of feature_mean must be positive");
  if (plan.is_private && (!(noise > 0) || !std::isfinite(noise))) {
    return bad("a private mean of features needs positive noise");
  }
  return {};
}

Result<void> check_sums(const PrivacyPlan& plan) {
  if (const double rounding = plan.rounding_of_sums(true); rounding > kMostWideRounding) {
    return bad(
        fmt::format("a batch of {} samples is too large to be summed: even in float64 rounding could move "
                    "the sum by {} of "
                    "the sensitivity, and {} at most is allowed for; lower 'batch_size'",
                    short_number(plan.batch_size), short_number(rounding), short_number(kMostWideRounding)));
  }
  return {};
}

}  // namespace

double PrivacyPlan::rounding_of_sums(bool wide) const {
  return sum_rounding(largest_batch(batch_size, static_cast<double>(population)), wide);
}

bool PrivacyPlan::has_wide_sums() const { return is_private && rounding_of_sums(false) > kMostRounding; }

double sensitivity_of(Clipping clipping, double constant) {
  switch (clipping) {
    case Clipping::auto_s:
    case Clipping::auto_v:
      return 1.0;
    case Clipping::abadi:
    case Clipping::adaptive:
      return constant;
    case Clipping::none:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

void PrivacyPlan::drop_clipping() {
  clipping = Clipping::none;
  groups = ClippingGroups::all;
  shares = GroupShares::uniform;
  adaptive.reset();
}

Result<void> PrivacyPlan::check() const {
  if (population < 1) return bad("the population N must be at least 1");
  if (!(batch_size > 0) || !std::isfinite(batch_size)) return bad("the batch size B must be positive");
  if (!(sample_rate > 0 && sample_rate <= 1)) return bad("the sample rate must lie in (0, 1]");
  if (sampler == Sampler::full_batch && sample_rate != 1) {
    return bad("a full batch has sample rate 1");
  }
  if (probe) {
    if (probe->interval < 1) return bad("the probe interval must be at least 1");
    if (probe->points < 1) return bad("a probe needs at least one loss");
    if (!(probe->batch_size > 0)) return bad("the probe batch size must be positive");
    const bool is_laplace = probe->distribution == accounting::Noise::laplace;
    if (is_private && is_laplace && !(probe->separate_batch && probe->sample_rate == 1)) {
      return bad("Laplace noise is for probes on a batch of their own of all records (sample rate 1)");
    }
    if (probe->separate_batch && !(probe->sample_rate > 0 && probe->sample_rate <= 1)) {
      return bad("the probe sample rate must lie in (0, 1]");
    }
  }
  if (auto checked = check_clipping(*this); !checked) return checked;
  if (auto checked = check_feature_mean(*this); !checked) return checked;
  if (!is_private) {
    if (gradient_noise != 0 || (probe && probe->noise != 0) || (adaptive && adaptive->count_noise != 0) ||
        (feature_mean && feature_mean->noise != 0)) {
      return bad("a non-private run has no noise");
    }
    return {};
  }
  if (sampler == Sampler::shuffle) {
    return bad("shuffled batches cannot be priced; use sampler poisson or full-batch, or a non-private row");
  }
  if (clipping == Clipping::none) return bad("a private run clips (auto-s, auto-v, abadi or adaptive)");
  if (!std::isfinite(sensitivity())) return bad("a private run has a finite clipping threshold");
  if (auto checked = check_sums(*this); !checked) return checked;
  if (!(gradient_noise > 0) || !std::isfinite(gradient_noise)) {
    return bad("a private run needs positive gradient noise");
  }
  if (probe && (!(probe->noise > 0) || !std::isfinite(probe->noise))) {
    return bad("a private probe needs positive loss noise");
  }
  if (adaptive && (!(adaptive->count_noise > 0) || !std::isfinite(adaptive->count_noise))) {
    return bad("a private clip count needs positive noise");
  }
  return {};
}

json::object PrivacyPlan::to_json() const {
  json::object object{{"is_private", is_private},
                      {"sampler", name_of(sampler)},
                      {"population", population},
                      {"batch_size", batch_size},
                      {"sample_rate", sample_rate},
                      {"clipping", name_in(clipping_names(), clipping)},
                      {"clipping_constant", clipping_constant},
                      {"gradient_noise", gradient_noise},
                      {"probe", nullptr},
                      {"accounting", accounting}};
  if (probe) {
    object["probe"] = json::object{{"separate_batch", probe->separate_batch},
                                   {"sample_rate", probe->sample_rate},
                                   {"batch_size", probe->batch_size},
                                   {"noise", probe->noise},
                                   {"points", probe->points},
                                   {"interval", probe->interval}};
    if (probe->distribution == accounting::Noise::laplace) {
      object["probe"].as_object()["distribution"] = "laplace";
    }
  }
  // Only where not the default: the ids of trials without them stay what they were.
  if (groups != ClippingGroups::all) object["clipping_groups"] = name_in(group_names(), groups);
  if (shares != GroupShares::uniform) object["clipping_shares"] = name_in(share_names(), shares);
  if (feature_mean) {
    object["feature_mean"] = json::object{{"norm", feature_mean->norm}, {"noise", feature_mean->noise}};
  }
  if (adaptive) {
    object["adaptive"] = json::object{
        {"quantile", adaptive->quantile}, {"rate", adaptive->rate}, {"count_noise", adaptive->count_noise}};
  }
  return object;
}

Result<PrivacyPlan> PrivacyPlan::from_json(const json::object& object, const std::string& where) {
  PrivacyPlan plan;
  const auto is_private = get_bool(object, "is_private", where);
  const auto sampler_name = get_string(object, "sampler", where);
  const auto population = get_int(object, "population", where);
  const auto batch_size = get_double(object, "batch_size", where);
  const auto sample_rate = get_double(object, "sample_rate", where);
  const auto clipping_name = get_string(object, "clipping", where);
  const auto constant = get_double(object, "clipping_constant", where);
  const auto noise = get_double(object, "gradient_noise", where);
  const auto label = get_string(object, "accounting", where);
  if (!is_private) return is_private.error();
  if (!sampler_name) return sampler_name.error();
  if (!population) return population.error();
  if (!batch_size) return batch_size.error();
  if (!sample_rate) return sample_rate.error();
  if (!clipping_name) return clipping_name.error();
  if (!constant) return constant.error();
  if (!noise) return noise.error();
  if (!label) return label.error();
  const auto sampler = sampler_from(*sampler_name, where);
  if (!sampler) return sampler.error();
  const auto clipping = value_in(clipping_names(), *clipping_name, "clipping", where);
  if (!clipping) return clipping.error();
  plan.is_private = *is_private;
  plan.sampler = *sampler;
  plan.population = *population;
  plan.batch_size = *batch_size;
  plan.sample_rate = *sample_rate;
  plan.clipping = *clipping;
  plan.clipping_constant = *constant;
  plan.gradient_noise = *noise;
  plan.accounting = *label;
  for (const auto& read : {read_clipping_extras, read_adaptive, read_feature_mean}) {
    if (auto done = read(object, where, plan); !done) return done.error();
  }
  if (const auto* given = object.if_contains("probe"); given != nullptr && !given->is_null()) {
    if (!given->is_object()) return error(where + ": 'probe' must be an object or null");
    const auto& inner = given->get_object();
    const std::string inner_where = where + ".probe";
    const auto separate = get_bool(inner, "separate_batch", inner_where);
    const auto rate = get_double(inner, "sample_rate", inner_where);
    const auto size = get_double(inner, "batch_size", inner_where);
    const auto loss_noise = get_double(inner, "noise", inner_where);
    const auto points = get_int(inner, "points", inner_where);
    const auto interval = get_int(inner, "interval", inner_where);
    const auto distribution = value_in(distribution_names(), string_or(inner, "distribution", "gaussian"),
                                       "distribution", inner_where);
    if (!separate) return separate.error();
    if (!rate) return rate.error();
    if (!size) return size.error();
    if (!loss_noise) return loss_noise.error();
    if (!points) return points.error();
    if (!interval) return interval.error();
    if (!distribution) return distribution.error();
    plan.probe = ProbePlan{.separate_batch = *separate,
                           .sample_rate = *rate,
                           .batch_size = *size,
                           .noise = *loss_noise,
                           .distribution = *distribution,
                           .points = static_cast<int>(*points),
                           .interval = *interval};
  }
  if (auto checked = plan.check(); !checked) return in_context(where, checked.error());
  return plan;
}

}  // namespace hyfreedp::trial
