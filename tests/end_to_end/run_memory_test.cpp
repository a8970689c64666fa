// What a run is said to need in memory, beside what the worker's process has used.
#include "harness/runner/execute/run_memory.h"

#include <cstdlib>
#include <fmt/format.h>

#include "harness/runner/executors/local_executor.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace run_memory_test {

class RunMemory : public Program {
 protected:
  // Of the first run of a spec with this dataset and model.
  trial::TrialConfig first_run(const std::string& dataset, const std::string& model,
                               const std::string& train = "", const std::string& optimizer = "adamw") {
    const auto path = write("s.yaml", fmt::format("name: s\ntitle: S\nnoise_seed: s\ndataset: {}\nmodel: {}\n"
                                                  "seeds: [0]\nepsilon: [3]\ndelta: 1e-5\n"
                                                  "train: {{optimizer: {}, steps: 2{}}}\n"
                                                  "rows: [{{method: fixed-rate, options: {{lr: 0.01}}}}]\n",
                                                  dataset, model, optimizer, train));
    const auto spec = runner::load_spec(path);
    EXPECT_TRUE(spec) << spec.error().message;
    const auto study = runner::plan(*spec).value().front();
    return study.baseline->next(study.cell, {}).value().front();
  }
  // Bytes, by a worker of its own.
  double peak_of(const trial::TrialConfig& config) {
    const auto journal = (folder_ / ("journal." + config.id())).string();
    runner::LocalExecutor executor({.worker = runner::find_worker().value(), .slots = 1});
    executor.submit(runner::trial_job(config, {.journal = journal, .key = ""}));
    for (int i = 0; i < 600; ++i) {
      for (const auto& update : executor.poll(std::chrono::milliseconds(1000)).value()) {
        if (update.kind != runner::Update::Kind::over) continue;
        EXPECT_FALSE(update.failed) << update.message;
        return update.peak_bytes;
      }
    }
    return 0;
  }
  void expect_foretold(const trial::TrialConfig& config) {
    const double used = peak_of(config);
    const auto told = runner::memory_of(config).value();
    std::cout << fmt::format("used {:.0f} MB, foretold {:.0f} MB\n", used / 1e6, told.host / 1e6);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizer's own memory is a part of what was used";
#endif
    EXPECT_LE(used, told.host);
    EXPECT_LE(told.host, runner::kMostOver * used + runner::kMostBeside);
  }
};

using SlowRunMemory = RunMemory;

TEST_F(SlowRunMemory, OfALinearProbeIsForetold) {
  expect_foretold(
      first_run("{name: synthetic, train: 50000, validation: 1000, test: 5000, features: 716, classes: 10}",
                "linear", ", batch_size: 1000"));
}

TEST_F(SlowRunMemory, OfAnMlpIsForetold) {
  expect_foretold(
      first_run("{name: synthetic, train: 4000, validation: 100, test: 1000, features: 716, classes: 10}",
                "{name: mlp, hidden: [2048, 2048]}", ", batch_size: 1000"));
}

// 5.7 million weights, 23 MB: one vector beside them and no records of a batch.
TEST_F(SlowRunMemory, OfAnMlpWithoutGradientsIsForetoldAndLess) {
  const std::string data =
      "{name: synthetic, train: 4000, validation: 100, test: 1000, features: 716, classes: 10}";
  const std::string model = "{name: mlp, hidden: [2048, 2048]}";
  const std::string clipped = ", batch_size: 1000, clipping: abadi, clipping_constant: 0.01";
  const auto config = first_run(data, model, clipped, "dp-zo");
  EXPECT_EQ(config.privacy.released, trial::Released::loss_change);
  expect_foretold(config);
  const auto with_gradients = runner::memory_of(first_run(data, model, clipped)).value();
  EXPECT_LT(runner::memory_of(config).value().host, with_gradients.host - 5 * 23e6);
}

TEST_F(SlowRunMemory, OfAnEfficientNetAtItsStepIsForetold) {
  expect_foretold(
      first_run("{name: synthetic-images, channels: 3, side: 64, train: 200, validation: 20, test: 40}",
                "efficientnet-lite", ", batch_size: 64"));
}

TEST_F(SlowRunMemory, OfAVitSmallIsForetold) {
  if (std::getenv("HYFREEDP_SLOW") == nullptr) {
    GTEST_SKIP() << "SKIPPED: two steps of the true network take a minute (HYFREEDP_SLOW=1)";
  }
  expect_foretold(
      first_run("{name: synthetic-images, channels: 3, side: 224, train: 64, validation: 16, test: 32}",
                "{name: vit, size: vit_small_patch16_224}", ", batch_size: 16"));
}

const std::string kSentences =
    "{name: synthetic-tokens, train: 200, validation: 20, test: 40, length: 64, vocabulary: 8000}";

// 33 million weights, of which the adapters alone are in float32.
TEST_F(SlowRunMemory, OfAFrozenNetworkInBfloat16IsForetoldAndLess) {
  const std::string model =
      "{name: llama, width: 512, depth: 8, heads: 8, kv_heads: 8, hidden: 1376, trainable: lora}";
  const auto config = first_run(kSentences, model, ", batch_size: 16, precision: bf16");
  expect_foretold(config);
  const auto full = runner::memory_of(first_run(kSentences, model, ", batch_size: 16")).value();
  expect_foretold(first_run(kSentences, model, ", batch_size: 16"));
  EXPECT_LT(runner::memory_of(config).value().host, full.host - 2 * 33e6);
}

// With the sizes of Llama2-7B and OPT-13B: the 80 GB of one GPU.
TEST_F(RunMemory, OfAdaptersOfLargeLanguageModelsFitsOneGpu) {
  const auto device = [&](const std::string& vocabulary, const std::string& model) {
    const auto data = fmt::format(
        "{{name: synthetic-tokens, train: 2000, validation: 20, test: 40, length: 512, vocabulary: {}}}",
        vocabulary);
    auto config = first_run(data, model, ", batch_size: 64, microbatch: 4, precision: bf16, device: cuda");
    return runner::memory_of(config).value().device;
  };
  const auto llama = device("32000", "{name: llama, size: llama2-7b, trainable: lora}");
  const auto opt = device("50272", "{name: opt, size: opt-13b, trainable: lora}");
  EXPECT_GT(llama, 2 * 6.7e9);
  EXPECT_LT(llama, 80e9);
  EXPECT_GT(opt, 2 * 12.8e9);
  EXPECT_LT(opt, 80e9);
  std::cout << fmt::format("Llama2-7B {:.1f} GB, OPT-13B {:.1f} GB\n", llama / 1e9, opt / 1e9);
}

}  // namespace run_memory_test
}  // namespace hyfreedp::end_to_end
