// The `regress` block of a spec: how `hyfreedp regress` compares its nights
// (results/regress/regress.h).
#pragma once

#include "harness/base/describe.h"

namespace hyfreedp::spec {

enum class FalseAlarmControl { holm, fdr };
BOOST_DESCRIBE_ENUM(FalseAlarmControl, holm, fdr)

struct Margins {
  double accuracy = 0.5;   // percentage points
  double loss = 0.05;      // nats
  double norm = 1.05;      // ratio
  double noise = 1.02;     // ratio of standard deviations
  double epsilon = 0.001;  // relative
  double speed = 1.1;      // ratio
  double memory = 1.1;     // ratio

  static constexpr bool kMayLack = true;
};
BOOST_DESCRIBE_STRUCT(Margins, (), (accuracy, loss, norm, noise, epsilon, speed, memory))

struct Regress {
  Margins margin;
  double false_alarms_per_night = 0.05;
  FalseAlarmControl control = FalseAlarmControl::holm;
  double equivalence_level = 0.05;
  double power = 0.8;
  bool hashes = true;

  static constexpr bool kMayLack = true;
};
BOOST_DESCRIBE_STRUCT(Regress, (),
                      (margin, false_alarms_per_night, control, equivalence_level, power, hashes))

}  // namespace hyfreedp::spec
