#include "harness/models/products/product_kernel_body.h"

namespace hyfreedp::models {

extern const ProductKernel<float> kFloatProduct_baseline = product_kernel_of<float, 16, 4, 2>("baseline");
extern const ProductKernel<double> kDoubleProduct_baseline = product_kernel_of<double, 16, 4, 2>("baseline");

}  // namespace hyfreedp::models
