// Where forming a linear layer's per-sample gradients is cheaper than the ghost norm
// (harness/models/layers/linear.h), for 8 samples of T positions. Both times are of what a step
// does beyond the gradient of the input: norm and clipped sum.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include "harness/models/layers/samples.h"

namespace hyfreedp::bench {
namespace {

constexpr std::int64_t kSamples = 8;

struct Sizes {
  explicit Sizes(const benchmark::State& state)
      : positions(state.range(0)), inputs(state.range(1)), outputs(state.range(2)) {}
  std::int64_t positions, inputs, outputs;
  torch::Tensor input = torch::randn({kSamples, positions, inputs});
  torch::Tensor gradient = torch::randn({kSamples, positions, outputs});
  torch::Tensor factors = torch::rand({kSamples});
  torch::Tensor sum = torch::zeros({outputs, inputs});
};

// What is kept for the sum, formed gradients over input and output gradient.
void say(benchmark::State& state, const Sizes& s) {
  state.counters["kept"] =
      static_cast<double>(s.inputs * s.outputs) / static_cast<double>(s.positions * (s.inputs + s.outputs));
}

void ghost(benchmark::State& state) {
  const torch::NoGradGuard no_gradients;
  Sizes s(state);
  for (auto _ : state) {
    const auto inputs = at::bmm(s.input, s.input.transpose(1, 2));
    const auto gradients = at::bmm(s.gradient, s.gradient.transpose(1, 2));
    benchmark::DoNotOptimize((inputs * gradients).sum({1, 2}, false, torch::kFloat64));
    const auto scaled = models::scaled_samples(s.input, s.factors).reshape({-1, s.inputs});
    s.sum.addmm_(s.gradient.reshape({-1, s.outputs}).t(), scaled);
  }
  say(state, s);
}

void formed(benchmark::State& state) {
  const torch::NoGradGuard no_gradients;
  Sizes s(state);
  for (auto _ : state) {
    const auto each = at::bmm(s.gradient.transpose(1, 2), s.input);
    benchmark::DoNotOptimize(models::squared_sample_norms(each));
    models::add_weighted_sum(each, s.factors, s.sum);
  }
  say(state, s);
}

void shapes(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t positions : {16, 64, 197, 512}) {
    for (const auto& [inputs, outputs] :
         {std::pair{64, 64}, {192, 192}, {192, 768}, {768, 768}, {768, 3072}}) {
      bench->Args({positions, inputs, outputs});
    }
  }
  bench->Unit(benchmark::kMillisecond)->MinTime(0.05);
}

BENCHMARK(ghost)->Apply(shapes);
BENCHMARK(formed)->Apply(shapes);

}  // namespace
}  // namespace hyfreedp::bench

BENCHMARK_MAIN();
