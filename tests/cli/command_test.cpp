// What every command shares: the reading of a described request, its help, and refusals.
#include "harness/cli/common/command.h"

#include <gmock/gmock.h>

#include "command_fixture.h"

namespace hyfreedp::cli {
namespace command_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct TryRequest {
  std::string what;
  std::optional<std::string> note;
  Given size;
  double rate = 0.5;
  std::optional<double> delta;
  std::optional<int> last;
  int rounds = 20;
  std::string out = "out";
  std::vector<std::string> only;
  bool quiet = false;

  void describe(Options& options) {
    options.positional(what, "what", "WHAT");
    options.positional(note, "note", "[NOTE]");
    options.value(size, "size", "N", "a size");
    options.number(rate, "rate", "R", kPositive, "a rate");
    options.number(delta, "delta", "D", kBetweenZeroAndOne, "a delta");
    options.value(last, "last", "K", "the last");
    options.value(rounds, "rounds", "N", "of it");
    options.value(out, "out", "DIR", "a folder");
    options.value(only, "only", "KEY", "some");
    options.flag(quiet, "quiet", "no words");
  }
  Checked check() const {
    if (what == "nothing") return unusable("name something");
    return {};
  }
};

class TriedCommand : public testing::Test {
 protected:
  int run(const Arguments& arguments) {
    out_.str("");
    err_.str("");
    got_ = {};
    const auto keep = [this](const TryRequest& request, std::ostream&, std::ostream&) -> Outcome {
      got_ = request;
      if (request.what != "lines") return 0;
      auto refusal = in_lines(error("a.yaml:1: wrong.\na.yaml:2: Wrong"));
      refusal.code = 1;
      return refusal;
    };
    const Command command{.name = "try", .text = "\nTries.", .action = action<TryRequest>(keep)};
    return cli::run(command, arguments, out_, err_);
  }

  TryRequest got_;
  std::ostringstream out_, err_;
};

TEST_F(TriedCommand, WhatIsNotGivenHasTheStructsDefault) {
  ASSERT_EQ(run({"this"}), 0) << err_.str();
  EXPECT_EQ(got_.what, "this");
  EXPECT_FALSE(got_.note || got_.size || got_.delta || got_.last || got_.quiet);
  EXPECT_EQ(got_.rate, 0.5);
  EXPECT_EQ(got_.rounds, 20);
  EXPECT_EQ(got_.out, "out");
}

TEST_F(TriedCommand, EveryKindOfMemberIsRead) {
  ASSERT_EQ(run({"this", "--size", "3", "--rate=2", "", "--delta", "1e-5", "--last", "4", "--rounds", "5",
                 "--out", "there", "--only", "a", "--only", "b", "--quiet"}),
            0)
      << err_.str();
  EXPECT_EQ(got_.note, "");
  EXPECT_EQ(count_of(got_.size, 3).value(), 3);
  EXPECT_THAT(count_of(got_.size, 2).error().message, StartsWith("--size is '3'; it must be"));
  EXPECT_EQ(got_.rate, 2);
  EXPECT_EQ(got_.delta, 1e-5);
  EXPECT_EQ(got_.last, 4);
  EXPECT_EQ(got_.rounds, 5);
  EXPECT_EQ(got_.out, "there");
  EXPECT_THAT(got_.only, ElementsAre("a", "b"));
  EXPECT_TRUE(got_.quiet);
}

TEST_F(TriedCommand, HelpIsMadeOfTheDescription) {
  ASSERT_EQ(run({"--help"}), 0);
  EXPECT_THAT(out_.str(), StartsWith("hyfreedp try WHAT [NOTE] [options]\nTries.\n\nOptions:\n"));
  for (const char* part : {"--out DIR (=out)", "--rounds N (=20)", "--rate R ", "--size N ", "a delta"}) {
    EXPECT_THAT(out_.str(), HasSubstr(part));
  }
  EXPECT_THAT(out_.str(), Not(HasSubstr("--what")));
}

TEST_F(TriedCommand, WhatCannotBeReadIsRefusedInOneLine) {
  for (const Arguments& bad : {Arguments{"--siz", "3"}, Arguments{"a", "b", "c"}, Arguments{"--size"},
                               Arguments{"--x\ny"}, Arguments{"nothing"}}) {
    EXPECT_EQ(run(bad), 2);
    EXPECT_EQ(lines_in(err_.str()), 1) << err_.str();
    EXPECT_THAT(err_.str(), HasSubstr("ee hyfreedp try --help."));
  }
  EXPECT_EQ(run({"--rate", "x"}), 2);
  EXPECT_EQ(err_.str(), "hyfreedp try: --rate is 'x'; it must be a number.\n");
  EXPECT_EQ(run({"--delta", "1"}), 2);
  EXPECT_EQ(err_.str(), "hyfreedp try: --delta must lie in (0, 1).\n");
  EXPECT_EQ(run({"--out", "a\xff"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("is not UTF-8"));
}

TEST_F(TriedCommand, ARefusalMayHaveLinesAndAnotherExitCode) {
  EXPECT_EQ(run({"lines"}), 1);
  EXPECT_EQ(err_.str(), "hyfreedp try: a.yaml:1: wrong.\na.yaml:2: Wrong.\n");
}

TEST(Refusals, AreCutBetweenCharacters) {
  std::ostringstream err;
  std::string message(999, 'x');
  for (int i = 0; i < 100; ++i) message += "ε";
  print_refusal("try", error(message), err);
  EXPECT_EQ(err.str(), "hyfreedp try: " + std::string(999, 'x') + "ε ...\n");
}

TEST(Numbers, AreWholeTexts) {
  EXPECT_EQ(parsed_number("1e5"), 1e5);
  EXPECT_TRUE(parsed_number("nan"));
  for (const char* text : {"", " 1", "1 ", "1x", "0x10", "1e999", "--1"})
    EXPECT_FALSE(parsed_number(text)) << text;
}

}  // namespace command_test
}  // namespace hyfreedp::cli
