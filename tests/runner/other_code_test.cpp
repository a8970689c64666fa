// Rows that other code trained are named, and trained anew where their user asks for it.
#include "harness/runner/execute/other_code.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/mechanism/run_key.h"
#include "harness/runner/odometer/restored_releases.h"
#include "harness/trial/code_marks.h"
#include "tests/runner/spending_world.h"

namespace hyfreedp::runner {
namespace other_code_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// The code of a program, of which a test changes parts.
class Code {
 public:
  Code() { set(); }
  ~Code() { trial::set_code_marks({}); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  void change(const std::string& kind, const std::string& name = "") {
    for (auto& mark : marks_) {
      if (mark.kind == kind && mark.name == name) mark.hash += "'";
    }
    set();
  }

 private:
  void set() { trial::set_code_marks(marks_); }
  std::vector<trial::CodeMark> marks_ = {
      {"all", "", "0123456789abcdef"}, {"engine", "", "e"},           {"models", "", "m"},
      {"datasets", "", "d"},           {"optimizer", "adamw", "o"},   {"optimizer", "prodigy", "p"},
      {"controller", "constant", "c"}, {"method", "fixed-rate", "f"}, {"method", "prodigy", "q"}};
};

const std::string kRows = "      - {method: fixed-rate, options: {lr: 5e-2}}\n      - {method: prodigy}\n";

class OtherCode : public ::testing::Test {
 protected:
  std::vector<OtherCodeRow> changed() { return rows_of_other_code(world_.store(), "spent", "").value(); }

  // `hyfreedp run --retrain`; how many trials it trained.
  std::size_t retrain(const std::string& yaml, const std::vector<std::string>& asked) {
    auto spec = world_.read(yaml);
    restore_for(world_.store(), world_.out(), "spent").value();
    runner::retrain(world_.store(), world_.out(), spec,
                    rows_to_retrain(changed(), asked, spec.content).value())
        .value();
    FakeExecutor executor;
    const auto report = world_.run(
        spec, executor, [] { return false; }, false);
    EXPECT_FALSE(report.failed_unexpectedly());
    return executor.ended;
  }
  std::size_t run(const std::string& yaml) {
    FakeExecutor executor;
    world_.run(yaml, executor);
    return executor.ended;
  }
  // Of the row's studies.
  std::set<std::string> trials(const std::string& row) {
    std::set<std::string> ids;
    for (const auto& study : world_.store().studies("spent").value()) {
      if (study.row == row) ids.insert(study.trials.begin(), study.trials.end());
    }
    return ids;
  }

  Code code_;
  World world_;
};

const std::string kSeeded = spending::spec_of("spent", kRows);
const std::string kUnseeded = spending::spec_of("spent", kRows, "[3]", "");

TEST_F(OtherCode, IsNamedByRowAndPart) {
  run(kSeeded);
  EXPECT_THAT(changed(), IsEmpty());
  EXPECT_EQ(other_code_note(world_.store(), "spent", "").value(), "");
  code_.change("optimizer", "prodigy");
  ASSERT_EQ(changed().size(), 1U);
  EXPECT_EQ(changed()[0].row, "prodigy");
  EXPECT_THAT(changed()[0].parts, ElementsAre("the optimizer prodigy"));
  code_.change("method", "fixed-rate");
  code_.change("engine");
  ASSERT_EQ(changed().size(), 2U);
  EXPECT_EQ(changed()[0].row, "fixed-rate");
  EXPECT_THAT(changed()[0].parts, ElementsAre("the engine", "the method fixed-rate"));
  EXPECT_THAT(changed()[1].parts, ElementsAre("the engine", "the optimizer prodigy"));
  EXPECT_THAT(other_code_note(world_.store(), "spent", "").value(),
              HasSubstr("2 rows were trained by other code than this program's: fixed-rate (the engine, the "
                        "method fixed-rate); prodigy (the engine, the optimizer prodigy)."));
}

// It has no result of any code, and the next run trains it again without --retrain.
TEST_F(OtherCode, IsNotSaidOfARunThatWasLost) {
  FakeExecutor executor;
  executor.fate = [](const auto& config) {
    return config.optimizer.name == "prodigy" ? Fate::kill : Fate::finish;
  };
  world_.run(kUnseeded, executor);
  EXPECT_THAT(changed(), IsEmpty());
  EXPECT_EQ(other_code_note(world_.store(), "spent", "").value(), "");
  code_.change("engine");
  ASSERT_THAT(changed(), ::testing::SizeIs(1));
  EXPECT_EQ(changed()[0].row, "fixed-rate");
  EXPECT_EQ(run(kUnseeded), 2U) << "the lost ones";
}

// Half of its steps are of the code before.
TEST_F(OtherCode, IsThatOfARunThatWentOnUnderChangedCode) {
  FakeExecutor executor;
  executor.fate = [](const auto& config) {
    return config.optimizer.name == "prodigy" ? Fate::kill : Fate::finish;
  };
  executor.steps_done = [](const auto&) { return 4; };
  executor.keeps_state = [](const auto&) { return 3; };
  world_.run(kSeeded, executor);
  code_.change("optimizer", "prodigy");
  executor.fate = [](const auto&) { return Fate::finish; };
  world_.run(kSeeded, executor);
  ASSERT_THAT(changed(), ::testing::SizeIs(1));
  EXPECT_EQ(changed()[0].row, "prodigy");
  EXPECT_THAT(changed()[0].parts, ElementsAre("the optimizer prodigy"));
}

// Where one of the two programs alone was built, rows are of other code however often they are
// trained.
TEST_F(OtherCode, OfAWorkerOfAnotherBuildIsSaidToBe) {
  run(kSeeded);
  const auto worker = ::testing::TempDir() + "hyfreedp-worker-of-another-build";
  const auto note_with = [&](const std::string& content) {
    std::ofstream(worker, std::ios::binary) << content;
    ::setenv("HYFREEDP_WORKER", worker.c_str(), 1);
    auto note = other_code_note(world_.store(), "spent", "").value();
    ::unsetenv("HYFREEDP_WORKER");
    return note;
  };
  const std::string own = "x hyfreedp code marks: 0123456789abcdef";
  const std::string other = "x hyfreedp code marks: fedcba9876543210";
  EXPECT_EQ(note_with(other), "") << "no row is of other code";
  code_.change("engine");
  EXPECT_THAT(note_with(other), HasSubstr("hyfreedp-worker is of another build than hyfreedp, so what it "
                                          "trains counts as trained by other code; build both (ninja)."));
  EXPECT_THAT(note_with(other), Not(HasSubstr("--retrain")));
  for (const auto& known : {own, std::string("a worker without marks")})
    EXPECT_THAT(note_with(known), AllOf(HasSubstr("--retrain"), Not(HasSubstr("another build"))));
  std::filesystem::remove(worker);
}

TEST_F(OtherCode, IsNotTrainedBeforeItIsAskedFor) {
  run(kSeeded);
  const auto before = world_.rows("spent");
  code_.change("engine");
  EXPECT_EQ(run(kSeeded), 0U);
  EXPECT_EQ(world_.rows("spent"), before);
}

TEST_F(OtherCode, OfOneRowIsTrainedAnewAndTheOthersStay) {
  EXPECT_EQ(run(kSeeded), 4U);
  const auto fixed = trials("fixed-rate");
  const auto prodigy = trials("prodigy");
  code_.change("engine");
  EXPECT_EQ(retrain(kSeeded, {"prodigy"}), 2U);
  EXPECT_EQ(trials("fixed-rate"), fixed);
  for (const auto& id : trials("prodigy")) EXPECT_FALSE(prodigy.contains(id)) << id;
  ASSERT_EQ(changed().size(), 1U);
  EXPECT_EQ(changed()[0].row, "fixed-rate");
  EXPECT_EQ(retrain(kSeeded, {"prodigy"}), 0U) << "that row is of this code now";
  EXPECT_EQ(run(kSeeded), 0U) << "the same command goes on with what is recorded";
  EXPECT_EQ(retrain(kSeeded, {"all"}), 2U);
  EXPECT_THAT(changed(), IsEmpty());
  code_.change("engine");
  EXPECT_EQ(retrain(kSeeded, {"prodigy"}), 2U) << "a third time";
}

// Two rows that ask for equal runs.
TEST_F(OtherCode, OfARowWithTheRunsOfAnotherIsTrainedAnewByItself) {
  const auto yaml =
      spending::spec_of("spent", kRows + "      - {id: twin, method: fixed-rate, options: {lr: 5e-2}}\n");
  EXPECT_EQ(run(yaml), 4U);
  code_.change("engine");
  EXPECT_EQ(retrain(yaml, {"fixed-rate"}), 2U);
  code_.change("engine");
  EXPECT_EQ(retrain(yaml, {"twin"}), 2U);
}

TEST_F(OtherCode, OfASeededRowHasTheNoiseOfANewFolder) {
  run(kSeeded);
  code_.change("engine");
  const auto config_of = [&](const std::string& id) {
    return trial::TrialConfig::from_json(world_.store().trial(id).value()->config, id).value();
  };
  std::map<std::int64_t, random::Key> before;
  for (const auto& id : trials("prodigy"))
    before.emplace(config_of(id).seed, mechanism::seeded_key(config_of(id)));
  retrain(kSeeded, {"prodigy"});
  for (const auto& id : trials("prodigy"))
    EXPECT_EQ(mechanism::seeded_key(config_of(id)).bytes, before.at(config_of(id).seed).bytes);
  for (const auto& study : world_.store().studies("spent").value()) EXPECT_THAT(study.footnotes, IsEmpty());
}

TEST_F(OtherCode, OfAnUnseededRowIsAFurtherReleaseThatIsCharged) {
  run(kUnseeded);
  const auto once = spending::epsilon_of(world_);
  code_.change("engine");
  EXPECT_EQ(retrain(kUnseeded, {"prodigy"}), 2U);
  const auto both = spending::epsilon_of(world_);
  EXPECT_GT(both, once + 0.2);
  std::size_t further = 0;
  for (const auto& study : world_.store().studies("spent").value())
    further += study.footnotes.empty() ? 0U : 1U;
  EXPECT_EQ(further, 2U) << "one for each seed of the row";
  EXPECT_EQ(run(kUnseeded), 0U);
  EXPECT_EQ(spending::epsilon_of(world_), both);
  // The same from the journals and the release record.
  world_.forget_database();
  EXPECT_EQ(run(kUnseeded), 0U);
  EXPECT_EQ(spending::epsilon_of(world_), both);
}

TEST_F(OtherCode, OfAPrivateSelectionDrawsAnew) {
  const auto yaml = spending::spec_of("spent", spending::kFixed + spending::kSelection, "[3]", "");
  run(yaml);
  const auto before = trials("dp-hyper");
  code_.change("engine");
  const auto once = spending::epsilon_of(world_);
  retrain(yaml, {"dp-hyper"});
  for (const auto& id : trials("dp-hyper")) EXPECT_FALSE(before.contains(id));
  EXPECT_GT(spending::epsilon_of(world_), once + 0.2);
}

TEST_F(OtherCode, AfterFreshRowsCountFromItAgain) {
  run(kUnseeded);
  code_.change("engine");
  retrain(kUnseeded, {"prodigy"});
  const auto retrained = trials("prodigy");
  FakeExecutor executor;
  world_.run(
      world_.read(kUnseeded), executor, [] { return false; }, true);
  EXPECT_EQ(executor.ended, 4U);
  for (const auto& id : trials("prodigy")) EXPECT_FALSE(retrained.contains(id)) << "a run was shared";
}

TEST_F(OtherCode, OfARowThatIsNotThereIsRefused) {
  run(kSeeded);
  const auto spec = world_.read(kSeeded);
  const auto rows = rows_to_retrain(changed(), {"prodigi"}, spec.content);
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("prodigy"));
}

TEST_F(OtherCode, ThatWasNotRecordedIsToldByTheWorker) {
  trial::set_code_marks({});
  run(kSeeded);
  code_.change("");
  EXPECT_THAT(changed(), IsEmpty());
  const auto by_another = rows_of_other_code(world_.store(), "spent", "0011223344556677").value();
  ASSERT_EQ(by_another.size(), 2U);
  EXPECT_THAT(by_another[0].parts, ElementsAre("the program, before it recorded its code"));
}

}  // namespace other_code_test
}  // namespace hyfreedp::runner
