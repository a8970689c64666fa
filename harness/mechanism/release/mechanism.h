// The one door through which a value leaves the private data. It holds the run's key and its list
// of releases, draws the batches, and makes each release:
//   1. it refuses what the list does not have for this step, and a second release of one purpose
//   2. it books the step durably in the journal
//   3. it adds noise, divides by the public divisor, and takes a digest
//   4. it shows the release to the observer, if there is one
// end_step() refuses a step at which something of the list was not released, compares the step's
// hash with the one that an earlier run of the attempt recorded, and records the step.
//
// Guarantee. Let every sum that is passed be over the records of the batch that rows() gave for
// the purpose, and let one record change it by at most the sensitivity that is passed with it. Then
// what the mechanism returns has the privacy of the events that the journal charges, for
// neighbouring data sets that differ by one record. Everything else that is computed from the data
// without noise (sums, losses, norms, rows) is confidential.
//
// A refusal throws std::logic_error, because the program is wrong then; the run fails as
// "internal". An error that is returned means that the journal could not be written.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/mechanism/bookings.h"
#include "harness/mechanism/release/noised_vector.h"
#include "harness/mechanism/release/observer.h"
#include "harness/mechanism/releases.h"

namespace hyfreedp::mechanism {

// A sum over a batch's records that one record can change by at most `sensitivity`.
struct BoundedSum {
  double sum = 0;
  double sensitivity = 0;
  // The value is a difference from the first one: it is released as the first released value plus
  // this noised mean.
  bool from_first = false;
};

// The same of a vector: one record can change it by at most `sensitivity` in L2 norm.
struct BoundedVector {
  torch::Tensor& sum;  // [d], contiguous; overwritten
  double sensitivity = 0;
  torch::Tensor& released;  // [d]: `sum` itself or, for a float64 sum, a vector of another type
};

class Mechanism {
 public:
  // `config` and `journal` must outlive the object; the key is that of the journal's attempt.
  Mechanism(const trial::TrialConfig& config, const random::Key& key, Bookings& journal,
            Observer* observer = nullptr);
  virtual ~Mechanism() = default;
  Mechanism(const Mechanism&) = delete;
  Mechanism& operator=(const Mechanism&) = delete;

  // Switches to the journal's present attempt, under its key, with step `step`. If that is not 0,
  // what is released before step 0 was released by an earlier attempt or run.
  void begin_attempt(const random::Key& key, std::int64_t step = 0);

  // The release of that purpose. Throws std::logic_error if the list has none.
  const Release& release_of(const std::string& purpose) const;

  // The rows of the purpose's batch at `step`.
  virtual Rows rows(const std::string& purpose, std::int64_t step) const;

  // Releases one vector, and returns the digest of it; `then` as in noised_vector.h.
  virtual Result<VectorDigest> release(const std::string& purpose, std::int64_t step,
                                       const BoundedVector& vector, const Origin& origin,
                                       const PieceWork& then = {});
  // Releases values, as many as the list says. Returns them, in order.
  virtual Result<std::vector<double>> release(const std::string& purpose, std::int64_t step,
                                              std::span<const BoundedSum> sums, const Origin& origin = {});

  // Ends `step`: records it with `scalars`, which are functions of released values. `diverged`: the
  // run ends here, and need not have made all of the step's releases. Returns false, and records
  // nothing, if an earlier run of this attempt released something else at this step.
  virtual Result<bool> end_step(std::int64_t step, const std::map<std::string, double>& scalars,
                                bool diverged = false);

  // Calls `use` with the stream's key and the step's address, for draws that are no noise and
  // choose no records, such as augmentation. Throws std::logic_error for another purpose.
  void draw(random::Purpose purpose, std::int64_t step,
            const std::function<void(const random::Key&, const random::Address&)>& use) const;

 protected:
  // Sets the present step, for tests, which begin anywhere.
  void set_step(std::int64_t step) { next_step_ = step; }
  // Tests override these to make a release's noise faulty: its scale, address or divisor.
  virtual double scale_of(const Release& release, double sensitivity) const;
  virtual random::Address address_of(const Release& release, std::int64_t step) const;
  virtual double divisor_of(const Release& release, const Origin& origin) const;

 private:
  // Checks 1 and 2 above.
  Result<const Release*> admit(const std::string& purpose, std::int64_t step);
  void check_sensitivity(const Release& release, double sensitivity) const;

  const trial::TrialConfig& config_;
  random::Key key_;
  Bookings& journal_;
  Observer* observer_;
  std::vector<Release> releases_;
  std::set<std::string> after_;   // purposes released after the last step
  std::set<std::string> before_;  // purposes released before step 0
  std::int64_t next_step_ = 0;    // the present step; the number of steps after the last
  std::set<std::string> made_;    // purposes released at the present step
  std::string before_hashes_;     // of what was released before step 0; part of step 0's hash
  VectorDigest digest_;           // of the present step's vector
  std::vector<double> values_;    // released at the present step, in order
};

}  // namespace hyfreedp::mechanism
