// Describes what was released about the data, in the form that the accountants price.
//
// An event describes what was *done*. Any accountant may price it and must refuse what it cannot
// price. Releases made on one sampled batch share that batch's sampling coin, so they are folded
// into one Gaussian *before* subsampling amplification is applied: 1/sigma_eff^2 = sum_j
// count_j / sigma_j^2 (this room's README explains why). The types below cannot express the error
// of composing them as if each had its own batch.
//
//   noise_multiplier  noise standard deviation (Laplace: scale) divided by the add/remove
//                     sensitivity of the release
//   sample_rate       Poisson inclusion probability; 1 is the full batch
//   split             which of the disjoint parts of the data was touched. A record is in exactly
//                     one split, so a guarantee is the largest over splits (parallel composition).
//                     Within one split everything composes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "harness/base/describe.h"
#include "harness/base/json.h"

namespace hyfreedp::accounting {

// The split that training touches, in events files and in the ledger alike.
inline constexpr const char* kDefaultSplit = "private_train";
// Larger noise multipliers are refused: such a release carries no information, and its tails
// underflow.
inline constexpr double kMaxNoiseMultiplier = 1e9;

enum class Neighbouring { add_remove, replace_one };
enum class Noise { gaussian, laplace };
BOOST_DESCRIBE_ENUM(Noise, gaussian, laplace)

struct Release {
  double noise_multiplier = 0;
  std::int64_t count = 1;  // that many independent releases on the same batch
  Noise noise = Noise::gaussian;
  std::string purpose = {};  // "gradient", "probe", "clip-count", "score", ...; not priced
};

struct Event;

// `count` independently sampled batches, each with all of `releases` computed on it.
struct Batch {
  double sample_rate = 1;
  std::vector<Release> releases;
  std::int64_t count = 1;
};

// The events of `base`, in sequence, `count` times.
struct Repeat {
  std::vector<Event> base;
  std::int64_t count = 1;
};

// Private selection: the base events run a random number of times, only the best run's output is
// released. Truncated negative binomial with shape eta (1 geometric, 0 logarithmic) or Poisson
// number of runs, mean `mean` (Papernot & Steinke 2022, Theorems 2 and 6); liu_talwar is
// Liu & Talwar 2019, Theorem 3.4.
struct Selection {
  enum class Distribution { truncated_negative_binomial, poisson, liu_talwar };
  BOOST_DESCRIBE_NESTED_ENUM(Distribution, truncated_negative_binomial, poisson, liu_talwar)
  Distribution distribution = Distribution::truncated_negative_binomial;
  double eta = 1;
  double mean = 1;
  std::vector<Event> base;
};

// Something no accountant can price (shuffled batches, an unknown sampler); `reason` is a sentence.
struct NotAccountable {
  std::string reason;
};

struct Event {
  std::variant<Batch, Repeat, Selection, NotAccountable> what;
  std::string split = {};  // empty: kDefaultSplit
};

struct Events {
  Neighbouring neighbouring = Neighbouring::add_remove;
  std::vector<Event> events;
};

// Constructors of the two most frequent events.
Event poisson_gaussian(double sample_rate, double noise_multiplier, std::int64_t count);
Event batch(double sample_rate, std::vector<Release> releases, std::int64_t count);

// Reading and writing the events file, a JSON object {"neighbouring": "add-remove" | "replace-one",
// "events": [EVENT, ...]}. An EVENT is one of:
//   {"type": "poisson-gaussian", "sample_rate": q, "noise_multiplier": s, "count": T}
//   {"type": "gaussian", "noise_multiplier": s, "count": T}
//   {"type": "laplace", "sample_rate"?: q, "noise_multiplier": s, "count": T}
//   {"type": "batch", "sample_rate": q, "releases": [{"noise_multiplier": s}, ...], "count": n}
//   {"type": "repeat", "base": [EVENT, ...], "count": n}
//   {"type": "selection", "distribution": D, "eta": x, "mean": m, "base": [EVENT, ...]}
//   {"type": "not-accountable", "reason": "..."}
// D is geometric, logarithmic, truncated-negative-binomial, poisson or liu-talwar. `eta` belongs to
// truncated-negative-binomial alone; `gamma` may stand in place of `mean` for it, geometric and
// logarithmic. Each event may have a "split" of the characters a-z, 0-9, _ and -. Every number is
// checked against its range; an unknown type or field is an error that begins with `where`.
Result<Events> events_from_json(const json::value& value, const std::string& where);
json::value events_to_json(const Events& events);
json::value event_to_json(const Event& event);

}  // namespace hyfreedp::accounting
