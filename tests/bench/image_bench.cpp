// How fast images that are in memory as bytes reach a network, in images a second.
//
// One epoch in a random order, in microbatches, through BatchReader: 50,000 grey images of
// Fashion-MNIST's size, and as many colour images of CIFAR's. The bytes are random.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <benchmark/benchmark.h>
#include <numeric>
#include <random>

#include "harness/training/batch_reader.h"

namespace hyfreedp::bench {
namespace {

constexpr std::int64_t kImages = 50'000;
constexpr std::int64_t kBatch = 1000;

void epoch(benchmark::State& state) {
  const auto values = state.range(0);
  at::set_num_threads(static_cast<int>(state.range(1)));
  const auto channels = static_cast<std::size_t>(values % 3 == 0 ? 3 : 1);
  const datasets::SplitData split{
      .features = at::randint(256, {kImages, values}, at::kByte),
      .labels = at::zeros({kImages}, at::kLong),
      .scale = datasets::PixelScale{.mean = std::vector<double>(channels, 0.5),
                                    .deviation = std::vector<double>(channels, 0.5)}};
  training::BatchReader reader(split, at::kFloat, kBatch);
  std::vector<std::int64_t> order(kImages);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (auto _ : state) {
    double sum = 0;
    for (std::int64_t first = 0; first < kImages; first += kBatch) {
      const mechanism::Rows rows{.batch = "gradient",
                                 .count = kBatch,
                                 .indices = {order.begin() + first, order.begin() + first + kBatch}};
      reader.for_each(
          rows, [&](const training::Microbatch& batch) { sum += *batch.features.const_data_ptr<float>(); });
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kImages);
}

BENCHMARK(epoch)
    ->ArgNames({"values", "threads"})
    ->ArgsProduct({{784, 3072}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hyfreedp::bench

BENCHMARK_MAIN();
