// `hyfreedp calibrate`: noise for a target, HyFreeDP's split in its four modes, refusals.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "plots/gnuplot.h"
#include "tests/cli/command_fixture.h"

namespace hyfreedp::cli {
namespace calibrate_command_test {

class CalibrateCommand : public CommandTest {
 protected:
  CalibrateCommand() : CommandTest("calibrate") {}

  static Arguments flags(const std::string& q, const std::string& steps, const std::string& epsilon,
                         const std::string& delta, const Arguments& more = {}) {
    Arguments all = {"--sample-rate", q, "--steps", steps, "--epsilon", epsilon, "--delta", delta};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Arguments usual(const Arguments& more = {}) { return flags("0.02", "250", "3", "1e-5", more); }
  static double at(const json::object& object, const char* key) {
    return get_double(object, key, "the answer").value();
  }
};

TEST_F(CalibrateCommand, AgreesWithTheReferenceNumbers) {
  const auto value = read_json_file(std::string(HYFREEDP_TEST_DATA) + "/accounting/calibrate.json");
  ASSERT_TRUE(value);
  const auto& cases = value->as_object().at("cases").as_array();
  ASSERT_GE(cases.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& one = cases[i].as_object();
    const auto given = flags(fmt::format("{}", at(one, "q")), fmt::format("{}", at(one, "steps")),
                             fmt::format("{}", at(one, "epsilon")), fmt::format("{}", at(one, "delta")));
    const auto pld = answer(given);
    EXPECT_GE(at(pld, "noise_multiplier"), at(one, "sigma"));
    EXPECT_LE(at(pld, "noise_multiplier"), at(one, "sigma") * (1 + 1e-4));
    EXPECT_LE(at(pld, "epsilon"), at(one, "epsilon"));
    EXPECT_EQ(pld.at("accountant"), "pld");
    auto by_rdp = given;
    by_rdp.insert(by_rdp.end(), {"--accountant", "rdp"});
    const auto rdp = answer(by_rdp);
    EXPECT_NEAR(at(rdp, "noise_multiplier"), at(one, "sigma_rdp_optimal"),
                1e-3 * at(one, "sigma_rdp_optimal"));
    EXPECT_LE(at(rdp, "epsilon"), at(one, "epsilon"));
  }
}

TEST_F(CalibrateCommand, TakesRecordsBatchSizeAndEpochs) {
  const auto counted =
      answer({"--records", "50000", "--batch-size", "1000", "--epochs", "5", "--epsilon", "3"});
  EXPECT_EQ(counted, answer(flags("0.02", "250", "3", fmt::format("{}", std::pow(50000, -1.1)))));
  expect_refused({"--records", "50000", "--epochs", "5", "--epsilon", "3"}, {"--batch-size is missing"});
  expect_refused({"--records", "10", "--batch-size", "20", "--epochs", "5", "--epsilon", "3"},
                 {"--batch-size is 20", "--records, 10"});
  expect_refused({"--records", "10", "--batch-size", "2", "--epochs", "5", "--steps", "5", "--epsilon", "3"},
                 {"--steps", "--records"});
}

TEST_F(CalibrateCommand, OrdersAndNeighboursAreHeeded) {
  const auto plain = answer(usual({"--accountant", "rdp"}));
  const auto coarse = answer(usual({"--accountant", "rdp", "--orders", "2,32"}));
  EXPECT_GT(at(coarse, "noise_multiplier"), at(plain, "noise_multiplier"));
  EXPECT_TRUE(at(coarse, "order") == 2 || at(coarse, "order") == 32);
  const auto replace = answer(usual({"--neighbouring", "replace-one"}));
  EXPECT_EQ(replace.at("neighbouring"), "replace-one");
  EXPECT_GT(at(replace, "noise_multiplier"), at(answer(usual()), "noise_multiplier"));
}

TEST_F(CalibrateCommand, ThePrintedNoiseMeetsTheTarget) {
  ASSERT_EQ(run(usual()), 0);
  const auto line = out().substr(0, out().find('\n'));
  ASSERT_EQ(line.rfind("noise multiplier  0.8", 0), 0u) << line;
  const std::string printed = line.substr(18);
  EXPECT_NE(out().find("\nepsilon  "), std::string::npos);
  std::ostringstream text, complaint;
  ASSERT_EQ(dispatch({"epsilon", "--sample-rate", "0.02", "--noise-multiplier", printed, "--steps", "250",
                      "--delta", "1e-5", "--accountant", "pld", "--json"},
                     text, complaint),
            0);
  EXPECT_LE(at(parse_json(text.str(), "answer")->as_object(), "epsilon"), 3);
  EXPECT_GE(std::stod(printed), at(answer(usual()), "noise_multiplier"));
}

// The rows of the HyFreeDP table, made by another implementation.
TEST_F(CalibrateCommand, HyFreeDpsSplitAgreesWithTheReference) {
  const auto value = read_json_file(std::string(HYFREEDP_TEST_DATA) + "/accounting/hyfreedp_noise.json");
  ASSERT_TRUE(value);
  const auto& object = value->as_object();
  std::string orders;
  for (const auto& order : object.at("orders_rdp").as_array()) {
    orders += fmt::format("{}{}", orders.empty() ? "" : ",", to_double(order, "order").value());
  }
  const auto& rows = object.at("rows").as_array();
  ASSERT_FALSE(rows.empty());
  const std::pair<const char*, const char*> modes[] = {{"folded", "sigma_l_sound"},
                                                       {"separate-batch", "sigma_l_separate_batch"},
                                                       {"paper", "sigma_l_paper"},
                                                       {"paper-appendix", "sigma_l_appendix_c"}};
  for (std::size_t i = 0; i < rows.size(); i += 4) {
    const auto& row = rows[i].as_object();
    for (const auto& [mode, column] : modes) {
      auto all = flags(fmt::format("{}", at(row, "q")), fmt::format("{}", at(row, "T")),
                       fmt::format("{}", at(row, "eps")), fmt::format("{}", at(row, "delta")),
                       {"--accountant", "rdp", "--orders", orders, "--hyfreedp", mode});
      all.insert(all.end(),
                 {"--interval", fmt::format("{}", at(row, "K")), "--probes", fmt::format("{}", at(row, "m")),
                  "--gamma", fmt::format("{}", at(row, "gamma"))});
      const auto split = answer(all);
      EXPECT_EQ(split.at("mode"), mode);
      EXPECT_NEAR(at(split, "sigma_g"), at(row, "sigma_g"), 1e-5 * at(row, "sigma_g"));
      EXPECT_NEAR(at(split, "sigma_l"), at(row, column), 1e-3 * at(row, column)) << mode;
      EXPECT_NEAR(at(split, "sigma_g"), at(row, "gamma") * at(split, "noise_multiplier"), 1e-9);
      EXPECT_LE(at(split, "claimed_epsilon"), at(row, "eps") * (1 + 1e-9));
      const bool understated = std::string(mode).rfind("paper", 0) == 0;
      EXPECT_EQ(split.contains("label"), understated);
      if (std::string(mode) == "paper") {
        EXPECT_NEAR(at(split, "epsilon"), at(row, "true_eps_of_paper_pld"),
                    2e-3 * at(row, "true_eps_of_paper_pld"));
      }
      EXPECT_LE(at(split, "epsilon_lower"), at(split, "epsilon"));
    }
  }
}

TEST_F(CalibrateCommand, EveryNumberOfTheSplitCounts) {
  const auto sigma_l = [&](const Arguments& more) {
    Arguments all = {"--hyfreedp", "separate-batch"};
    all.insert(all.end(), more.begin(), more.end());
    return at(answer(usual(all)), "sigma_l");
  };
  const double plain = sigma_l({});
  EXPECT_EQ(sigma_l({"--interval", "5", "--probes", "3", "--gamma", "1.01"}), plain);
  EXPECT_LT(sigma_l({"--interval", "25"}), plain);
  EXPECT_GT(sigma_l({"--probes", "6"}), plain);
  EXPECT_LT(sigma_l({"--probe-sample-rate", "0.005"}), plain);
  const auto wider = answer(usual({"--hyfreedp", "folded", "--gamma", "1.25"}));
  EXPECT_NEAR(at(wider, "sigma_g") / at(wider, "noise_multiplier"), 1.25, 1e-9);
}

TEST_F(CalibrateCommand, ThePaperModeSaysWhatItCosts) {
  const Arguments paper = flags("0.02", "250", "3", "6.7784905546796565e-06",
                                {"--hyfreedp", "paper", "--interval", "10", "--gamma", "1.01"});
  ASSERT_EQ(run(paper), 0);
  for (const char* text :
       {"mode      paper\n", "claimed   3\n", "label     paper accounting: epsilon understated\n",
        "reading   claims epsilon 3, ", "it costs 4.96"}) {
    EXPECT_NE(out().find(text), std::string::npos) << text << '\n' << out();
  }
  Arguments appendix = paper;
  *std::find(appendix.begin(), appendix.end(), "paper") = "paper-appendix";
  ASSERT_EQ(run(appendix), 0);
  EXPECT_NE(out().find(", which adds two epsilons, each at delta 6.77849e-06; "), std::string::npos) << out();
  EXPECT_EQ(out().find("a batch of its own"), std::string::npos) << out();
  ASSERT_EQ(run(usual({"--hyfreedp", "folded"})), 0);
  EXPECT_EQ(out().find("understated"), std::string::npos);
  EXPECT_NE(out().find("reading   the claim is what the executed events cost\n"), std::string::npos) << out();
  ASSERT_EQ(run(usual({"--hyfreedp", "folded", "--accountant", "rdp"})), 0);
  EXPECT_NE(out().find("reading   RDP sets the noise, and the claim is its bound; by PLD"), std::string::npos)
      << out();
  EXPECT_EQ(answer(usual({"--hyfreedp", "folded"})).at("noise_by"), "pld");
  EXPECT_EQ(answer(usual({"--hyfreedp", "paper"})).at("noise_by"), "rdp");
  expect_refused(usual({"--hyfreedp", "paper", "--accountant", "pld"}),
                 {"--accountant pld cannot set the noise"});
}

TEST_F(CalibrateCommand, BadInputIsOneSentence) {
  expect_refused({}, {"--sample-rate is missing"});
  expect_refused({"--sample-rate", "0.02", "--steps", "5", "--delta", "1e-5"}, {"--epsilon is missing"});
  for (const char* q : {"1.5", "0", "nan", "-1"})
    expect_refused(flags(q, "5", "1", "1e-5"), {"--sample-rate is", "(0, 1]"});
  for (const char* steps : {"0", "-1", "2.5", "1e9", "nan"}) {
    expect_refused(flags("0.02", steps, "1", "1e-5"), {"--steps is", "from 1 to 100000000"});
  }
  for (const char* epsilon : {"0", "-1", "nan", "inf"}) {
    expect_refused(flags("0.02", "5", epsilon, "1e-5"),
                   {"--epsilon is " + std::string(epsilon), "positive, finite"});
  }
  for (const char* delta : {"0", "1", "-1", "nan"}) {
    expect_refused(flags("0.02", "5", "1", delta), {"--delta is", "(0, 1)"});
  }
  expect_refused(usual({"--accountant", "gdp"}), {"--accountant is 'gdp'", "pld, rdp"});
  expect_refused(usual({"--orders", "2,4"}), {"--orders needs --accountant rdp"});
  expect_refused(usual({"--accountant", "rdp", "--orders", "1"}), {"--orders holds '1'"});
  expect_refused(usual({"--neighbouring", "swap"}), {"add-remove, replace-one"});
  for (const char* flag : {"--interval", "--probes", "--gamma", "--probe-sample-rate"}) {
    expect_refused(usual({flag, "1"}), {flag, "needs --hyfreedp"});
  }
  expect_refused(usual({"--hyfreedp", "fold"}), {"'fold'", "Did you mean 'folded'?"});
  for (const char* gamma : {"1", "0.5", "nan", "inf"}) {
    expect_refused(usual({"--hyfreedp", "folded", "--gamma", gamma}), {"--gamma is"});
  }
  for (const char* count : {"0", "-2", "1.5"}) {
    expect_refused(usual({"--hyfreedp", "folded", "--interval", count}), {"--interval is"});
    expect_refused(usual({"--hyfreedp", "folded", "--probes", count}), {"--probes is"});
  }
  expect_refused(usual({"--hyfreedp", "folded", "--probe-sample-rate", "0.1"}),
                 {"needs --hyfreedp separate-batch"});
  expect_refused(usual({"--hyfreedp", "separate-batch", "--probe-sample-rate", "0"}),
                 {"--probe-sample-rate is 0"});
  expect_refused(usual({"--hyfreedp", "folded", "--neighbouring", "replace-one"}),
                 {"--neighbouring", "--hyfreedp"});
  expect_refused(usual({"--epsilonn", "3"}), {"did you mean --epsilon?"});
  expect_refused(usual({"extra"}), {"belongs to no option"});
  expect_refused(usual({"--plot", "a.bmp"}), {"--plot", ".svg, .png or .pdf"});
}

TEST_F(CalibrateCommand, ATargetThatAnyNoiseMeetsIsSaid) {
  const auto loose = answer(flags("0.02", "1", "1e9", "1e-5"));
  EXPECT_NEAR(at(loose, "noise_multiplier"), 0.01, 1e-9);
  EXPECT_EQ(loose.at("note"), "the smallest noise that is tried already meets the target");
  // Beside what else is noted.
  const auto looser = answer(flags("0.1", "100", "1e6", "1e-5"));
  EXPECT_LT(at(looser, "epsilon"), 6e5);
  EXPECT_TRUE(looser.at("note").as_string().starts_with("the smallest noise that is tried already meets"));
  EXPECT_FALSE(answer(usual()).contains("note"));
}

TEST_F(CalibrateCommand, ATargetOutOfReachSaysWhatIsWithinIt) {
  expect_refused(flags("1", "100000000", "1e-9", "1e-12"), {"epsilon"});
}

TEST_F(CalibrateCommand, AnswersSeveralTargetsAndDeltasAtOnce) {
  ASSERT_EQ(run(flags("0.02", "250", "1,3", "1e-5,1e-6", {"--json"})), 0) << err();
  const auto all = parse_json(out(), "answers").value().as_array();
  ASSERT_EQ(all.size(), 4U);
  std::size_t i = 0;
  for (const std::string epsilon : {"1", "3"}) {
    for (const std::string delta : {"1e-5", "1e-6"}) {
      auto one = answer(flags("0.02", "250", epsilon, delta));
      one["target"] = std::stod(epsilon);
      EXPECT_EQ(all.at(i++).as_object(), one) << epsilon << " " << delta;
    }
  }
  ASSERT_EQ(run(flags("0.02", "250", "1,3", "1e-5")), 0) << err();
  const auto text = out();
  EXPECT_EQ(std::ranges::count(text, '\n'), 3) << text;
  EXPECT_NE(text.find("noise multiplier"), std::string::npos);
  expect_refused(flags("0.02", "250", "1,x", "1e-5"), {"--epsilon is 'x'"});
  expect_refused(flags("0.02", "250", "1,3", "1e-5", {"--hyfreedp", "folded"}), {"--hyfreedp takes one"});
  expect_refused(flags("0.02", "250", "1", "1e-5,2", {}), {"--delta is 2", "(0, 1)"});
}

TEST_F(CalibrateCommand, HelpNamesEveryFlag) {
  EXPECT_EQ(options_in_help(),
            (Arguments{"--help", "--sample-rate", "--steps", "--records", "--batch-size", "--epochs",
                       "--epsilon", "--delta", "--neighbouring", "--accountant", "--orders", "--hyfreedp",
                       "--interval", "--probes", "--gamma", "--probe-sample-rate", "--json", "--plot"}));
}

TEST_F(CalibrateCommand, PlotsTheNoiseAndTheSplit) {
  if (!find_program("gnuplot")) GTEST_SKIP() << plots::kNoGnuplot;
  ASSERT_EQ(run(flags("0.02", "50", "1", "1e-5", {"--plot", path("noise.svg")})), 0) << err();
  auto svg = read_file(path("noise.svg")).value();
  for (const char* text : {"target", "calibrated", "steps", "noise multiplier", "add-remove"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
  ASSERT_EQ(run(flags("0.02", "50", "1", "1e-5", {"--hyfreedp", "paper", "--plot", path("split.svg")})), 0)
      << err();
  svg = read_file(path("split.svg")).value();
  for (const char* text : {"claimed", "spent", "noise multiplier of the losses"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
}

}  // namespace calibrate_command_test
}  // namespace hyfreedp::cli
