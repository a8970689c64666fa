// The memory of a step is bounded by its microbatch, however many samples were drawn.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include "harness/models/model.h"
#include "harness/training/gradient.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace {

// Counts the bytes of living CPU tensors.
class CountingAllocator : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* below) : below_(below) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    auto* held = new Held{below_->allocate(bytes), bytes, this};
    live_ += static_cast<std::int64_t>(bytes);
    peak_ = std::max(peak_, live_);
    return {held->memory.get(), held, &release, held->memory.device()};
  }
  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    below_->copy_data(destination, source, bytes);
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
  struct Held {
    c10::DataPtr memory;
    std::size_t bytes;
    CountingAllocator* owner;
  };
  static void release(void* context) {
    auto* held = static_cast<Held*>(context);
    held->owner->live_ -= static_cast<std::int64_t>(held->bytes);
    delete held;
  }

  c10::Allocator* below_;
  std::int64_t live_ = 0;
  std::int64_t peak_ = 0;
};

class Counting {
 public:
  Counting() : usual_(c10::GetCPUAllocator()), counter_(usual_) { c10::SetCPUAllocator(&counter_, 100); }
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

}  // namespace
}  // namespace hyfreedp::training
