#include "harness/mechanism/release/mechanism.h"

#include <algorithm>
#include <cmath>

#include "harness/random/draws.h"

namespace hyfreedp::mechanism {
namespace {

using When = Schedule::When;

// Standard normals, or Laplace variables of scale 1.
std::vector<double> standard_noise(const Release& release, const random::Key& key,
                                   const random::Address& address) {
  std::vector<double> z(static_cast<std::size_t>(release.values));
  if (release.noise_multiplier == 0) return z;
  if (release.noise == accounting::Noise::gaussian) {
    random::fill_normals(key, address, 0, z);
  } else {
    random::Draws draws(key, address);
    for (auto& value : z) value = draws.laplace(1);
  }
  return z;
}

}  // namespace

Mechanism::Mechanism(const trial::TrialConfig& config, const random::Key& key, Bookings& journal,
                     Observer* observer)
    : config_(config),
      key_(key),
      journal_(journal),
      observer_(observer),
      releases_(mechanism::releases(config)) {
  for (const auto& release : releases_) {
    const bool is_private = config.privacy.is_private || release.schedule.when == When::after;
    HYFREEDP_CHECK(!is_private || (release.noise_multiplier > 0 && std::isfinite(release.noise_multiplier)),
                   "a private " + release.purpose + " is released with noise");
    HYFREEDP_CHECK(release.values > 0 || release.noise == accounting::Noise::gaussian,
                   "a vector is released with Gaussian noise");
  }
}

void Mechanism::begin_attempt(const random::Key& key, std::int64_t step) {
  key_ = key;
  before_.clear();
  made_.clear();
  after_.clear();
  before_hashes_.clear();
  values_.clear();
  next_step_ = step;
}

const Release& Mechanism::release_of(const std::string& purpose) const {
  const auto* found = find(releases_, purpose);
  HYFREEDP_CHECK(found != nullptr, "the plan has no release '" + purpose + "'");
  return *found;
}

Rows Mechanism::rows(const std::string& purpose, std::int64_t step) const {
  const auto& release = release_of(purpose);
  HYFREEDP_CHECK(release.batch != kWholeSplit, "'" + purpose + "' is of the whole split and of no batch");
  return release.batch == kProbeBatch ? probe_rows(config_.privacy, key_, step, journal_.attempt())
                                      : gradient_rows(config_.privacy, key_, step, journal_.attempt());
}

Result<const Release*> Mechanism::admit(const std::string& purpose, std::int64_t step) {
  const auto& release = release_of(purpose);
  switch (release.schedule.when) {
    case When::before:
      HYFREEDP_CHECK(step == 0 && next_step_ == 0 && before_.insert(purpose).second,
                     "'" + purpose + "' is released once, before step 0");
      break;
    case When::steps:
      HYFREEDP_CHECK(step >= 0 && step < config_.steps && release.schedule.has(step),
                     "the plan has no release '" + purpose + "' at step " + std::to_string(step));
      HYFREEDP_CHECK(step == next_step_, "the present step is " + std::to_string(next_step_) + " and not " +
                                             std::to_string(step));
      HYFREEDP_CHECK(made_.insert(purpose).second,
                     "'" + purpose + "' is released once at step " + std::to_string(step));
      break;
    case When::after:
      HYFREEDP_CHECK(step == config_.steps && next_step_ == config_.steps && after_.insert(purpose).second,
                     "'" + purpose + "' is released once, after the last step");
      if (auto booked = journal_.book_score(release.noise_multiplier, release.split); !booked) {
        return booked.error();
      }
      return &release;
  }
  if (auto booked = journal_.ensure_booked(step); !booked) return booked.error();
  return &release;
}

void Mechanism::check_sensitivity(const Release& release, double sensitivity) const {
  if (release.noise_multiplier == 0) return;
  const bool is_bounded = release.values > 0 ? sensitivity >= 0 : sensitivity > 0;
  HYFREEDP_CHECK(is_bounded && std::isfinite(sensitivity),
                 "'" + release.purpose + "' has no bound of what one record can change");
  HYFREEDP_CHECK(!release.sensitivity || *release.sensitivity == sensitivity,
                 "'" + release.purpose + "' was bounded otherwise than the plan says");
}

double Mechanism::scale_of(const Release& release, double sensitivity) const {
  if (release.noise_multiplier == 0) return 0;
  const double scale = release.noise_multiplier * sensitivity;
  // A loss bound so large that its noise overflows ends the run: nothing finite is released.
  const bool can_overflow = release.values > 0;
  HYFREEDP_CHECK((can_overflow || std::isfinite(scale)) && (scale > 0 || sensitivity == 0),
                 "the noise of '" + release.purpose + "' is too small or too large to be added");
  return scale;
}

random::Address Mechanism::address_of(const Release& release, std::int64_t step) const {
  auto address = mechanism::address_of(release.stream, step, journal_.attempt());
  address.lane = release.lane;
  return address;
}

double Mechanism::divisor_of(const Release& release, const Origin&) const { return release.divisor; }

Result<VectorDigest> Mechanism::release(const std::string& purpose, std::int64_t step,
                                        const BoundedVector& vector, const Origin& origin,
                                        const PieceWork& then) {
  const auto admitted = admit(purpose, step);
  if (!admitted) return admitted.error();
  const auto& release = **admitted;
  HYFREEDP_CHECK(release.values == 0, "'" + purpose + "' is no vector");
  check_sensitivity(release, vector.sensitivity);
  const auto digest = release_vector({.key = key_,
                                      .address = address_of(release, step),
                                      .scale = scale_of(release, vector.sensitivity),
                                      .divisor = divisor_of(release, origin)},
                                     vector.sum, vector.released, then);
  if (release.schedule.when == When::before) {
    before_hashes_ += release_hash(digest, {});
  } else {
    digest_ = digest;
  }
  if (observer_ != nullptr) {
    observer_->vector_released(
        {.purpose = purpose, .step = step, .origin = origin, .released = vector.released});
  }
  return digest;
}

Result<std::vector<double>> Mechanism::release(const std::string& purpose, std::int64_t step,
                                               std::span<const BoundedSum> sums, const Origin& origin) {
  const auto admitted = admit(purpose, step);
  if (!admitted) return admitted.error();
  const auto& release = **admitted;
  HYFREEDP_CHECK(release.values > 0, "'" + purpose + "' is a vector");
  HYFREEDP_CHECK(static_cast<std::int64_t>(sums.size()) == release.values,
                 "'" + purpose + "' has another number of values in the plan");
  const auto z = standard_noise(release, key_, address_of(release, step));
  const double divisor = divisor_of(release, origin);
  HYFREEDP_CHECK(!sums.front().from_first, "the first of '" + purpose + "' is no difference from it");
  std::vector<double> released;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    check_sensitivity(release, sums[k].sensitivity);
    const double scale = scale_of(release, sums[k].sensitivity);
    double value = (scale > 0 ? sums[k].sum + scale * z[k] : sums[k].sum) / divisor;
    if (release.offset != 0) value += release.offset;
    released.push_back(sums[k].from_first ? released.front() + value : value);
  }
  if (release.schedule.when == When::steps) values_.insert(values_.end(), released.begin(), released.end());
  if (release.schedule.when == When::before) before_hashes_ += release_hash({}, released);
  if (observer_ != nullptr) {
    observer_->values_released({.purpose = purpose,
                                .step = step,
                                .origin = origin,
                                .sensitivity = sums.front().sensitivity,
                                .released = released});
  }
  return released;
}

Result<bool> Mechanism::end_step(std::int64_t step, const std::map<std::string, double>& scalars,
                                 bool diverged) {
  HYFREEDP_CHECK(step == next_step_, "steps end in their order");
  for (const auto& release : releases_) {
    const bool is_due = release.schedule.has(step) || (release.schedule.when == When::before && step == 0);
    const bool is_made = made_.contains(release.purpose) || before_.contains(release.purpose);
    HYFREEDP_CHECK(diverged || !is_due || is_made,
                   "step " + std::to_string(step) + " ended without its release '" + release.purpose + "'");
  }
  if (step == 0) digest_.bytes += before_hashes_;
  const auto hash = release_hash(digest_, values_);
  auto made = std::exchange(made_, {});
  ++next_step_;
  if (step == 0) made.insert(before_.begin(), before_.end());
  values_.clear();
  if (const auto expected = journal_.expected_hash(step); expected && *expected != hash) return false;
  if (auto written = journal_.step({step, hash, scalars}, made); !written) return written.error();
  return true;
}

void Mechanism::draw(random::Purpose purpose, std::int64_t step,
                     const std::function<void(const random::Key&, const random::Address&)>& use) const {
  HYFREEDP_CHECK(purpose == random::Purpose::augmentation, "these draws belong to a release or a batch");
  use(key_, mechanism::address_of(purpose, step, journal_.attempt()));
}

}  // namespace hyfreedp::mechanism
