// `accountant` of a panel: which one sets the noise of its rows, what is refused, and what stays.
#include <fmt/format.h>

#include "harness/mechanism/releases.h"
#include "tests/runner/fake_world.h"
#include "tests/runner/spec_file.h"

namespace hyfreedp::runner {
namespace accountant_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kDelta = 1e-5, kRate = 0.1;
constexpr std::int64_t kSteps = 20;

std::string spec_of(const std::string& keys, const std::string& rows) {
  return fmt::format(
      "name: demo\nnoise_seed: s\n{}panels:\n  - id: p\n"
      "    dataset: {{name: synthetic, train: 2000, validation: 500, test: 500}}\n    model: linear\n"
      "    seeds: [0]\n    delta: {}\n    train: {{sample_rate: {}, steps: {}, optimizer: adamw}}\n"
      "    rows:\n{}",
      keys, kDelta, kRate, kSteps, rows);
}

// Every method, with few runs where its default is dozens, and HyFreeDP's accountings.
std::string every_method() {
  std::string rows;
  for (const auto& method : baselines::registry()) {
    const bool is_long = method.name == "dpsgd" || method.name == "dpmomentum" || method.name == "dp-zo";
    rows +=
        fmt::format("      - {{method: {}{}}}\n", method.name, is_long ? ", options: {mean_runs: 3}" : "");
  }
  for (const char* accounting : {"separate-batch", "laplace", "paper", "paper-appendix"}) {
    rows += fmt::format("      - {{id: hyfreedp-{}, method: hyfreedp, options: {{accounting: {}}}}}\n",
                        accounting, accounting);
  }
  return rows +
         "      - {id: composed, method: dpsgd, options: {tuning: composed, candidates: 3}}\n"
         "      - {id: sampled, method: linear-scaling, options: {batch: sampled, decompose: fixed-t}}\n";
}

using Runs = std::vector<trial::TrialConfig>;

class Accountant : public WrittenSpec {
 protected:
  // The first runs of every row and epsilon: "ROW EPSILON".
  std::map<std::string, Runs> first_runs(const std::string& keys, const std::string& rows) const {
    std::map<std::string, Runs> all;
    const auto spec = load(spec_of(keys, rows));
    if (!spec) throw std::runtime_error(spec.error().message);
    for (const auto& study : plan(*spec).value()) {
      auto runs = study.baseline->next(study.cell, {}).value();
      if (runs.empty()) throw std::runtime_error(study.cell.row + " wants no run");
      all[fmt::format("{} {}", study.cell.row, *study.cell.epsilon)] = std::move(runs);
    }
    return all;
  }
};

// What only RDP prices: private selections, and divisions as published.
bool is_always_rdp(const std::string& cell) {
  for (const char* row : {"dp-hyper ", "dpsgd ", "dpmomentum ", "dp-zo ", "hyfreedp-paper"}) {
    if (cell.starts_with(row)) return true;
  }
  return false;
}

TEST_F(Accountant, RdpAsksForMoreNoiseOfEveryMethod) {
  const std::string keys = "defaults: {epsilon: [1, 3, 8]}\n";
  const auto by_default = first_runs(keys, every_method());
  const auto by_rdp = first_runs("defaults: {epsilon: [1, 3, 8], accountant: rdp}\n", every_method());
  ASSERT_EQ(by_default.size(), by_rdp.size());
  EXPECT_GE(by_rdp.size(), 3 * baselines::registry().size());
  for (const auto& [cell, runs] : by_default) {
    const auto& others = by_rdp.at(cell);
    ASSERT_EQ(runs.size(), others.size()) << cell;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double pld = runs[i].privacy.gradient_noise, rdp = others[i].privacy.gradient_noise;
      if (is_always_rdp(cell)) {
        EXPECT_EQ(runs[i].id(), others[i].id()) << cell;
      } else {
        EXPECT_GT(rdp, pld * 1.001) << cell;
        EXPECT_LT(rdp, pld * 1.5) << cell;
      }
    }
  }
}

// One method that takes all of epsilon in one run: the executed events, put together by hand, cost
// the target by the panel's accountant, and less by the other.
TEST_F(Accountant, HyFreeDPsRunCostsItsTargetByThatAccountant) {
  const std::string rows =
      "      - {id: plain, method: fixed-rate}\n"
      "      - {id: folded, method: hyfreedp}\n"
      "      - {id: separate-batch, method: hyfreedp, options: {accounting: separate-batch}}\n";
  for (const std::string accountant : {"", "pld", "rdp"}) {
    const auto all = first_runs(fmt::format("defaults: {{epsilon: [1, 3, 8]{}{}}}\n",
                                            accountant.empty() ? "" : ", accountant: ", accountant),
                                rows);
    ASSERT_EQ(all.size(), 9U);
    for (const auto& [cell, runs] : all) {
      const auto& plan = runs.at(0).privacy;
      const accounting::Release gradient{.noise_multiplier = plan.gradient_noise};
      std::vector<accounting::Event> events{accounting::batch(kRate, {gradient}, kSteps)};
      if (cell.starts_with("folded")) {
        events = {accounting::batch(kRate, {gradient}, kSteps - kSteps / 5),
                  accounting::batch(kRate, {gradient, {.noise_multiplier = plan.probe->noise, .count = 3}},
                                    kSteps / 5)};
      } else if (cell.starts_with("separate")) {
        events.push_back(
            accounting::batch(kRate, {{.noise_multiplier = plan.probe->noise, .count = 3}}, kSteps / 5));
      }
      const double target = std::stod(cell.substr(cell.find(' ')));
      const auto by_pld = accounting::epsilon_pld({.events = events}, kDelta);
      const auto by_rdp = accounting::epsilon_rdp({.events = events}, kDelta);
      ASSERT_TRUE(by_pld && by_rdp);
      const double epsilon = accountant == "rdp" ? by_rdp->epsilon : by_pld->epsilon;
      EXPECT_LE(epsilon, target) << accountant << " " << cell;
      EXPECT_GT(epsilon, target * 0.9995) << accountant << " " << cell;
      EXPECT_LT(by_pld->epsilon, by_rdp->epsilon * 0.999) << cell;
    }
  }
}

// Linear scaling on full batches: sweeps and final run together, whatever r turns out to be.
TEST_F(Accountant, WhatIsDividedCostsItsTargetByThatAccountant) {
  const auto spec = load(spec_of(
      "defaults: {epsilon: [3], accountant: rdp}\n",
      "      - {method: linear-scaling}\n"
      "      - {id: sampled, method: linear-scaling, options: {batch: sampled, decompose: fixed-t}}\n"));
  ASSERT_TRUE(spec) << spec.error().message;
  for (const auto& study : plan(*spec).value()) {
    std::vector<baselines::FinishedTrial> finished;
    std::vector<accounting::Event> events;
    for (int round = 0; round < 4; ++round) {
      for (const auto& config : study.baseline->next(study.cell, finished).value()) {
        finished.push_back({.id = config.id(), .config = config, .released_score = 0.5});
        const auto of_run = mechanism::events(config.privacy, 0, config.steps);
        events.insert(events.end(), of_run.begin(), of_run.end());
      }
    }
    EXPECT_EQ(finished.size(), 7U);
    const auto cost = accounting::epsilon_rdp({.events = events}, kDelta);
    ASSERT_TRUE(cost);
    EXPECT_LE(cost->epsilon, 3 * (1 + 1e-9)) << study.cell.row;
    EXPECT_GT(cost->epsilon, 3 * 0.999) << study.cell.row;
  }
}

TEST_F(Accountant, PldIsRefusedWhereRdpAloneSetsTheNoise) {
  const std::string published = "      - {method: hyfreedp, options: {accounting: paper}}\n";
  const std::string appendix = "      - {method: hyfreedp, options: {accounting: paper-appendix}}\n";
  const std::string own = "      - {method: hyfreedp, options: {accounting: paper, accountant: pld}}\n";
  const std::string selection = "      - {method: dp-hyper}\n";
  const std::string tuned = "      - {method: dpsgd, options: {tuning: selection}}\n";
  const std::string pld = "defaults: {epsilon: [3], accountant: pld}\n";
  for (const auto& rows : {published, appendix, own}) {
    EXPECT_THAT(refusal(spec_of(pld, rows)), AllOf(HasSubstr("panels[0].rows[0]"), HasSubstr("hyfreedp"),
                                                   HasSubstr("accounting: paper"), HasSubstr("accountant")));
  }
  EXPECT_THAT(refusal(spec_of("defaults: {epsilon: [3]}\n", own)), HasSubstr("accounting: paper"));
  EXPECT_THAT(refusal(spec_of("defaults: {epsilon: [3], accountant: rdp}\n", own)),
              HasSubstr("accounting: paper"));
  for (const auto& rows : {selection, tuned}) {
    EXPECT_THAT(refusal(spec_of(pld, rows)),
                AllOf(HasSubstr("panels[0].rows[0]"), HasSubstr("private selection")));
  }
  // Where nothing is said, or the row says rdp, it is.
  for (const std::string keys :
       {"defaults: {epsilon: [3]}\n", "defaults: {epsilon: [3], accountant: rdp}\n"}) {
    for (const auto& rows : {published, appendix, selection, tuned}) {
      EXPECT_EQ(refusal(spec_of(keys, rows)), "");
    }
  }
  EXPECT_EQ(refusal(spec_of(pld,
                            "      - {method: hyfreedp, options: {accounting: paper, accountant: rdp}}\n"
                            "      - {method: dpsgd, options: {tuning: composed}}\n")),
            "");
}

TEST_F(Accountant, WhatIsNoAccountantOrHasNoEffectIsRefused) {
  const std::string rows = "      - {method: fixed-rate}\n";
  EXPECT_THAT(refusal(spec_of("defaults: {epsilon: [3], accountant: gdp}\n", rows)),
              AllOf(HasSubstr("defaults.accountant"), HasSubstr("pld or rdp"), HasSubstr("'gdp'")));
  EXPECT_THAT(refusal(spec_of("defaults: {noise_multiplier: [3], accountant: rdp}\n", rows)),
              AllOf(HasSubstr("defaults.accountant"), HasSubstr("noise_multiplier")));
}

// The studies of rows whose noise stays are the same studies, the rest are others.
TEST_F(Accountant, OtherNoiseIsAnotherStudy) {
  const auto ids = [&](const std::string& keys) {
    std::map<std::string, std::string> all;
    const auto spec = load(spec_of(keys, every_method()));
    if (!spec) throw std::runtime_error(spec.error().message);
    for (const auto& study : plan(*spec).value()) {
      all[fmt::format("{} {}", study.cell.row, study.cell.epsilon.value_or(0))] = study.id;
    }
    return all;
  };
  const auto as_usual = ids("defaults: {epsilon: [3, inf]}\n");
  for (const auto& [cell, id] : ids("defaults: {epsilon: [3, inf], accountant: rdp}\n")) {
    const bool same = is_always_rdp(cell) || cell.ends_with(" 0");
    EXPECT_EQ(id == as_usual.at(cell), same) << cell;
  }
  const std::string rows = "      - {method: fixed-rate}\n      - {method: hyfreedp}\n";
  const auto hash = [&](const std::string& said) {
    return load(spec_of("defaults: {epsilon: [3]" + said + "}\n", rows))->hash();
  };
  EXPECT_EQ(hash(""), hash(", accountant: pld"));
  EXPECT_NE(hash(""), hash(", accountant: rdp"));
}

// The last bits of a calibrated noise are the machine's.
double rounded(double noise) { return std::stod(fmt::format("{:.6g}", noise)); }

// The runs of released specs, which users have: as version 0.11 asked for them first.
TEST(AccountantOfReleasedSpecs, NoRunIsAnother) {
  const std::map<std::string, std::string> known = {
      {"methods", "e83a614d1e175332"}, {"quick", "6ac9c90ba6ebb2e3"}, {"smoke", "075812b831263955"}};
  for (const auto& [name, digest] : known) {
    const auto spec = load_spec(fmt::format("{}/experiments/{}.yaml", HYFREEDP_SOURCE_DIR, name));
    ASSERT_TRUE(spec) << spec.error().message;
    std::string ids;
    for (const auto& study : plan(*spec).value()) {
      if (study.cell.row == "dp-zo") continue;  // came later
      for (auto config : study.baseline->next(study.cell, {}).value()) {
        config.privacy.gradient_noise = rounded(config.privacy.gradient_noise);
        if (config.privacy.probe) config.privacy.probe->noise = rounded(config.privacy.probe->noise);
        ids += config.id() + "\n";
      }
    }
    EXPECT_EQ(sha256_hex(ids).substr(0, 16), digest) << name;
  }
}

TEST_F(Accountant, TheRowRecordsIt) {
  const std::string rows =
      "      - {id: plain, method: fixed-rate}\n      - {method: hyfreedp}\n      - {method: dp-hyper}\n"
      "      - {id: published, method: hyfreedp, options: {accounting: paper}}\n"
      "      - {id: own, method: hyfreedp, options: {accountant: rdp}}\n";
  const auto recorded = [](const std::string& keys, const std::string& of_rows) {
    World world;
    FakeExecutor executor;
    EXPECT_THAT(world.run(spec_of(keys, of_rows), executor).failed, IsEmpty());
    std::string text;
    for (const auto& study : world.store().studies("demo").value()) {
      if (!study.total) {
        text += study.row + " -; ";
        continue;
      }
      text += fmt::format("{} {}; ", study.row, string_or(as_json(*study.total), "noise_accountant", "?"));
    }
    return text;
  };
  EXPECT_EQ(recorded("defaults: {epsilon: [3]}\n", rows),
            "dp-hyper rdp; hyfreedp pld; own rdp; plain pld; published rdp; ");
  EXPECT_EQ(recorded("defaults: {epsilon: [3], accountant: rdp}\n", rows),
            "dp-hyper rdp; hyfreedp rdp; own rdp; plain rdp; published rdp; ");
  const std::string plain = "      - {id: plain, method: fixed-rate}\n";
  EXPECT_EQ(recorded("defaults: {epsilon: [inf]}\n", plain), "plain -; ");
  EXPECT_EQ(recorded("defaults: {noise_multiplier: [2]}\n", plain), "plain ?; ") << "nothing is calibrated";
}

}  // namespace accountant_test
}  // namespace hyfreedp::runner
