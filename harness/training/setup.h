// Builds the objects that a run uses, and checks them against its config, before step 0.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "datasets/dataset.h"
#include "harness/models/model.h"
#include "harness/training/batch_reader.h"
#include "harness/training/gradient.h"
#include "harness/training/labels.h"
#include "harness/training/written_texts.h"
#include "harness/trial/trial_config.h"
#include "optimizers/learning_rate.h"
#include "optimizers/optimizer.h"
#include "optimizers/options.h"

namespace hyfreedp::training {

// The reason why a run cannot start.
struct SetupFailure {
  std::string kind;  // as in trial::Finish
  std::string message;
};

struct Setup {
  torch::TensorOptions options;  // device and type
  models::ModelInput input;
  datasets::Sizes sizes;  // the public ones of the dataset
  models::Network network;
  std::unique_ptr<optimizers::Optimizer> optimizer;
  std::unique_ptr<optimizers::LearningRateController> controller;
  RoundedClipping clipping;
  // the type of the clipped sums (harness/trial/sum_rounding.h)
  torch::ScalarType sum_type = torch::kFloat32;
  std::optional<Augmentation> augmentation;                  // for the training split
  std::optional<optimizers::DpZoOptions> zeroth_order = {};  // of a run without gradients
  LabelRule labels;
  BatchReader train;
  BatchReader validation;
  BatchReader test;
  std::vector<BatchReader> ood_test;        // one of each of the config's
  std::optional<WrittenTask> written = {};  // where the config asks for texts
};

// The device called `name`, "cpu" or "cuda". Fails if there is no usable GPU; the CPU does not
// replace it.
boost::system::result<torch::Device, SetupFailure> find_device(const std::string& name);

// Builds everything that `config` asks for. `ood_test`: the test splits of config.ood_test, in its
// order. Fails with a typed reason if it does not fit the data or the machine.
boost::system::result<Setup, SetupFailure> set_up(const trial::TrialConfig& config,
                                                  const datasets::Dataset& dataset,
                                                  const std::vector<datasets::SplitData>& ood_test = {});
// Starts optimizer and controller from the initial weights, also after a restart.
boost::system::result<void, SetupFailure> begin_run(const trial::TrialConfig& config, Setup& setup);

}  // namespace hyfreedp::training
