// What was released about the data, as the accountants price it.
//
// An event describes what was *done*; any accountant may price it and must refuse what it cannot price. Releases made
// on one sampled batch share that batch's sampling coin, so they are folded into one Gaussian *before* subsampling is
// credited: 1/sigma_eff^2 = sum_j count_j / sigma_j^2 (notes in this room's README). Composing them as if each had its
// own batch is not expressible here.
//
//   noise_multiplier  noise standard deviation (Laplace: scale) divided by the add/remove sensitivity of the release
//   sample_rate       Poisson inclusion probability; 1 is the full batch
//   split             which disjoint part of the data was touched. One record lives in one split, so a guarantee is
//                     the largest over splits (parallel composition); within one split everything composes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::accounting {

// The split that training touches, in events files and in the ledger alike.
inline constexpr const char* kDefaultSplit = "private_train";
// Beyond this a release says nothing and its tails are no longer doubles.
inline constexpr double kMaxNoiseMultiplier = 1e9;

enum class Neighbouring { add_remove, replace_one };
enum class Noise { gaussian, laplace };

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

// Private selection: the base events run a random number of times, only the best run's output is released.
// Truncated negative binomial with shape eta (1 geometric, 0 logarithmic) or Poisson number of runs, mean `mean`
// (Papernot & Steinke 2022, Theorems 2 and 6); liu_talwar is Liu & Talwar 2019, Theorem 3.4.
struct Selection {
  enum class Distribution { truncated_negative_binomial, poisson, liu_talwar };
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

// Shorthands.
Event poisson_gaussian(double sample_rate, double noise_multiplier, std::int64_t count);
Event batch(double sample_rate, std::vector<Release> releases, std::int64_t count);

// The events file: {"neighbouring":"add-remove","events":[{"type":"poisson-gaussian","sample_rate":q,
// "noise_multiplier":s,"count":T}, {"type":"batch","sample_rate":q,"releases":[{"noise_multiplier":s,"count":3}],
// "count":n}, ...]}; further types gaussian, laplace, repeat {base[], count}, selection {distribution:
// "geometric|logarithmic|truncated-negative-binomial|poisson|liu-talwar", eta, mean, gamma, base[]}, not-accountable
// {reason}; eta belongs to truncated-negative-binomial alone, gamma in place of mean to it, geometric and logarithmic; an optional "split" on each, of a-z, 0-9, _ and -. Every number is range-checked; an unknown type or field is an error.
Result<Events> events_from_json(const json::value& value, const std::string& where);
json::value events_to_json(const Events& events);
json::value event_to_json(const Event& event);
Result<Event> event_from_json(const json::value& value, const std::string& where);

}  // namespace hyfreedp::accounting
