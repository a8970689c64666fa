#include "harness/mechanism/batches.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/base/result.h"
#include "harness/mechanism/releases.h"
#include "harness/random/draws.h"

namespace hyfreedp::mechanism {
namespace {

using random::Purpose;

Rows poisson_rows(const char* batch, const random::Key& key, const random::Address& address,
                  std::int64_t population, double rate) {
  auto indices = random::poisson_sample(key, address, population, rate);
  const auto count = static_cast<std::int64_t>(indices.size());
  return {.batch = batch, .count = count, .all = false, .indices = std::move(indices)};
}

Rows shuffled_rows(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                   std::int64_t attempt) {
  const auto size = std::clamp<std::int64_t>(std::llround(plan.batch_size), 1, plan.population);
  const auto per_epoch = plan.population / size;
  const auto order =
      random::permutation(key, address_of(Purpose::shuffling, step / per_epoch, attempt), plan.population);
  const auto begin = order.begin() + step % per_epoch * size;
  return {.batch = kGradientBatch,
          .count = size,
          .all = false,
          .indices = std::vector<std::int64_t>(begin, begin + size)};
}

}  // namespace

random::Address address_of(Purpose purpose, std::int64_t step, std::int64_t attempt) {
  HYFREEDP_CHECK(step >= 0 && step <= std::numeric_limits<std::uint32_t>::max(), "the step has no address");
  HYFREEDP_CHECK(attempt >= 0 && attempt <= std::numeric_limits<std::uint16_t>::max(),
                 "the attempt has no address: its noise would repeat an earlier attempt's");
  return {.step = static_cast<std::uint32_t>(step),
          .purpose = purpose,
          .attempt = static_cast<std::uint16_t>(attempt)};
}

Rows gradient_rows(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                   std::int64_t attempt) {
  switch (plan.sampler) {
    case trial::Sampler::full_batch:
      return {.batch = kGradientBatch, .count = plan.population, .all = true, .indices = {}};
    case trial::Sampler::shuffle:
      HYFREEDP_CHECK(!plan.is_private, "shuffled batches cannot be priced");
      return shuffled_rows(plan, key, step, attempt);
    case trial::Sampler::poisson:
      break;
  }
  return poisson_rows(kGradientBatch, key, address_of(Purpose::sampling, step, attempt), plan.population,
                      plan.sample_rate);
}

Rows probe_rows(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                std::int64_t attempt) {
  HYFREEDP_CHECK(plan.probe && plan.probe->separate_batch, "the plan has no separate probe batch");
  return poisson_rows(kProbeBatch, key, address_of(Purpose::probe_sampling, step, attempt), plan.population,
                      plan.probe->sample_rate);
}

}  // namespace hyfreedp::mechanism
