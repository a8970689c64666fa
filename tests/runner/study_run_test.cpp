#include "harness/runner/execute/study_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/random/partition.h"

namespace hyfreedp::runner {
namespace study_run_test {

using baselines::Baseline;
using baselines::Cell;
using baselines::Conclusion;
using baselines::FinishedTrial;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

trial::TrialConfig config(std::int64_t repetition) {
  trial::TrialConfig result;
  result.steps = 1;
  result.repetition = repetition;
  return result;
}

FinishedTrial finished(const trial::TrialConfig& of, double score) {
  FinishedTrial trial{.id = of.id(), .config = of};
  trial.released_score = score;
  return trial;
}

// Two trials, then a third whose setting depends on the better one.
Baseline two_rounds() {
  Baseline method{.name = "two-rounds"};
  method.next = [](const Cell&,
                   std::span<const FinishedTrial> known) -> Result<std::vector<trial::TrialConfig>> {
    if (known.size() < 2) return std::vector{config(1), config(2)};
    if (known.size() == 2)
      return std::vector{config(*known[0].released_score > *known[1].released_score ? 11 : 12)};
    return std::vector<trial::TrialConfig>{};
  };
  method.conclude = [](const Cell&, std::span<const FinishedTrial> known) -> Result<Conclusion> {
    Conclusion conclusion;
    conclusion.reported_trial = known[2].id;
    conclusion.composition.rule = trial::Composition::Rule::sum;
    for (const auto& trial : known) conclusion.composition.trials.push_back(trial.id);
    return conclusion;
  };
  return method;
}

StudyRun study_of(const Baseline& method) {
  PlannedStudy study;
  study.id = "study";
  study.baseline = &method;
  return StudyRun(std::move(study), "spec");
}

TEST(StudyRun, AsksWaitsAndConcludesWhateverTheOrder) {
  const auto method = two_rounds();
  for (const bool reversed : {false, true}) {
    auto run = study_of(method);
    ASSERT_THAT(run.advance(), SizeIs(2));
    EXPECT_TRUE(run.is_waiting());
    run.receive(finished(config(reversed ? 2 : 1), reversed ? 0.2 : 0.7));
    EXPECT_TRUE(run.is_waiting());
    run.receive(finished(config(reversed ? 1 : 2), reversed ? 0.7 : 0.2));
    EXPECT_FALSE(run.is_waiting());
    const auto second = run.advance();
    ASSERT_THAT(second, SizeIs(1));
    EXPECT_EQ(second[0].repetition, 11);
    run.receive(finished(config(11), 0.9));
    EXPECT_THAT(run.advance(), IsEmpty());
    EXPECT_TRUE(run.is_over());
    EXPECT_EQ(run.outcome().state, results::StudyState::concluded);
    EXPECT_EQ(run.outcome().reported_trial, config(11).id());
    EXPECT_EQ(run.outcome().trials,
              (std::vector<std::string>{config(1).id(), config(2).id(), config(11).id()}));
  }
}

TEST(StudyRun, ALostTrialIsToldOnceAllAreOver) {
  const auto method = two_rounds();
  std::vector<std::string> messages;
  for (const bool reversed : {false, true}) {
    auto run = study_of(method);
    run.advance();
    const auto lose = [&](std::int64_t which) {
      run.receive_lost(config(which).id(), "killed", "number " + std::to_string(which));
    };
    lose(reversed ? 2 : 1);
    EXPECT_TRUE(run.is_waiting());
    lose(reversed ? 1 : 2);
    EXPECT_FALSE(run.is_waiting());
    EXPECT_THAT(run.advance(), IsEmpty());
    EXPECT_TRUE(run.is_over());
    EXPECT_TRUE(run.failed_unexpectedly());
    EXPECT_EQ(run.outcome().failure_kind, "killed");
    messages.push_back(run.outcome().failure_message);
  }
  EXPECT_EQ(messages[0], messages[1]);
  EXPECT_THAT(messages[0], HasSubstr("number 1"));
}

// Its runs stay confidential: their number and which was lost, whatever the end.
TEST(StudyRun, ALostPrivateSelectionTellsNothingOfItsRuns) {
  auto method = two_rounds();
  method.confidential_runs = true;
  for (const bool lost : {true, false}) {
    if (!lost)
      method.next = [next = method.next](const Cell& cell, auto known) {
        if (known.size() == 2) throw std::runtime_error("bug at " + config(2).id());
        return next(cell, known);
      };
    auto run = study_of(method);
    run.advance();
    run.receive(finished(config(1), 0.5));
    if (lost) {
      run.receive_lost(config(2).id(), "killed", "the journal of " + config(2).id() + " is damaged");
    } else {
      run.receive(finished(config(2), 0.5));
    }
    EXPECT_THAT(run.advance(), IsEmpty());
    EXPECT_TRUE(run.is_over());
    EXPECT_TRUE(run.failed_unexpectedly());
    const auto& outcome = run.outcome();
    EXPECT_EQ(outcome.state, results::StudyState::failed);
    EXPECT_EQ(outcome.failure_kind, lost ? "killed" : "internal");
    EXPECT_THAT(outcome.trials, IsEmpty());
    EXPECT_EQ(outcome.composition.to_json(),
              (json::object{{"rule", "selection"}, {"trials", json::array{}}}));
    for (const std::int64_t of : {1, 2})
      EXPECT_THAT(outcome.failure_message, ::testing::Not(HasSubstr(config(of).id())));
    const auto events =
        trial::compose(run.composition(), [](const std::string&) -> Result<std::vector<accounting::Event>> {
          return std::vector<accounting::Event>{};
        });
    EXPECT_FALSE(events) << "nothing to compose is not a cost of nothing";
  }
}

TEST(StudyRun, AMethodsOwnBugsFailItsStudyOnly) {
  auto throwing = two_rounds();
  throwing.next = [](const Cell&, auto) -> Result<std::vector<trial::TrialConfig>> {
    throw std::logic_error("broken invariant");
  };
  auto refusing = two_rounds();
  refusing.conclude = [](const Cell&, auto) -> Result<Conclusion> { return error("cannot say"); };
  refusing.next = [](const Cell&, auto) -> Result<std::vector<trial::TrialConfig>> {
    return std::vector<trial::TrialConfig>{};
  };
  for (const auto& [method, why] :
       {std::pair{throwing, "broken invariant"}, std::pair{refusing, "cannot say"}}) {
    auto run = study_of(method);
    EXPECT_THAT(run.advance(), IsEmpty());
    EXPECT_TRUE(run.is_over());
    EXPECT_TRUE(run.failed_unexpectedly());
    EXPECT_EQ(run.outcome().failure_kind, "internal");
    EXPECT_THAT(run.outcome().failure_message, HasSubstr(why));
  }
}

std::string why_it_failed(const Baseline& method) {
  auto run = study_of(method);
  for (int round = 0; round < 5 && !run.is_over(); ++round) {
    for (const auto& wanted : run.advance()) run.receive(finished(wanted, 0));
  }
  return run.failed_unexpectedly() ? run.outcome().failure_message : "";
}

// Parts of the data compose in parallel only where the runs were on them, and on those of one
// partition.
TEST(StudyRun, ARowPricedByPartsHadThem) {
  const auto on_parts = [](bool asked, const std::string& other_key, const trial::Named& other_data = {}) {
    auto method = two_rounds();
    method.next = [next = method.next, asked, other_key, other_data](const Cell& cell, auto known) {
      auto wanted = next(cell, known);
      const bool is_first = known.empty();
      for (auto& one : *wanted) {
        if (!asked) continue;
        if (!is_first) one.dataset = other_data;
        one.dataset.options = random::with_part(
            one.dataset.options,
            {is_first ? random::kTuningPart : random::kRestPart, 0.5, is_first ? "a" : other_key});
      }
      return wanted;
    };
    method.conclude = [conclude = method.conclude](const Cell& cell, auto known) -> Result<Conclusion> {
      auto conclusion = conclude(cell, known);
      for (const auto& trial : known) {
        const auto name = string_or(trial.config.dataset.options, "part", random::kTuningPart);
        conclusion->composition.parts[trial.id] = name;
      }
      return conclusion;
    };
    return method;
  };
  EXPECT_EQ(why_it_failed(on_parts(true, "a")), "");
  EXPECT_THAT(why_it_failed(on_parts(true, "b")), HasSubstr("which it did not have"));
  EXPECT_THAT(why_it_failed(on_parts(true, "a", {"other", {}})), HasSubstr("which it did not have"));
  EXPECT_THAT(why_it_failed(on_parts(true, "a", {"", {{"validation", 7}}})),
              HasSubstr("which it did not have"));
  EXPECT_THAT(why_it_failed(on_parts(false, "a")), HasSubstr("which it did not have"));
}

TEST(StudyRun, AnEndToEndRowPricesAllItDid) {
  const auto honest = two_rounds();
  EXPECT_EQ(why_it_failed(honest), "");

  auto leaves_out = honest;
  leaves_out.conclude = [&](const Cell& cell, auto known) -> Result<Conclusion> {
    auto conclusion = honest.conclude(cell, known);
    conclusion->composition.trials.pop_back();
    return conclusion;
  };
  EXPECT_THAT(why_it_failed(leaves_out), HasSubstr("leaves a run out"));

  auto only_the_best = honest;
  only_the_best.conclude = [&](const Cell& cell, auto known) -> Result<Conclusion> {
    auto conclusion = honest.conclude(cell, known);
    conclusion->composition.rule = trial::Composition::Rule::trial;
    return conclusion;
  };
  EXPECT_THAT(why_it_failed(only_the_best), HasSubstr("leaves a run out"));
  auto called_oracle = only_the_best;
  called_oracle.conclude = [&](const Cell& cell, auto known) -> Result<Conclusion> {
    auto conclusion = only_the_best.conclude(cell, known);
    conclusion->label = baselines::Label::oracle;
    return conclusion;
  };
  EXPECT_EQ(why_it_failed(called_oracle), "");
  auto says_no_rule = called_oracle;
  says_no_rule.conclude = [&](const Cell& cell, auto known) -> Result<Conclusion> {
    auto conclusion = called_oracle.conclude(cell, known);
    conclusion->composition = {};
    return conclusion;
  };
  EXPECT_THAT(why_it_failed(says_no_rule), HasSubstr("does not say how its runs compose"));

  for (const bool oracle : {true, false}) {
    auto peeks = honest;
    peeks.next = [&](const Cell& cell, auto known) -> Result<std::vector<trial::TrialConfig>> {
      auto wanted = honest.next(cell, known);
      for (auto& one : *wanted) {
        one.evaluation.oracle_validation = oracle;
        one.privacy.is_private = oracle;
      }
      return wanted;
    };
    EXPECT_THAT(why_it_failed(peeks), HasSubstr(oracle ? "un-noised" : "without privacy"));
  }
  auto peeks_at_training = honest;
  peeks_at_training.next = [&](const Cell& cell, auto known) -> Result<std::vector<trial::TrialConfig>> {
    auto wanted = honest.next(cell, known);
    for (auto& one : *wanted) one.evaluation.oracle_train = true;
    return wanted;
  };
  EXPECT_THAT(why_it_failed(peeks_at_training), HasSubstr("training accuracy"));
}

// One round of runs that cost the same; `steps` of the second.
Baseline private_selection(std::int64_t steps) {
  Baseline method{.name = "selection"};
  method.next = [steps](const Cell&,
                        std::span<const FinishedTrial> known) -> Result<std::vector<trial::TrialConfig>> {
    if (!known.empty()) return std::vector<trial::TrialConfig>{};
    std::vector<trial::TrialConfig> wanted{config(1), config(2)};
    wanted[1].steps = steps;
    return wanted;
  };
  method.conclude = [](const Cell&, std::span<const FinishedTrial> known) -> Result<Conclusion> {
    Conclusion conclusion;
    conclusion.reported_trial = known[0].id;
    conclusion.composition.rule = trial::Composition::Rule::selection;
    conclusion.composition.trials = {known[0].id};
    return conclusion;
  };
  return method;
}

// The price of a selection is that of independent runs of one mechanism.
TEST(StudyRun, ASelectionAsksOnceForRunsThatCostTheSame) {
  EXPECT_EQ(why_it_failed(private_selection(1)), "");
  EXPECT_THAT(why_it_failed(private_selection(2)), HasSubstr("do not cost the same"));
  auto in_rounds = two_rounds();
  in_rounds.conclude = private_selection(1).conclude;
  EXPECT_THAT(why_it_failed(in_rounds), HasSubstr("several rounds"));
}

TEST(StudyRun, AskingAgainForTheSameEnds) {
  auto method = two_rounds();
  method.next = [](const Cell&, auto) -> Result<std::vector<trial::TrialConfig>> {
    return std::vector{config(1)};
  };
  auto run = study_of(method);
  ASSERT_THAT(run.advance(), SizeIs(1));
  run.receive(finished(config(1), 0));
  EXPECT_THAT(run.advance(), IsEmpty());
  EXPECT_THAT(run.outcome().failure_message, HasSubstr("asks again"));
}

TEST(StudyRun, AskingWithoutEndEnds) {
  auto method = two_rounds();
  method.next = [](const Cell&,
                   std::span<const FinishedTrial> known) -> Result<std::vector<trial::TrialConfig>> {
    return std::vector{config(static_cast<std::int64_t>(known.size()))};
  };
  auto run = study_of(method);
  int rounds = 0;
  while (!run.is_over() && rounds < 5000) {
    ++rounds;
    for (const auto& wanted : run.advance()) run.receive(finished(wanted, 0));
  }
  EXPECT_LT(rounds, 5000);
  EXPECT_THAT(run.outcome().failure_message, HasSubstr("never stops asking"));
}

TEST(StudyRun, ATypedFailureIsNotUnexpected) {
  auto method = two_rounds();
  method.next = [](const Cell&, auto) -> Result<std::vector<trial::TrialConfig>> {
    return std::vector<trial::TrialConfig>{};
  };
  method.conclude = [](const Cell&, auto) -> Result<Conclusion> {
    Conclusion conclusion;
    conclusion.composition.rule = trial::Composition::Rule::none;
    conclusion.failure = baselines::Failure{"infeasible-epsilon", "Too small."};
    return conclusion;
  };
  auto run = study_of(method);
  run.advance();
  EXPECT_EQ(run.outcome().state, results::StudyState::failed);
  EXPECT_EQ(run.outcome().failure_kind, "infeasible-epsilon");
  EXPECT_FALSE(run.failed_unexpectedly());
}

}  // namespace study_run_test
}  // namespace hyfreedp::runner
