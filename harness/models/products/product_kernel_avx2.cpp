#include "harness/models/products/product_kernel_body.h"

namespace hyfreedp::models {

extern const ProductKernel<float> kFloatProduct_avx2 = product_kernel_of<float, 32, 6, 2>("avx2");
extern const ProductKernel<double> kDoubleProduct_avx2 = product_kernel_of<double, 32, 6, 2>("avx2");

}  // namespace hyfreedp::models
