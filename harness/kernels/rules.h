// The numbers of one optimizer step, in the form that the kernels take.
#pragma once

namespace hyfreedp::kernels {

// As in optimizers/adam.h, with the bias corrections computed beforehand.
struct AdamNumbers {
  double beta1, rest1, beta2, rest2;
  double unbias1, unbias2;  // 1 / (1 - beta1^t), 1 / sqrt(1 - beta2^t)
  double eps;
  double coupled, decoupled;  // weight decay: into the gradient, into the direction
};

struct SgdNumbers {
  double momentum, intake;  // intake = 1 - dampening
  double decay;
  bool first, nesterov;
};

}  // namespace hyfreedp::kernels
