// `hyfreedp regress`: references, files, exit codes. What its tests can tell is in tests/results
// and tests/regress.
#include <SQLiteCpp/Database.h>
#include <atomic>
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <iostream>
#include <sys/stat.h>
#include <thread>

#include "harness/trial/code_marks.h"
#include "tests/cli/command_fixture.h"
#include "tests/results/small_database.h"

namespace hyfreedp::cli {
namespace regress_command_test {

using testing::AllOf;
using testing::HasSubstr;

class Regress : public CommandTest {
 protected:
  Regress() : CommandTest("regress") {}

  void SetUp() override {
    CommandTest::SetUp();
    make("then");
    make("now");
  }

  void make(const std::string& folder) const {
    const auto store =
        results::Store::open(path(folder) + "/hyfreedp.sqlite", results::Store::Mode::read_write).value();
    small::fill(*store).value();
  }

  std::vector<std::string> against(const std::string& reference) const {
    return {"small", "--out", path("now"), "--against", reference, "--references", path("kept")};
  }
  std::vector<std::string> keep(const std::vector<std::string>& names) const {
    std::vector<std::string> arguments{"--keep", "--out", path("then"), "--references", path("kept")};
    arguments.insert(arguments.end(), names.begin(), names.end());
    return arguments;
  }
};

TEST_F(Regress, ComparesWithAFolderAFileATagAndTheBeginningOfACommit) {
  ASSERT_EQ(run(keep({"--commit", "0123456789abcdef"})), 0) << err();
  ASSERT_EQ(run(keep({"--tag", "v1", "--commit", "fedcba9876543210"})), 0) << err();
  ASSERT_EQ(run(keep({"--tag", "v2"})), 0) << err();
  const auto file = path("then") + "/hyfreedp.sqlite";
  for (const auto& reference : {path("then"), file, std::string("0123"), std::string("fedcba98"),
                                std::string("v1"), std::string("v2")}) {
    run(against(reference));
    EXPECT_THAT(out(), HasSubstr("small: ")) << reference << err();
  }
  namespace fs = std::filesystem;
  const auto mode = fs::status(path("kept") + "/v2.sqlite").permissions();
  EXPECT_EQ(mode, fs::perms::owner_read | fs::perms::owner_write) << "it holds what the database holds";
}

TEST_F(Regress, KeepRefusesWhatHasNoNameOrIsThere) {
  expect_refused(keep({}), {"--keep needs a name", "git rev-parse HEAD"});
  expect_refused(keep({"--commit", "HEAD"}), {"--commit is 'HEAD'", "hex digits"});
  expect_refused(keep({"--tag", "../x"}), {"--tag is '../x'"});
  ASSERT_EQ(run(keep({"--tag", "v1"})), 0);
  expect_refused(keep({"--tag", "v1"}), {"v1 exists already"});
  expect_refused(keep({"--tag", "v2", "--against", "v1"}), {"--keep keeps and compares nothing"});
}

// A reference is carried about (a cache, a colleague): it holds what a comparison needs and nothing
// confidential.
TEST_F(Regress, AReferenceHoldsNothingConfidentialAndIsAsGood) {
  // A cell of it diverged in both nights: of that nothing can be told.
  ASSERT_EQ(run(against(path("then"))), 2) << err();
  EXPECT_THAT(out(), HasSubstr("cells: 1 could not tell, 4 same"));
  const auto with_the_database = out();
  {  // another spec, with a run in common
    const auto store =
        results::Store::open(path("then") + "/hyfreedp.sqlite", results::Store::Mode::read_write).value();
    auto spec = small::spec();
    spec.name = "second";
    store->put_spec(spec).value();
    auto study = store->study("study-a-1-0").value().value();
    study.id = "study-of-second";
    study.spec = "second";
    store->put_study(study).value();
  }
  ASSERT_EQ(run(keep({"--tag", "v1"})), 0) << err();
  const auto file = path("kept") + "/v1.sqlite";
  EXPECT_THAT(read_file(path("then") + "/hyfreedp.sqlite").value(), HasSubstr("private_validation"));
  const auto kept = results::Store::open(file, results::Store::Mode::read_only).value();
  for (const auto& trial : kept->trials().value()) {
    for (const auto& metric : kept->metrics(trial.id, true).value()) {
      EXPECT_NE(metric.value, small::kPlantedConfidential) << trial.id;
    }
    EXPECT_EQ(kept->steps(trial.id)->size(), 2U) << "bits are compared step by step";
  }
  for (const auto& study : kept->studies("small").value()) {
    if (study.row == "c") {
      EXPECT_EQ(study.trials.size(), 1U) << "the losing runs of a private selection";
    }
  }
  EXPECT_FALSE(kept->trial("trial-study-c-1-0-1").value());
  ASSERT_EQ(run(against("v1")), 2) << err();
  EXPECT_EQ(out(), with_the_database);
}

// Whoever looks into the folder again and again while it is made never finds a file that others may
// read.
TEST_F(Regress, AReferenceIsItsOwnersFromTheFirstByteOn) {
  namespace fs = std::filesystem;
  const auto before = ::umask(0);
  std::atomic<bool> made = false, seen = false, open = false;
  std::thread looker([&] {
    while (!made) {
      std::error_code failure;
      for (const auto& entry : fs::directory_iterator(path("kept"), failure)) {
        const auto mode = entry.status(failure).permissions();
        if (failure) continue;
        seen = true;
        open = open || (mode & (fs::perms::group_all | fs::perms::others_all)) != fs::perms::none;
      }
    }
  });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(run(keep({"--tag", fmt::format("v{}", i)})), 0) << err();
  made = true;
  looker.join();
  ::umask(before);
  EXPECT_TRUE(seen);
  EXPECT_FALSE(open);
}

// The database says which commit made it.
TEST_F(Regress, KeepTakesTheCommitThatTheDatabaseNames) {
  const auto keep_of = [&](const std::string& folder, const std::string& version) {
    auto spec = small::spec();
    spec.version = version;
    results::Store::open(path(folder) + "/hyfreedp.sqlite", results::Store::Mode::read_write)
        .value()
        ->put_spec(spec)
        .value();
    return std::vector<std::string>{"--keep", "--out", path(folder), "--references", path("kept")};
  };
  ASSERT_EQ(run(keep_of("known", "0.5.0 (comparability 4, commit 0123456789ab)")), 0) << err();
  EXPECT_TRUE(std::filesystem::exists(path("kept") + "/0123456789ab.sqlite"));
  expect_refused(keep_of("dirty", "0.5.0 (comparability 4, commit 0123456789ab-dirty)"),
                 {"--keep needs a name"});
  expect_refused(keep_of("unknown", "0.5.0 (comparability 4)"), {"--keep needs a name"});
}

TEST_F(Regress, RefusesAndSaysWhatThereIs) {
  expect_refused(against("v9"),
                 {"--against v9", "no reference in " + path("kept"),
                  "`hyfreedp regress --keep --tag v9 --out OUT --references " + path("kept") + "`"});
  ASSERT_EQ(run(keep({"--tag", "v1", "--commit", "0123456789abcdef"})), 0);
  ASSERT_EQ(run(keep({"--commit", "01234567"})), 0);
  expect_refused(against("v9"), {"01234567", "v1 (0123456789ab)"});
  expect_refused(against("0123"), {"is ambiguous"});
  expect_refused(against(path("now")), {"tonight's own database"});
  expect_refused({"small", "--out", path("now")}, {"--against REF is missing"});
  expect_refused({"--against", "v1"}, {"name a spec"});
  expect_refused({"smal", "--out", path("now"), "--against", path("then")}, {"Did you mean 'small'?"});
  expect_refused({"small", "--against", "v1", "--speed"}, {"--against-binary"});
  expect_refused({"small", "--against", "v1", "--rounds", "1"}, {"--rounds"});
  expect_refused({"small", "--against", "v1", "--tag", "x"}, {"for --keep"});
  auto command = against(path("then"));
  command.insert(command.end(),
                 {"--speed", "--against-binary", "/nowhere/worker", "--worker", "/nowhere/worker"});
  EXPECT_EQ(run(command), 2);
  EXPECT_EQ(out(), "");
}

// A folder that was not emptied before the night, whose rows say nothing of tonight's program. Of
// what code the reference is does not matter.
TEST_F(Regress, RowsOfOtherCodeAreNeverTheSame) {
  const auto trained_by = [&](const std::string& folder, const std::string& engine) {
    SQLite::Database database(path(folder) + "/hyfreedp.sqlite", SQLite::OPEN_READWRITE);
    database.exec("UPDATE trials SET fingerprint = json_set(fingerprint, '$.code', json_object('engine', '" +
                  engine + "')) WHERE id LIKE 'trial-study-a-%'");
  };
  trained_by("then", "old");
  trained_by("now", "new");
  trial::set_code_marks({{"engine", "", "new"}});
  EXPECT_EQ(run(against(path("then"))), 2) << err();
  EXPECT_THAT(out(), HasSubstr("cells: 1 could not tell, 4 same")) << "one failed in both nights";
  trained_by("now", "old");
  auto arguments = against(path("then"));
  arguments.insert(arguments.end(), {"--markdown", path("r.md"), "--junit", path("r.xml")});
  EXPECT_EQ(run(arguments), 2) << err();
  trial::set_code_marks({});
  EXPECT_THAT(out(), HasSubstr("cells: 3 could not tell, 2 same"));
  for (const auto& text : {out(), read_file(path("r.md")).value(), read_file(path("r.xml")).value()}) {
    EXPECT_THAT(text, AllOf(HasSubstr("trained by other code"), HasSubstr("(the engine)")));
    EXPECT_THAT(text, HasSubstr("--retrain"));
  }
  EXPECT_THAT(read_file(path("r.xml")).value(), HasSubstr("<error type=\"could not tell\" message=\"row"));
}

TEST_F(Regress, WritesMarkdownAndValidJUnit) {
  auto arguments = against(path("then"));
  arguments.insert(arguments.end(), {"--markdown", path("r.md"), "--junit", path("r.xml")});
  const int code = run(arguments);
  EXPECT_EQ(code, 2) << out();
  EXPECT_THAT(out(), HasSubstr("seeds 0, 1, 2 failed in the reference and failed again: diverged"));
  EXPECT_THAT(out(), HasSubstr("not compared: no noise seed"));
  EXPECT_THAT(read_file(path("r.md")).value(), HasSubstr("| verdict | cell | what |"));
  EXPECT_THAT(read_file(path("r.xml")).value(), HasSubstr("<testsuite name=\"hyfreedp regress small\""));
  if (std::system("xmllint --version > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "xmllint is not installed. Debian: apt-get install libxml2-utils";
  }
  const auto schema = file("junit.xsd", R"(<?xml version="1.0"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="told"><xs:attribute name="message" use="required"/><xs:attribute name="type"/></xs:complexType>
  <xs:element name="testsuites"><xs:complexType><xs:sequence>
    <xs:element name="testsuite"><xs:complexType><xs:sequence>
      <xs:element name="testcase" maxOccurs="unbounded"><xs:complexType><xs:choice minOccurs="0">
        <xs:element name="failure" type="told"/><xs:element name="error" type="told"/><xs:element name="skipped" type="told"/><xs:element name="system-out" type="xs:string"/>
      </xs:choice><xs:attribute name="classname" use="required"/><xs:attribute name="name" use="required"/></xs:complexType></xs:element>
      <xs:element name="system-out" type="xs:string"/>
    </xs:sequence><xs:attribute name="name" use="required"/><xs:attribute name="tests" type="xs:integer" use="required"/>
    <xs:attribute name="failures" type="xs:integer" use="required"/><xs:attribute name="errors" type="xs:integer"/>
    <xs:attribute name="skipped" type="xs:integer"/></xs:complexType></xs:element>
  </xs:sequence><xs:attribute name="tests" type="xs:integer"/><xs:attribute name="failures" type="xs:integer"/>
  <xs:attribute name="errors" type="xs:integer"/></xs:complexType></xs:element>
</xs:schema>
)");
  const auto command = "xmllint --noout --schema " + schema + " " + path("r.xml") + " 2> " + path("said");
  EXPECT_EQ(std::system(command.c_str()), 0) << read_file(path("said")).value();
}

}  // namespace regress_command_test
}  // namespace hyfreedp::cli
