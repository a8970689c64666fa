// Which data are the same: by name or by a mark of the files.
#include "datasets/same_data.h"

#include <map>
#include <set>

#include "datasets/own_files.h"
#include "harness/base/files.h"
#include "tests/datasets/scratch.h"

namespace hyfreedp::datasets {
namespace {

class SameData : public Scratch {
 protected:
  json::object table(const std::string& name, json::object options = {}) const {
    options["path"] = path(name);
    options["labels"] = "0, 1";
    const auto& facts = **find_dataset("table-file");
    return complete_options(facts, resolve_options(facts.options, options, "table-file").value()).value();
  }
  void write_rows(const std::string& name, int seed) const {
    std::string text = "x,y,label\n";
    for (int i = 0; i < 100; ++i)
      text += std::to_string((i * 37 + seed) % 101) + ",1," + std::to_string(i % 2) + "\n";
    ASSERT_TRUE(write_file_atomically(path(name), text));
  }
  const ScopedVariable state_folder_{"XDG_STATE_HOME", path("state")};
};

bool is_same_table(const json::object& one, const json::object& other) {
  return is_same_data(identity_of("table-file", one), identity_of("table-file", other));
}

TEST_F(SameData, ACopyAndALinkUnderAnotherName) {
  write_rows("people.csv", 1);
  write_rows("others.csv", 2);
  std::filesystem::copy_file(path("people.csv"), path("folks.csv"));
  std::filesystem::create_symlink("people.csv", path("link.csv"));
  const auto people = table("people.csv");
  EXPECT_TRUE(is_same_table(people, table("folks.csv")));
  EXPECT_TRUE(is_same_table(people, table("link.csv")));
  EXPECT_FALSE(is_same_table(people, table("others.csv")));
}

TEST_F(SameData, AChecksumThatTheSpecGivesIsTheSameMark) {
  write_rows("people.csv", 1);
  std::filesystem::copy_file(path("people.csv"), path("folks.csv"));
  const auto people = table("people.csv");
  const auto sha256 = own_files_checksum(path("folks.csv")).value();
  EXPECT_TRUE(is_same_table(people, table("folks.csv", {{"sha256", sha256}})));
}

TEST_F(SameData, AChangedFileOfTheSameName) {
  write_rows("people.csv", 1);
  const auto before = table("people.csv");
  write_rows("people.csv", 2);
  EXPECT_TRUE(is_same_table(before, table("people.csv")));
}

TEST_F(SameData, APublishedFileThatIsReadAsOnesOwn) {
  write_rows("people.csv", 1);
  table("people.csv");  // makes the secret
  const auto& adult = **find_dataset("adult");
  const json::object copy{{"path", path("census.csv")}, {"sha256", adult.files.front().sha256}};
  EXPECT_TRUE(is_same_data(identity_of("adult", {}), identity_of("table-file", copy)));
  EXPECT_FALSE(is_same_data(identity_of("mnist", {}), identity_of("table-file", copy)));
}

// Their publisher divided them; which options choose the records is known of each.
TEST(PublishedData, AreDividedByTheOptionsThatChooseRecords) {
  std::map<std::string, std::set<std::string>> choosing;
  for (const auto& facts : dataset_facts()) {
    if (facts.files.empty() || facts.own_records) continue;
    for (const auto& option : facts.options) {
      if (chooses_records(option.name)) choosing[facts.name].insert(option.name);
    }
  }
  const std::map<std::string, std::set<std::string>> expected = {{"emnist", {"split"}},
                                                                 {"stl10", {"labels"}},
                                                                 {"cifar10-c", {"corruption", "severity"}},
                                                                 {"cifar100-c", {"corruption", "severity"}}};
  EXPECT_EQ(choosing, expected);
}

TEST_F(SameData, GeneratedDataByTheirOptions) {
  const json::object made{{"train", 100}, {"separation", 2.5}};
  auto part = made;
  for (const char* option : {"part", "part_rate", "part_key"}) part[option] = 1;
  EXPECT_EQ(identity_of("synthetic", made).name, "synthetic (separation 2.5, train 100)");
  EXPECT_TRUE(is_same_data(identity_of("synthetic", made), identity_of("synthetic", part)));
  EXPECT_FALSE(is_same_data(identity_of("synthetic", made), identity_of("synthetic", {{"train", 99}})));
  EXPECT_TRUE(is_same_data(identity_of("gone", made), identity_of("gone", {})));
}

}  // namespace
}  // namespace hyfreedp::datasets
