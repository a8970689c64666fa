// A Night (regress.h) from a store: what each row's reported runs released, reduced to what is
// compared.
//
// Released and test values alone, so that a comparison may be shown to whoever may see the table.
// Norms and residuals are in the steps' scalars where the spec asked for them
// (evaluate: released_norms, noise_residual).
#pragma once

#include "results/regress.h"
#include "results/store.h"

namespace hyfreedp::results {

Result<Night> read_night(const Store& store, const std::string& spec);

}  // namespace hyfreedp::results
