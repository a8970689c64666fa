// A folder of weights that a test writes, and the model that it gives.
#pragma once

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

#include "harness/base/files.h"
#include "harness/models/facts/facts.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/model.h"
#include "harness/models/weights/weights.h"
#include "tests/models/reference_images.h"

namespace hyfreedp::models {

class WeightsFolder : public testing::Test {
 protected:
  explicit WeightsFolder(std::string model)
      : model_(std::move(model)),
        folder_(std::filesystem::path(testing::TempDir()) / (model_ + "-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~WeightsFolder() override { std::filesystem::remove_all(folder_); }
  void write_config(const std::string& text) const {
    ASSERT_TRUE(write_file_atomically((folder_ / "config.json").string(), text));
  }
  void write_weights(const NamedTensors& file) const {
    ASSERT_TRUE(write_safetensors((folder_ / "model.safetensors").string(), file));
  }
  // With the folder's weights, of square colour images.
  Result<Network> made(json::object given, std::int64_t classes, std::int64_t side = 32,
                       torch::ScalarType type = torch::kFloat64) const {
    given["weights"] = folder_.string();
    const auto options =
        complete_options(resolve_options(find_model(model_).value()->options, given, model_).value());
    if (!options) return options.error();
    return make_model(model_, *options, input_of(side, classes),
                      random::key_from_seed("tests of weights folders"), type);
  }

  const std::string model_;
  const std::filesystem::path folder_;
};

}  // namespace hyfreedp::models
