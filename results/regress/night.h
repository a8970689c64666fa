// Reads a Night (regress.h) from a store: of each row's reported runs, the values that are
// compared.
//
// It reads released and test values only, so a comparison is no more confidential than the table.
// Norms and residuals are in the steps' scalars if the spec asked for them (evaluate:
// released_norms, noise_residual).
#pragma once

#include "results/regress/regress.h"
#include "results/store/store.h"

namespace hyfreedp::results {

Result<Night> read_night(const Store& store, const std::string& spec);

}  // namespace hyfreedp::results
