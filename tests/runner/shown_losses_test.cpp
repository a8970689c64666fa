// Whose losses the line of a running trial shows, from spec to terminal: those of a run without
// noise on private data are raw.
#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sstream>
#include <thread>

#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace shown_losses_test {

using ::testing::HasSubstr;
using ::testing::Not;

// Each trial says a step size and a loss before it ends, and ends late enough for the line to be
// drawn.
class Talkative final : public Executor {
 public:
  void submit(Job job) override { inner_.submit(std::move(job)); }
  void cancel(const std::string& job) override { inner_.cancel(job); }
  int slots() const override { return 1; }
  void stop() override { inner_.stop(); }

  Result<std::vector<Update>> poll(std::chrono::milliseconds patience) override {
    if (!held_back_.empty()) return std::exchange(held_back_, {});
    auto updates = inner_.poll(patience).value();
    if (updates.empty() || updates.back().kind != Update::Kind::over) return updates;
    Update said{.kind = Update::Kind::progress, .job = updates.back().job, .step = 3, .steps = 6};
    said.scalars = {{"eta", 0.5}, {"private_loss", 1.75}};
    held_back_ = {std::exchange(updates.back(), std::move(said))};
    std::this_thread::sleep_for(std::chrono::milliseconds(160));  // a live line is drawn every 150
    return updates;
  }

 private:
  FakeExecutor inner_;
  std::vector<Update> held_back_;
};

std::string shown(const std::string& dataset, const std::string& epsilon) {
  World world;
  auto spec = world.read(fmt::format(R"(
name: tiny
title: tiny
noise_seed: s
panels:
  - id: small
    dataset: {{{}}}
    model: linear
    seeds: [0]
    epsilon: [{}]
    delta: N^-1.1
    train: {{sample_rate: 0.1, steps: 6, optimizer: adamw}}
    rows: [{{id: fixed, method: fixed-rate, options: {{lr: 5e-2}}}}]
)",
                                     dataset, epsilon));
  enter_spec(world.store(), world.out(), spec, false, false).value();
  std::ostringstream out;
  Progress progress(out, Progress::Style::live);
  Talkative executor;
  Coordinator coordinator(world.store(), executor, world.out(), progress);
  EXPECT_TRUE(coordinator.run(spec, [] { return false; }));
  return out.str();
}

TEST(ShownLosses, OfARunWithoutNoiseOnPrivateDataThereAreNone) {
  const std::string own = "name: fashion-mnist, features: hog";
  const auto open = shown(own, "inf");
  EXPECT_THAT(open, HasSubstr("η 0.5"));
  EXPECT_THAT(open, Not(HasSubstr("1.75")));
  EXPECT_THAT(shown(own, "3"), HasSubstr("private loss 1.75"));
  EXPECT_THAT(shown("name: synthetic, train: 2000, features: 16", "inf"), HasSubstr("private loss 1.75"));
}

}  // namespace shown_losses_test
}  // namespace hyfreedp::runner
