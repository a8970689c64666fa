// Nights of the real programs: bugs planted in the worker are found by the tests that are meant for
// them, with hashes off, and nights without one raise no alarm.
//
// One or two nights each here; HYFREEDP_SLOW=1 has twenty and checks the rate. results/README.md
// has what was measured on experiments/nightly.yaml.
#include <SQLiteCpp/Database.h>
#include <cstdlib>
#include <fmt/format.h>

#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace nightly_test {

using ::testing::HasSubstr;

constexpr const char* kSpec = R"(
name: small-nightly
noise_seed: {}
regress: {{margin: {{accuracy: 2, loss: 0.1, norm: 1.05, noise: 1.03, speed: 1.1}}}}
defaults:
  dataset: {{name: synthetic, train: 2000, validation: 200, test: 1000, classes: 4, features: 32}}
  seeds: [0, 1, 2, 3, 4, 5]
  epsilon: [3]
  delta: 1e-5
  train: {{sample_rate: 0.05, steps: 80, optimizer: adamw, clipping: abadi}}
  evaluate: {{released_norms: true, noise_residual: true}}
panels:
  - {{id: linear, model: linear, rows: [{{method: fixed-rate, options: {{lr: 1e-2}}}}, {{method: hyfreedp}}]}}
  - {{id: mlp, model: {{name: mlp, hidden: [32]}}, rows: [{{method: fixed-rate, options: {{lr: 1e-2}}}}]}}
)";

const std::string kHonest = std::string(HYFREEDP_BIN_DIR) + "/hyfreedp-worker";
const std::string kPlanted = std::string(HYFREEDP_BIN_DIR) + "/hyfreedp-worker-planted";

// What the worker of the runs to come is, for as long as the object lives.
class Worker {
 public:
  Worker(const std::string& program, const std::string& bug) {
    ::setenv("HYFREEDP_WORKER", program.c_str(), 1);
    ::setenv("HYFREEDP_PLANT", bug.c_str(), 1);
  }
  ~Worker() {
    ::unsetenv("HYFREEDP_WORKER");
    ::unsetenv("HYFREEDP_PLANT");
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
};

class Nightly : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    draw_no_pictures();
    if (fs::exists(kPlanted) && fs::exists(kHonest)) return;
    std::cout << "SKIPPED SUITE: " << kPlanted << " is not built here\n";
    GTEST_SKIP();
  }

  static void TearDownTestSuite() {
    if (!nights_.empty()) fs::remove_all(nights_);
  }

  // The output folder of a night, which is run once for all tests: they have copies of it.
  std::string night(int noise, const std::string& bug, const std::string& program = kPlanted) {
    const auto folder = fmt::format("night-{}-{}{}", noise, bug, program == kHonest ? "-honest" : "");
    if (nights_.empty()) {
      std::string pattern = ::testing::TempDir() + "hyfreedp-nights-XXXXXX";
      nights_ = ::mkdtemp(pattern.data());
    }
    if (!fs::exists(nights_ / folder)) {
      const Worker worker(program, bug);
      const auto ended = run({"run", spec_of_night(noise), "--out", (nights_ / folder).string(), "--quiet"});
      EXPECT_EQ(ended.code, 0) << ended.err;
    }
    fs::copy(nights_ / folder, folder_ / folder, fs::copy_options::recursive);
    return folder;
  }
  std::string spec_of_night(int noise) {
    return write(fmt::format("spec-{}.yaml", noise), fmt::format(kSpec, fmt::format("night-{}", noise)));
  }

  Ended compared(const std::string& tonight, const std::string& reference,
                 std::vector<std::string> further = {}) {
    std::vector<std::string> arguments{"regress", "small-nightly", "--out", tonight, "--against", reference};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return run(arguments);
  }

  // For comparisons that are not of time: what else a machine did meanwhile would be told
  // otherwise, and rightly.
  std::string untimed(const std::string& night) const {
    SQLite::Database database((folder_ / night / "hyfreedp.sqlite").string(), SQLite::OPEN_READWRITE);
    database.exec("UPDATE trials SET seconds = 1");
    database.exec("UPDATE studies SET seconds = 1");
    return night;
  }

  std::string markdown() const { return read_file((folder_ / "r.md").string()).value(); }

 private:
  static inline fs::path nights_;
};

int nights(int few) { return std::getenv("HYFREEDP_SLOW") == nullptr ? few : 20; }

// Each bug in every night, whether the reference has the same noise (paired) or other noise
// (Welch); in slow mode 20 nights of each may miss one, which a test of power 0.95 does with
// probability 0.26 twice or more: the measured one is far above.
TEST_F(Nightly, PlantedChangesAreCaughtWithHashesOff) {
  const std::vector<std::pair<std::string, std::string>> bugs = {
      {"noise", "| noise |"}, {"eta", "| update norm |"}, {"frozen", "| update of fc1.weight |"}};
  std::map<std::string, int> caught;
  const auto other = night(0, "");
  const int count_of_nights = nights(1);
  for (int noise = 1; noise <= count_of_nights; ++noise) {
    const auto clean = night(noise, "");
    for (const auto& [bug, finding] : bugs) {
      const auto tonight = night(noise, bug);
      for (const auto& reference : {clean, other}) {
        const auto ended = compared(tonight, reference, {"--no-hashes", "--markdown", "r.md"});
        bool found = false;
        std::istringstream lines(markdown());
        for (std::string line; std::getline(lines, line);) {
          found = found || ((line.starts_with("| regressed |") || line.starts_with("| changed |")) &&
                            line.find(finding) != std::string::npos);
        }
        caught[fmt::format("{}, {} noise", bug, reference == other ? "other" : "the same")] +=
            found && ended.code == 1;
      }
    }
  }
  for (const auto& [what, count] : caught) {
    std::cout << what << ": caught in " << count << " of " << count_of_nights << " nights\n";
    EXPECT_GE(count, count_of_nights - count_of_nights / 20) << what;
  }
}

TEST_F(Nightly, CleanNightsRaiseNoAlarm) {
  const auto reference = untimed(night(0, "", kHonest));
  // Another build of the worker gives the same bits or nearly so.
  const auto rebuilt = compared(untimed(night(0, "", kPlanted)), reference, {"--no-hashes"});
  EXPECT_EQ(rebuilt.code, 0) << rebuilt.out;
  int alarms = 0;
  const int count_of_nights = nights(2);
  for (int noise = 1; noise <= count_of_nights; ++noise) {
    const auto ended = compared(untimed(night(noise, "")), reference);
    EXPECT_NE(ended.code, 130) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("another noise seed"));
    alarms += ended.code == 1;
  }
  std::cout << alarms << " of " << count_of_nights << " clean nights of other noise raised an alarm\n";
  // 5 % each: 5 or more of 20 with probability 0.003, 2 of 2 with 0.0025. Margins make it rarer
  // still.
  EXPECT_LE(alarms, count_of_nights == 2 ? 1 : 4);
}

// As if the method had become another: the same spec and noise, the same results, another rate.
TEST_F(Nightly, AMethodThatMakesAnotherSettingOfTheSpecIsNamed) {
  const auto reference = untimed(night(0, ""));
  fs::copy(folder_ / reference, folder_ / "tonight", fs::copy_options::recursive);
  {
    SQLite::Database database((folder_ / "tonight/hyfreedp.sqlite").string(), SQLite::OPEN_READWRITE);
    EXPECT_EQ(database.exec("UPDATE trials SET config = json_set(config, '$.controller.options.lr', 0.012) "
                            "WHERE json_extract(config, '$.controller.options.lr') = 0.01"),
              12);
  }
  const auto ended = compared("tonight", reference, {"--markdown", "r.md"});
  EXPECT_EQ(ended.code, 1) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("setting fixed-rate: lr 0.01 -> 0.012 (linear, fixed-rate, epsilon 3; "));
  EXPECT_THAT(markdown(), HasSubstr("- **changed**: setting fixed-rate: lr 0.01 -> 0.012 ("));
}

// Two seeds were finished by one worker, the others by another.
TEST_F(Nightly, AProgramThatGoesOnWithWhatAnotherBeganSaysSo) {
  const auto folder = night(0, "", kHonest);
  {
    SQLite::Database database((folder_ / folder / "hyfreedp.sqlite").string(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA foreign_keys = ON");
    database.exec("DELETE FROM trials WHERE id IN (SELECT reported_trial FROM studies WHERE seed > 1)");
    database.exec("DELETE FROM studies WHERE seed > 1");
  }
  fs::remove_all(folder_ / folder / "journals");
  const Worker other(kPlanted, "");
  const auto ended = run({"run", spec_of_night(0), "--out", folder, "--quiet"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("6 of 18 studies are of another build ("));
  EXPECT_THAT(read_file((folder_ / folder / "small-nightly/table.md").string()).value(),
              HasSubstr("Several builds of the program worked on this row: "));
}

TEST_F(Nightly, HashesTellABuildThatChangedNothing) {
  const auto reference = untimed(night(0, ""));
  const auto tonight = untimed(night(0, "", kHonest));
  const auto same = compared(tonight, reference);
  EXPECT_EQ(same.code, 0) << same.out;
  EXPECT_THAT(same.out, HasSubstr("18 runs are the same bit for bit"));
  const auto moved = compared(night(0, "noise"), reference);
  EXPECT_EQ(moved.code, 1);
  EXPECT_THAT(moved.out, HasSubstr("6 of 6 runs are not the same bit for bit: seed 0 from step 0 on"));
}

// While nothing else competes with the workers.
class AloneNightly : public Nightly {};

TEST_F(AloneNightly, ASlowerStepIsCaughtByTakingTurns) {
  const auto reference = night(0, "", kHonest);
  const auto tonight = night(0, "");
  const auto timed = [&](const std::string& bug, int rounds) {
    const Worker worker(kPlanted, bug);  // the honest worker does not read it
    return compared(tonight, reference,
                    {"--speed", "--worker", kPlanted, "--against-binary", kHonest, "--rounds",
                     std::to_string(rounds), "--markdown", "r.md"});
  };
  // Twelve rounds tell on an idle machine. Where a busy one leaves it open, the report names a
  // number of rounds that would tell, and a user runs these.
  const std::string regressed = "| regressed | whole night | speed | × 1.";
  Ended slow;
  for (const int rounds : {12, 40, 200}) {
    slow = timed("slow", rounds);
    if (markdown().find(regressed) != std::string::npos) break;
    EXPECT_THAT(markdown(), HasSubstr("| could not tell | whole night | speed | × 1."));
  }
  EXPECT_EQ(slow.code, 1) << slow.out << slow.err;
  EXPECT_THAT(markdown(), HasSubstr(regressed));
  if (std::getenv("HYFREEDP_SLOW") == nullptr) return;
  const auto honest = timed("", 12);
  EXPECT_NE(honest.code, 1) << honest.out << honest.err;
  EXPECT_THAT(markdown(), HasSubstr("whole night | memory | × "));
}

TEST_F(Nightly, UnseededSpecsAreNotRunAgainForTheirSpeed) {
  const auto spec = write("unseeded.yaml", R"(
name: small-nightly
panels:
  - {id: p, dataset: synthetic, model: linear, seeds: [0], epsilon: [3], delta: 1e-5, rows: [{method: prodigy}],
     train: {sample_rate: 0.05, steps: 3, optimizer: adamw}}
)");
  ASSERT_EQ(run({"run", spec, "--out", "a", "--quiet"}).code, 0);
  ASSERT_EQ(run({"run", spec, "--out", "b", "--quiet"}).code, 0);
  const auto ended = compared("a", "b", {"--speed", "--worker", kHonest, "--against-binary", kHonest});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("another release"));
}

}  // namespace nightly_test
}  // namespace hyfreedp::end_to_end
