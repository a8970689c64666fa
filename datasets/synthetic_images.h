// Generated images in classes: needs no file, holds nobody's data; for tests and smoke runs.
//
//   image of class k = pattern k + standard normal pixels; pattern k: independent normals in cells of 4 x 4 pixels, scaled to the
//   root mean square `contrast`; classes uniform
// What tells classes apart is coarse and local, as in photographs, so that patches and small filters find it.
//
// Example i of a split depends on the options classes, channels, side and contrast and on i alone. No seed, on purpose.
#pragma once

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> load_synthetic_images(const Facts& facts, const json::object& options);

}  // namespace hyfreedp::datasets
