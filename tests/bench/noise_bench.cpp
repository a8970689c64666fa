// What noise, digest and update cost, in nanoseconds a parameter. See README.md beside this file.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <openssl/evp.h>

#include "harness/mechanism/release/noised_vector.h"
#include "harness/random/normal_pass.h"
#include "harness/training/weight_step.h"
#include "optimizers/facts.h"
#include "optimizers/optimizer.h"
#include "tests/training/releases.h"

namespace hyfreedp::training {
namespace {

using torch::Tensor;

const random::Key kKey = random::key_from_seed("noise_bench");

// Benchmarks take (parameters, threads).
void report(benchmark::State& state) {
  const auto done = static_cast<double>(state.iterations() * state.range(0));
  state.counters["ns_per_parameter"] =
      benchmark::Counter(done / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

trial::PrivacyPlan plan() {
  trial::PrivacyPlan plan;
  plan.population = 60000;
  plan.batch_size = 600;
  plan.sample_rate = 0.01;
  plan.gradient_noise = 1.1;
  return plan;
}

struct Step {
  Tensor weights, gradient, direction;
  std::unique_ptr<optimizers::Optimizer> optimizer;

  Step(const benchmark::State& state, const std::string& name) {
    at::set_num_threads(static_cast<int>(state.range(1)));
    weights = at::sin(torch::arange(state.range(0), torch::kFloat32));
    gradient = torch::zeros_like(weights);
    const auto& options = optimizers::find_optimizer(name).value()->options;
    optimizer = optimizers::make_optimizer(name, resolve_options(options, {}, name).value()).value();
    optimizer->begin(weights, {}, {.noise_multiplier = 1.1, .batch_size = 600, .steps = 100});
  }
};

void keystream(benchmark::State& state) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) random::fill_bits(kKey, {}, 0, words);
  report(state);
}

void noise(benchmark::State& state) {
  at::set_num_threads(static_cast<int>(state.range(1)));
  std::vector<float> values(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    at::parallel_for(0, state.range(0), kReleaseBlock, [&](std::int64_t begin, std::int64_t end) {
      random::add_normals(kKey, {}, static_cast<std::uint64_t>(begin), 0.5,
                          std::span(values.data() + begin, static_cast<std::size_t>(end - begin)));
    });
  }
  report(state);
}

// Noise, division and digest.
void release(benchmark::State& state) {
  Step step(state, "sgd");
  for (auto _ : state) release_gradient(plan(), kKey, 0, 0, step.gradient);
  report(state);
}

void digest(benchmark::State& state) {
  const Step step(state, "sgd");
  for (auto _ : state) benchmark::DoNotOptimize(release_hash(step.gradient, {}));
  report(state);
}

void sha256(benchmark::State& state) {
  const Step step(state, "sgd");
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  for (auto _ : state) {
    EVP_Digest(step.gradient.const_data_ptr(), step.gradient.nbytes(), bytes, &length, EVP_sha256(), nullptr);
  }
  report(state);
}

// All that a private step does once the clipped sum is known, in one pass and one more for the
// weights.
void private_step(benchmark::State& state, const std::string& name) {
  Step step(state, name);
  step.direction = step.gradient;
  for (auto _ : state) {
    const auto advance = step.optimizer->advance_by_pieces(step.gradient, step.weights, 0.01, step.direction);
    const auto released = release_gradient(plan(), kKey, 0, 0, step.gradient, advance);
    benchmark::DoNotOptimize(release_hash(released, {}));
    benchmark::DoNotOptimize(subtract_scaled(step.weights, step.direction, 1e-9, step.weights));
  }
  report(state);
}

// The same with every part in a pass of its own, on tensors, and with SHA-256.
void separate_passes(benchmark::State& state, const std::string& name) {
  Step step(state, name);
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  for (auto _ : state) {
    random::add_normals(kKey, {}, 0, 0.5,
                        std::span(step.gradient.data_ptr<float>(), static_cast<std::size_t>(state.range(0))));
    step.gradient.div_(600);
    step.optimizer->advance(step.gradient, step.weights, 0.01, step.direction);
    EVP_Digest(step.gradient.const_data_ptr(), step.gradient.nbytes(), bytes, &length, EVP_sha256(), nullptr);
    step.weights.sub_(step.direction, 1e-9);
    benchmark::DoNotOptimize(at::isfinite(step.weights).all().item<bool>());
  }
  report(state);
}

// What the step costs without privacy: direction and weights.
void plain_step(benchmark::State& state, const std::string& name) {
  Step step(state, name);
  for (auto _ : state) {
    step.optimizer->advance(step.gradient, step.weights, 0.01, step.direction);
    benchmark::DoNotOptimize(subtract_scaled(step.weights, step.direction, 1e-9, step.weights));
  }
  report(state);
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t parameters : {93'066, 5'000'000}) {
    for (const std::int64_t threads : {1, 2}) bench->Args({parameters, threads});
  }
  bench->UseRealTime()->Unit(benchmark::kMicrosecond);
}

void by_instruction_set() {
  for (const auto& pass : random::normal_passes()) {
    const auto run = [&pass](benchmark::State& state) {
      std::vector<std::uint64_t> words(2048);
      std::vector<double> z(words.size());
      random::fill_bits(kKey, {}, 0, words);
      for (auto _ : state) pass.transform(words.data(), words.size() / 2, z.data());
      report(state);
    };
    benchmark::RegisterBenchmark(("transform/" + std::string(pass.name)).c_str(), run)->Arg(2048);
  }
}

BENCHMARK(keystream)->Arg(93'066);
BENCHMARK(noise)->Apply(sizes);
BENCHMARK(release)->Apply(sizes);
BENCHMARK(digest)->Apply(sizes);
BENCHMARK(sha256)->Args({93'066, 1});
BENCHMARK_CAPTURE(private_step, sgd, std::string("sgd"))->Apply(sizes);
BENCHMARK_CAPTURE(private_step, adamw, std::string("adamw"))->Apply(sizes);
BENCHMARK_CAPTURE(separate_passes, sgd, std::string("sgd"))->Apply(sizes);
BENCHMARK_CAPTURE(separate_passes, adamw, std::string("adamw"))->Apply(sizes);
BENCHMARK_CAPTURE(plain_step, sgd, std::string("sgd"))->Apply(sizes);
BENCHMARK_CAPTURE(plain_step, adamw, std::string("adamw"))->Apply(sizes);

}  // namespace
}  // namespace hyfreedp::training

int main(int argc, char** argv) {
  hyfreedp::training::by_instruction_set();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
