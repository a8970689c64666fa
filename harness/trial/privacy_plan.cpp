#include "harness/trial/privacy_plan.h"

#include <cmath>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/trial/sum_rounding.h"

namespace hyfreedp::trial {
namespace {

Error bad(const std::string& what) { return error("privacy plan: " + what); }

// Noise is positive in a private plan, and 0 in any other.
Result<void> check_noise(const PrivacyPlan& plan, double noise, const std::string& what) {
  if (!plan.is_private) {
    if (noise != 0) return bad("a non-private run has no noise");
  } else if (!(noise > 0) || !std::isfinite(noise)) {
    return bad("a private run needs positive " + what + " noise");
  }
  return {};
}

Result<void> check_clipping(const PrivacyPlan& plan) {
  if (auto checked = plan.clipping.check(); !checked) return bad(checked.error().message);
  return plan.clipping.adaptive ? check_noise(plan, plan.clipping.adaptive->count_noise, "clip count")
                                : Result<void>();
}

Result<void> check_released(const PrivacyPlan& plan) {
  if (plan.released == Released::gradient) return {};
  if (plan.clipping.rule != ClippingRule::abadi && plan.clipping.rule != ClippingRule::none) {
    return bad(
        "the changes of losses that optimizer dp-zo follows are clipped to [-C, C]: give it clipping abadi");
  }
  if (plan.clipping.groups != ClippingGroups::all) {
    return bad("the change of a loss, which optimizer dp-zo follows, has no layers to be clipped by");
  }
  if (plan.probe) return bad("learning-rate probes are for gradients, and optimizer dp-zo computes none");
  return {};
}

// Calls `use(name of the release, name of the number, the number)` for each number of each release
// that is asked for.
template <class Asked, class Use>
void for_numbers(Asked& asked, const Use& use) {
  boost::mp11::mp_for_each<description::Members<AskedReleases>>([&](auto release) {
    auto& there = asked.*decltype(release)::pointer;
    if (!there) return;
    using Struct = std::remove_cvref_t<decltype(*there)>;
    boost::mp11::mp_for_each<description::Members<Struct>>([&](auto member) {
      use(std::string(release.name), std::string(member.name), (*there).*decltype(member)::pointer);
    });
  });
}

Result<void> check_asked(const PrivacyPlan& plan) {
  Result<void> checked;
  for_numbers(plan.asked, [&](const std::string& release, const std::string& member, double value) {
    if (!checked) return;
    if (member == "noise") {
      checked = check_noise(plan, value, release);
    } else if (!(value > 0) || !std::isfinite(value)) {
      checked = bad(fmt::format("the {} of {} must be positive", member, release));
    }
  });
  return checked;
}

Result<void> check_probe(const PrivacyPlan& plan) {
  if (!plan.probe) return {};
  const auto& probe = *plan.probe;
  if (probe.interval < 1) return bad("the probe interval must be at least 1");
  if (probe.points < 1) return bad("a probe needs at least one loss");
  if (!(probe.batch_size > 0)) return bad("the probe batch size must be positive");
  const bool is_laplace = probe.distribution == accounting::Noise::laplace;
  if (plan.is_private && is_laplace && !(probe.separate_batch && probe.sample_rate == 1)) {
    return bad("Laplace noise is for probes on a batch of their own of all records (sample rate 1)");
  }
  if (probe.separate_batch && !(probe.sample_rate > 0 && probe.sample_rate <= 1)) {
    return bad("the probe sample rate must lie in (0, 1]");
  }
  return check_noise(plan, probe.noise, "loss");
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

bool PrivacyPlan::has_wide_sums() const {
  return is_private && released == Released::gradient && rounding_of_sums(false) > kMostRounding;
}

void PrivacyPlan::drop_clipping() { clipping = {.rule = ClippingRule::none, .constant = clipping.constant}; }

Result<void> PrivacyPlan::check() const {
  if (population < 1) return bad("the population N must be at least 1");
  if (!(batch_size > 0) || !std::isfinite(batch_size)) return bad("the batch size B must be positive");
  if (!(sample_rate > 0 && sample_rate <= 1)) return bad("the sample rate must lie in (0, 1]");
  if (sampler == Sampler::full_batch && sample_rate != 1) {
    return bad("a full batch has sample rate 1");
  }
  if (is_private && sampler == Sampler::shuffle) {
    return bad("shuffled batches cannot be priced; use sampler poisson or full-batch, or a non-private row");
  }
  for (const auto& check : {check_clipping, check_released, check_probe, check_asked}) {
    if (auto checked = check(*this); !checked) return checked;
  }
  if (auto checked = check_noise(*this, gradient_noise, "gradient"); !checked || !is_private) return checked;
  if (clipping.rule == ClippingRule::none)
    return bad("a private run clips (auto-s, auto-v, abadi or adaptive)");
  if (!std::isfinite(clipping.sensitivity())) return bad("a private run has a finite clipping threshold");
  return check_sums(*this);
}

void PrivacyPlan::drop_noise() {
  gradient_noise = 0;
  if (probe) probe->noise = 0;
  if (clipping.adaptive) clipping.adaptive->count_noise = 0;
  for_numbers(asked, [](const std::string&, const std::string& member, double& value) {
    if (member == "noise") value = 0;
  });
}

json::object PrivacyPlan::to_json() const {
  json::object object;
  description::add_members(*this, object);
  return object;
}

Result<PrivacyPlan> PrivacyPlan::from_json(const json::value& value, const std::string& where) {
  if (!value.is_object()) return description::wrong_type(where, "an object", value);
  PrivacyPlan plan;
  if (auto read = description::read_members(value.get_object(), where, plan); !read) return read.error();
  if (auto checked = plan.check(); !checked) return in_context(where, checked.error());
  return plan;
}

}  // namespace hyfreedp::trial
