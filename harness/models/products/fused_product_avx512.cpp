#include "harness/models/products/product_kernel_body.h"

namespace hyfreedp::models {

extern const ProductKernel<float> kFusedProduct_avx512 = product_kernel_of<float, 64, 24, 1>("fused avx512");

}  // namespace hyfreedp::models
