// `hyfreedp audit`: flags, the request that the worker gets, and what is made of its answers.
// Workers are shell scripts.
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "harness/audit/findings.h"
#include "harness/audit/request.h"
#include "harness/base/files.h"
#include "harness/cli/commands.h"
#include "harness/mechanism/probe_split.h"

namespace hyfreedp::cli {
namespace audit_command_test {

using ::testing::HasSubstr;
using ::testing::Not;

class AuditCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "hyfreedp-audit-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    answer_with(report(false));
  }
  void TearDown() override {
    ::unsetenv("HYFREEDP_WORKER");
    std::filesystem::remove_all(folder_);
  }

  // A worker that keeps what it was asked and runs `script`.
  void worker(const std::string& script) {
    const std::string path = folder_ + "/worker";
    ASSERT_TRUE(write_file_atomically(
        path,
        "#!/bin/sh\necho \"$@\" > " + folder_ + "/arguments\ncat > " + folder_ + "/request\n" + script + "\n",
        0755));
    ::setenv("HYFREEDP_WORKER", path.c_str(), 1);
  }
  void answer_with(const audit::Report& report) {
    const json::object answer{{"report", audit::to_json(report)},
                              {"setting", json::object{{"model", "linear"}, {"sigma_g", 0.644123456}}},
                              {"seconds", 12.5}};
    ASSERT_TRUE(write_file_atomically(folder_ + "/answer", canonical_json(answer) + "\n"));
    worker("for k in 1 2 9 10 11 16; do echo \"run $k of 16\" >&2; done; echo judging >&2; cat " + folder_ +
           "/answer");
  }
  static audit::Report report(bool refuted) {
    return {.claim = {8, 1e-5, "paper accounting"},
            .audited_epsilon = 9.25,
            .confidence = 0.9999,
            .false_alarm = 1e-4,
            .findings = {{"residuals", "noise scale", false, 1e-6, "gradient noise has 1.0001 times", {}},
                         {"ledger", "simulated delta", refuted, 1e-6, "delta at epsilon 8 is 0.0018", {}}}};
  }

  int run(Arguments arguments) {
    out_.str("");
    err_.str("");
    arguments.insert(arguments.begin(), "audit");
    return dispatch(arguments, out_, err_);
  }
  json::object request() { return read_json_file(folder_ + "/request").value().get_object(); }

  std::string folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(AuditCommand, AcceptedIsZero) {
  EXPECT_EQ(run({}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("claim     epsilon 8 at delta 1e-05 (paper accounting)"));
  EXPECT_THAT(out_.str(), HasSubstr("audited   epsilon >= 9.25 with confidence 0.9999"));
  EXPECT_THAT(out_.str(), HasSubstr("sigma_g   0.644123"));
  EXPECT_THAT(out_.str(), HasSubstr("residuals ok       noise scale: gradient noise"));
  EXPECT_THAT(out_.str(), HasSubstr("verdict   accepted"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("REFUTED")));
  EXPECT_EQ(err_.str(), "run 10 of 16\nrun 16 of 16\njudging\n");
}

TEST_F(AuditCommand, RefutedIsOne) {
  answer_with(report(true));
  EXPECT_EQ(run({"--hyfreedp", "paper", "--epsilon", "8"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("ledger    REFUTED  simulated delta"));
  EXPECT_THAT(out_.str(), HasSubstr("verdict   REFUTED"));
}

TEST_F(AuditCommand, JsonAndReportFile) {
  answer_with(report(true));
  EXPECT_EQ(run({"--json", "--report", folder_ + "/report.json"}), 1);
  const auto printed = parse_json(out_.str(), "printed").value();
  EXPECT_TRUE(printed.at("report").at("refuted").as_bool());
  EXPECT_EQ(printed, read_json_file(folder_ + "/report.json").value());
}

TEST_F(AuditCommand, TheRequestHoldsEveryFlagResolved) {
  EXPECT_EQ(run({}), 0);
  EXPECT_EQ(read_file(folder_ + "/arguments").value(), "--audit\n");
  const auto asked = request();
  const auto& plan = asked.at("plan").as_object();
  EXPECT_EQ(plan.at("accounting"), "folded");
  EXPECT_EQ(plan.at("population"), 5000);
  EXPECT_EQ(plan.at("batch_size").to_number<double>(), 100);
  EXPECT_NEAR(asked.at("claim").at("delta").to_number<double>(), std::pow(5000, -1.1), 1e-15);
  EXPECT_TRUE(asked.at("seed").is_null());
  EXPECT_EQ(plan.at("probe").at("points"), 3);
  EXPECT_EQ(plan.at("probe").at("separate_batch"), false);
  const double claimed = asked.at("claim").at("epsilon").to_number<double>();
  EXPECT_LE(claimed, 8);
  EXPECT_GT(claimed, 7.99);
}

TEST_F(AuditCommand, OfChangesOfLossesThereAreNoProbes) {
  EXPECT_EQ(run({"--released", "loss-change"}), 0) << err_.str();
  const auto asked = request();
  const auto& plan = asked.at("plan").as_object();
  EXPECT_EQ(plan.at("released"), "loss-change");
  EXPECT_EQ(plan.at("clipping"), "abadi");
  EXPECT_TRUE(plan.at("probe").is_null());
}

TEST_F(AuditCommand, FlagsReachTheWorker) {
  EXPECT_EQ(run({"--hyfreedp",
                 "separate-batch",
                 "--epsilon",
                 "3",
                 "--delta",
                 "1e-6",
                 "--population",
                 "400",
                 "--sample-rate",
                 "0.05",
                 "--steps",
                 "40",
                 "--interval",
                 "4",
                 "--gamma",
                 "1.1",
                 "--clipping",
                 "abadi",
                 "--clipping-groups",
                 "per-layer",
                 "--clipping-shares",
                 "size",
                 "--model",
                 "mlp",
                 "--runs",
                 "3",
                 "--workers",
                 "1",
                 "--canaries",
                 "0",
                 "--false-alarm",
                 "1e-3",
                 "--seed",
                 "again"}),
            0)
      << err_.str();
  const auto asked = request();
  const auto& plan = asked.at("plan").as_object();
  EXPECT_EQ(plan.at("clipping_constant").to_number<double>(), 1);
  EXPECT_EQ(plan.at("clipping_groups"), "per-layer");
  EXPECT_EQ(plan.at("clipping_shares"), "size");
  const auto& probe = plan.at("probe").as_object();
  EXPECT_EQ(probe.at("sample_rate").to_number<double>(), 0.05);
  EXPECT_EQ(probe.at("batch_size").to_number<double>(), 20);
  EXPECT_EQ(asked.at("canaries"), 0);
  EXPECT_EQ(asked.at("seed"), "again");
  EXPECT_EQ(asked.at("model"), "mlp");
  const auto split = mechanism::split_budget({.plan = mechanism::probing_plan(0.05, 4),
                                              .steps = 40,
                                              .gamma = 1.1,
                                              .epsilon = 3,
                                              .delta = 1e-6,
                                              .mode = mechanism::ProbeAccounting::separate_batch});
  EXPECT_EQ(plan.at("gradient_noise").to_number<double>(), split->sigma_g);
  EXPECT_EQ(probe.at("noise").to_number<double>(), split->sigma_l);
}

TEST_F(AuditCommand, ThePaperClaimsItsNominalEpsilon) {
  EXPECT_EQ(run({"--hyfreedp", "paper", "--population", "50000"}), 0);
  const auto asked = request();
  EXPECT_EQ(asked.at("claim").at("epsilon").to_number<double>(), 8);
  EXPECT_EQ(asked.at("claim").at("by"), "paper accounting");
  const auto& plan = asked.at("plan").as_object();
  EXPECT_NEAR(plan.at("gradient_noise").to_number<double>(), 0.6438, 1e-3);
  EXPECT_NEAR(plan.at("probe").at("noise").to_number<double>(), 0.912, 5e-3);
}

TEST_F(AuditCommand, WithoutProbesThereIsNoLossNoise) {
  EXPECT_EQ(run({"--hyfreedp", "none"}), 0);
  EXPECT_TRUE(request().at("plan").at("probe").is_null());
}

TEST_F(AuditCommand, BadInputIsOneSentence) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--hyfreedp", "folde"}, "folded"},
      {{"--epsilon", "0"}, "--epsilon is 0"},
      {{"--epsilon", "inf"}, "--epsilon is inf"},
      {{"--epsilon", "nan"}, "--epsilon is nan"},
      {{"--delta", "2"}, "--delta"},
      {{"--sample-rate", "1.5"}, "--sample-rate is 1.5"},
      {{"--sample-rate", "1e-9"}, "at least 1"},
      {{"--steps", "0"}, "--steps"},
      {{"--steps", "1e9"}, "--steps"},
      {{"--gamma", "1"}, "--gamma is 1"},
      {{"--clipping", "none"}, "--clipping"},
      {{"--clipping", "adaptive"}, "adaptive, which cannot be audited"},
      {{"--clipping-groups", "tensor"}, "--clipping-groups"},
      {{"--clipping-shares", "size"}, "per-layer"},
      {{"--model", "gpt"}, "--model"},
      {{"--runs", "-1"}, "--runs"},
      {{"--canaries", "2.5"}, "--canaries is 2.5"},
      {{"--canaries", "6000"}, "5000"},
      {{"--population", "10", "--sample-rate", "0.5"}, "canaries"},
      {{"--false-alarm", "1"}, "--false-alarm is 1"},
      {{"--budget", "3"}, "--budget"},
      {{"--hyfreedp", "none", "--interval", "5"}, "--interval is an option of loss probes"},
      {{"--hyfreedp", "none", "--gamma", "1.1"}, "--gamma is an option of loss probes"},
      {{"--released", "losses"}, "--released"},
      {{"--released", "loss-change", "--hyfreedp", "folded"}, "--hyfreedp is folded; with --released"},
      {{"--released", "loss-change", "--clipping", "auto-s"}, "--clipping is auto-s; with --released"},
      {{"--released", "loss-change", "--clipping-groups", "per-layer"}, "--clipping-groups is per-layer"},
      {{"--released", "loss-change", "--interval", "5"}, "--interval is an option of loss probes"},
      {{"--report", folder_}, "it must name a file"},
      {{"--report", folder_ + "/absent/report.json"}, "there is no folder " + folder_ + "/absent."},
  };
  for (const auto& [arguments, words] : cases) {
    EXPECT_EQ(run(arguments), 2) << arguments[0];
    const std::string said = err_.str();
    EXPECT_THAT(said, HasSubstr(words));
    EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
    EXPECT_EQ(out_.str(), "");
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/request")) << "nothing was trained";
  }
}

TEST_F(AuditCommand, AWorkerThatCannotAuditIsASentence) {
  const auto fails = [&](const std::string& words) {
    EXPECT_EQ(run({}), 2);
    EXPECT_THAT(err_.str(), HasSubstr(words));
    EXPECT_EQ(out_.str(), "");
  };
  worker("echo \"hyfreedp-worker: unknown argument '--audit'; see --help\" >&2; exit 2");
  fails("exited with status 2 and sent no report: hyfreedp-worker: unknown argument");
  worker("exit 3");
  fails("build the target hyfreedp-worker again");
  worker("echo '{\"type\":\"hello\"}'");
  fails("does not support audits");
  worker("echo 'not json'");
  fails("does not support audits");
  worker("echo '{\"report\": {\"claim\": 3}}'");
  fails("the worker's report.claim");
  worker("kill -9 $$");
  fails("no report");
  ::setenv("HYFREEDP_WORKER", "/nonexistent/worker", 1);
  fails("/nonexistent/worker");
}

TEST_F(AuditCommand, AWorkerThatDoesNotListenIsNotWaitedFor) {
  const std::string path = folder_ + "/deaf";
  ASSERT_TRUE(write_file_atomically(path, "#!/bin/sh\nexec 0<&-\nexit 4\n", 0755));
  ::setenv("HYFREEDP_WORKER", path.c_str(), 1);
  EXPECT_EQ(run({}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("exited with status 4"));
}

TEST_F(AuditCommand, HelpShowsARefutation) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("hyfreedp audit --hyfreedp paper --epsilon 8"));
  EXPECT_THAT(out_.str(), HasSubstr("REFUTED"));
  EXPECT_THAT(out_.str(), HasSubstr("An audit looks at raw values: it runs on generated data"));
}

}  // namespace audit_command_test
}  // namespace hyfreedp::cli
