#include "optimizers/adam_pass.h"

#include <cmath>

namespace hyfreedp::optimizers {
namespace {

template <class T>
struct Numbers {
  T beta1, rest1, beta2, rest2, unbias1, unbias2, eps, decay;
};

template <class T>
Numbers<T> numbers_of(const AdamRule& rule, std::int64_t t) {
  return {.beta1 = T(rule.beta1),
          .rest1 = T(1 - rule.beta1),
          .beta2 = T(rule.beta2),
          .rest2 = T(1 - rule.beta2),
          .unbias1 = T(1 / (1 - std::pow(rule.beta1, double(t)))),
          .unbias2 = T(1 / std::sqrt(1 - std::pow(rule.beta2, double(t)))),
          .eps = T(rule.eps),
          .decay = T(rule.weight_decay)};
}

enum class Decay { none, coupled, decoupled };

// The variants are template arguments: a loop with a choice in it is not turned into vector code.
template <Decay decay, bool amsgrad, class T>
void loop(const Numbers<T>& n, std::int64_t begin, std::int64_t end, const AdamVectors<T>& at) {
#pragma GCC ivdep  // direction and gradient may be one
  for (std::int64_t i = begin; i < end; ++i) {
    T g = at.gradient[i];
    if constexpr (decay == Decay::coupled) g = g + n.decay * at.parameters[i];
    const T m = n.beta1 * at.first[i] + n.rest1 * g;
    const T v = n.beta2 * at.second[i] + n.rest2 * (g * g);
    at.first[i] = m;
    at.second[i] = v;
    T root = v;
    if constexpr (amsgrad) {
      root = at.largest[i] >= v ? at.largest[i] : v;  // NaN in v is kept, as at::maximum does
      at.largest[i] = root;
    }
    T u = m * n.unbias1 / (std::sqrt(root) * n.unbias2 + n.eps);
    if constexpr (decay == Decay::decoupled) u = u + n.decay * at.parameters[i];
    at.direction[i] = u;
  }
}

template <Decay decay, class T>
void with_decay(const AdamRule& rule, std::int64_t t, std::int64_t begin, std::int64_t end,
                const AdamVectors<T>& at) {
  const auto numbers = numbers_of<T>(rule, t);
  if (at.largest != nullptr) {
    loop<decay, true>(numbers, begin, end, at);
  } else {
    loop<decay, false>(numbers, begin, end, at);
  }
}

}  // namespace

template <class T>
void adam_pass(const AdamRule& rule, std::int64_t t, std::int64_t begin, std::int64_t end,
               const AdamVectors<T>& at) {
  if (rule.weight_decay == 0) return with_decay<Decay::none>(rule, t, begin, end, at);
  if (rule.decoupled) return with_decay<Decay::decoupled>(rule, t, begin, end, at);
  with_decay<Decay::coupled>(rule, t, begin, end, at);
}

template void adam_pass(const AdamRule&, std::int64_t, std::int64_t, std::int64_t, const AdamVectors<float>&);
template void adam_pass(const AdamRule&, std::int64_t, std::int64_t, std::int64_t,
                        const AdamVectors<double>&);

}  // namespace hyfreedp::optimizers
