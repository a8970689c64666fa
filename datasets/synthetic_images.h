// Generated images in classes, for tests and smoke runs. The dataset needs no file and contains
// nobody's data.
//
// An image of class k is pattern k plus standard normal pixels. Pattern k has independent normals
// in cells of 4 x 4 pixels, scaled to the root mean square `contrast`. Classes are uniform. As in
// photographs, what distinguishes classes is coarse and local, so that patches and small filters
// find it.
//
// Example i of a split depends on the options classes, channels, side and contrast and on i alone.
// It has no seed on purpose.
#pragma once

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> load_synthetic_images(const Facts& facts, const json::object& options);

}  // namespace hyfreedp::datasets
