// Runs on a GPU beside the same runs on the CPU: the same batches, the same noise, the same weights
// but for the order of sums. Skips loudly where there is no device.
#include <gtest/gtest.h>

#include "harness/mechanism/batches.h"
#include "harness/mechanism/release/noised_vector.h"
#include "harness/mechanism/release/observer.h"
#include "tests/models/compare.h"
#include "tests/need_device.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace device_test {

using torch::Tensor;

// Of weights after a dozen steps, relative to the largest: sums in float32 are taken in another
// order.
constexpr double kTolerance = 1e-4;

class Recorder : public mechanism::Observer {
 public:
  void vector_released(const mechanism::VectorSeen& seen) override {
    rows.push_back(seen.origin.rows->indices);
  }
  void values_released(const mechanism::ValuesSeen&) override {}
  void run_ended(const Tensor& last) override { weights = last.cpu().clone(); }
  std::vector<std::vector<std::int64_t>> rows;
  Tensor weights;
};

Recorder recorded(trial::TrialConfig config, const std::string& device) {
  config.device = device;
  const TemporaryFolder folder;
  auto journal = mechanism::JournalWriter::open(folder.file("a.jsonl"), config, fingerprint(device)).value();
  const auto dataset = data_of(config);
  Recorder recorder;
  const auto end = train({.config = config,
                          .dataset = dataset,
                          .key = seeded_key(config),
                          .journal = *journal,
                          .observer = &recorder})
                       .value();
  EXPECT_EQ(end.finish.state, trial::TrialState::finished) << end.finish.message;
  return recorder;
}

TEST(DeviceTraining, BatchesAreEqualAndWeightsAreNear) {
  HYFREEDP_NEED_DEVICE();
  for (const auto& config : {small_config(), probing_config(false), probing_config(true), exact_config()}) {
    const auto cpu = recorded(config, "cpu"), gpu = recorded(config, "cuda");
    EXPECT_EQ(cpu.rows, gpu.rows);
    EXPECT_TRUE(models::near_relative(gpu.weights, cpu.weights, kTolerance));
  }
}

TEST(DeviceTraining, ARunIsRepeatedBitForBit) {
  HYFREEDP_NEED_DEVICE();
  for (auto config : {small_config(), probing_config(true)}) {
    config.device = "cuda";
    const TemporaryFolder folder;
    run_once(config, folder.file("a.jsonl"));
    run_once(config, folder.file("b.jsonl"));
    EXPECT_EQ(hashes_of(mechanism::read_journal(folder.file("a.jsonl")).value()),
              hashes_of(mechanism::read_journal(folder.file("b.jsonl")).value()));
  }
}

TEST(DeviceTraining, TheReleasedGradientIsTheCpusBitForBit) {
  HYFREEDP_NEED_DEVICE();
  const auto config = small_config();
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    auto cpu = torch::linspace(-1, 1, 100'003, type);
    auto gpu = cpu.to(torch::kCUDA);
    release_gradient(config.privacy, seeded_key(config), 3, 1, cpu);
    release_gradient(config.privacy, seeded_key(config), 3, 1, gpu);
    EXPECT_TRUE(gpu.cpu().equal(cpu));
  }
}

}  // namespace device_test
}  // namespace hyfreedp::training
