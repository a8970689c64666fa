#include "optimizers/adam_pass.h"

#include <cmath>

namespace hyfreedp::optimizers {

template <class T>
void adam_pass(const AdamRule& rule, std::int64_t t, std::int64_t begin, std::int64_t end,
               const AdamVectors<T>& at) {
  const T beta1 = T(rule.beta1), rest1 = T(1 - rule.beta1);
  const T beta2 = T(rule.beta2), rest2 = T(1 - rule.beta2);
  const T unbias1 = T(1 / (1 - std::pow(rule.beta1, double(t))));
  const T unbias2 = T(1 / std::sqrt(1 - std::pow(rule.beta2, double(t))));
  const T eps = T(rule.eps);
  const T coupled = rule.decoupled ? T(0) : T(rule.weight_decay);
  const T decoupled = rule.decoupled ? T(rule.weight_decay) : T(0);
#pragma GCC ivdep  // direction and gradient may be one
  for (std::int64_t i = begin; i < end; ++i) {
    const T g = coupled == 0 ? at.gradient[i] : at.gradient[i] + coupled * at.parameters[i];
    const T m = beta1 * at.first[i] + rest1 * g;
    const T v = beta2 * at.second[i] + rest2 * (g * g);
    at.first[i] = m;
    at.second[i] = v;
    T root = v;
    if (at.largest != nullptr) {
      root = at.largest[i] >= v ? at.largest[i] : v;  // NaN in v is kept, as at::maximum does
      at.largest[i] = root;
    }
    const T step = m * unbias1 / (std::sqrt(root) * unbias2 + eps);
    at.direction[i] = decoupled == 0 ? step : step + decoupled * at.parameters[i];
  }
}

template void adam_pass(const AdamRule&, std::int64_t, std::int64_t, std::int64_t, const AdamVectors<float>&);
template void adam_pass(const AdamRule&, std::int64_t, std::int64_t, std::int64_t,
                        const AdamVectors<double>&);

}  // namespace hyfreedp::optimizers
