// The memory of a step is bounded by its microbatch, however many samples were drawn.
#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <new>
#include <set>

#include "harness/models/facts/facts.h"
#include "harness/models/model.h"
#include "harness/training/gradient.h"
#include "harness/training/labels.h"
#include "harness/training/zeroth_order.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace memory_test {

// Counts the bytes of living CPU tensors. Each block's size lies before it, so that the block alone
// is what is freed, as LibTorch's convolutions need it.
class CountingAllocator : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const auto padded = (bytes + 2 * kHeader - 1) / kHeader * kHeader;
    auto* block = static_cast<char*>(std::aligned_alloc(kHeader, padded));
    if (block == nullptr) throw std::bad_alloc();
    std::memcpy(block, &bytes, sizeof bytes);
    live_ += static_cast<std::int64_t>(bytes);
    peak_ = std::max(peak_, live_);
    void* data = block + kHeader;
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    std::memcpy(destination, source, bytes);
  }
  // Of what lives above what lives now.
  template <class Work>
  std::int64_t peak_of(const Work& work) {
    const auto before = live_;
    peak_ = live_;
    work();
    return peak_ - before;
  }

 private:
  static constexpr std::size_t kHeader = 64;
  static void release(void* data) {
    if (data == nullptr) return;
    auto* block = static_cast<char*>(data) - kHeader;
    std::size_t bytes = 0;
    std::memcpy(&bytes, block, sizeof bytes);
    live_ -= static_cast<std::int64_t>(bytes);
    std::free(block);
  }

  // What frees a block is told its address alone.
  static inline std::int64_t live_ = 0;
  static inline std::int64_t peak_ = 0;
};

class Counting {
 public:
  Counting() : usual_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(&counter_, 100); }
  ~Counting() { c10::SetCPUAllocator(usual_, 100); }
  CountingAllocator& operator*() { return counter_; }

 private:
  c10::Allocator* usual_;
  CountingAllocator counter_;
};

TEST(Memory, OfAStepDoesNotGrowWithTheBatch) {
  Counting counting;
  {
    const auto key = random::key_from_seed("tests of memory");
    auto network = models::make_model("mlp", model_named("mlp", {{"hidden", json::array{64, 64}}}).options,
                                      {.features = 32, .classes = 10}, key, torch::kFloat32)
                       .value();
    auto sum = torch::zeros({network.dimension()});
    const datasets::SplitData split{torch::randn({20000, 32}), torch::zeros({20000}, torch::kInt64)};
    const auto peak = [&](std::int64_t rows, std::int64_t microbatch) {
      BatchReader reader(split, torch::kFloat32, microbatch);
      Rows drawn{.count = rows, .all = false, .indices = {}};
      for (std::int64_t i = 0; i < rows; ++i) drawn.indices.push_back(i);
      return (*counting).peak_of([&] {
        clipped_gradient_sum(network, models::Loss::cross_entropy, {}, reader, drawn, sum);
        losses_at_weights(network, models::Loss::cross_entropy, reader, drawn);
      });
    };
    const auto small = peak(200, 100);
    constexpr std::int64_t kLoss = 8;  // bytes of a sample that are kept to the end
    EXPECT_LE(peak(20000, 100), small + 2 * kLoss * 20000);
    // The last microbatch's recording would lie beside the next batch.
    EXPECT_EQ(network.activation_records(), 0);
    // What is bounded here grows where nothing bounds it.
    EXPECT_GT(peak(20000, 20000), 50 * small);
  }
}

// Networks at which the numbers of a sample outweigh all else.
struct Measured {
  std::string model;
  json::object options;
  std::string data;
  json::object data_options;
  std::int64_t samples = 8;  // the smaller of the two microbatches
};

json::object images(std::int64_t side, std::int64_t channels = 3) {
  return {{"channels", channels}, {"side", side}};
}

std::vector<Measured> measured() {
  const json::object vit = {{"width", 64}, {"depth", 4}, {"heads", 4}};
  const auto with = [](json::object options, const char* name, const json::value& value) {
    options[name] = value;
    return options;
  };
  const json::object joined = with(vit, "pool", "block-tokens");
  const json::object resnet50 = {{"size", "resnet50"}};
  // So narrow that no layer's own sums outweigh the samples.
  const json::object narrow = {{"widths", json::array{32, 32, 32, 32, 32}}};
  const json::object deep = {{"widths", json::array{16, 16, 16, 16, 16}},
                             {"blocks", json::array{2, 2, 2, 12}},
                             {"block", "bottleneck"}};
  const json::object deep_convnext = {{"widths", json::array{16, 16, 16, 16}},
                                      {"blocks", json::array{1, 2, 2, 12}}};
  const json::object tokens = {{"vocabulary", 300}, {"length", 64}};
  return {{"linear", {}, "synthetic", {{"features", 700}}, 256},
          {"mlp", {{"hidden", json::array{128, 64}}}, "synthetic", {{"features", 700}}, 256},
          {"mlp",
           {{"hidden", json::array{64, 64, 64, 64, 64, 64, 64, 64}}},
           "synthetic",
           {{"features", 64}},
           1024},
          {"cnn", {{"channels", 1}}, "synthetic-images", images(28, 1), 1024},
          {"resnet", {}, "synthetic-images", images(32), 16},
          // Small images: what is kept of its layers to the end outweighs what they gave.
          {"resnet", {{"widths", json::array{64}}, {"blocks", 12}}, "synthetic-images", images(8), 64},
          {"resnet", {{"trainable", "last-block"}}, "synthetic-images", images(32), 16},
          {"wrn-16-4", {{"depth", 10}, {"widen", 2}}, "synthetic-images", images(32)},
          {"wrn-16-4", {{"depth", 40}, {"widen", 1}}, "synthetic-images", images(8), 64},
          {"efficientnet-lite", {}, "synthetic-images", images(64)},
          {"efficientnet-lite", {{"trainable", "bitfit-head"}}, "synthetic-images", images(64)},
          {"efficientnet-lite", {{"trainable", "head"}}, "synthetic-images", images(64), 16},
          {"squeezenet", {}, "synthetic-images", images(64), 64},
          {"squeezenet", {{"trainable", "bitfit-head"}}, "synthetic-images", images(64), 64},
          {"squeezenet", {{"trainable", "head"}}, "synthetic-images", images(64), 16},
          {"resnet-imagenet", {}, "synthetic-images", images(64)},
          {"resnet-imagenet", resnet50, "synthetic-images", images(64)},
          {"resnet-imagenet", {{"size", "resnet20"}}, "synthetic-images", images(32)},
          {"resnet-imagenet",
           {{"size", "resnet20"}, {"trainable", "last-block"}},
           "synthetic-images",
           images(32),
           128},
          {"resnet-imagenet", deep, "synthetic-images", images(64), 32},
          // Most of it is of the stem and its pool.
          {"resnet-imagenet", {{"widths", json::array{64, 4, 4, 4, 4}}}, "synthetic-images", images(64), 32},
          {"resnet-imagenet", {{"trainable", "bitfit-head"}}, "synthetic-images", images(64)},
          {"resnet-imagenet", with(narrow, "trainable", "last-block"), "synthetic-images", images(64), 32},
          {"resnet-imagenet", with(deep, "trainable", "last-block"), "synthetic-images", images(64), 256},
          {"resnet-imagenet", with(resnet50, "trainable", "head"), "synthetic-images", images(64), 16},
          {"convnext", {}, "synthetic-images", images(64)},
          {"convnext", {{"size", "convnext_base"}}, "synthetic-images", images(60), 8},
          // Stages of two places and of one, where a depthwise weight outnumbers what it reads.
          {"convnext", {}, "synthetic-images", images(32), 32},
          {"convnext", {{"trainable_pattern", "conv_dw"}}, "synthetic-images", images(32), 32},
          {"convnext", deep_convnext, "synthetic-images", images(64), 32},
          {"convnext", {{"trainable", "bitfit-head"}}, "synthetic-images", images(64)},
          {"convnext", {{"trainable", "lora-head"}}, "synthetic-images", images(64)},
          {"convnext", {{"trainable", "head"}}, "synthetic-images", images(64), 16},
          {"convnext", with(deep_convnext, "trainable", "last-block"), "synthetic-images", images(64), 128},
          {"vit", vit, "synthetic-images", images(32)},
          {"vit", with(vit, "depth", 14), "synthetic-images", images(32)},
          {"vit", with(vit, "trainable", "bitfit-head"), "synthetic-images", images(32)},
          {"vit", with(vit, "trainable", "lora-head"), "synthetic-images", images(32)},
          {"vit", with(vit, "trainable", "head"), "synthetic-images", images(32)},
          {"vit", with(vit, "trainable", "last-block"), "synthetic-images", images(32)},
          // A view of one token holds all tokens of its block.
          {"vit", with(joined, "trainable", "head"), "synthetic-images", images(32)},
          {"beit", vit, "synthetic-images", images(32)},
          {"beit", with(vit, "trainable", "bitfit-head"), "synthetic-images", images(32)},
          {"beit", with(vit, "trainable", "head"), "synthetic-images", images(32)},
          {"clip", vit, "synthetic-images", images(32)},
          {"clip", with(vit, "trainable", "bitfit-head"), "synthetic-images", images(32)},
          {"clip", with(vit, "trainable", "head"), "synthetic-images", images(32)},
          {"clip", with(with(vit, "pool", "block-quarters"), "trainable", "head"), "synthetic-images",
           images(32)},
          {"eva02", vit, "synthetic-images", images(32)},
          {"eva02", with(vit, "depth", 14), "synthetic-images", images(32)},
          {"eva02", with(vit, "pool", "block-tokens"), "synthetic-images", images(32)},
          {"eva02", with(vit, "trainable", "bitfit-head"), "synthetic-images", images(32)},
          {"eva02", with(vit, "trainable", "lora-head"), "synthetic-images", images(32)},
          {"eva02", with(vit, "trainable", "head"), "synthetic-images", images(32)},
          {"gpt2", {{"width", 64}, {"depth", 3}}, "synthetic-tokens", tokens},
          {"gpt2", {{"width", 64}, {"depth", 12}}, "synthetic-tokens", tokens},
          {"opt", {{"width", 64}, {"depth", 3}}, "synthetic-tokens", tokens},
          {"llama", {{"width", 64}, {"depth", 3}, {"kv_heads", 2}}, "synthetic-tokens", tokens},
          {"bert", {{"width", 64}, {"depth", 3}}, "synthetic-tokens", with(tokens, "classes", 3)},
          {"roberta", {{"width", 64}, {"depth", 3}}, "synthetic-tokens", with(tokens, "classes", 3)},
          {"bert",
           {{"width", 64}, {"depth", 3}, {"trainable", "bitfit-head"}},
           "synthetic-tokens",
           with(tokens, "classes", 3)}};
}

// Bytes that one more sample of a microbatch takes, as tensors are allocated.
struct Computed {
  torch::ScalarType in = torch::kFloat32;
  bool with_checkpoints = false;
};
double bytes_of_a_sample(const Measured& one, CountingAllocator& counter, const Computed& computed = {},
                         torch::Tensor* gradient = nullptr) {
  auto config = small_config(1);
  auto data = one.data_options;
  for (const char* split : {"train", "validation", "test"}) data[split] = 2 * one.samples;
  config.dataset = resolved(datasets::find_dataset(one.data), one.data, data);
  config.model = model_named(one.model, one.options);
  const auto dataset = data_of(config);
  const auto facts = datasets::find_dataset(one.data).value();
  const auto sizes = datasets::sizes(*facts, config.dataset.options);
  auto network = models::make_model(one.model, config.model.options, models::model_input(sizes),
                                    random::key_from_seed("tests of memory"), torch::kFloat32)
                     .value();
  network.set_compute_type(computed.in);
  network.checkpoint_blocks(computed.with_checkpoints);
  const auto& labels = rule_of(sizes.labels);
  auto sum = torch::zeros({network.dimension()});
  const auto peak = [&](std::int64_t rows) {
    BatchReader reader(aligned(labels, dataset.private_train), torch::kFloat32, rows);
    Rows drawn{.count = rows, .all = false, .indices = {}};
    for (std::int64_t i = 0; i < rows; ++i) drawn.indices.push_back(i);
    return counter.peak_of([&] { clipped_gradient_sum(network, labels.loss, {}, reader, drawn, sum); });
  };
  peak(1);  // what is made once
  if (gradient != nullptr) *gradient = sum.clone();
  return static_cast<double>(peak(2 * one.samples) - peak(one.samples)) / static_cast<double>(one.samples);
}

// A step of DP-ZO takes what its forward passes take: nothing is recorded on the way, and beside
// the weights there is one vector of as many numbers, whatever the depth.
TEST(Memory, OfAStepWithoutGradientsIsThatOfForwardPasses) {
  const torch::NoGradGuard no_gradients;
  Counting counting;
  {
    constexpr std::int64_t kWidth = 64, kRows = 512;
    json::array hidden;
    for (int i = 0; i < 12; ++i) hidden.push_back(kWidth);
    const auto key = random::key_from_seed("tests of memory");
    auto network = models::make_model("mlp", model_named("mlp", {{"hidden", hidden}}).options,
                                      {.features = kWidth, .classes = 10}, key, torch::kFloat32)
                       .value();
    const datasets::SplitData split{torch::randn({kRows, kWidth}), torch::zeros({kRows}, torch::kInt64)};
    BatchReader reader(split, torch::kFloat32, kRows);
    const Rows rows{.count = kRows, .all = true, .indices = {}};
    auto vector = torch::zeros({network.dimension()});
    const auto loss = models::Loss::cross_entropy;
    const auto of_losses = [&] { losses_at_weights(network, loss, reader, rows); };
    const auto of_step = [&] {
      const RandomDirection direction(optimizers::Direction::sphere, key, 0, vector);
      losses_beside(network, loss, direction, 1e-3, reader, rows, vector);
      direction.add_to(vector, 1);
    };
    const auto of_gradient = [&] { clipped_gradient_sum(network, loss, {}, reader, rows, vector); };
    of_gradient();
    const auto forward = (*counting).peak_of(of_losses), step = (*counting).peak_of(of_step),
               gradient = (*counting).peak_of(of_gradient);
    std::cout << fmt::format("forward {} KB, step of DP-ZO {} KB, step with gradients {} KB\n",
                             forward / 1024, step / 1024, gradient / 1024);
    // Losses of either side, and squares of a piece of the vector for its norm.
    const auto beside = 4 * 8 * kRows + 2 * 8 * network.dimension();
    EXPECT_LE(step, forward + beside);
    EXPECT_GT(gradient, 3 * step);
  }
}

TEST(Memory, OfEveryRegisteredModelIsMeasured) {
  std::set<std::string> models;
  for (const auto& one : measured()) models.insert(one.model);
  for (const auto& facts : models::model_facts()) EXPECT_TRUE(models.contains(facts.name)) << facts.name;
}

// 96 channels of 56 x 56 places, each of which a 7 x 7 kernel reads.
TEST(Memory, OfAConvolutionOnAGpuHasItsPatches) {
  const auto options = model_named("convnext", {{"trainable_pattern", "conv_dw"}}).options;
  const models::ModelInput images{.features = 3 * 224 * 224, .classes = 10, .image = {3, 224, 224}};
  const auto of = [&](bool on_cpu) {
    return models::step_memory("convnext", options, images, {.on_cpu = on_cpu}).value().passing;
  };
  EXPECT_GE(of(false), 49.0 * 96 * 56 * 56);
  EXPECT_LT(of(true), 49.0 * 96 * 56 * 56);
}

// In parts, so that several processes share them.
constexpr std::size_t kParts = 4;
class MemoryOfASample : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Parts, MemoryOfASample, testing::Range(std::size_t{0}, kParts));

TEST_P(MemoryOfASample, IsWhatIsForetold) {
  const torch::NoGradGuard no_gradients;
  const auto all = measured();
  for (auto i = GetParam(); i < all.size(); i += kParts) {
    const auto& one = all[i];
    SCOPED_TRACE(one.model + " " + canonical_json(one.options));
    Counting counting;
    const double found = bytes_of_a_sample(one, *counting);
    const auto facts = datasets::find_dataset(one.data).value();
    const auto sizes =
        datasets::sizes(*facts, resolve_options(facts->options, one.data_options, one.data).value());
    const auto told = models::step_memory(one.model, model_named(one.model, one.options).options,
                                          models::model_input(sizes), {})
                          .value();
    const double foretold = 4 * told.sample();
    std::cout << fmt::format("{} {}: {:.0f} B, foretold {:.0f}, {:.2f} times as much\n", one.model,
                             canonical_json(one.options), found, foretold, foretold / found);
    EXPECT_LE(found, foretold);
    EXPECT_LE(foretold, 2 * found);
  }
}

// A block's activations are in memory while its gradients are computed, and the sums are the same
// bits. On one thread: on two, without a worker's environment, convnext does not repeat its own.
TEST_P(MemoryOfASample, WithCheckpointsIsWhatIsForetold) {
  const torch::NoGradGuard no_gradients;
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const auto all = measured();
  for (auto i = GetParam(); i < all.size(); i += kParts) {
    const auto& one = all[i];
    SCOPED_TRACE(one.model + " " + canonical_json(one.options));
    const auto facts = datasets::find_dataset(one.data).value();
    const auto sizes =
        datasets::sizes(*facts, resolve_options(facts->options, one.data_options, one.data).value());
    const auto told = [&](bool recomputes) {
      return models::step_memory(one.model, model_named(one.model, one.options).options,
                                 models::model_input(sizes), {.recomputes = recomputes})
          .value();
    };
    if (told(true).sample() > 0.8 * told(false).sample()) continue;  // not worth the time
    Counting counting;
    torch::Tensor gradient, plain_gradient;
    const double plain = bytes_of_a_sample(one, *counting, {}, &plain_gradient);
    const double found = bytes_of_a_sample(one, *counting, {.with_checkpoints = true}, &gradient);
    const double foretold = 4 * told(true).sample();
    std::cout << fmt::format("{} {}: {:.0f} B beside {:.0f}, foretold {:.0f} beside {:.0f}\n", one.model,
                             canonical_json(one.options), found, plain, foretold, 4 * told(false).sample());
    EXPECT_TRUE(torch::equal(gradient, plain_gradient));
    EXPECT_LE(found, foretold);
    EXPECT_LE(foretold, std::max(2 * found, 1.03 * 4 * told(false).sample()));
  }
  at::set_num_threads(before);
}

// Attention forms its scores there, which a pass in float32 does not keep.
TEST(Memory, OfASampleInBfloat16IsNoMoreThanIsForetold) {
  const torch::NoGradGuard no_gradients;
  std::set<std::string> attending;
  for (const auto& one : measured()) {
    const auto facts = datasets::find_dataset(one.data).value();
    const auto sizes =
        datasets::sizes(*facts, resolve_options(facts->options, one.data_options, one.data).value());
    const auto options = model_named(one.model, one.options).options;
    const auto tokens = models::token_count(one.model, options, models::model_input(sizes)).value();
    if (tokens == 1 || !attending.insert(one.model).second) continue;
    SCOPED_TRACE(one.model);
    Counting counting;
    const double found = bytes_of_a_sample(one, *counting, {.in = torch::kBFloat16});
    const auto told =
        models::step_memory(one.model, options, models::model_input(sizes), {.is_narrow = true}).value();
    std::cout << fmt::format("{} of {} tokens: {:.0f} B, foretold {:.0f}\n", one.model, tokens, found,
                             4 * told.sample(0.5));
    EXPECT_LE(found, 4 * told.sample(0.5));
    EXPECT_LE(4 * told.sample(0.5), 2 * found);
  }
  EXPECT_FALSE(attending.empty());
}

}  // namespace memory_test
}  // namespace hyfreedp::training
