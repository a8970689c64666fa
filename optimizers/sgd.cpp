#include "optimizers/sgd.h"

#include <ATen/Dispatch.h>

#include "harness/kernels/kernels.h"
#include "optimizers/facts.h"
#include "optimizers/scalar_state.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

class Sgd final : public Optimizer {
 public:
  explicit Sgd(const SgdOptions& options) : options_(options) {}

  void begin(const torch::Tensor& parameters, const Layout&, const RunConstants&) override {
    steps_ = 0;
    if (options_.momentum > 0) buffer_ = torch::zeros_like(parameters);
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    if (const auto work = advance_by_pieces(gradient, parameters, 0, direction)) {
      work(0, gradient.numel());
      return;
    }
    sgd_direction(options_, steps_ == 0, gradient, parameters, buffer_, direction);
    steps_ += 1;
  }

  PieceWork advance_by_pieces(const torch::Tensor& gradient, const torch::Tensor& parameters, double,
                              torch::Tensor& direction) override {
    const torch::Tensor& buffer = buffer_.defined() ? buffer_ : gradient;
    if (can_run_on_device({&gradient, &parameters, &buffer, &direction})) {
      steps_ += 1;
      return on_device(gradient, parameters, direction);
    }
    if (!can_fuse({&gradient, &parameters, &buffer, &direction})) return {};
    steps_ += 1;
    return sgd_pieces(options_, steps_ == 1, gradient, parameters, buffer_, direction);
  }

  torch::Tensor free_direction() const override { return options_.end.free_step ? buffer_ : torch::Tensor(); }

  std::vector<std::pair<std::string, torch::Tensor>> state_tensors() override {
    if (!buffer_.defined()) return {};
    return {{"momentum_buffer", buffer_}};
  }
  std::map<std::string, double> state_scalars() const override { return state_.save(); }
  void restore_scalars(const std::map<std::string, double>& scalars) override { state_.restore(scalars); }
  std::map<std::string, double> scalars() const override {
    if (!buffer_.defined()) return {};
    return {{"buf_norm", std::sqrt(sum_of_squares(buffer_))}};
  }

 private:
  // Step steps_ as one kernel over whole vectors, so there is one piece.
  PieceWork on_device(const torch::Tensor& gradient, const torch::Tensor& parameters,
                      const torch::Tensor& direction) const {
    const kernels::SgdNumbers with{.momentum = options_.momentum,
                                   .intake = 1 - options_.dampening,
                                   .decay = options_.weight_decay,
                                   .first = steps_ == 1,
                                   .nesterov = options_.nesterov};
    const kernels::StepVectors vectors{gradient, parameters, buffer_, {}, {}, direction};
    return [with, vectors](std::int64_t begin, std::int64_t end) {
      HYFREEDP_CHECK(begin == 0 && end == vectors.gradient.numel(), "a kernel takes whole vectors");
      auto all = vectors;
      kernels::sgd_step(with, all);
    };
  }

  const SgdOptions options_;
  torch::Tensor buffer_;  // [d]
  double steps_ = 0;
  ScalarState state_{{"steps", &steps_}};
};

template <class T>
struct Vectors {
  const T* gradient;
  const T* parameters;
  T* buffer;  // null without momentum
  T* direction;
};

template <class T>
void sgd_pass(const SgdOptions& options, bool first, std::int64_t begin, std::int64_t end,
              const Vectors<T>& at) {
  const T momentum = T(options.momentum);
  const T intake = T(1 - options.dampening);
  const T decay = T(options.weight_decay);
#pragma GCC ivdep  // direction and gradient may be one
  for (std::int64_t i = begin; i < end; ++i) {
    const T g = decay == 0 ? at.gradient[i] : at.gradient[i] + decay * at.parameters[i];
    if (at.buffer == nullptr) {
      at.direction[i] = g;
      continue;
    }
    const T b = first ? g : momentum * at.buffer[i] + intake * g;
    at.buffer[i] = b;
    at.direction[i] = options.nesterov ? g + momentum * b : b;
  }
}

}  // namespace

void sgd_direction(const SgdOptions& options, bool first, const torch::Tensor& gradient,
                   const torch::Tensor& parameters, torch::Tensor& buffer, torch::Tensor& direction) {
  direction.copy_(gradient);
  if (options.weight_decay != 0) direction.add_(parameters, options.weight_decay);
  if (!buffer.defined()) return;
  if (first) {
    buffer.copy_(direction);
  } else {
    buffer.mul_(options.momentum).add_(direction, 1 - options.dampening);
  }
  if (options.nesterov) {
    direction.add_(buffer, options.momentum);
  } else {
    direction.copy_(buffer);
  }
}

PieceWork sgd_pieces(const SgdOptions& options, bool first, const torch::Tensor& gradient,
                     const torch::Tensor& parameters, torch::Tensor& buffer, torch::Tensor& direction) {
  return AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "sgd", [&]() -> PieceWork {
    const Vectors<scalar_t> at{gradient.const_data_ptr<scalar_t>(), parameters.const_data_ptr<scalar_t>(),
                               buffer.defined() ? buffer.data_ptr<scalar_t>() : nullptr,
                               direction.data_ptr<scalar_t>()};
    return [options, first, at](std::int64_t begin, std::int64_t end) {
      sgd_pass(options, first, begin, end, at);
    };
  });
}

Result<std::unique_ptr<Optimizer>> make_sgd(const SgdOptions& options) {
  if (auto checked = check_sgd(options); !checked) {
    return error("optimizer 'sgd': " + checked.error().message);
  }
  return std::unique_ptr<Optimizer>(new Sgd(options));
}

}  // namespace hyfreedp::optimizers
