#include "harness/runner/execute/study_epsilon.h"

#include <gtest/gtest.h>

namespace hyfreedp::runner {
namespace study_epsilon_test {

using accounting::Event;

// The price of one study after another by the same pricer, which remembers.
TEST(StudyPricer, EveryPartOfTheQuestionCounts) {
  StudyPricer pricer;
  struct Question {
    double delta;
    double noise;
    std::int64_t count;
    std::string split;
  };
  const std::vector<Question> questions = {
      {1e-5, 2, 10, ""}, {1e-7, 2, 10, ""}, {1.0000001e-5, 2, 10, ""}, {1e-5, 3, 10, ""}, {1e-5, 2, 11, ""}};
  std::set<double> prices;
  for (const int round : {0, 1}) {
    for (const auto& [delta, noise, count, split] : questions) {
      auto event = accounting::poisson_gaussian(0.1, noise, count);
      event.split = split;
      const std::vector<Event> events{event};
      results::StudyRecord study{
          .id = "s", .epsilon_target = 3, .delta = delta, .reported_trial = "t", .trials = {"t"}};
      const trial::Composition composition{.rule = trial::Composition::Rule::trial, .trials = {"t"}};
      ASSERT_TRUE(pricer.price(study, composition,
                               [&](const std::string&) -> Result<std::vector<Event>> { return events; }));
      const auto alone = accounting::report_epsilon({.events = events}, delta).value();
      EXPECT_EQ(study.total->epsilon, alone.epsilon) << "round " << round;
      EXPECT_EQ(study.total->delta, delta);
      EXPECT_EQ(study.training->epsilon, alone.epsilon);
      prices.insert(study.total->epsilon);
    }
  }
  EXPECT_EQ(prices.size(), questions.size());
}

}  // namespace study_epsilon_test
}  // namespace hyfreedp::runner
