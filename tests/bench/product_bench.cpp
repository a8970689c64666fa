// The product whose rounding is bounded (harness/models/products/product_kernel.h) beside
// LibTorch's, over the shapes of weight gradients: README.md says how to run it and what it found.
// Arguments: rows, height, width.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <cstdlib>

#include "harness/models/layers/samples.h"

namespace hyfreedp::bench {
namespace {

struct Operands {
  explicit Operands(const benchmark::State& state)
      : left(torch::randn({state.range(0), state.range(1)})),
        right(torch::randn({state.range(0), state.range(2)})),
        sum(torch::zeros({state.range(1), state.range(2)})) {}
  torch::Tensor left, right, sum;
};

void say_rate(benchmark::State& state) {
  const auto products = static_cast<double>(state.range(0) * state.range(1) * state.range(2));
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * products, benchmark::Counter::kIsIterationInvariantRate);
}

void library(benchmark::State& state) {
  const torch::NoGradGuard no_gradients;
  Operands of(state);
  for (auto _ : state) of.sum.addmm_(of.left.t(), of.right);
  say_rate(state);
}

void bounded(benchmark::State& state, const models::ProductKernel<float>* kernel) {
  const torch::NoGradGuard no_gradients;
  Operands of(state);
  for (auto _ : state) models::add_product_by(*kernel, of.left, of.right, of.sum);
  say_rate(state);
}

void shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgsProduct({{256, 1000}, {128}, {784}})
      ->ArgsProduct({{256, 1000}, {10}, {128}})
      ->Args({1000, 10, 716})                           // logistic regression
      ->Args({6400, 32, 256})                           // the CNN's second convolution, B = 256
      ->Args({256, 32, 512})                            // its first linear layer
      ->ArgsProduct({{256}, {768}, {768, 2304, 3072}})  // GPT-2 small, B = 4 of 64 tokens
      ->Args({256, 3072, 768})
      ->Args({1024, 384, 384})  // MiniLM, 64 sentences of 16 tokens
      ->Args({1024, 1536, 384})
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

void add_all() {
  benchmark::RegisterBenchmark("library", library)->Apply(shapes);
  const auto all = models::product_kernels<float>();
  for (int k = 0; k < all.count; ++k) {
    benchmark::RegisterBenchmark(all.kernels[k]->name, bounded, all.kernels[k])->Apply(shapes);
  }
  if (const auto* fused = models::fused_product_kernel())
    benchmark::RegisterBenchmark(fused->name, bounded, fused)->Apply(shapes);
}

}  // namespace
}  // namespace hyfreedp::bench

int main(int argc, char** argv) {
  if (const char* threads = std::getenv("OMP_NUM_THREADS")) at::set_num_threads(std::atoi(threads));
  hyfreedp::bench::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
