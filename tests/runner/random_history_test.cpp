// Random histories of an output folder: runs that finish, are killed, interrupted or moved, studies
// that are cancelled and retried, folders that are merged, files that are lost. After each
// operation odometer and rows are compared with a reference that knows the operations, what the
// workers released, and the documented rules.
//
// HYFREEDP_HISTORY=N repeats history N alone, and prints its operations.
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <iostream>
#include <numeric>

#include "tests/runner/history_folder.h"

namespace hyfreedp::runner {
namespace random_history_test {

using namespace history;

// With HYFREEDP_SLOW all of those that were once played.
const std::uint64_t kHistories = std::getenv("HYFREEDP_SLOW") == nullptr ? 24 : 45;
constexpr int kOperations = 14;

struct Operation {
  std::uint64_t weight;
  void (*play)(Folder& folder, Folder& far, const KnownSpec& spec);
};
constexpr std::array<Operation, 10> kAnyOperation = {{
    {9, [](Folder& folder, Folder&, const KnownSpec& spec) { folder.run(spec); }},
    {2, [](Folder& folder, Folder&, const KnownSpec& spec) { folder.cancel(spec); }},
    {2, [](Folder& folder, Folder&, const KnownSpec& spec) { folder.retry(spec); }},
    {1, [](Folder& folder, Folder&, const KnownSpec&) { folder.lose_key(); }},
    {2, [](Folder& folder, Folder&, const KnownSpec&) { folder.lose_journal(false); }},
    {1, [](Folder& folder, Folder&, const KnownSpec&) { folder.lose_journal(true); }},
    {2, [](Folder& folder, Folder&, const KnownSpec&) { folder.put_back_a_copy(); }},
    {2, [](Folder& folder, Folder&, const KnownSpec&) { folder.lose_states(); }},
    {2, [](Folder& folder, Folder&, const KnownSpec&) { folder.lose_database(); }},
    {1, [](Folder& folder, Folder& far, const KnownSpec&) { folder.merge(far); }},
}};

const Operation& operation_at(std::uint64_t place) {
  for (const auto& one : kAnyOperation) {
    if (place < one.weight) return one;
    place -= one.weight;
  }
  return kAnyOperation.front();
}

// Plays a history until something does not hold, and adds what happened in it to `happened`.
void play(std::uint64_t seed, bool tells, std::map<std::string, int>& happened) {
  Folder folder(seed, tells), far(seed + 1000003, false);
  SCOPED_TRACE(fmt::format("HYFREEDP_HISTORY={}", seed));
  const std::array specs = {&kPlain, &kSequential, &kSelection};
  const auto weights =
      std::accumulate(kAnyOperation.begin(), kAnyOperation.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const Operation& one) { return sum + one.weight; });
  for (int i = 0; i < kOperations && !::testing::Test::HasFailure(); ++i) {
    const auto& spec = *specs.at(folder.draw(specs.size()));
    operation_at(i < 2 ? 0 : folder.draw(weights)).play(folder, far, spec);
    folder.check();
    if (folder.chance(30)) folder.keep_copies();
  }
  // What is left can be finished. Of some histories: prices of many rows take their time.
  for (const auto* spec : specs) {
    if (::testing::Test::HasFailure() || seed % 6 != 0) break;
    folder.run(*spec, false, true);
    folder.check();
  }
  if (::testing::Test::HasFailure() && !tells) std::cout << folder.told() << "\n";
  for (const auto& [what, times] : folder.happened()) happened[what] += times;
}

TEST(RandomHistory, IsChargedAsTheRulesSay) {
  std::map<std::string, int> happened;
  if (const char* one = std::getenv("HYFREEDP_HISTORY")) {
    play(std::strtoull(one, nullptr, 10), true, happened);
    EXPECT_FALSE(HasFailure());
    return;
  }
  for (std::uint64_t seed = 1; seed <= kHistories; ++seed) {
    play(seed, false, happened);
    ASSERT_FALSE(HasFailure()) << "HYFREEDP_HISTORY=" << seed << " repeats it";
  }
  EXPECT_GE(happened["is compared"], static_cast<int>(kHistories) * kOperations);
  for (const char* what : {"finishes", "diverges", "is killed", "is interrupted", "has no memory",
                           "is killed with the coordinator", "no line", "goes on from a state", "is repeated",
                           "cancel", "retry", "lose key", "lose journal", "lose journal and key",
                           "put back a copy", "lose checkpoints", "lose database", "merge"})
    EXPECT_GT(happened[what], 0) << what << ": that never happened";
}

}  // namespace random_history_test
}  // namespace hyfreedp::runner
