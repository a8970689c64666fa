#include "harness/models/products/patch_kernel_body.h"

namespace hyfreedp::models {

extern const PatchKernel<float> kFloatPatches_baseline = kernel_of<float, 16, 16>("baseline");
extern const PatchKernel<double> kDoublePatches_baseline = kernel_of<double, 16, 16>("baseline");

}  // namespace hyfreedp::models
