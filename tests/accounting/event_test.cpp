#include "harness/accounting/event.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "harness/accounting/accountant.h"
#include "harness/accounting/mechanism.h"

namespace hyfreedp::accounting {
namespace event_test {

Result<Events> parse(const std::string& text) {
  const auto value = parse_json(text, "events.json");
  if (!value) return value.error();
  return events_from_json(*value, "events.json");
}

TEST(Event, EveryTypeSurvivesARoundTrip) {
  const auto events = parse(R"({"neighbouring": "replace-one", "events": [
      {"type": "poisson-gaussian", "sample_rate": 0.02, "noise_multiplier": 1.5, "count": 10},
      {"type": "gaussian", "noise_multiplier": 3, "split": "validation"},
      {"type": "laplace", "sample_rate": 0.5, "noise_multiplier": 2, "count": 4},
      {"type": "batch", "sample_rate": 0.1, "count": 7, "releases": [
         {"noise_multiplier": 1, "purpose": "gradient"}, {"noise_multiplier": 4, "count": 3, "noise": "laplace"}]},
      {"type": "repeat", "count": 2, "base": [{"type": "gaussian", "noise_multiplier": 8}]},
      {"type": "selection", "distribution": "logarithmic", "mean": 10, "base": [
         {"type": "poisson-gaussian", "sample_rate": 0.02, "noise_multiplier": 1.5, "count": 10}]},
      {"type": "selection", "distribution": "poisson", "mean": 0.5, "base": [{"type": "gaussian", "noise_multiplier": 8}]},
      {"type": "selection", "distribution": "liu-talwar", "mean": 4, "base": [{"type": "gaussian", "noise_multiplier": 8}]},
      {"type": "not-accountable", "reason": "The batches were shuffled."}]})");
  ASSERT_TRUE(events.has_value()) << events.error().message;
  ASSERT_EQ(events->events.size(), 9u);
  EXPECT_EQ(events->neighbouring, Neighbouring::replace_one);
  EXPECT_EQ(events->events[1].split, "validation");
  const auto written = events_to_json(*events);
  const auto again = events_from_json(written, "again");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(canonical_json(events_to_json(*again)), canonical_json(written));
  EXPECT_EQ(std::get<Selection>(again->events[5].what).eta, 0);
  EXPECT_EQ(std::get<Batch>(again->events[3].what).releases[1].noise, Noise::laplace);
}

TEST(Event, GammaFixesTheMean) {
  const auto events =
      parse(R"({"events": [{"type": "selection", "distribution": "geometric", "gamma": 0.1, "base": [
      {"type": "gaussian", "noise_multiplier": 8}]}]})");
  ASSERT_TRUE(events.has_value()) << events.error().message;
  EXPECT_NEAR(std::get<Selection>(events->events[0].what).mean, 10, 1e-12);
}

struct Bad {
  const char* text;
  const char* part;  // of the sentence
};

TEST(Event, BadInputIsOneSentenceThatSaysWhere) {
  const Bad cases[] = {
      {R"({"events": [{"type": "poisson-gaussian", "sample_rate": 1.5, "noise_multiplier": 1}]})", "(0, 1]"},
      {R"({"events": [{"type": "poisson-gaussian", "sample_rate": 0, "noise_multiplier": 1}]})", "(0, 1]"},
      {R"({"events": [{"type": "poisson-gaussian", "sample_rate": "nan", "noise_multiplier": 1}]})",
       "(0, 1]"},
      {R"({"events": [{"type": "poisson-gaussian", "sample_rate": 0.5, "noise_multiplier": 0}]})",
       "positive"},
      {R"({"events": [{"type": "poisson-gaussian", "sample_rate": 0.5, "noise_multiplier": "inf"}]})",
       "finite"},
      {R"({"events": [{"type": "poisson-gaussian", "sample_rate": 0.5, "noise_multiplier": "nan"}]})",
       "positive"},
      {R"({"events": [{"type": "poisson-gaussian", "sample_rate": 0.5, "noise_multiplier": 1e300}]})",
       "at most"},
      {R"({"events": [{"type": "gaussian", "noise_multiplier": 1, "split": ""}]})", "'split'"},
      {R"({"events": [{"type": "gaussian", "noise_multiplier": 1, "split": "Private Train"}]})", "a-z"},
      {R"({"events": [{"type": "gaussian", "noise_multiplier": 1, "split": "a\nb"}]})", "a-z"},
      {R"({"events": [{"type": "poisson-gaussian", "sample_rate": 0.5}]})", "noise_multiplier"},
      {R"({"events": [{"type": "poisson-gaussian", "sample_rate": 0.5, "noise_multiplier": 1, "count": 0}]})",
       "count"},
      {R"({"events": [{"type": "poisson-gaussian", "sample_rate": 0.5, "noise_multiplier": 1, "count": 1.5}]})",
       "count"},
      {R"({"events": [{"type": "poisson-gausian", "sample_rate": 0.5, "noise_multiplier": 1}]})",
       "poisson-gaussian'?"},
      {R"({"events": [{"type": "gaussian", "noise_multipler": 1}]})", "noise_multiplier'?"},
      {R"({"events": [{"type": "gaussian", "noise_multiplier": 1, "sample_rate": 0.1}]})", "sample_rate"},
      {R"({"events": [{"noise_multiplier": 1}]})", "type"},
      {R"({"events": [{"type": "batch", "sample_rate": 0.1, "releases": []}]})", "empty"},
      {R"({"events": [{"type": "selection", "distribution": "geometric", "mean": 0.5, "base": [
           {"type": "gaussian", "noise_multiplier": 1}]}]})",
       "at least 1"},
      {R"({"events": [{"type": "selection", "distribution": "geometric", "mean": 4, "base": []}]})", "base"},
      {R"({"events": [{"type": "selection", "distribution": "zipf", "mean": 4, "base": []}]})",
       "logarithmic"},
      {R"({"events": [], "neighboring": "add-remove"})", "neighbouring'?"},
      {R"({"events": [], "neighbouring": "swap"})", "replace-one"},
      {R"({"neighbouring": "add-remove"})", "events"},
      {R"([1, 2])", "object"},
      {R"({"events": [{"type": "gaussian", "noise_mul)", "JSON"},
  };
  for (const auto& bad : cases) {
    const auto events = parse(bad.text);
    ASSERT_FALSE(events.has_value()) << bad.text;
    const auto& message = events.error().message;
    EXPECT_NE(message.find(bad.part), std::string::npos) << message;
    EXPECT_EQ(message.rfind("events.json", 0), 0u) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(Event, DeepNestingIsRefused) {
  std::string text = R"({"type": "gaussian", "noise_multiplier": 1})";
  for (int i = 0; i < 12; ++i) text = R"({"type": "repeat", "base": [)" + text + "]}";
  const auto events = parse(R"({"events": [)" + text + "]}");
  ASSERT_FALSE(events.has_value());
  EXPECT_NE(events.error().message.find("nested"), std::string::npos);
}

TEST(Mechanism, ReleasesOfABatchAreFoldedBeforeSubsampling) {
  const Events events{{}, {batch(0.02, {{1.6177}, {5.862, 3}}, 50), poisson_gaussian(0.02, 1.6177, 200)}};
  const auto contents = split_contents(events);
  ASSERT_TRUE(contents.has_value());
  ASSERT_EQ(contents->size(), 1u);
  ASSERT_EQ((*contents)[0].mechanisms.size(), 2u);
  EXPECT_NEAR((*contents)[0].mechanisms[0].noise_multiplier, 1.4595401326357231, 1e-12);
  EXPECT_EQ((*contents)[0].mechanisms[0].count, 50);
  EXPECT_EQ((*contents)[0].mechanisms[1].count, 200);
}

TEST(Mechanism, EqualEventsAreMergedAndRepeatsMultiply) {
  const Event one = poisson_gaussian(0.1, 2, 3);
  const Events events{{}, {one, Event{Repeat{{one, one}, 5}, {}}, one}};
  const auto contents = split_contents(events);
  ASSERT_EQ((*contents)[0].mechanisms.size(), 1u);
  EXPECT_EQ((*contents)[0].mechanisms[0].count, 36);
}

TEST(Mechanism, SplitsComposeInParallel) {
  const Event train = poisson_gaussian(0.02, 1.2, 250);
  Event validation = poisson_gaussian(1, 3, 1);
  validation.split = "private_validation";
  const double both = epsilon_pld({{}, {train, validation}}, 1e-5)->epsilon;
  EXPECT_DOUBLE_EQ(both, std::max(epsilon_pld({{}, {train}}, 1e-5)->epsilon,
                                  epsilon_pld({{}, {validation}}, 1e-5)->epsilon));
  validation.split = {};
  EXPECT_GT(epsilon_pld({{}, {train, validation}}, 1e-5)->epsilon, both);
}

TEST(Mechanism, AnEventWithoutASplitTouchesTheTrainingSplit) {
  const Event unnamed = poisson_gaussian(0.02, 1.2, 250);
  Event named = unnamed;
  named.split = "private_train";
  const auto contents = split_contents({{}, {unnamed, named}});
  ASSERT_TRUE(contents.has_value()) << contents.error().message;
  ASSERT_EQ(contents->size(), 1u);
  EXPECT_EQ((*contents)[0].mechanisms[0].count, 500);
}

TEST(Mechanism, TheCostliestSplitIsNamedFirst) {
  Event cheap = poisson_gaussian(1, 9, 1);
  Event dear = poisson_gaussian(1, 3, 1);
  Event middling = poisson_gaussian(1, 4, 1);
  cheap.split = "cheap";
  dear.split = "dear";
  middling.split = "middling";
  const Events events{{}, {cheap, middling, dear}};
  const std::vector<std::string> expected = {"dear", "middling", "cheap"};
  EXPECT_EQ(epsilon_pld(events, 1e-5)->splits, expected);
  EXPECT_EQ(epsilon_rdp(events, 1e-5)->splits, expected);
  EXPECT_EQ(epsilon_gdp(events, 1e-5)->splits, expected);
  EXPECT_EQ(report_epsilon(events, 1e-5)->splits, expected);
}

TEST(Mechanism, NoiseBeyondWhatDoublesHoldIsRefused) {
  const Events events{{}, {poisson_gaussian(0.02, 1e300, 250)}};
  for (const auto& answer :
       {epsilon_pld(events, 1e-5), epsilon_rdp(events, 1e-5), epsilon_gdp(events, 1e-5)}) {
    ASSERT_FALSE(answer.has_value());
    EXPECT_NE(answer.error().message.find("largest"), std::string::npos) << answer.error().message;
  }
  const auto largest = epsilon_pld({{}, {poisson_gaussian(0.02, 1e9, 250)}}, 1e-5);
  ASSERT_TRUE(largest.has_value()) << largest.error().message;
  EXPECT_LT(largest->epsilon, 1e-6);
}

TEST(Mechanism, ASelectionIsPricedOnEachSplitWithItsOwnBase) {
  const Event train = poisson_gaussian(0.02, 1.2, 250);
  Event score = poisson_gaussian(1, 4, 1);
  score.split = "private_validation";
  const auto select = [](std::vector<Event> base) {
    return Events{
        {},
        {Event{Selection{Selection::Distribution::truncated_negative_binomial, 0, 10, std::move(base)}, {}}}};
  };
  const double both = epsilon_rdp(select({train, score}), 1e-5)->epsilon;
  const double on_train = epsilon_rdp(select({train}), 1e-5)->epsilon;
  const double on_validation = epsilon_rdp(select({score}), 1e-5)->epsilon;
  EXPECT_DOUBLE_EQ(both, std::max(on_train, on_validation));
}

TEST(Mechanism, WhatCannotBePricedIsRefusedWithItsReason) {
  const Event shuffled{NotAccountable{"The batches were shuffled."}, {}};
  for (const auto& answer : {epsilon_pld({{}, {shuffled}}, 1e-5), epsilon_rdp({{}, {shuffled}}, 1e-5),
                             epsilon_gdp({{}, {shuffled}}, 1e-5)}) {
    ASSERT_FALSE(answer.has_value());
    EXPECT_NE(answer.error().message.find("shuffled"), std::string::npos);
  }
  const Event mixed = batch(0.1, {{1.0}, {2.0, 1, Noise::laplace, {}}}, 1);
  EXPECT_FALSE(epsilon_pld({{}, {mixed}}, 1e-5).has_value());
  const Event many = poisson_gaussian(0.1, 1, 1'000'000'000);
  const auto answer = epsilon_pld({{}, {many}}, 1e-5);
  ASSERT_FALSE(answer.has_value());
  EXPECT_NE(answer.error().message.find("more than"), std::string::npos);
}

}  // namespace event_test
}  // namespace hyfreedp::accounting
