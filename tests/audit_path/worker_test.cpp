// `hyfreedp-worker --audit` as a process.
#include <cstdlib>
#include <fstream>
#include <sys/wait.h>

#include "harness/base/files.h"
#include "tests/audit_path/settings.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::training {
namespace worker_test {

audit::Request short_request() {
  Setting setting;
  setting.hyfreedp = "folded";
  setting.runs = 2;
  setting.steps = 20;
  return request_of(setting);
}

struct Said {
  int status = -1;
  std::string out;
  std::string problems;
};

Said ask_worker(const std::string& request) {
  const trial::TemporaryFolder folder;
  std::ofstream(folder.file("request.json")) << request;
  const std::string command = std::string(HYFREEDP_BIN_DIR) + "/hyfreedp-worker --audit < " +
                              folder.file("request.json") + " > " + folder.file("out") + " 2> " +
                              folder.file("problems");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder.file("out")).value(),
          read_file(folder.file("problems")).value()};
}

TEST(AuditRequest, IsReadAsItIsWritten) {
  const auto request = short_request();
  const auto read = audit::request_from_json(as_json(request), "test");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(canonical_json(as_json(*read)), canonical_json(as_json(request)));
}

TEST(AuditRequest, EveryFieldIsDemandedAndChecked) {
  const auto good = as_json(short_request());
  for (const auto& member : good) {
    auto without = good;
    if (member.key() == "seed") continue;
    without.erase(member.key());
    const auto read = audit::request_from_json(without, "test");
    ASSERT_FALSE(read) << member.key();
    EXPECT_NE(read.error().message.find(member.key()), std::string::npos) << read.error().message;
  }
  const std::vector<std::pair<const char*, json::value>> wrong = {
      {"plan", 1},      {"steps", 0},         {"runs", 0}, {"workers", 0}, {"canaries", 1e6},
      {"model", "gpt"}, {"false_alarm", 0.0}, {"seed", 7}, {"claim", 8}};
  for (const auto& [key, value] : wrong) {
    auto object = good;
    object[key] = value;
    EXPECT_FALSE(audit::request_from_json(object, "test")) << key;
  }
  const std::vector<std::pair<const char*, json::value>> wrong_in_plan = {
      {"is_private", false},
      {"population", 1},
      {"sample_rate", 2},
      {"clipping", "none"},
      {"clipping", "adaptive"},
      {"clipping_groups", "some"},
      {"gradient_noise", -1},
      {"clipping_shares", "size"},
      {"batch_size", 0},
      {"clipping_constant", 0},
      {"feature_mean", json::object{{"norm", 1}, {"noise", 1}}}};
  for (const auto& [key, value] : wrong_in_plan) {
    auto object = good;
    object["plan"].as_object()[key] = value;
    EXPECT_FALSE(audit::request_from_json(object, "test")) << key;
  }
  auto of_losses = good;  // with the probes of this one
  of_losses["plan"].as_object()["released"] = "loss-change";
  of_losses["plan"].as_object()["clipping"] = "abadi";
  const auto probed = audit::request_from_json(of_losses, "test");
  ASSERT_FALSE(probed);
  EXPECT_NE(probed.error().message.find("probes are for gradients"), std::string::npos)
      << probed.error().message;
  for (const auto& [key, value] :
       std::vector<std::pair<const char*, json::value>>{{"noise", 0}, {"points", 2}, {"interval", 0}}) {
    auto object = good;
    object["plan"].as_object()["probe"].as_object()[key] = value;
    EXPECT_FALSE(audit::request_from_json(object, "test")) << key;
  }
}

TEST(AuditWorker, AnswersWithAReport) {
  const auto said = ask_worker(canonical_json(as_json(short_request())));
  ASSERT_EQ(said.status, 0) << said.problems;
  EXPECT_NE(said.problems.find("run 1 of "), std::string::npos) << said.problems;
  const auto answer = parse_json(said.out, "answer").value().get_object();
  const auto report = from_json<audit::Report>(answer.at("report"), "report");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->refuted()) << text_of(*report);
  EXPECT_GT(report->findings.size(), 20U);
  EXPECT_TRUE(answer.at("setting").is_object());
  EXPECT_GT(answer.at("seconds").as_double(), 0);
}

TEST(AuditWorker, RefusesABadRequestInOneSentence) {
  auto bad = as_json(short_request());
  bad["plan"].as_object()["sample_rate"] = 1.5;
  for (const std::string& text : {std::string(), std::string("[]"), std::string("{\"plan\":"),
                                  canonical_json(bad), std::string(2 << 20, ' ')}) {
    const auto said = ask_worker(text);
    EXPECT_EQ(said.status, 2) << text.substr(0, 100);
    EXPECT_EQ(said.out, "");
    EXPECT_EQ(std::count(said.problems.begin(), said.problems.end(), '\n'), 1) << said.problems;
  }
}

}  // namespace worker_test
}  // namespace hyfreedp::training
