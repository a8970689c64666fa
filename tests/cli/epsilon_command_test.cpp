// `hyfreedp epsilon` from flags and from events files: answers, refusals, pictures, and files
// nobody should send.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <random>

#include "harness/accounting/accountant.h"
#include "harness/cli/epsilon/events_file.h"
#include "plots/gnuplot.h"
#include "tests/cli/command_fixture.h"

namespace hyfreedp::cli {
namespace epsilon_command_test {

using Arguments = std::vector<std::string>;

constexpr const char* kEvents = R"({"neighbouring": "add-remove", "events": [
  {"type": "poisson-gaussian", "sample_rate": 0.02, "noise_multiplier": 1.6, "count": 200},
  {"type": "batch", "sample_rate": 0.02, "count": 50,
   "releases": [{"noise_multiplier": 1.6}, {"noise_multiplier": 6, "count": 3}]}]})";

class EpsilonCommand : public CommandTest {
 protected:
  EpsilonCommand() : CommandTest("epsilon") {}

  static Arguments flags(const std::string& q, const std::string& sigma, const std::string& steps,
                         const std::string& delta, const Arguments& more = {}) {
    Arguments all = {"--sample-rate", q, "--noise-multiplier", sigma, "--steps", steps, "--delta", delta};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static double at(const json::object& object, const char* key) {
    return get_double(object, key, "the answer").value();
  }
  Arguments of_file(const std::string& content, const Arguments& more = {}) {
    Arguments all = {"--events", file("events.json", content), "--delta", "1e-5"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  double priced(const std::string& events, const Arguments& more = {}) {
    return at(answer(of_file("{\"events\": [" + events + "]}", more)), "epsilon");
  }
  void expect_file_refused(const std::string& content, std::vector<std::string> parts) {
    parts.push_back(path("events.json"));
    expect_refused(of_file(content), parts);
  }
  void expect_event_refused(const std::string& event, std::vector<std::string> parts) {
    parts.push_back("events[0]");
    expect_file_refused("{\"events\": [" + event + "]}", std::move(parts));
  }
};

TEST_F(EpsilonCommand, AgreesWithTheReferenceNumbers) {
  const auto value = read_json_file(std::string(HYFREEDP_TEST_DATA) + "/accounting/psg_epsilon.json");
  ASSERT_TRUE(value);
  const auto& cases = value->as_object().at("cases").as_array();
  ASSERT_GE(cases.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& one = cases[i].as_object();
    const auto given = flags(fmt::format("{}", at(one, "q")), fmt::format("{}", at(one, "sigma")),
                             fmt::format("{}", at(one, "steps")), fmt::format("{}", at(one, "delta")));
    auto by = [&](const char* accountant) {
      auto all = given;
      all.insert(all.end(), {"--accountant", accountant});
      return answer(all);
    };
    const double exact = at(one, "exact");
    const auto pld = by("pld");
    EXPECT_GE(at(pld, "epsilon"), exact);
    EXPECT_LE(at(pld, "epsilon"), 1.001 * exact);
    EXPECT_LE(at(pld, "epsilon_lower"), exact);
    EXPECT_GT(at(pld, "epsilon_lower"), 0.99 * exact);
    const auto rdp = by("rdp");
    EXPECT_NEAR(at(rdp, "epsilon"), at(one, "rdp_optimal"), 1e-3 * at(one, "rdp_optimal"));
    EXPECT_NEAR(at(rdp, "order"), at(one, "rdp_optimal_order"), 0.5);
    const auto smaller = answer(given);
    EXPECT_EQ(at(smaller, "epsilon"), std::min(at(pld, "epsilon"), at(rdp, "epsilon")));
    EXPECT_EQ(at(smaller, "pld"), at(pld, "epsilon"));
    EXPECT_EQ(at(smaller, "rdp"), at(rdp, "epsilon"));
  }
}

TEST_F(EpsilonCommand, EachAccountantNamesItselfInTheAnswer) {
  for (const char* accountant : {"pld", "rdp", "gdp"}) {
    const auto object = answer(
        flags("0.02", "1.6", "250", "1e-5", {"--accountant", accountant, "--neighbouring", "add-remove"}));
    EXPECT_EQ(at(object, "delta"), 1e-5);
    EXPECT_EQ(object.at("neighbouring"), "add-remove");
    EXPECT_GE(at(object, "epsilon"), at(object, "epsilon_lower"));
    EXPECT_EQ(object.contains("order"), std::string(accountant) == "rdp");
    EXPECT_EQ(std::string(object.at("accountant").as_string()).rfind(accountant, 0), 0u);
    EXPECT_FALSE(object.contains("infinite"));
  }
  EXPECT_EQ(answer(flags("0.02", "1.6", "250", "1e-5", {"--accountant", "gdp"})).at("accountant"),
            "gdp-clt (approximation)");
  EXPECT_EQ(answer(flags("1", "1.6", "250", "1e-5", {"--accountant", "gdp"})).at("accountant"), "gdp");
}

TEST_F(EpsilonCommand, TheOrdersGivenAreTheOnesUsed) {
  const auto object =
      answer(flags("0.02", "1.6", "250", "1e-5", {"--accountant", "rdp", "--orders", "2,16,40"}));
  EXPECT_EQ(at(object, "order"), 16);
  EXPECT_GE(at(object, "epsilon"), at(answer(flags("0.02", "1.6", "250", "1e-5")), "rdp"));
  EXPECT_GT(
      at(answer(flags("0.02", "1.6", "250", "1e-5", {"--accountant", "rdp", "--orders", "2"})), "epsilon"),
      at(object, "epsilon"));
}

TEST_F(EpsilonCommand, ReplaceOneCostsMore) {
  const auto object = answer(flags("0.02", "1.6", "250", "1e-5", {"--neighbouring", "replace-one"}));
  EXPECT_EQ(object.at("neighbouring"), "replace-one");
  EXPECT_GT(at(object, "epsilon"), at(answer(flags("0.02", "1.6", "250", "1e-5")), "epsilon"));
}

TEST_F(EpsilonCommand, AnInfiniteEpsilonIsAnAnswer) {
  for (const char* accountant : {"gdp", "rdp"}) {
    const auto object = answer(flags("1", "1e-200", "50", "1e-5", {"--accountant", accountant}));
    EXPECT_TRUE(object.at("epsilon").is_null());
    EXPECT_EQ(object.at("infinite"), true);
  }
  ASSERT_EQ(run(flags("1", "1e-200", "50", "1e-5", {"--accountant", "gdp"})), 0);
  EXPECT_NE(out().find("epsilon  infinite\n"), std::string::npos) << out();
}

TEST_F(EpsilonCommand, PeopleReadOneFactALine) {
  ASSERT_EQ(run(flags("0.02", "1.6", "250", "1e-5")), 0);
  const auto object = answer(flags("0.02", "1.6", "250", "1e-5"));
  ASSERT_EQ(run(flags("0.02", "1.6", "250", "1e-5")), 0);
  std::istringstream lines(out());
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line.rfind("epsilon  0.875", 0), 0u) << line;
  EXPECT_NE(line.find(" (the true value is at least 0.875"), std::string::npos) << line;
  // Rounded away from what it bounds.
  EXPECT_GE(std::stod(line.substr(9)), at(object, "epsilon"));
  EXPECT_LT(std::stod(line.substr(9)), at(object, "epsilon") + 2e-6);
  const double lower = std::stod(line.substr(line.find("least ") + 6));
  EXPECT_LE(lower, at(object, "epsilon_lower"));
  EXPECT_GT(lower, at(object, "epsilon_lower") - 2e-6);
  std::getline(lines, line);
  EXPECT_EQ(line, "delta    1e-05");
  std::getline(lines, line);
  EXPECT_EQ(line, "by       pld, add-remove neighbours");
  std::getline(lines, line);
  EXPECT_EQ(line.rfind("beside   PLD 0.875", 0), 0u) << line;
  EXPECT_NE(line.find(", RDP 0.976"), std::string::npos) << line;
}

TEST_F(EpsilonCommand, SeveralSplitsAreNamed) {
  const std::string events = R"({"events": [{"type": "gaussian", "noise_multiplier": 50},
      {"type": "gaussian", "noise_multiplier": 5, "split": "validation"}]})";
  const auto object = answer(of_file(events));
  EXPECT_EQ(object.at("splits"), (json::array{"validation", "private_train"}));
  ASSERT_EQ(run(of_file(events)), 0);
  EXPECT_NE(out().find("splits   2 disjoint splits: validation costs most\n"), std::string::npos) << out();
  EXPECT_FALSE(answer(flags("0.02", "1.6", "250", "1e-5")).contains("splits"));
}

TEST_F(EpsilonCommand, EventsAndFlagsAgree) {
  const double by_flags = at(answer(flags("0.02", "1.6", "250", "1e-5")), "epsilon");
  EXPECT_EQ(
      priced(R"({"type": "poisson-gaussian", "sample_rate": 0.02, "noise_multiplier": 1.6, "count": 250})"),
      by_flags);
  EXPECT_EQ(
      priced(R"({"type": "repeat", "count": 10, "base": [{"type": "poisson-gaussian", "sample_rate": 0.02,
                       "noise_multiplier": 1.6, "count": 25}]})"),
      by_flags);
  EXPECT_EQ(
      priced(R"({"type": "poisson-gaussian", "sample_rate": 0.02, "noise_multiplier": 1.6, "count": 250},
                      {"type": "gaussian", "noise_multiplier": 50, "split": "validation"})"),
      by_flags);  // disjoint data, less spent on it
  EXPECT_GT(at(answer(of_file(kEvents)), "epsilon"), by_flags);
  EXPECT_EQ(at(answer(flags("0.02", "1.6", "2.5e2", "1e-5")), "epsilon"), by_flags);
}

TEST_F(EpsilonCommand, EveryEventTypeHasAPrice) {
  const double plain = priced(R"({"type": "gaussian", "noise_multiplier": 8})");
  EXPECT_GT(plain, 0);
  EXPECT_NEAR(priced(R"({"type": "laplace", "noise_multiplier": 2})"), 0.5, 0.01);
  EXPECT_LT(priced(R"({"type": "laplace", "noise_multiplier": 2, "sample_rate": 0.1})"), 0.1);
  for (const char* distribution :
       {"\"geometric\"", "\"logarithmic\"", "\"truncated-negative-binomial\", \"eta\": 2",
        "\"truncated negative binomial\", \"eta\": 0.5", "\"poisson\"", "\"liu-talwar\""}) {
    const auto selection = fmt::format(
        R"({{"type": "selection", "distribution": {}, "mean": 10, "base": [{{"type": "gaussian", "noise_multiplier": 8}}]}})",
        distribution);
    EXPECT_GT(priced(selection), plain) << distribution;
    expect_refused(of_file("{\"events\": [" + selection + "]}", {"--accountant", "pld"}), {"RDP"});
  }
}

TEST_F(EpsilonCommand, GammaStandsInForTheMean) {
  const auto selection = [&](const std::string& members) {
    return priced(R"({"type": "selection", "distribution": "geometric", )" + members +
                  R"(, "base": [{"type": "gaussian", "noise_multiplier": 8}]})");
  };
  EXPECT_NEAR(selection("\"gamma\": 0.1"), selection("\"mean\": 10"), 1e-9);
  EXPECT_NEAR(selection("\"gamma\": 0.1, \"mean\": 10"), selection("\"mean\": 10"), 1e-9);
  EXPECT_EQ(selection("\"gamma\": null, \"mean\": 10"), selection("\"mean\": 10"));
}

TEST_F(EpsilonCommand, BadFlagsAreOneSentence) {
  const std::string rate = "a sampling rate must lie in (0, 1]";
  for (const char* q : {"1.5", "0", "-0.1", "nan", "inf"}) {
    expect_refused(flags(q, "1", "5", "1e-5"), {"--sample-rate is " + std::string(q), rate});
  }
  for (const char* sigma : {"0", "-1", "nan", "inf", "-inf"}) {
    expect_refused(flags("0.5", sigma, "5", "1e-5"),
                   {"--noise-multiplier is " + std::string(sigma), "positive, finite"});
  }
  for (const char* steps : {"0", "-3", "5.5", "nan", "inf", "many", "", "1e9", "1000000000"}) {
    expect_refused(flags("0.5", "1", steps, "1e-5"),
                   {"--steps is '" + std::string(steps) + "'", "whole number from 1 to 100000000"});
  }
  for (const char* delta : {"0", "1", "-1e-5", "2", "nan"}) {
    expect_refused(flags("0.5", "1", "5", delta), {"--delta is " + std::string(delta), "(0, 1)"});
  }
  for (const char* text : {"0.5x", "", " 1", "0x10", "1e-999", "1,5"}) {
    expect_refused(flags("0.5", text, "5", "1e-5"), {"--noise-multiplier", "must be a number"});
  }
  expect_refused(flags("0.5", "1", "5", "1e-5", {"--accountant", "rd"}),
                 {"pld, rdp, gdp", "Did you mean 'rdp'?"});
  expect_refused(flags("0.5", "1", "5", "1e-5", {"--neighbouring", "replace"}), {"add-remove, replace-one"});
  for (const char* orders : {"", "1", "0.5,2", "2,nan", "2,,4", "2;4", "2,1e7"}) {
    expect_refused(flags("0.5", "1", "5", "1e-5", {"--accountant", "rdp", "--orders", orders}), {"--orders"});
  }
}

TEST_F(EpsilonCommand, MissingContradictoryAndUnknownFlags) {
  const auto events = file("good.json", kEvents);
  expect_refused({}, {"--sample-rate is missing", "--events FILE"});
  expect_refused({"--sample-rate", "0.5", "--steps", "5", "--delta", "1e-5"},
                 {"--noise-multiplier is missing"});
  expect_refused({"--sample-rate", "0.5", "--steps", "5", "--noise-multiplier", "1"}, {"--delta is missing"});
  expect_refused({"--events", events}, {"--delta is missing"});
  for (const char* flag : {"--sample-rate", "--noise-multiplier", "--steps", "--neighbouring"}) {
    expect_refused({"--events", events, "--delta", "1e-5", flag, "1"}, {flag, "together with --events"});
  }
  for (const char* flag : {"--events", "--delta", "--accountant", "--plot", "--steps"}) {
    expect_refused({"--db", "x.sqlite", "--study", "s", flag, "1"}, {flag, "together with --db"});
  }
  expect_refused(flags("0.5", "1", "5", "1e-5", {"--study", "s"}), {"--study needs --db"});
  expect_refused({"--db", "x.sqlite"}, {"--db needs either --trial ID or --study ID"});
  expect_refused({"--out", "x"}, {"--out needs either --trial ID or --study ID"});
  expect_refused({"--out", "x", "--db", "x.sqlite", "--study", "s"}, {"give one"});
  expect_refused({"--out", path("none"), "--study", "s"}, {"there is no folder " + path("none")});
  expect_refused({"--db", path("none.sqlite"), "--study", "s"}, {"there is no file " + path("none.sqlite")});
  expect_refused(flags("0.5", "1", "5", "1e-5", {"--orders", "2"}), {"--orders needs --accountant rdp"});
  expect_refused(flags("0.5", "1", "5", "1e-5", {"--steps", "6"}), {"--steps", "more than once"});
  expect_refused({"--sampl-rate", "1"}, {"--sampl-rate", "did you mean --sample-rate?", "--help"});
  expect_refused({"--sample", "1"}, {"--sample"});
  expect_refused({"events.json"}, {"belongs to no option"});
  expect_refused({"--delta"}, {"--delta", "missing"});
}

TEST_F(EpsilonCommand, BadEventsSayFilePlaceAndWhatIsAllowed) {
  const std::string good = R"("sample_rate": 0.5, "noise_multiplier": 1)";
  const auto psg = [](const std::string& members) {
    return R"({"type": "poisson-gaussian", )" + members + "}";
  };
  expect_event_refused(psg(R"("sample_rate": 1.5, "noise_multiplier": 1)"),
                       {"'sample_rate' is 1.5", "(0, 1]"});
  expect_event_refused(psg(R"("sample_rate": "nan", "noise_multiplier": 1)"),
                       {"'sample_rate' is nan", "(0, 1]"});
  expect_event_refused(psg(R"("sample_rate": 0.5, "noise_multiplier": 0)"),
                       {"'noise_multiplier' is 0", "positive"});
  expect_event_refused(psg(R"("sample_rate": 0.5, "noise_multiplier": -2)"), {"is -2", "positive"});
  expect_event_refused(psg(R"("sample_rate": 0.5, "noise_multiplier": "inf")"), {"is inf", "finite"});
  expect_event_refused(psg(R"("sample_rate": 0.5, "noise_multiplier": 1e999)"), {"is inf", "finite"});
  expect_event_refused(psg(R"("sample_rate": "half", "noise_multiplier": 1)"),
                       {"'sample_rate' must be a number"});
  expect_event_refused(psg(R"("sample_rate": [0.5], "noise_multiplier": 1)"),
                       {"'sample_rate' must be a number"});
  expect_event_refused(psg(R"("noise_multiplier": 1)"), {"'sample_rate' is missing"});
  expect_event_refused(psg(good + ", \"count\": -5"), {"'count' is -5", "whole number from 1"});
  expect_event_refused(psg(good + ", \"count\": 1.5"), {"'count' must be a whole number, not 1.5"});
  expect_event_refused(psg(good + ", \"count\": \"5\""), {"'count' must be a whole number"});
  expect_event_refused(psg(good + ", \"cuont\": 5"), {"unknown field 'cuont'", "Did you mean 'count'?"});
  expect_event_refused(R"({"type": "poison-gaussian"})",
                       {"'poison-gaussian'", "Did you mean 'poisson-gaussian'?"});
  expect_event_refused(R"({"type": 7})", {"'type' must be text"});
  expect_event_refused("7", {"must be an object"});
  expect_event_refused(R"({"type": "batch", "sample_rate": 0.5, "releases": []})", {"'releases' is empty"});
  expect_event_refused(R"({"type": "batch", "sample_rate": 0.5, "releases": [{"noise_multiplier": -1}]})",
                       {"releases[0]: 'noise_multiplier' is -1"});
  expect_event_refused(R"({"type": "repeat", "base": [{"type": "gaussian", "noise_multiplier": 0}]})",
                       {"base[0]: 'noise_multiplier' is 0"});
  expect_event_refused(R"({"type": "gaussian", "noise_multiplier": 1, "split": 3})",
                       {"'split' must be text"});
  const auto selection = [](const std::string& members) {
    return R"({"type": "selection", )" + members +
           R"(, "base": [{"type": "gaussian", "noise_multiplier": 8}]})";
  };
  expect_event_refused(selection(R"("distribution": "geometric")"),
                       {"'mean' is missing", "'gamma' in its place"});
  expect_event_refused(selection(R"("distribution": "geometric", "mean": 3, "gamma": 0.1)"),
                       {"one of the two"});
  expect_event_refused(selection(R"("distribution": "geometric", "gamma": 2)"), {"'gamma' is 2", "(0, 1]"});
  expect_event_refused(selection(R"("distribution": "poisson", "gamma": 0.5)"), {"'gamma' does not belong"});
  expect_event_refused(selection(R"("distribution": "geometrc", "mean": 3)"), {"Did you mean 'geometric'?"});
  expect_event_refused(selection(R"("distribution": "geometric", "mean": 0.5)"),
                       {"'mean' is 0.5", "at least 1"});
  expect_event_refused(R"({"type": "selection", "distribution": "geometric", "mean": 3, "base": []})",
                       {"empty"});
}

TEST_F(EpsilonCommand, FilesThatAreNoEventsFile) {
  expect_file_refused("", {"is empty"});
  expect_file_refused(" \n", {"is empty"});
  expect_file_refused("hello", {"not valid JSON", "line 1"});
  expect_file_refused(std::string(kEvents).substr(0, 150), {"not valid JSON", "incomplete", "line 3"});
  expect_file_refused(std::string(kEvents) + "}", {"not valid JSON", "extra data"});
  expect_file_refused(std::string("{\"events\": [\0]}", 15), {"not valid JSON"});
  expect_file_refused(R"({"events": [{"type": "gaussian", "noise_multiplier": 1, "noise_multiplier": 100}]})",
                      {"'noise_multiplier' is given twice"});
  expect_file_refused("[]", {"must be an object with 'events'"});
  expect_file_refused("{}", {"'events' is missing"});
  expect_file_refused(R"({"events": {}})", {"'events' must be a list"});
  expect_file_refused(R"({"event": []})", {"unknown field 'event'", "Did you mean 'events'?"});
  expect_file_refused(R"({"events": [], "neighbouring": "replace"})", {"add-remove and replace-one"});
  expect_file_refused(R"({"events": [{"type": "not-accountable", "reason": "The batches were shuffled."}]})",
                      {"cannot be accounted for", "shuffled"});
  expect_file_refused(R"({"events": [{"type": "two\nlines"}]})", {"two\\x0alines"});
  expect_refused({"--events", path("absent.json"), "--delta", "1e-5"}, {"absent.json: cannot open"});
  expect_refused({"--events", folder_.string(), "--delta", "1e-5"}, {"is a folder"});
  expect_refused({"--events", "/dev/zero", "--delta", "1e-5"}, {"larger than 64 MiB"});
}

TEST_F(EpsilonCommand, BombsAreRefusedAtOnce) {
  const auto started = std::chrono::steady_clock::now();
  const std::string psg =
      R"({"type": "poisson-gaussian", "sample_rate": 0.5, "noise_multiplier": 1, "count": )";
  for (const char* count : {"1000000000", "1e9", "1000000000000"}) {
    expect_file_refused("{\"events\": [" + psg + count + "}]}", {"more than 100000000 releases"});
  }
  expect_file_refused("{\"events\": [" + psg + "1000000000000000}]}", {"'count' is 1000000000000000"});
  expect_file_refused("{\"events\": [" + psg + "99999999999999999999}]}", {"'count' must be a whole number"});
  // 10^9 steps as repeats of repeats, and brackets without end.
  std::string nested = psg + "1000}";
  for (int i = 0; i < 6; ++i) nested = R"({"type": "repeat", "count": 10, "base": [)" + nested + "]}";
  expect_file_refused("{\"events\": [" + nested + "]}", {"more than 100000000 releases"});
  for (int i = 0; i < 8; ++i) nested = R"({"type": "repeat", "count": 1, "base": [)" + nested + "]}";
  expect_file_refused("{\"events\": [" + nested + "]}", {"nested"});
  expect_file_refused(std::string(1000000, '['), {"not valid JSON", "too deep"});
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"events\":";
  expect_file_refused(objects, {"not valid JSON", "too deep"});
  std::string many = "{\"events\": [";
  for (std::size_t i = 0; i <= kMostDifferentEvents; ++i) {
    many += fmt::format(R"({{"type": "gaussian", "noise_multiplier": {}}},)", 1000 + i);
  }
  many.back() = ']';
  expect_file_refused(many + "}", {"10001 different events", "at most 10000"});
  std::string splits = "{\"events\": [";
  for (std::size_t i = 0; i <= kMostDifferentEvents; ++i) {
    splits += fmt::format(R"({{"type": "gaussian", "noise_multiplier": 9, "split": "s{}"}},)", i);
  }
  splits.back() = ']';
  expect_file_refused(splits + "}", {"10001 different events"});
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  EXPECT_LT(seconds, 20) << "a bomb took its time";
}

TEST_F(EpsilonCommand, ManyEqualEventsAreOne) {
  std::string many = "{\"events\": [";
  for (int i = 0; i < 20000; ++i) {
    many += R"({"type": "poisson-gaussian", "sample_rate": 0.001, "noise_multiplier": 1},)";
  }
  many.back() = ']';
  EXPECT_EQ(at(answer(of_file(many + "}")), "epsilon"),
            at(answer(flags("0.001", "1", "20000", "1e-5")), "epsilon"));
}

TEST_F(EpsilonCommand, AnswersSeveralDeltasAtOnce) {
  ASSERT_EQ(run(flags("0.02", "1.6", "250", "1e-5,1e-7", {"--json"})), 0) << err();
  const auto all = parse_json(out(), "answers").value().as_array();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].as_object(), answer(flags("0.02", "1.6", "250", "1e-5")));
  EXPECT_EQ(all[1].as_object(), answer(flags("0.02", "1.6", "250", "1e-7")));
  ASSERT_EQ(run(flags("0.02", "1.6", "250", "1e-5,1e-7")), 0) << err();
  EXPECT_EQ(std::ranges::count(out(), '\n'), 3) << out();
  expect_refused(flags("0.02", "1.6", "250", "1e-5,7"), {"--delta is 7", "(0, 1)"});
  expect_refused(flags("0.02", "1.6", "250", "1e-5,1e-7", {"--plot", "x.svg"}), {"--plot draws one"});
}

TEST_F(EpsilonCommand, HelpNamesEveryFlag) {
  EXPECT_EQ(options_in_help(),
            (Arguments{"--help", "--events", "--sample-rate", "--steps", "--records", "--batch-size",
                       "--epochs", "--noise-multiplier", "--neighbouring", "--delta", "--accountant",
                       "--orders", "--json", "--plot", "--db", "--out", "--trial", "--study"}));
  for (const char* type : {"poisson-gaussian", "batch", "gaussian", "laplace", "repeat", "selection",
                           "not-accountable", "gamma", "eta", "split"}) {
    EXPECT_NE(out().find(type), std::string::npos) << type;
  }
}

TEST_F(EpsilonCommand, PlotsWhatItsSuffixSays) {
  if (!find_program("gnuplot")) GTEST_SKIP() << plots::kNoGnuplot;
  const std::pair<const char*, std::string> kinds[] = {
      {"a.svg", "<?xml"}, {"a.png", "\x89PNG"}, {"a.pdf", "%PDF"}};
  for (const auto& [name, magic] : kinds) {
    const auto object = answer(flags("0.02", "1.6", "50", "1e-5", {"--plot", path(name)}));
    EXPECT_GT(at(object, "epsilon"), 0);
    EXPECT_EQ(read_file(path(name)).value().substr(0, magic.size()), magic) << name;
  }
  answer(of_file(kEvents, {"--plot", path("b.svg"), "--accountant", "gdp"}));
  const auto svg = read_file(path("b.svg")).value();
  for (const char* text :
       {"PLD, upper bound", "RDP, upper bound", "GDP", "how often all events", "events.json"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 5u) << "something was left behind";  // the plots and events.json
}

TEST_F(EpsilonCommand, APlotThatCannotBeDrawnIsRefused) {
  for (const char* name : {"a.gif", "a", ""}) {
    expect_refused(flags("0.02", "1.6", "50", "1e-5", {"--plot", name}), {"--plot", ".svg, .png or .pdf"});
  }
  const std::string path_before = std::getenv("PATH");
  if (find_program("gnuplot")) {
    expect_refused(flags("0.02", "1.6", "50", "1e-5", {"--plot", file("file", "") + "/a.svg"}), {"cannot"});
    expect_refused(flags("1", "1e-200", "50", "1e-5", {"--plot", path("a.svg")}), {"nothing to draw"});
  }
  ::setenv("PATH", "/nowhere", 1);
  expect_refused(flags("0.02", "1.6", "50", "1e-5", {"--plot", path("a.svg")}), {"gnuplot is not installed"});
  ::setenv("PATH", path_before.c_str(), 1);
}

// Files that went wrong somewhere: never a crash, always an answer or one sentence.
TEST_F(EpsilonCommand, AnyMutatedFileIsAnsweredOrRefused) {
  constexpr int kFiles = 6000;
  const std::string seeds[] = {
      kEvents,
      R"({"events": [{"type": "repeat", "count": 3, "base": [{"type": "laplace", "noise_multiplier": 2,
          "sample_rate": 0.1, "count": 4, "split": "a"}]}, {"type": "gaussian", "noise_multiplier": 5}]})",
      R"({"neighbouring": "replace-one", "events": [{"type": "selection", "distribution": "geometric", "gamma": 0.1,
          "base": [{"type": "poisson-gaussian", "sample_rate": 0.01, "noise_multiplier": 1, "count": 9}]},
          {"type": "selection", "distribution": "truncated-negative-binomial", "eta": 0.5, "mean": 4,
          "base": [{"type": "gaussian", "noise_multiplier": 8}]}]})",
      R"({"events": [{"type": "gaussian", "noise_multiplier": 5}, {"type": "not-accountable", "reason": "why"}]})"};
  const std::string tokens[] = {"null", "-1", "1e999", "\"nan\"", "{",    "}",      "[",
                                "]",    ",",  ":",     "\"",      "\n",   "\xff",   "0",
                                "1e12", "\"", "true",  "\\u0000", "-0.0", "1e-320", "9223372036854775808"};
  std::mt19937_64 random(20261121);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  int answered = 0;
  for (int i = 0; i < kFiles; ++i) {
    std::string text = seeds[below(std::size(seeds))];
    for (auto edits = 1 + below(3); edits > 0; --edits) {
      const auto place = below(text.size());
      const auto length = std::min(text.size() - place, 1 + below(12));
      switch (below(8)) {
        case 0:
          text[place] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(place, length);
          break;
        case 2:
          text.insert(place, tokens[below(std::size(tokens))]);
          break;
        case 3:
          text.insert(place, text.substr(below(text.size()), length));
          break;
        default: {  // another number in the place of one
          const auto digit = text.find_first_of("0123456789", place);
          if (digit == std::string::npos) break;
          const auto end = std::min(text.size(), text.find_first_not_of("0123456789.e-", digit));
          text.replace(digit, end - digit,
                       below(2) == 0 ? fmt::format("{}", 1.0 / static_cast<double>(1 + below(9)))
                                     : tokens[below(std::size(tokens))]);
        }
      }
      if (text.empty()) text = " ";
    }
    Arguments all = of_file(text, {"--json"});
    all.insert(all.end(), {"--accountant", "rdp", "--orders", "2,8"});
    if (i % 40 == 0) all = of_file(text, {"--json"});
    const int code = run(all);
    if (code == 0) {
      ++answered;
      ASSERT_TRUE(parse_json(out(), "the answer")) << text << out();
      ASSERT_EQ(err(), "");
    } else {
      ASSERT_EQ(code, 2) << text << '\n' << err();
      ASSERT_EQ(out(), "");
      ASSERT_EQ(lines_in(err()), 1) << text << '\n' << err();
      ASSERT_LT(err().size(), 1200u);
    }
  }
  EXPECT_GT(answered, kFiles / 50) << "the mutations leave nothing valid";
  EXPECT_LT(answered, kFiles / 2);
}

}  // namespace epsilon_command_test
}  // namespace hyfreedp::cli
