#include "harness/models/products/product_kernel_body.h"

namespace hyfreedp::models {

// One vector across: a number of `left` is then read by the product that uses it, without a
// register of its own, which takes AMD's cores two thirds of the time.
extern const ProductKernel<float> kFloatProduct_avx512 = product_kernel_of<float, 64, 24, 1>("avx512");
extern const ProductKernel<double> kDoubleProduct_avx512 = product_kernel_of<double, 64, 24, 1>("avx512");

}  // namespace hyfreedp::models
