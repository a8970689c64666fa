// Times of the kernels on a GPU beside the same work by LibTorch's operations; one JSON object a
// line on standard output.
//   gpu_bench [--quick]     --quick: a hundredth of the sizes, to see that it runs
// Microseconds are the least of seven rounds. Exit status 77 where there is no device.
#include <ATen/Context.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <torch/cuda.h>

#include "harness/base/json.h"
#include "harness/kernels/kernels.h"

namespace {

using namespace hyfreedp;
using torch::Tensor;
using Work = std::function<void()>;

constexpr int kSkipped = 77;

const random::Key kKey = random::key_from_seed("gpu bench");

double microseconds(const Work& work) {
  using Clock = std::chrono::steady_clock;
  const auto time = [&](int times) {
    torch::cuda::synchronize();
    const auto begin = Clock::now();
    for (int i = 0; i < times; ++i) work();
    torch::cuda::synchronize();
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / times;
  };
  const double once = (work(), time(1));
  const int times = std::clamp(static_cast<int>(20'000 / std::max(once, 1.0)), 1, 200);
  double least = time(times);
  for (int round = 1; round < 7; ++round) least = std::min(least, time(times));
  return least;
}

void report(const std::string& kernel, const std::string& shape, double elements, const Work& ours,
            const Work& theirs) {
  const double our_time = microseconds(ours);
  json::object line{{"kernel", kernel},
                    {"shape", shape},
                    {"microseconds", our_time},
                    {"nanoseconds_an_element", 1000 * our_time / elements}};
  if (theirs) line["libtorch_microseconds"] = microseconds(theirs);
  std::printf("%s\n", canonical_json(line).c_str());
  std::fflush(stdout);
}

Tensor random_values(std::vector<std::int64_t> shape) {
  return at::randn(shape, torch::TensorOptions(torch::kCUDA).dtype(torch::kFloat32));
}

void bench_vectors(std::int64_t size) {
  const auto shape = std::to_string(size);
  const auto count = static_cast<double>(size);
  auto gradient = random_values({size}), weights = random_values({size}), first = random_values({size});
  auto second = random_values({size}).abs_(), direction = random_values({size});
  kernels::StepVectors vectors{gradient, weights, first, second, {}, direction};
  const kernels::PrivateMean mean{{kKey, {}, 0}, 0.7, 96, 1};
  const kernels::AdamNumbers adam{.beta1 = 0.9,
                                  .rest1 = 0.1,
                                  .beta2 = 0.999,
                                  .rest2 = 0.001,
                                  .unbias1 = 1,
                                  .unbias2 = 1,
                                  .eps = 1e-8,
                                  .coupled = 0,
                                  .decoupled = 0.01};
  report(
      "release-mean", shape, count, [&] { kernels::release_mean(mean, gradient); },
      [&] { gradient.add_(at::randn_like(gradient), 0.7).div_(96); });
  report(
      "adamw", shape, count, [&] { kernels::adam_step(adam, vectors); },
      [&] {
        first.mul_(0.9).add_(gradient, 0.1);
        second.mul_(0.999).addcmul_(gradient, gradient, 0.001);
        at::div_out(direction, first, second.sqrt().add_(1e-8)).add_(weights, 0.01);
      });
  const kernels::SgdNumbers sgd{.momentum = 0.9, .intake = 1, .decay = 0, .first = false, .nesterov = false};
  report("sgd", shape, count, [&] { kernels::sgd_step(sgd, vectors); }, {});
  report(
      "subtract", shape, count, [&] { kernels::subtract_scaled(weights, direction, 1e-9, weights); },
      [&] {
        weights.sub_(direction, 1e-9);
        at::isfinite(weights).all().item<bool>();
      });
  report("digest", shape, count, [&] { kernels::digest(gradient); }, {});
}

void bench_rows(std::int64_t samples, std::int64_t columns) {
  const auto values = random_values({samples, columns});
  auto norms = torch::zeros({samples}, values.options().dtype(torch::kFloat64));
  report(
      "row-norms", std::to_string(samples) + "x" + std::to_string(columns),
      static_cast<double>(values.numel()), [&] { kernels::add_row_norms(values, norms); },
      [&] {
        norms.add_(at::linalg_vector_norm(values, 2, at::IntArrayRef{1}).to(torch::kFloat64).square_());
      });
}

void bench_embedding(std::int64_t samples, std::int64_t positions, std::int64_t width) {
  const auto ids =
      at::randint(50257, {samples, positions}, torch::TensorOptions(torch::kCUDA).dtype(torch::kInt64));
  const auto b = random_values({samples, positions, width});
  auto norms = torch::zeros({samples}, b.options().dtype(torch::kFloat64));
  report(
      "embedding-norm",
      std::to_string(samples) + "x" + std::to_string(positions) + "x" + std::to_string(width),
      static_cast<double>(b.numel()), [&] { kernels::add_embedding_norms(ids, b, {}, norms); },
      [&] {
        const auto same = ids.unsqueeze(2) == ids.unsqueeze(1);
        norms.add_((same * at::bmm(b, b.transpose(1, 2))).sum({1, 2}, false, torch::kFloat64));
      });
}

}  // namespace

int main(int count, char** arguments) {
  const bool quick = count > 1 && std::string(arguments[1]) == "--quick";
  if (!at::hasCUDA()) {
    std::fprintf(stderr, "gpu_bench: SKIPPED, this program sees no CUDA device\n");
    return kSkipped;
  }
  const torch::NoGradGuard no_gradients;
  at::globalContext().setAllowTF32CuBLAS(false);
  const std::int64_t part = quick ? 100 : 1;
  bench_vectors(1'000'000 / part);
  bench_vectors(124'000'000 / part);
  bench_rows(1024 / part, 100'000);
  bench_embedding(64 / std::min<std::int64_t>(part, 64), 1024, 768);
  return 0;
}
