// Events in the form that accountants price: per split, a list of elementary mechanisms and
// selections.
//
// A batch of Gaussian releases becomes one Gaussian before subsampling is credited: given the
// batch, adaptive Gaussian releases with noise sigma_j are dominated by one Gaussian with
// 1/sigma_eff^2 = sum_j count_j / sigma_j^2 (a sufficient statistic), and subsampling a dominated
// pair preserves dominance. Identical mechanisms are merged into one count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/accounting/event.h"

namespace hyfreedp::accounting {

// `count` independent Poisson samples at `sample_rate`, each released with `noise` of scale
// `noise_multiplier`.
struct Mechanism {
  Noise noise = Noise::gaussian;
  double sample_rate = 1;
  double noise_multiplier = 1;
  std::int64_t count = 1;
};

struct SelectionItem;

// The mechanisms and selections that were used on one split of the data, in any order.
struct SplitContent {
  std::string split;
  std::vector<Mechanism> mechanisms;      // no two equal in noise, rate and scale
  std::vector<SelectionItem> selections;  // not merged
  bool empty() const;
};

struct SelectionItem {
  Selection::Distribution distribution = Selection::Distribution::truncated_negative_binomial;
  double eta = 1;
  double mean = 1;
  std::int64_t count = 1;
  SplitContent base;  // one run, on this split
};

// One entry for each split that was touched, in the order of first appearance. A base event has the
// split of the event that contains it unless it names its own. A selection whose base touches
// several splits is priced on each of them with that split's base events only. Errors: a
// not-accountable event, a number out of range, several releases on one subsampled batch that are
// not all Gaussian, and more than kMaxMechanisms mechanisms.
Result<std::vector<SplitContent>> split_contents(const Events& events);

// The names of the splits; the costliest, given by its index in `contents`, comes first.
std::vector<std::string> split_names(const std::vector<SplitContent>& contents, std::size_t costliest);

inline constexpr std::int64_t kMaxMechanisms = 100'000'000;

}  // namespace hyfreedp::accounting
