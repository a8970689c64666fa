// README.md and the rooms' READMEs that are manuals: each command in them is run, what they show is
// what comes out, and the table of README.md is the archive's.
#include <regex>
#include <set>

#include "results/store/store.h"
#include "tests/datasets/scratch.h"
#include "tests/end_to_end/program.h"
#include "tests/end_to_end/readme_entries.h"
#include "tests/end_to_end/readme_text.h"

namespace hyfreedp::end_to_end {
namespace readme_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const fs::path kSource = HYFREEDP_SOURCE_DIR;

const std::vector<std::string> kDocuments = {"README.md", "harness/accounting/README.md",
                                             "harness/audit/README.md", "harness/models/README.md",
                                             "results/README.md"};

std::string document(const std::string& name) { return read_file((kSource / name).string()).value(); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string without_digits(const std::string& text) {
  return std::regex_replace(text, std::regex(R"([0-9]+(\.[0-9]+)?(e-?[0-9]+)?)"), "#");
}

// The first line of `shown` that is not among `printed`, in order; "..." stands for any lines.
std::string missing_line(const std::vector<std::string>& shown, const std::vector<std::string>& printed,
                         bool digits_count) {
  auto next = printed.begin();
  const auto kept = [&](const std::string& line) { return digits_count ? line : without_digits(line); };
  for (const auto& line : shown) {
    if (trimmed(line) == "...") continue;
    next = std::find_if(next, printed.end(), [&](const auto& one) { return kept(one) == kept(line); });
    if (next == printed.end()) return line;
    ++next;
  }
  return "";
}

const ReadmeEntry* entry_of(const std::string& command) {
  for (const auto& entry : readme_entries()) {
    if (entry.command == command) return &entry;
  }
  return nullptr;
}

class Readme : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    for (const char* name : {"experiments", "harness", "tests", "CMakePresets.json"}) {
      fs::create_symlink(kSource / name, folder_ / name);
    }
    fs::create_directories(folder_ / "results");
    fs::copy(kSource / "results/archive", folder_ / "results/archive", fs::copy_options::recursive);
    make_checkout();
    write("events.json", first_json_block());
    auto smoke = read_file(kSmoke).value();
    write("quick.yaml", replaced(smoke, "name: smoke", "name: quick"));
    write("private.yaml",
          "name: private\ntitle: rows that a cap can hold\npanels:\n  - id: p\n    dataset: {name: "
          "synthetic, train: "
          "2000}\n    model: linear\n    seeds: [0]\n    epsilon: [3]\n    delta: N^-1.1\n    train: "
          "{sample_rate: 0.1, "
          "steps: 6, optimizer: adamw}\n    rows: [{method: prodigy}]\n");
    const auto made = run({"run", "quick.yaml", "--quiet"});
    ASSERT_EQ(made.code, 0) << made.err;
    read_names();
  }

  // What `hyfreedp new` reads and changes.
  void make_checkout() const {
    const auto checkout = folder_ / "checkout";
    for (const char* room : {"baselines", "optimizers"}) {
      fs::create_directories(checkout / "tests" / room);
      fs::copy(kSource / room, checkout / room, fs::copy_options::recursive);
    }
    for (const char* file : {"CMakeLists.txt", "tests/baselines/template_test.cpp",
                             "tests/optimizers/template_test.cpp", "tests/optimizers/constant_test.cpp"}) {
      fs::copy_file(kSource / file, checkout / file);
    }
  }

  // The events file that README.md shows.
  static std::string first_json_block() {
    const auto text = document("harness/accounting/README.md");
    const auto begin = text.find("\n{\"neighbouring\"");
    return begin == std::string::npos ? "{}" : text.substr(begin + 1, text.find("\n```", begin) - begin);
  }

  void read_names() {
    const auto store =
        results::Store::open((folder_ / "out/hyfreedp.sqlite").string(), results::Store::Mode::read_only);
    const auto studies = (**store).studies("quick");
    for (const auto& study : *studies) {
      if (study.row != "prodigy" || !study.epsilon_target) continue;
      study_ = study.id;
      trial_ = study.reported_trial;
    }
    ASSERT_FALSE(study_.empty());
  }

  Ended shell(const std::string& command) {
    const auto line = fmt_line(command);
    return start({"120", "/bin/sh", "-c", line}, "/usr/bin/timeout").wait();
  }
  std::string fmt_line(const std::string& command) const {
    const auto build = fs::path(HYFREEDP_BIN_DIR).parent_path().string();
    const auto named =
        replaced(replaced(replaced(command, "@STUDY@", study_), "@TRIAL@", trial_), "@BUILD@", build);
    return "PATH=\"" + std::string(HYFREEDP_BIN_DIR) + ":$PATH\"; export PATH; " + named;
  }

  static std::string advice(const std::string& name, const std::string& command) {
    return name + ": `" + command +
           "` cannot be run as it stands. Correct it, or say in tests/end_to_end/readme_entries.h what is "
           "run instead, "
           "and why.\n";
  }

  std::string study_, trial_;
  // As where none of the data are: `hyfreedp list specs` would read all of them.
  const datasets::ScopedVariable no_data_{"HYFREEDP_DATA", std::nullopt};
};

TEST_F(Readme, EveryCommandRuns) {
  std::set<std::string> tried;
  for (const auto& name : kDocuments) {
    for (const auto& [command, output] : commands_of(document(name))) {
      const bool is_first = tried.insert(command).second;
      if (!is_first && output.empty()) continue;
      const auto* entry = entry_of(command);
      const auto ended = shell(entry != nullptr ? entry->instead : command);
      EXPECT_EQ(ended.code, entry != nullptr ? entry->code : 0)
          << advice(name, command) << ended.out << ended.err;
      if (entry != nullptr && entry->output == ReadmeEntry::Output::unchecked) continue;
      const bool digits_count = entry == nullptr || entry->output == ReadmeEntry::Output::same;
      EXPECT_EQ(missing_line(output, lines_of(ended.out), digits_count), "")
          << name << " shows this line beneath `" << command << "`; the program prints:\n"
          << ended.out;
    }
  }
  EXPECT_GT(tried.size(), 20U);
}

// A newcomer reads a thousand words; the manual is in the rooms' READMEs.
TEST(ReadmeLength, IsOfOneReading) {
  std::istringstream words(document("README.md"));
  EXPECT_LE(std::distance(std::istream_iterator<std::string>(words), {}), 1300);
}

TEST(ReadmeEntries, NoneIsLeftOver) {
  std::set<std::string> commands, entries;
  for (const auto& name : kDocuments) {
    for (const auto& one : commands_of(document(name))) commands.insert(one.text);
  }
  for (const auto& entry : readme_entries()) {
    EXPECT_TRUE(commands.contains(entry.command))
        << "`" << entry.command
        << "` is no longer in any of these documents; take it out of tests/end_to_end/readme_entries.h";
    EXPECT_TRUE(entries.insert(entry.command).second) << entry.command << " has two entries";
    EXPECT_FALSE(entry.reason.empty());
  }
}

TEST(ReadmeText, FindsCommandsWhereverTheyStand) {
  const auto commands = commands_of(
      "Text with `hyfreedp list\nmethods`, `experiments/quick.yaml` and `build/release/bin/hyfreedp epsilon "
      "--db F`.\n"
      "```\nexperiments/run        # the main job\ntests/run --cpu\n\nhyfreedp run a.yaml \\\n  --out DIR > "
      "log.txt\n```\n"
      "```\n$ hyfreedp epsilon --steps 2\nepsilon  1\nby       pld\n\n$ hyfreedp list models\n```\n"
      "```yaml\n# hyfreedp never\n- run: tests/run --all\n- name: x\n```\n"
      "```cron\n15 2 * * * cd /srv && experiments/run a.yaml && hyfreedp regress --against 'a b'\n```\n"
      "```json\n{\"a\": 1}\n```\n");
  std::vector<std::string> texts;
  for (const auto& command : commands) texts.push_back(command.text);
  EXPECT_THAT(texts, ElementsAre("experiments/run", "tests/run --cpu", "hyfreedp run a.yaml --out DIR",
                                 "hyfreedp epsilon --steps 2", "hyfreedp list models", "tests/run --all",
                                 "experiments/run a.yaml", "hyfreedp regress --against 'a b'",
                                 "hyfreedp list methods", "hyfreedp epsilon --db F"));
  EXPECT_THAT(commands[3].output, ElementsAre("epsilon  1", "by       pld"));
}

TEST(ReadmeText, AChangedOutputIsFound) {
  const std::vector<std::string> printed = {"a 1", "b 2", "c 3"};
  EXPECT_EQ(missing_line({"a 1", "c 3"}, printed, true), "");
  EXPECT_EQ(missing_line({"a 1", "...", "c 3"}, printed, true), "");
  EXPECT_EQ(missing_line({"c 3", "a 1"}, printed, true), "a 1") << "the order counts";
  EXPECT_EQ(missing_line({"b 3"}, printed, true), "b 3");
  EXPECT_EQ(missing_line({"b 3"}, printed, false), "");
  EXPECT_EQ(missing_line({"d 3"}, printed, false), "d 3");
}

// The tables in README.md are those of an archive, line by line; footnote markers aside, whose
// footnotes it leaves out.
TEST(ReadmeTable, IsTheArchives) {
  const auto shown = table_lines(document("README.md"), "| Method |");
  ASSERT_GT(shown.size(), 5U) << "README.md has no table that begins with | Method |";
  const auto kept =
      table_lines(read_file((kSource / "results/archive/quick/table.md").string()).value(), "| Method |");
  for (const auto& line : shown) {
    EXPECT_NE(std::find(kept.begin(), kept.end(), line), kept.end())
        << "results/archive/quick/table.md has no such line:\n"
        << line;
  }
}

}  // namespace readme_test
}  // namespace hyfreedp::end_to_end
