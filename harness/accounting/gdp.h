// Gaussian differential privacy: closed forms.
//
// delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) (Balle & Wang 2018, Theorem 8).
// Composition adds mu^2 (Dong, Roth & Su 2019, Corollary 3.3).
#pragma once

#include <optional>

#include "harness/accounting/accountant.h"
#include "harness/accounting/mechanism.h"

namespace hyfreedp::accounting {

// The mu of a composition of full-batch Gaussian mechanisms; nothing if `content` has anything
// else.
std::optional<double> exact_mu(const SplitContent& content, Neighbouring neighbouring);

}  // namespace hyfreedp::accounting
