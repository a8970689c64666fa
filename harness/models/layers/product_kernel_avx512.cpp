#include "harness/models/layers/product_kernel_body.h"

namespace hyfreedp::models {

extern const ProductKernel<float> kFloatProduct_avx512 = product_kernel_of<float, 64, 24, 1>("avx512");
extern const ProductKernel<double> kDoubleProduct_avx512 = product_kernel_of<double, 64, 24, 1>("avx512");

}  // namespace hyfreedp::models
