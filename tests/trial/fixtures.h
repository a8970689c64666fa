// Configs for the tests of this room.
#pragma once

#include <filesystem>
#include <string>
#include <unistd.h>

#include "harness/trial/trial_config.h"

namespace hyfreedp::trial {

inline TrialConfig private_config(std::int64_t steps = 250) {
  TrialConfig config;
  config.dataset = {"fashion-mnist", {{"features", "hog"}}};
  config.model = {"linear", {{"init", "zero"}}};
  config.optimizer = {"adamw", {{"weight_decay", 0.01}}};
  config.controller = {"constant", {{"lr", 1e-3}}};
  config.privacy = {.is_private = true,
                    .sampler = Sampler::poisson,
                    .population = 50000,
                    .batch_size = 1000,
                    .sample_rate = 0.02,
                    .gradient_noise = 1.5};
  config.steps = steps;
  config.noise_seed = "test";
  return config;
}

// A folder of its own, gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hyfreedp-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace hyfreedp::trial
