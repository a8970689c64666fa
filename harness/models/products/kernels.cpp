// The kernels that this processor can run.
#include "harness/base/vector_level.h"
#include "harness/models/products/inner_products.h"
#include "harness/models/products/patch_kernel.h"
#include "harness/models/products/product_kernel.h"

namespace hyfreedp::models {

extern const PatchKernel<float> kFloatPatches_baseline, kFloatPatches_avx2, kFloatPatches_avx512;
extern const PatchKernel<double> kDoublePatches_baseline, kDoublePatches_avx2, kDoublePatches_avx512;
extern const ProductKernel<float> kFloatProduct_baseline, kFloatProduct_avx2, kFloatProduct_avx512;
extern const ProductKernel<double> kDoubleProduct_baseline, kDoubleProduct_avx2, kDoubleProduct_avx512;
extern const ProductKernel<float> kFusedProduct_avx512;
extern const NarrowInnerProducts kNarrowInnerProducts_avx512bf16;

template <>
PatchKernels<float> patch_kernels<float>() {
  return {{&kFloatPatches_baseline, &kFloatPatches_avx2, &kFloatPatches_avx512}, vector_level()};
}

template <>
PatchKernels<double> patch_kernels<double>() {
  return {{&kDoublePatches_baseline, &kDoublePatches_avx2, &kDoublePatches_avx512}, vector_level()};
}

template <>
ProductKernels<float> product_kernels<float>() {
  return {{&kFloatProduct_baseline, &kFloatProduct_avx2, &kFloatProduct_avx512}, vector_level()};
}

template <>
ProductKernels<double> product_kernels<double>() {
  return {{&kDoubleProduct_baseline, &kDoubleProduct_avx2, &kDoubleProduct_avx512}, vector_level()};
}

const ProductKernel<float>* fused_product_kernel() {
  return vector_level() == 3 ? &kFusedProduct_avx512 : nullptr;
}

NarrowInnerProducts narrow_inner_products() {
  static const bool has =
      vector_level() == 3 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512bf16");
  return has ? kNarrowInnerProducts_avx512bf16 : nullptr;
}

}  // namespace hyfreedp::models
