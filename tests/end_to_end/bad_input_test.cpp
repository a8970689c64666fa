// What is wrong with the input is said in one clear sentence, with the place, before anything
// starts.
#include <SQLiteCpp/Database.h>

#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace bad_input_test {

using ::testing::HasSubstr;
using ::testing::Not;

class BadInput : public Program {
 protected:
  // The smoke spec with the first `from` replaced; the number of the line where that is, in
  // `line_`.
  std::string changed(const std::string& from, const std::string& to) {
    auto text = read_file(kSmoke).value();
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    line_ = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return write("changed.yaml", text.replace(at, from.size(), to));
  }

  void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    const auto ended = run(arguments);
    EXPECT_EQ(ended.code, 2) << ended.out << ended.err;
    for (const auto& part : parts) EXPECT_THAT(ended.err, HasSubstr(part));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << "one line, not more: " << ended.err;
    EXPECT_EQ(journal_bytes(), 0U) << "something was trained";
  }

  std::string place() const { return "changed.yaml:" + std::to_string(line_); }
  std::ptrdiff_t line_ = 0;
};

TEST_F(BadInput, UnknownKey) {
  const auto spec = changed("sample_rate:", "sampel_rate:");
  expect_refused({"run", spec}, {place(), "sampel_rate", "sample_rate"});
}

TEST_F(BadInput, WrongType) {
  const auto spec = changed("steps: 12", "steps: many");
  expect_refused({"run", spec}, {place(), "steps"});
}

TEST_F(BadInput, EpsilonOutOfRange) {
  const auto spec = changed("epsilon: [3, inf]", "epsilon: [-3, inf]");
  expect_refused({"run", spec}, {place(), "epsilon"});
}

TEST_F(BadInput, UnknownMethod) {
  const auto spec = changed("method: prodigy", "method: prodigi");
  expect_refused({"run", spec}, {place(), "prodigi", "Did you mean 'prodigy'?"});
}

TEST_F(BadInput, NotYaml) {
  const auto spec = changed("defaults:", "defaults: [");
  expect_refused({"run", spec}, {"changed.yaml:"});
}

TEST_F(BadInput, NoSuchFileOrOption) {
  expect_refused({"run", "nowhere.yaml"}, {"nowhere.yaml"});
  expect_refused({"run"}, {"--help"});
  expect_refused({"run", kSmoke, "--wrokers", "2"}, {"wrokers"});
  expect_refused({"run", kSmoke, "--workers", "0"}, {"--workers"});
  expect_refused({"run", kSmoke, "--device", "tpu"}, {"tpu"});
}

// An epsilon that no noise can reach is a row with its reason, and the other rows are there.
TEST_F(BadInput, InfeasibleEpsilonIsARow) {
  draw_no_pictures();
  const auto spec = changed("{t_min: 2,", "{share1: 0.6, share2: 0.7, t_min: 2,");
  const auto ended = run({"run", spec, "--quiet"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("linear-scaling, ε 3, seed 0: infeasible-epsilon. "));
  EXPECT_THAT(ended.out, Not(HasSubstr("Lost;")));
}

TEST_F(BadInput, AnotherSpecOfTheNameInTheFolder) {
  draw_no_pictures();
  ASSERT_EQ(run({"run", kSmoke, "--quiet"}).code, 0);
  const auto before = rows("smoke");
  const auto spec = changed("steps: 12", "steps: 11");
  const auto ended = run({"run", spec});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("/out already holds 'smoke'"), HasSubstr("(there -> here): steps 12 -> 11 ("),
                    HasSubstr("stays in the odometer")));
  EXPECT_EQ(rows("smoke"), before);
  EXPECT_EQ(run({"run", spec, "--replace", "--quiet"}).code, 0);
  EXPECT_NE(rows("smoke"), before);
}

TEST_F(BadInput, ADatabaseOfANewerSchema) {
  draw_no_pictures();
  ASSERT_EQ(run({"run", kSmoke, "--quiet"}).code, 0);
  SQLite::Database((folder_ / "out/hyfreedp.sqlite").string(), SQLite::OPEN_READWRITE)
      .exec("INSERT INTO migrations (version, program) VALUES (999, 'later')");
  for (const auto& arguments : {std::vector<std::string>{"run", kSmoke}, {"status"}, {"table", "smoke"}}) {
    const auto ended = run(arguments);
    EXPECT_EQ(ended.code, 2) << arguments[0];
    EXPECT_THAT(ended.err, HasSubstr("schema 999")) << arguments[0];
  }
}

TEST_F(BadInput, AFileThatIsNoDatabase) {
  fs::create_directory(folder_ / "out");
  write("out/hyfreedp.sqlite",
        "not a database, but somebody's notes, long enough to look like a file of some kind\n");
  for (const auto& arguments : {std::vector<std::string>{"run", kSmoke}, {"status"}, {"odometer"}}) {
    expect_refused(arguments, {"hyfreedp.sqlite is not an SQLite database: it is damaged"});
  }
}

TEST_F(BadInput, NoGpuWhereOneIsAskedFor) {
  if (fs::exists("/dev/nvidiactl")) {
    std::cout << "not checked on a machine with a GPU: a device that is absent\n";
    return;
  }
  const auto ended = run({"run", kSmoke, "--device", "cuda", "--quiet"});
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("hyfreedp run: the run asks for device 'cuda', but this "),
                               HasSubstr("Leave out --device cuda, or set device: cpu in the spec.")));
  EXPECT_FALSE(fs::exists(folder_ / "out")) << "it was refused after something had begun";
}

// A file system of its own hides the data set, where the system lets a user have one.
TEST_F(BadInput, MissingData) {
  const auto spec = changed(
      "dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, "
      "features: 16}",
      "dataset: fashion-mnist");
  const std::string hidden = "/usr/share/datasets";
  std::vector<std::string> command = {"-u", "HYFREEDP_DATA", kProgram, "run", spec};
  std::string program = "/usr/bin/env";
  if (fs::exists(hidden)) {
    const std::string hide = "mount -t tmpfs none " + hidden;
    const std::vector<std::string> own = {"--user", "--map-root-user", "--mount", "sh", "-c"};
    auto probe = own;
    probe.push_back(hide);
    if (!fs::exists("/usr/bin/unshare") || start(probe, "/usr/bin/unshare").wait().code != 0) {
      std::cout << "not checked here: the data set is installed and cannot be hidden\n";
      return;
    }
    program = "/usr/bin/unshare";
    command = own;
    command.push_back(hide + " && exec env -u HYFREEDP_DATA " + kProgram + " run " + spec);
  }
  const auto ended = start(command, program).wait();
  EXPECT_EQ(ended.code, 2) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("apt-get install dataset-fashion-mnist"));
  EXPECT_EQ(journal_bytes(), 0U);
}

}  // namespace bad_input_test
}  // namespace hyfreedp::end_to_end
