#include "harness/trial/privacy_plan.h"

#include <cmath>
#include <limits>

#include "harness/trial/test_seam.h"

namespace hyfreedp::trial {
namespace {

constexpr const char* kTrainSplit = "private_train";

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

std::string name_of(Clipping clipping) {
  switch (clipping) {
    case Clipping::none:
      return "none";
    case Clipping::auto_s:
      return "auto-s";
    case Clipping::abadi:
      return "abadi";
  }
  return "?";
}

Result<Sampler> sampler_from(const std::string& name, const std::string& where) {
  for (const auto sampler : {Sampler::poisson, Sampler::full_batch, Sampler::shuffle}) {
    if (name_of(sampler) == name) return sampler;
  }
  return error(where + ": unknown sampler '" + name + "' (poisson, full-batch or shuffle)");
}

Result<Clipping> clipping_from(const std::string& name, const std::string& where) {
  for (const auto clipping : {Clipping::none, Clipping::auto_s, Clipping::abadi}) {
    if (name_of(clipping) == name) return clipping;
  }
  return error(where + ": unknown clipping '" + name + "' (auto-s, abadi or none)");
}

accounting::Event on_train(accounting::Event event) {
  event.split = kTrainSplit;
  return event;
}

}  // namespace

double PrivacyPlan::sensitivity() const {
  switch (clipping) {
    case Clipping::auto_s:
      return 1.0;
    case Clipping::abadi:
      return clipping_constant;
    case Clipping::none:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

bool PrivacyPlan::probes_at(std::int64_t step) const {
  return probe.has_value() && step % probe->interval == 0;
}

std::vector<accounting::Event> PrivacyPlan::events(std::int64_t first, std::int64_t count) const {
  if (!is_private || count <= 0) return {};
  std::int64_t probes = 0;
  if (probe) {
    const auto upto = [&](std::int64_t step) { return (step + probe->interval - 1) / probe->interval; };
    probes = upto(first + count) - upto(first);
  }
  std::vector<accounting::Event> events;
  const accounting::Release gradient{.noise_multiplier = gradient_noise, .count = 1, .purpose = "gradient"};
  const bool shared = probe && !probe->separate_batch && !planted(Bug::probes_booked_apart);
  const std::int64_t plain = shared ? count - probes : count;
  if (plain > 0) events.push_back(on_train(accounting::batch(sample_rate, {gradient}, plain)));
  if (probes > 0) {
    const accounting::Release losses{
        .noise_multiplier = probe->noise, .count = probe->points, .purpose = "probe"};
    const double probe_rate = probe->separate_batch ? probe->sample_rate : sample_rate;
    events.push_back(on_train(shared ? accounting::batch(sample_rate, {gradient, losses}, probes)
                                     : accounting::batch(probe_rate, {losses}, probes)));
  }
  return events;
}

Result<void> PrivacyPlan::check() const {
  const auto bad = [](const std::string& what) { return error("privacy plan: " + what); };
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
    if (probe->separate_batch && !(probe->sample_rate > 0 && probe->sample_rate <= 1)) {
      return bad("the probe sample rate must lie in (0, 1]");
    }
  }
  if (!is_private) {
    if (gradient_noise != 0 || (probe && probe->noise != 0)) return bad("a non-private run has no noise");
    return {};
  }
  if (sampler == Sampler::shuffle) {
    return bad("shuffled batches cannot be priced; use sampler poisson or full-batch, or a non-private row");
  }
  if (clipping == Clipping::none) return bad("a private run clips (auto-s or abadi)");
  if (!(clipping_constant > 0)) return bad("the clipping constant must be positive");
  if (!(gradient_noise > 0) || !std::isfinite(gradient_noise)) {
    return bad("a private run needs positive gradient noise");
  }
  if (probe && (!(probe->noise > 0) || !std::isfinite(probe->noise))) {
    return bad("a private probe needs positive loss noise");
  }
  return {};
}

json::object PrivacyPlan::to_json() const {
  json::object object{{"is_private", is_private},
                      {"sampler", name_of(sampler)},
                      {"population", population},
                      {"batch_size", batch_size},
                      {"sample_rate", sample_rate},
                      {"clipping", name_of(clipping)},
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
  const auto clipping = clipping_from(*clipping_name, where);
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
    if (!separate) return separate.error();
    if (!rate) return rate.error();
    if (!size) return size.error();
    if (!loss_noise) return loss_noise.error();
    if (!points) return points.error();
    if (!interval) return interval.error();
    plan.probe = ProbePlan{.separate_batch = *separate,
                           .sample_rate = *rate,
                           .batch_size = *size,
                           .noise = *loss_noise,
                           .points = static_cast<int>(*points),
                           .interval = *interval};
  }
  if (auto checked = plan.check(); !checked) return in_context(where, checked.error());
  return plan;
}

}  // namespace hyfreedp::trial
