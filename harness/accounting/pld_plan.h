// Plans where and how finely a composition is computed: tilt, window and lattice step from saddle
// points.
//
// delta(eps) = 1/(2 pi i) int M(s) e^{-s eps} / (s (s + 1)) ds along Re s = theta > 0,
// M(s) = E_P[e^{s L}]. At the saddle point of the integrand the tilted loss is centred near eps,
// and the leading term of the integral estimates delta. The plan determines the cost and the width
// of the bracket only: every bound holds for any plan.
#pragma once

#include <optional>
#include <vector>

#include "harness/accounting/loss_moments.h"
#include "harness/accounting/loss_pair.h"
#include "harness/accounting/pld.h"

namespace hyfreedp::accounting {

// One mechanism, how often it is applied, and its quadrature nodes for planning.
struct Member {
  LossPair pair;
  double count;
  std::vector<LossNode> nodes = {};
};

// The mechanisms of one split. All full-batch Gaussians are merged into one Gaussian.
std::vector<Member> members_of(const SplitContent& content, Neighbouring neighbouring);
// Places the nodes, without the losses that P exceeds with probability below `tail`.
void place_nodes(std::vector<Member>& members, double tail);

enum class Direction { remove, add };
// The directions that differ: one where every pair is symmetric.
std::vector<Direction> directions_of(const std::vector<Member>& members);

// Cumulant generating function of the composed loss and its derivatives, in one direction.
TiltedLoss composed_tilt(const std::vector<Member>& members, Direction direction, double theta);

// The target of one question: epsilon at delta, or delta at epsilon.
struct Question {
  std::optional<double> delta;
  std::optional<double> epsilon;
};

struct Saddle {
  double theta = 1;
  double epsilon = 0;
  double log_delta = 0;
  TiltedLoss tilt;
};

// The saddle point that answers the question.
Saddle find_saddle(const std::vector<Member>& members, Direction direction, const Question& question);

// True if delta(epsilon) is certainly below e^{log_target} in this direction, by Chernoff's
// inequality at tilts from `theta` on; false says nothing.
bool stays_below(const std::vector<Member>& members, Direction direction, double theta, double epsilon,
                 double log_target);

// The largest lattice step for which connecting the dots raises log delta, as predicted, by at most
// `rise`.
double step_for(const std::vector<Member>& members, Direction direction, double theta, double rise);

// Tilt and extent of the window in which the composition is computed.
struct Extent {
  double theta = 1;
  double up_rate = 1;
  double low = 0;
  double length = 0;
};

// The shortest window from `low` upwards in which the mass that folds in from below
// (e^{-theta length}, see pld.cpp) and from above (Chernoff's inequality at theta + up_rate) each
// stay below e^{log_allowed}. Tilts near the saddle point are tried: a smaller tilt reduces what
// folds in from above, a larger one what folds in from below. `most_loss` limits the distance from
// the saddle point, because the distance amplifies rounding.
Extent extent_for(const std::vector<Member>& members, Direction direction, const Saddle& saddle,
                  double log_allowed, double low, double most_loss);

inline constexpr std::size_t kLargestSize = 1 << 22;

LossWindow window_of(const Extent& extent, double step);

}  // namespace hyfreedp::accounting
