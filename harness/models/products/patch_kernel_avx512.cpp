#include "harness/models/products/patch_kernel_body.h"

namespace hyfreedp::models {

extern const PatchKernel<float> kFloatPatches_avx512 = kernel_of<float, 64, 32>("avx512");
extern const PatchKernel<double> kDoublePatches_avx512 = kernel_of<double, 64, 32>("avx512");

}  // namespace hyfreedp::models
