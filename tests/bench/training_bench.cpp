// What a private step costs beside a plain one: README.md says how to run it and what it found.
//
// Variants of one step, from the rows' numbers to the updated weights, all in this process, one
// after another in each round:
//   stock   LibTorch's operations, autograd, fused AdamW
//   plain   this library without clipping and noise
//   dp      clipped, without noise
//   noise   clipped and noised
// A ratio is of a round's times, dp / min(stock, plain); told are the median of the rounds and the
// ratio of the least times.
#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <numeric>
#include <torch/csrc/autograd/autograd.h>
#include <torch/cuda.h>

#include "harness/mechanism/release/noised_vector.h"
#include "harness/training/clipping.h"
#include "harness/training/displaced_weights.h"
#include "harness/training/peak_memory.h"
#include "harness/training/weight_step.h"
#include "optimizers/facts.h"
#include "optimizers/optimizer.h"
#include "tests/bench/live_memory.h"
#include "tests/bench/training_cases.h"
#include "tests/training/releases.h"

namespace hyfreedp::bench {
namespace {

using torch::Tensor;

enum Part : std::size_t { kGather, kForward, kBackward, kNorms, kSum, kRelease, kUpdate, kParts };
constexpr std::array<const char*, kParts> kPartNames = {"gather", "forward", "backward", "norms",
                                                        "sum",    "release", "update"};
// Two more losses a probe: of the training batch, of a quarter of it, of all of it in bfloat16
// (spec options of the methods).
enum Probe : std::size_t { kSameBatch, kQuarter, kNarrow, kProbes };
constexpr std::array<const char*, kProbes> kProbeNames = {"", "_quarter", "_bf16"};
enum Variant : std::size_t { kStock, kPlain, kDp, kDpNoise, kVariants };
constexpr std::array<const char*, kVariants> kVariantNames = {"stock", "plain", "dp", "noise"};

using Seconds = std::array<double, kParts>;

struct Settings {
  int rounds = 0;  // 0: as many as fit into `seconds`, at least 5
  double seconds = 8;
  bool memory = true;
  bool profile = false;
  bool cpu_time = false;
  torch::Device device = torch::kCPU;
  std::int64_t times = 1;  // batches are this many times those of the cases
  torch::ScalarType compute = torch::kFloat32;
};
Settings settings;

void wait_for_device() {
  if (settings.device.is_cuda()) torch::cuda::synchronize();
}

double now() {
  timespec time{};
  clock_gettime(settings.cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Stopwatch {
 public:
  // The time since the last call counts for `part`. A GPU is waited for at a step's end, so its
  // parts are true with --profile alone, which waits at each of them.
  void lap(Part part, bool is_last = false) {
    if (is_last || settings.profile) wait_for_device();
    const double time = now();
    seconds_[part] += time - last_;
    last_ = time;
  }
  const Seconds& seconds() const { return seconds_; }

 private:
  double last_ = now();
  Seconds seconds_{};
};

struct Data {
  explicit Data(const Case& c)
      : inputs(c.inputs(2 * c.batch).to(settings.device)),
        labels(c.labels(2 * c.batch).to(settings.device)),
        rows(at::randperm(2 * c.batch)) {
    rows = std::get<0>(rows.narrow(0, 0, c.batch).sort()).to(settings.device);
  }
  Tensor inputs, labels;  // twice the batch
  Tensor rows;            // those in the batch, ascending
};

class StockTrainer {
 public:
  StockTrainer(const Case& c, const models::Network& network) : case_(c) {
    for (const auto& slice : network.frozen_layout()) {
      parameters_[slice.name] = network.tensor(slice.name).clone();
    }
    for (const auto& slice : network.layout()) {
      auto leaf = network.tensor(slice.name).clone().requires_grad_();
      parameters_[slice.name] = leaf;
      leaves_.push_back(leaf);
      first_.push_back(torch::zeros_like(leaf));
      second_.push_back(torch::zeros_like(leaf));
      counts_.push_back(torch::zeros({}, leaf.options().requires_grad(false)));
    }
  }

  Seconds step(const Data& data) {
    Stopwatch watch;
    const auto inputs = data.inputs.index_select(0, data.rows);
    const auto labels = data.labels.index_select(0, data.rows);
    watch.lap(kGather);
    Tensor loss;
    {
      const at::AutoGradMode enabled(true);
      const auto logits = case_.stock_logits(compute_copies(), narrowed(inputs)).to(torch::kFloat32);
      loss = at::cross_entropy_loss(logits.reshape({-1, logits.size(-1)}), labels.reshape({-1}));
    }
    watch.lap(kForward);
    loss.backward();
    watch.lap(kBackward);
    std::vector<Tensor> gradients;
    for (const auto& leaf : leaves_) gradients.push_back(leaf.grad());
    for (const auto& count : counts_) count.add_(1);
    at::_fused_adamw_(leaves_, gradients, first_, second_, {}, counts_, 1e-6, 0.9, 0.999, 0.01, 1e-8, false,
                      false);
    for (const auto& leaf : leaves_) leaf.mutable_grad().reset();
    watch.lap(kUpdate, true);
    return watch.seconds();
  }

 private:
  static Tensor narrowed(const Tensor& values) {
    return values.is_floating_point() ? values.to(settings.compute) : values;
  }
  // As the library does: the weights in the compute type, of which autograd follows the copying.
  Parameters compute_copies() const {
    Parameters copies;
    for (const auto& [name, tensor] : parameters_) copies[name] = narrowed(tensor);
    return copies;
  }

  const Case& case_;
  Parameters parameters_;
  std::vector<Tensor> leaves_, first_, second_, counts_;
};

class Trainer {
 public:
  Trainer(const Case& c, models::Network network) : case_(c), network_(std::move(network)) {
    network_.set_compute_type(settings.compute);
    plan_.batch_size = static_cast<double>(c.batch);
    const auto options =
        resolve_options((**optimizers::find_optimizer("adamw")).options, {}, "adamw").value();
    optimizer_ = optimizers::make_optimizer("adamw", options).value();
    optimizer_->begin(network_.parameters(), {}, {});
    sum_ = torch::zeros_like(network_.parameters());
  }

  Seconds step(const Data& data, Variant variant) {
    Stopwatch watch;
    inputs_.reset();
    inputs_ = data.inputs.index_select(0, data.rows);
    const auto labels = data.labels.index_select(0, data.rows);
    watch.lap(kGather);
    auto result = models::sample_losses(case_.loss, network_.record(inputs_), labels, true);
    watch.lap(kForward);
    sum_.zero_();
    if (variant == kPlain) {
      network_.backward_sum(std::move(result.logit_gradient), sum_);
      watch.lap(kBackward);
    } else {
      network_.backward(std::move(result.logit_gradient));
      watch.lap(kBackward);
      const auto factors = training::clip_factors({}, network_.squared_norm_bounds());
      watch.lap(kNorms);
      network_.take_clipped_sum(factors.to(torch::kFloat32), sum_);
      network_.forget();
      watch.lap(kSum);
    }
    plan_.is_private = variant == kDpNoise;
    plan_.gradient_noise = plan_.is_private ? 1 : 0;
    // As the trainer does: the direction is written over the gradient, block by block.
    const auto advance = optimizer_->advance_by_pieces(sum_, network_.parameters(), 1e-6, sum_);
    training::release_gradient(plan_, key_, count_++, 0, sum_, advance);
    watch.lap(kRelease);
    training::subtract_scaled(network_.parameters(), sum_, 1e-6, network_.parameters());
    watch.lap(kUpdate, true);
    return watch.seconds();
  }

  // Losses of rows of the last step at two more points along its direction.
  double probe(const Data& data, Probe kind) {
    const auto rows = kind == kQuarter ? std::max<std::int64_t>(1, case_.batch / 4) : case_.batch;
    const auto labels = data.labels.index_select(0, data.rows).narrow(0, 0, rows);
    const auto inputs = inputs_.narrow(0, 0, rows);
    if (!scratch_.defined()) scratch_ = torch::empty_like(network_.parameters());
    Stopwatch watch;
    if (kind == kNarrow) network_.set_compute_type(torch::kBFloat16);
    for (const double x : {-1e-6, 1e-6}) {
      training::DisplacedWeights displaced(network_.parameters(), scratch_);
      displaced.step_along(sum_, x);
      benchmark::DoNotOptimize(models::sample_losses(case_.loss, network_.forward(inputs), labels, false));
    }
    if (kind == kNarrow) network_.set_compute_type(settings.compute);
    watch.lap(kForward, true);
    return watch.seconds()[kForward];
  }

 private:
  const Case& case_;
  models::Network network_;
  std::unique_ptr<optimizers::Optimizer> optimizer_;
  trial::PrivacyPlan plan_;
  random::Key key_ = random::key_from_seed("bench");
  Tensor sum_;  // then the direction
  Tensor scratch_, inputs_;
  std::int64_t count_ = 0;
};

double total(const Seconds& seconds) { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Timings {
  std::array<std::vector<Seconds>, kVariants> rounds;
  std::array<std::vector<double>, kProbes> probes;

  std::vector<double> totals(Variant variant) const {
    std::vector<double> all;
    for (const auto& seconds : rounds[variant]) all.push_back(total(seconds));
    return all;
  }
  double least(Variant variant) const {
    const auto all = totals(variant);
    return *std::min_element(all.begin(), all.end());
  }
  double least_plain() const { return std::min(least(kStock), least(kPlain)); }
  double median_ratio(Variant variant) const {
    std::vector<double> ratios;
    const auto stock = totals(kStock), plain = totals(kPlain), own = totals(variant);
    for (std::size_t i = 0; i < own.size(); ++i) ratios.push_back(own[i] / std::min(stock[i], plain[i]));
    return median(ratios);
  }
  double least_part(Variant variant, Part part) const {
    double least = rounds[variant].front()[part];
    for (const auto& seconds : rounds[variant]) least = std::min(least, seconds[part]);
    return least;
  }
};

Timings time_case(const Case& c) {
  const Data data(c);
  auto network = c.network(settings.device);
  StockTrainer stock(c, network);
  Trainer own(c, std::move(network));
  const auto once = [&](Variant variant) {
    return variant == kStock ? stock.step(data) : own.step(data, variant);
  };
  double warm = 0;
  for (int i = 0; i < 2; ++i) {
    warm = 0;
    for (std::size_t v = 0; v < kVariants; ++v) warm += total(once(static_cast<Variant>(v)));
    for (std::size_t k = 0; k < kProbes; ++k) warm += own.probe(data, static_cast<Probe>(k));
  }
  const int fitting = std::clamp(static_cast<int>(settings.seconds / warm), 5, 400);
  Timings timings;
  for (int round = 0; round < (settings.rounds > 0 ? settings.rounds : fitting); ++round) {
    for (std::size_t v = 0; v < kVariants; ++v) {
      // Each round starts with another variant, so that none always follows the same one.
      const auto variant = static_cast<Variant>((v + static_cast<std::size_t>(round)) % kVariants);
      timings.rounds[variant].push_back(once(variant));
    }
    for (std::size_t k = 0; k < kProbes; ++k) {
      timings.probes[k].push_back(own.probe(data, static_cast<Probe>(k)));
    }
  }
  return timings;
}

// Peak of live bytes over a step, with weights, gradient and the optimizer's state, without the
// data set.
double peak_of(const Case& c, Variant variant) {
  const Data data(c);
  const bool on_gpu = settings.device.is_cuda();
  const auto before = on_gpu ? training::device_bytes_now() : live_bytes();
  auto network = std::make_unique<models::Network>(c.network(settings.device));
  const auto measure = [&](const auto& step) {
    step();
    reset_peak();
    const training::PeakMemory peak(on_gpu ? "cuda" : "cpu");
    step();
    return static_cast<double>((on_gpu ? peak.device() : peak_bytes()) - before);
  };
  if (variant == kStock) {
    StockTrainer stock(c, *network);
    network.reset();
    return measure([&] { stock.step(data); });
  }
  Trainer own(c, std::move(*network));
  return measure([&] { own.step(data, variant); });
}

void report(benchmark::State& state, const Timings& timings) {
  auto& counters = state.counters;
  for (std::size_t v = 0; v < kVariants; ++v) {
    const auto variant = static_cast<Variant>(v);
    counters[std::string(kVariantNames[v]) + "_ms"] = 1e3 * timings.least(variant);
    for (std::size_t p = 0; p < kParts; ++p) {
      counters[std::string(kVariantNames[v]) + "_" + kPartNames[p] + "_ms"] =
          1e3 * timings.least_part(variant, static_cast<Part>(p));
    }
  }
  const double step = timings.least(kDpNoise);
  counters["dp_ratio"] = timings.least(kDp) / timings.least_plain();
  counters["dp_ratio_median"] = timings.median_ratio(kDp);
  counters["noise_ratio"] = step / timings.least_plain();
  counters["noise_ratio_median"] = timings.median_ratio(kDpNoise);
  for (std::size_t k = 0; k < kProbes; ++k) {
    const double probe = *std::min_element(timings.probes[k].begin(), timings.probes[k].end());
    for (const int interval : {1, 5, 10}) {
      counters[std::string("probe_ratio") + kProbeNames[k] + "_k" + std::to_string(interval)] =
          1 + probe / (interval * step);
    }
  }
}

double counter(const benchmark::UserCounters& counters, const std::string& name) {
  const auto found = counters.find(name);
  return found == counters.end() ? 0.0 : static_cast<double>(found->second);
}

void print_heading() {
  std::printf("%-15s %9s %9s %9s %9s | %-13s | %-13s | %6s | %-17s | %s\n", "least ms", "stock", "plain",
              "dp", "noise", "dp (median)", "noise (med.)", "memory", "probes: K=1, 5, 10",
              "K=1: quarter, bf16");
}

void print_row(const std::string& name, const benchmark::UserCounters& counters) {
  const auto at = [&](const char* of) { return counter(counters, of); };
  std::printf(
      "%-15s %9.3f %9.3f %9.3f %9.3f | %5.3f (%5.3f) | %5.3f (%5.3f) | %6.3f | %.3f %.3f %.3f | %.3f %.3f\n",
      name.c_str(), at("stock_ms"), at("plain_ms"), at("dp_ms"), at("noise_ms"), at("dp_ratio"),
      at("dp_ratio_median"), at("noise_ratio"), at("noise_ratio_median"), at("memory_ratio"),
      at("probe_ratio_k1"), at("probe_ratio_k5"), at("probe_ratio_k10"), at("probe_ratio_quarter_k1"),
      at("probe_ratio_bf16_k1"));
  for (std::size_t v = 0; settings.profile && v < kVariants; ++v) {
    std::printf("    %-6s", kVariantNames[v]);
    for (const char* part : kPartNames) {
      std::printf(" %s %.3f", part, counter(counters, std::string(kVariantNames[v]) + "_" + part + "_ms"));
    }
    std::printf(" peak %.1f MB\n", counter(counters, std::string(kVariantNames[v]) + "_peak_mb"));
  }
  std::fflush(stdout);
}

void run_case(benchmark::State& state, const Case& c) {
  const torch::NoGradGuard no_gradients;
  for (auto _ : state) {
    const auto timings = time_case(c);
    state.SetIterationTime(timings.least(kDpNoise));
    report(state, timings);
    if (!settings.memory) continue;
    std::array<double, kVariants> peaks{};
    for (std::size_t v = 0; v < kVariants; ++v) {
      peaks[v] = peak_of(c, static_cast<Variant>(v));
      state.counters[std::string(kVariantNames[v]) + "_peak_mb"] = peaks[v] / 1e6;
    }
    state.counters["memory_ratio"] = peaks[kDpNoise] / std::min(peaks[kStock], peaks[kPlain]);
  }
  print_row(c.name, state.counters);
}

bool take_flag(const std::string& argument) {
  const auto value = [&](const std::string& name) {
    return argument.starts_with(name) ? argument.c_str() + name.size() : nullptr;
  };
  if (const char* text = value("--rounds=")) return (settings.rounds = std::atoi(text)) > 0;
  if (const char* text = value("--seconds=")) return (settings.seconds = std::atof(text)) > 0;
  if (const char* text = value("--threads=")) return at::set_num_threads(std::atoi(text)), true;
  if (argument == "--no-memory") return !(settings.memory = false);
  if (argument == "--cpu-time") return settings.cpu_time = true;
  if (argument == "--profile") return settings.profile = true;
  if (const char* text = value("--times=")) return (settings.times = std::atoll(text)) > 0;
  if (argument == "--bf16") return settings.compute = torch::kBFloat16, true;
  if (argument == "--device=cuda" && at::hasCUDA()) return settings.device = torch::kCUDA, true;
  return false;
}

int run(int argc, char** argv) {
  count_live_memory();
  torch::manual_seed(1);
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    if (i == 0 || !take_flag(argv[i])) rest.push_back(argv[i]);
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) {
    std::fprintf(stderr,
                 "own flags: --rounds=N --seconds=S --threads=N --cpu-time --no-memory --profile "
                 "--device=cuda --times=N --bf16\n");
    return 2;
  }
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setAllowTF32CuDNN(false);
  auto cases = training_cases();
  for (auto& c : cases) {
    c.batch *= settings.times;
    benchmark::RegisterBenchmark(c.name.c_str(), run_case, c)
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  std::ostream quiet(nullptr);
  benchmark::ConsoleReporter console;
  console.SetOutputStream(&quiet);
  print_heading();
  benchmark::RunSpecifiedBenchmarks(&console);
  std::printf(
      "paper's arithmetic: 1 + 2 / (3 K) = 1.667 1.133 1.067; with another batch 1 + 1 / K = 2 1.2 1.1\n");
  return 0;
}

}  // namespace
}  // namespace hyfreedp::bench

int main(int argc, char** argv) { return hyfreedp::bench::run(argc, argv); }
