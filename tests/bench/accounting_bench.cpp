// How long the accountants take, on the cases that a user meets. See README.md beside this file.
#include <benchmark/benchmark.h>
#include <cmath>
#include <random>

#include "harness/accounting/accountant.h"
#include "harness/accounting/contour.h"

namespace hyfreedp::accounting {
namespace {

Events steps_of(double rate, double noise, std::int64_t steps) {
  return {Neighbouring::add_remove, {poisson_gaussian(rate, noise, steps)}};
}

Events sixty_events() {
  Events events;
  for (int i = 0; i < 60; ++i)
    events.events.push_back(poisson_gaussian(0.005 + 0.0005 * i, 0.8 + 0.03 * i, 5 + i));
  return events;
}

// A ledger in which every entry has its own rate and noise.
Events thousand_events() {
  Events events;
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  for (int i = 0; i < 1000; ++i) {
    const double rate = 0.01 * std::exp(1.5 * uniform(engine));
    events.events.push_back(poisson_gaussian(rate, 1.5 * std::exp(0.8 * uniform(engine)), 1 + i % 5));
  }
  return events;
}

void price(benchmark::State& state, const Events& events, double delta) {
  for (auto _ : state) benchmark::DoNotOptimize(epsilon_pld(events, delta)->epsilon);
  const auto answer = epsilon_pld(events, delta);
  state.counters["epsilon"] = answer->epsilon;
  state.counters["lower"] = answer->epsilon_lower;
}

void pld_250_steps(benchmark::State& state) { price(state, steps_of(0.02, 1.6, 250), 6.8e-6); }
void pld_100000_steps(benchmark::State& state) { price(state, steps_of(0.001, 0.6, 100'000), 1e-5); }
void pld_60_events(benchmark::State& state) { price(state, sixty_events(), 1e-5); }
void pld_1000_events(benchmark::State& state) { price(state, thousand_events(), 1e-5); }

void report_250_steps(benchmark::State& state) {
  const auto events = steps_of(0.02, 1.6, 250);
  for (auto _ : state) benchmark::DoNotOptimize(report_epsilon(events, 6.8e-6)->epsilon);
}

void contour_250_steps(benchmark::State& state) {
  const auto events = steps_of(0.02, 1.6, 250);
  for (auto _ : state) benchmark::DoNotOptimize(contour_epsilon(events, 6.8e-6));
}

// The target epsilon is the argument, in thousandths.
void calibrate_250_steps(benchmark::State& state) {
  const double target = static_cast<double>(state.range(0)) / 1000;
  double noise = 0;
  for (auto _ : state) noise = calibrate_gaussian(0.02, 250, target, 6.8e-6)->noise_multiplier;
  state.counters["noise"] = noise;
}

BENCHMARK(pld_250_steps)->Unit(benchmark::kMillisecond);
BENCHMARK(pld_100000_steps)->Unit(benchmark::kMillisecond);
BENCHMARK(pld_60_events)->Unit(benchmark::kMillisecond);
BENCHMARK(pld_1000_events)->Unit(benchmark::kMillisecond);
BENCHMARK(report_250_steps)->Unit(benchmark::kMillisecond);
BENCHMARK(contour_250_steps)->Unit(benchmark::kMillisecond);
BENCHMARK(calibrate_250_steps)->Arg(50)->Arg(1000)->Arg(3000)->Arg(8000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hyfreedp::accounting

BENCHMARK_MAIN();
