// How per-sample gradients are clipped, as the spec, the plan of a trial and the trainer have it.
//
// Clipping of sample i's gradient g (factors and edge cases: harness/training/clipping.h) and the
// add/remove sensitivity S of the clipped sum, the most by which one sample can change it. Rounding
// is included in S: factors are smaller than these formulas by what it may add
// (harness/trial/sum_rounding.h).
//   auto-s     g / (||g|| + constant)      S = 1   (Bu et al., arXiv:2206.07136)
//   auto-v     g / ||g||                   S = 1   (the same; a zero gradient stays zero)
//   abadi      g min(1, C / ||g||)         S = C   (Abadi et al., arXiv:1607.00133)
//   adaptive   as abadi, at step t with C_t           S = C_t (Andrew et al., arXiv:1905.03871)
//   none       g                           S infinite; non-private rows only
// Per layer (McMahan et al., arXiv:1710.06963; He et al., arXiv:2212.01539) each layer's part g_l
// is clipped by itself to w_l C (abadi) or w_l (auto), with shares w_l = 1 / sqrt(L) (uniform) or
// sqrt(d_l / d) (size): sum_l w_l^2 = 1, so that S of the whole vector is what it is without
// groups.
//
// Adaptive: C_0 is the constant and C_{t+1} = C_t exp(-rate (b_t - quantile)), where b_t is the
// noised fraction of the batch's samples whose norm is at most C_t. Its count is a second release
// of the gradient's batch ("clip-count"), of sensitivity 1/2, priced with it; C_t is a function of
// earlier releases alone (harness/training/adaptive_clipping.h).
#pragma once

#include <array>
#include <optional>

#include "harness/base/describe.h"

namespace hyfreedp::trial {

inline constexpr double kCountSensitivity = 0.5;  // of a clip count, in samples

enum class ClippingRule { none, auto_s, auto_v, abadi, adaptive };
enum class ClippingGroups { all, per_layer };  // what is clipped together
enum class GroupShares { uniform, size };      // how the threshold is shared among layers
BOOST_DESCRIBE_ENUM(ClippingRule, auto_s, auto_v, abadi, adaptive, none)
BOOST_DESCRIBE_ENUM(ClippingGroups, all, per_layer)
BOOST_DESCRIBE_ENUM(GroupShares, uniform, size)

struct AdaptiveThreshold {
  // gamma: the fraction of samples that is to stay below the threshold, in [0, 1]
  double quantile = 0.5;
  double rate = 0.2;  // eta_C: of the geometric update, > 0
  // standard deviation of the noised count over kCountSensitivity; 0 in a non-private plan only
  double count_noise = 0;

  bool operator==(const AdaptiveThreshold&) const = default;
};
BOOST_DESCRIBE_STRUCT(AdaptiveThreshold, (), (quantile, rate, count_noise))

struct Clipping {
  ClippingRule rule = ClippingRule::auto_s;
  double constant = 0.01;  // auto-s: the constant; abadi: C; adaptive: C_0; auto-v, none: unused
  ClippingGroups groups = ClippingGroups::all;
  GroupShares shares = GroupShares::uniform;  // with per_layer
  std::optional<AdaptiveThreshold> adaptive;  // with ClippingRule::adaptive, and only then

  // The add/remove sensitivity of the clipped sum in L2 norm, at C_0 for adaptive clipping;
  // infinite without clipping.
  double sensitivity() const;
  bool has_constant() const { return rule != ClippingRule::none && rule != ClippingRule::auto_v; }
  bool per_layer() const { return groups == ClippingGroups::per_layer; }
  // Checks that the settings fit each other. The noise of an adaptive threshold's count is the
  // plan's to check.
  Result<void> check() const;

  bool operator==(const Clipping&) const = default;
  static constexpr std::array kLeftOut = {"groups", "shares", "adaptive"};
  static constexpr std::array kNames = {
      description::Name{"rule", "clipping"}, description::Name{"constant", "clipping_constant"},
      description::Name{"groups", "clipping_groups"}, description::Name{"shares", "clipping_shares"}};
};
BOOST_DESCRIBE_STRUCT(Clipping, (), (rule, constant, groups, shares, adaptive))

}  // namespace hyfreedp::trial
