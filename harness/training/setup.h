// What a run works with, built and checked against its config before step 0.
#pragma once

#include <memory>
#include <optional>

#include "datasets/dataset.h"
#include "harness/models/model.h"
#include "harness/training/batch_reader.h"
#include "harness/training/gradient.h"
#include "harness/trial/trial_config.h"
#include "optimizers/learning_rate.h"
#include "optimizers/optimizer.h"

namespace hyfreedp::training {

struct SetupFailure {
  std::string kind;  // as in trial::Finish
  std::string message;
};

struct Setup {
  torch::TensorOptions options;  // device and type
  models::ModelInput input;
  models::Network network;
  std::unique_ptr<optimizers::Optimizer> optimizer;
  std::unique_ptr<optimizers::LearningRateController> controller;
  ClippingRule clipping;
  // of the clipped sums (harness/trial/sum_rounding.h)
  torch::ScalarType sum_type = torch::kFloat32;
  std::optional<Augmentation> augmentation;  // of the training split
  models::Loss loss = models::Loss::cross_entropy;
  BatchReader train;
  BatchReader validation;
  BatchReader test;
};

// The device, or why there is none. "cuda" without a usable GPU is refused and not replaced by the
// CPU.
boost::system::result<torch::Device, SetupFailure> find_device(const std::string& name);

boost::system::result<Setup, SetupFailure> set_up(const trial::TrialConfig& config,
                                                  const datasets::Dataset& dataset);
// Starts optimizer and controller from the initial weights, also after a restart.
boost::system::result<void, SetupFailure> begin_run(const trial::TrialConfig& config, Setup& setup);

}  // namespace hyfreedp::training
