#include "harness/models/products/patch_kernel_body.h"

namespace hyfreedp::models {

extern const PatchKernel<float> kFloatPatches_avx2 = kernel_of<float, 32, 16>("avx2");
extern const PatchKernel<double> kDoublePatches_avx2 = kernel_of<double, 32, 16>("avx2");

}  // namespace hyfreedp::models
