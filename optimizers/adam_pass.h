// Adam's loop over raw memory; adam.h has the rule. This file includes no LibTorch, so that it can
// be compiled with flags that LibTorch's precompiled header does not have.
#pragma once

#include <cstdint>

#include "optimizers/options.h"

namespace hyfreedp::optimizers {

struct AdamRule : AdamOptions {
  bool decoupled = false;  // AdamW
};

template <class T>
struct AdamVectors {
  const T* gradient;
  const T* parameters;
  T* first;
  T* second;
  T* largest;    // null without amsgrad
  T* direction;  // may be `gradient`
};

// Computes elements [begin, end) of step t >= 1; T is float or double.
template <class T>
void adam_pass(const AdamRule& rule, std::int64_t t, std::int64_t begin, std::int64_t end,
               const AdamVectors<T>& at);

}  // namespace hyfreedp::optimizers
