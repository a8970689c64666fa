// Gaussian classes from a fixed random stream, for tests and smoke runs. The dataset needs no file
// and contains nobody's data.
//
//   class k has mean separation * m_k, m_k uniform on the unit sphere; x = mean + standard normal;
//   y uniform
//
// Example i of a split depends on the options classes, features and separation and on i alone, so a
// longer split begins with the shorter one. Means and examples have no seed on purpose, so that
// they are the same everywhere.
#pragma once

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> load_synthetic(const Facts& facts, const json::object& options);

}  // namespace hyfreedp::datasets
