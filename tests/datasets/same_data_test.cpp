// Which data are the same: by name or by a mark of the files.
#include "datasets/same_data.h"

#include <map>
#include <set>
#include <thread>
#include <unistd.h>

#include "datasets/own/content_marks.h"
#include "datasets/own/own_files.h"
#include "datasets/own/record_marks.h"
#include "harness/base/files.h"
#include "tests/datasets/scratch.h"

namespace hyfreedp::datasets {
namespace {

class SameData : public Scratch {
 protected:
  json::object table(const std::string& name, json::object options = {}) const {
    options["path"] = path(name);
    if (!options.contains("labels")) options["labels"] = "0, 1";
    const auto& facts = **find_dataset("table-file");
    return complete_options(facts, resolve_options(facts.options, options, "table-file").value()).value();
  }
  void write_rows(const std::string& name, int seed) const {
    std::string text = "x,y,label\n";
    for (int i = 0; i < 100; ++i)
      text +=
          std::to_string((i * 37) % 101) + "." + std::to_string(seed) + ",1," + std::to_string(i % 2) + "\n";
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

// Marks under one secret are not compared with those under another.
TEST_F(SameData, AnIdentityNamesTheSecretThatItsMarksAreUnder) {
  write_rows("people.csv", 1);
  write_rows("others.csv", 2);
  const auto people = table("people.csv");
  const auto before = identity_of("table-file", people);
  EXPECT_FALSE(before.secret.empty());
  ASSERT_TRUE(std::filesystem::remove(path("state/hyfreedp/data.key")));
  const auto others = identity_of("table-file", table("others.csv"));
  EXPECT_EQ(identity_of("table-file", people).secret, "") << "what is kept is under a secret that is lost";
  EXPECT_FALSE(others.secret.empty());
  EXPECT_NE(others.secret, before.secret);
  TrainedData one, other;
  one.add(before);
  other.add(others);
  EXPECT_TRUE(may_be_same(one, other));
  EXPECT_FALSE(may_be_same(other, other));
}

// Though this user had no secret when the spec with the checksum was read.
TEST_F(SameData, FilesWithAPublishedChecksumAreMarkedFromTheFirstRunOn) {
  write_rows("people.csv", 1);
  const auto sha256 = own_files_checksum(path("people.csv")).value();
  const auto people = identity_of("table-file", table("people.csv", {{"sha256", sha256}}));
  EXPECT_FALSE(people.secret.empty());
  EXPECT_FALSE(people.marks.empty());
}

TEST_F(SameData, AMarkIsNothingThatASpecSays) {
  write_rows("people.csv", 1);
  const auto& facts = **find_dataset("table-file");
  const auto sha256 = own_files_checksum(path("people.csv")).value();
  for (const json::object& given :
       {json::object{{"sha256", sha256}, {"files_mark", "x"}}, json::object{{"files_mark", "x"}}}) {
    auto options = given;
    options["path"] = path("people.csv");
    options["labels"] = "0, 1";
    const auto resolved = resolve_options(facts.options, options, facts.name);
    ASSERT_TRUE(resolved) << resolved.error().message;
    EXPECT_FALSE(complete_options(facts, *resolved));
  }
}

// One record alone would be told by its loss.
TEST_F(SameData, TestRecordsThatAreTheTrainingRecordsAreRefused) {
  write_rows("same/train.csv", 1);
  write_rows("same/test.csv", 1);
  const auto& facts = **find_dataset("table-file");
  const auto resolved =
      resolve_options(facts.options, {{"path", path("same")}, {"labels", "0, 1"}, {"test", 1}}, facts.name);
  ASSERT_TRUE(resolved) << resolved.error().message;
  const auto refused = complete_options(facts, *resolved);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("every test record is a training record too"), std::string::npos);
}

TEST_F(SameData, TestRecordsThatAreAllAmongTheTrainingRecordsAreRefused) {
  const auto& facts = **find_dataset("table-file");
  // Values of x in train and in test.
  const auto said = [&](const std::string& train, const std::string& test) {
    for (const auto& [name, values] : {std::pair{"train", train}, std::pair{"test", test}}) {
      std::string text = "x,label\n";
      for (const char x : values) text += fmt::format("{},1\n", static_cast<int>(x));
      write_file_atomically(path(fmt::format("most/{}.csv", name)), text).value();
    }
    const auto resolved =
        resolve_options(facts.options, {{"path", path("most")}, {"labels", "0, 1"}}, facts.name).value();
    const auto completed = complete_options(facts, resolved);
    return completed ? "" : completed.error().message;
  };
  const std::string all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr const char* kRefused = "test record is a training record too";
  for (const auto& test :
       {all, all.substr(1), all.substr(0, 9), std::string("zya"), all + all, "zzzz" + all}) {
    EXPECT_NE(said(all, test).find(kRefused), std::string::npos) << test << said(all, test);
  }
  EXPECT_NE(said(all, all + "1").find("test records are training records, too"), std::string::npos);
  // One that is new beside a few, and blank records that are alike.
  EXPECT_EQ(said(all, all.substr(0, 9) + "1"), "");
  EXPECT_EQ(said(all, "1a"), "");
  EXPECT_EQ(said(all, "aaa"), "");
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

// The same rows as a folder and as a file, and in another order, under other names.
TEST_F(SameData, TheSameRecordsInAnotherLayout) {
  write_rows("all.csv", 1);
  const auto text = read_file(path("all.csv")).value();
  const auto end = text.find('\n') + 1;
  const auto half = text.find('\n', text.size() / 2) + 1;
  const auto header = text.substr(0, end);
  ASSERT_TRUE(write_file_atomically(path("parts/train.csv"), text.substr(0, half)));
  ASSERT_TRUE(write_file_atomically(path("parts/test.csv"), header + text.substr(half)));
  ASSERT_TRUE(
      write_file_atomically(path("turned.csv"), header + text.substr(half) + text.substr(end, half - end)));
  ASSERT_TRUE(write_file_atomically(path("first.csv"), text.substr(0, half)));
  ASSERT_TRUE(write_file_atomically(path("last.csv"), header + text.substr(half)));
  const auto all = table("all.csv"), parts = table("parts"), turned = table("turned.csv");
  EXPECT_TRUE(is_same_table(all, parts));
  EXPECT_TRUE(is_same_table(all, turned));
  EXPECT_TRUE(is_same_table(parts, table("first.csv")));
  EXPECT_TRUE(is_same_table(all, table("first.csv"))) << "half of them";
  EXPECT_FALSE(is_same_table(parts, table("last.csv")));
  const auto division = [](const json::object& options) {
    return identity_of("table-file", options).division;
  };
  EXPECT_NE(division(all), division(turned));
  EXPECT_NE(division(all), division(parts));
  std::filesystem::copy_file(path("all.csv"), path("copy.csv"));
  EXPECT_EQ(division(all), division(table("copy.csv")));
  EXPECT_EQ(division(all), division(table("all.csv", {{"test", 3}, {"normalise", "norm"}})));

  // What is trained on, and what is tested on.
  const auto tests_on = [](const json::object& test, const json::object& trained) {
    const auto data = identity_of("table-file", trained);
    return may_share_records(identity_of("table-file", test), {.names = {data.name},
                                                               .marks = data.marks,
                                                               .divisions = {data.division},
                                                               .set_aside = {data.set_aside}});
  };
  EXPECT_TRUE(tests_on(all, parts));
  EXPECT_TRUE(tests_on(parts, all));
  EXPECT_TRUE(tests_on(table("first.csv"), parts));
  EXPECT_TRUE(tests_on(parts, table("last.csv"))) << "its test.csv";
  EXPECT_FALSE(tests_on(parts, table("first.csv"))) << "its test.csv has other rows";
  EXPECT_FALSE(tests_on(table("last.csv"), parts)) << "the rows that the folder sets aside";
}

// Rows of `columns`, each under a label, with `from` to `to` of one long list.
std::string measured(std::vector<int> columns, int from, int to) {
  std::string text = "label";
  for (const int column : columns) text += ",c" + std::to_string(column);
  for (int i = from; i < to; ++i) {
    text += "\n" + std::to_string(i % 2);
    for (const int column : columns)
      text += "," + std::to_string((i * (column + 3)) % 1009) + "." + std::to_string(i);
  }
  return text + "\n";
}

// Two years of one table, and one with its columns in another order: somebody is in both.
TEST_F(SameData, FilesWithRecordsInCommon) {
  const auto write = [&](const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file_atomically(path(name), text));
    return table(name);
  };
  const auto first = write("2024.csv", measured({0, 1, 2}, 0, 200));
  const auto second = write("2025.csv", measured({0, 1, 2}, 180, 400));
  const auto third = write("2026.csv", measured({0, 1, 2}, 395, 600));
  const auto turned = write("turned.csv", measured({2, 0, 1}, 100, 200));
  EXPECT_TRUE(is_same_table(first, second)) << "20 records";
  EXPECT_FALSE(is_same_table(first, third));
  EXPECT_FALSE(is_same_table(second, third)) << "of five nothing is said";
  EXPECT_TRUE(is_same_table(first, turned));
  EXPECT_TRUE(is_same_table(second, turned)) << "20 records";

  const auto tests_on = [](const json::object& test, const json::object& trained) {
    TrainedData data;
    data.add(identity_of("table-file", trained));
    return may_share_records(identity_of("table-file", test), data);
  };
  EXPECT_TRUE(tests_on(turned, first));
  EXPECT_FALSE(tests_on(third, first));
  const auto parts = [&](const std::string& name, const std::string& train, const std::string& test) {
    EXPECT_TRUE(write_file_atomically(path(name + "/train.csv"), train));
    EXPECT_TRUE(write_file_atomically(path(name + "/test.csv"), test));
    return table(name);
  };
  const auto set_aside = parts("parts", measured({0, 1, 2}, 700, 800), measured({0, 1, 2}, 600, 650));
  const auto trains_on_it = write("later.csv", measured({0, 1, 2}, 630, 690));
  EXPECT_TRUE(tests_on(set_aside, trains_on_it));
  EXPECT_FALSE(is_same_table(set_aside, trains_on_it)) << "no record is trained on by both";
  const auto tests_theirs = parts("other", measured({0, 1, 2}, 850, 900), measured({0, 1, 2}, 690, 720));
  EXPECT_TRUE(tests_on(tests_theirs, set_aside));
}

// However many others there are, and wherever they are in the files.
TEST_F(SameData, LargeFilesWithRecordsInCommon) {
  const auto write = [&](const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file_atomically(path(name), text));
    return table(name);
  };
  const auto large = write("large.csv", measured({0}, 0, 30000));
  EXPECT_TRUE(is_same_table(large, write("next.csv", measured({0}, 29000, 50000))));
  EXPECT_TRUE(is_same_table(large, write("small.csv", measured({0}, 29900, 30000))));
  EXPECT_TRUE(is_same_table(large, write("tiny.csv", measured({0}, 15000, 15030))));
  EXPECT_FALSE(is_same_table(large, write("far.csv", measured({0}, 60000, 90000))));
}

// Whichever column is read as the class, and whatever a format pads rows with.
TEST_F(SameData, TheSameRowsUnderAnotherClassOrPadded) {
  std::string all = "a,b,z,y\n", some = "y,a,b,z\n", sparse;
  for (int i = 0; i < 60; ++i) {
    const std::string a = std::to_string(i * 37 % 101), b = std::to_string(i * i);
    const std::string z = i % 2 == 0 ? "10" : "20", y = i % 3 == 0 ? "1" : "0";
    all += a + "," + b + "," + z + "," + y + "\n";
    if (i >= 30) some += y + "," + a + "," + b + "," + z + "\n";
    sparse += y + " 1:" + a + " 2:" + b + " 4:" + z + "\n";
  }
  ASSERT_TRUE(write_file_atomically(path("all.csv"), all));
  ASSERT_TRUE(write_file_atomically(path("some.csv"), some));
  ASSERT_TRUE(write_file_atomically(path("narrow.libsvm"), sparse));
  const auto& facts = **find_dataset("table-file");
  const auto read = [&](const std::string& name, json::object options) {
    options["path"] = path(name);
    return complete_options(facts, resolve_options(facts.options, options, "table-file").value()).value();
  };
  const auto by_z = read("all.csv", {{"label", "z"}, {"labels", "10, 20"}});
  // One class is text, which no feature can be: whoever takes the other must leave the column out.
  std::string ill = "a,b,g,diagnosis\n", without = "a,b,g\n";
  for (int i = 0; i < 60; ++i) {
    const auto row = fmt::format("{},{},{}", i * 41 % 103, i * i + 7, i % 2 + 1);
    ill += row + (i % 3 == 0 ? ",sick\n" : ",well\n");
    without += row + "\n";
  }
  ASSERT_TRUE(write_file_atomically(path("ill.csv"), ill));
  ASSERT_TRUE(write_file_atomically(path("without.csv"), without));
  EXPECT_TRUE(is_same_table(read("ill.csv", {{"label", "diagnosis"}, {"labels", "sick, well"}}),
                            read("without.csv", {{"label", "g"}, {"labels", "1, 2"}})));
  EXPECT_TRUE(is_same_table(by_z, read("some.csv", {{"label", "y"}, {"labels", "0, 1"}})));
  const auto narrow = read("narrow.libsvm", {{"labels", "0, 1"}, {"features", 4}});
  sparse.resize(sparse.rfind('\n', sparse.size() / 2) + 1);
  ASSERT_TRUE(write_file_atomically(path("wide.libsvm"), sparse));
  EXPECT_TRUE(is_same_table(narrow, read("wide.libsvm", {{"labels", "0, 1"}, {"features", 7}})));
}

// Neither of two processes is the first that compares the two.
TEST_F(SameData, FilesThatAreFirstReadAtTheSameTimeAreCompared) {
  ASSERT_TRUE(made_secret_mark(""));
  for (int i = 0; i < 12; ++i) {
    const auto one = fmt::format("one-{}.csv", i), other = fmt::format("other-{}.csv", i);
    ASSERT_TRUE(write_file_atomically(path(one), measured({i}, 1000 * i, 1000 * i + 600)));
    ASSERT_TRUE(write_file_atomically(path(other), measured({i}, 1000 * i + 300, 1000 * i + 900)));
    json::object first, second;
    std::thread beside([&] { first = table(one); });
    second = table(other);
    beside.join();
    EXPECT_TRUE(is_same_table(first, second)) << i;
  }
}

// Marks that came from elsewhere, such as a restored copy, were compared with nothing here.
TEST_F(SameData, FilesThatWereNotComparedAreNotToldApart) {
  ASSERT_TRUE(write_file_atomically(path("one.csv"), measured({1}, 0, 600)));
  ASSERT_TRUE(write_file_atomically(path("other.csv"), measured({1}, 300, 900)));
  const auto content = path("state/hyfreedp/content"), elsewhere = path("elsewhere");
  const auto one = table("one.csv");
  std::filesystem::rename(content, elsewhere);
  const auto other = table("other.csv");
  std::filesystem::copy(elsewhere, content, std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(is_same_table(one, other)) << "nothing tells that they have records in common";
  EXPECT_FALSE(were_compared(own_mark(one), own_mark(other)));
  TrainedData first, second;
  first.add(identity_of("table-file", one));
  second.add(identity_of("table-file", other));
  EXPECT_TRUE(may_be_same(first, second));
  EXPECT_TRUE(may_be_same(second, first));
  // They are compared as soon as either is read again ...
  EXPECT_TRUE(is_same_table(table("one.csv"), other));
  EXPECT_TRUE(were_compared(own_mark(other), own_mark(one)));
  // ... and again where what was found is gone.
  std::filesystem::remove(content + "/" + own_mark(one) + ".json");
  EXPECT_FALSE(were_compared(own_mark(other), own_mark(one)));
  EXPECT_TRUE(is_same_table(table("one.csv"), other));
}

TEST(PlainText, HasNothingThatATokenizerPassesOver) {
  const auto plain = plain_text("Café au lait, 3 EUR");
  for (const char* same :
       {"cafe\u0301 au lait,3 eur", "  CAFÉ\u00a0au\u200b  lait, 3\tEUR \n", "cafe au lait, 3 EUR\r"})
    EXPECT_EQ(plain_text(same), plain) << same;
  EXPECT_NE(plain_text("Café au lait, 4 EUR"), plain);
  EXPECT_EQ(plain_text("Café\xEF\xBF\xBD au lait, 3 EUR"), plain) << "U+FFFD, which tokenizers drop";
  EXPECT_EQ(plain_text("\xff\xfe"), "\xff\xfe") << "no UTF-8";
  EXPECT_EQ(plain_text(""), "");
}

// A user's own test part, too, of which records are in the training part.
TEST_F(SameData, TestRecordsThatAreTrainedOnAreRefused) {
  const auto reads = [&](const std::string& name, int first, const json::object& more) {
    EXPECT_TRUE(write_file_atomically(path(name + "/train.csv"), measured({0, 1}, 0, 100)));
    EXPECT_TRUE(write_file_atomically(path(name + "/test.csv"), measured({0, 1}, first, first + 40)));
    const auto& facts = **find_dataset("table-file");
    auto options = more;
    options["path"] = path(name);
    const auto completed =
        complete_options(facts, resolve_options(facts.options, options, "table-file").value());
    return completed ? std::string() : completed.error().message;
  };
  for (int again = 0; again < 2; ++again) {
    EXPECT_NE(reads("twenty", 80, {}).find("test records are training records, too"), std::string::npos);
    EXPECT_EQ(reads("twenty", 80, {{"other_people", true}}), "");
    const auto said = identity_of("table-file", table("twenty", {{"other_people", true}}));
    TrainedData trained;
    trained.add(said);
    EXPECT_TRUE(is_said_to_be_others(said, trained));
    const auto mark = own_mark(table("twenty", {{"other_people", true}}));
    std::filesystem::remove(path("state/hyfreedp/content/") + mark + ".json");
    EXPECT_NE(reads("twenty", 80, {}), "") << "though that this was found is lost";
    EXPECT_EQ(reads("five", 95, {}), "") << "of so few nothing is said";
  }
}

// However few they are: their accuracy would tell more than the refusal does.
TEST_F(SameData, ATestSetOfTrainingRecordsAloneIsFound) {
  const auto write = [&](const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file_atomically(path(name + "/train.csv"), measured({0, 1}, 300, 350)));
    EXPECT_TRUE(write_file_atomically(path(name + "/test.csv"), text));
    return identity_of("table-file", table(name));
  };
  TrainedData trained;
  EXPECT_TRUE(write_file_atomically(path("all.csv"), measured({0, 1}, 0, 200)));
  trained.add(identity_of("table-file", table("all.csv")));
  const auto nine = measured({0, 1}, 20, 29);
  EXPECT_TRUE(may_share_records(write("nine", nine), trained));
  std::string copies = nine;
  for (int i = 0; i < 49; ++i) copies += nine.substr(nine.find('\n') + 1);
  EXPECT_TRUE(may_share_records(write("copies", copies), trained));
  EXPECT_FALSE(may_share_records(write("other", nine + "0,-1,-2\n"), trained)) << "nine among others";
}

// A network knows features by their place, and a file by their names.
TEST_F(SameData, ATestPartWithOtherColumnsIsRefused) {
  const auto said = [&](const std::string& test) {
    EXPECT_TRUE(write_file_atomically(path("named/train.csv"), measured({0, 1, 2}, 0, 60)));
    EXPECT_TRUE(write_file_atomically(path("named/test.csv"), test));
    const auto& facts = **find_dataset("table-file");
    const auto completed = complete_options(
        facts, resolve_options(facts.options, {{"path", path("named")}}, "table-file").value());
    return completed ? std::string() : completed.error().message;
  };
  EXPECT_EQ(said(measured({0, 1, 2}, 100, 130)), "");
  const auto turned = said(measured({0, 2, 1}, 100, 130));
  EXPECT_NE(turned.find("named/test.csv: its columns are not those of"), std::string::npos) << turned;
  EXPECT_NE(turned.find("feature 2 is 'c2', and there 'c1'"), std::string::npos) << turned;
}

// Of data that an earlier version read nobody knows which records they have; once they are read
// again, it is known.
TEST_F(SameData, WithoutMarksOfTheirRecordsNothingIsKnown) {
  write_rows("people.csv", 1);
  write_rows("others.csv", 2);
  const auto people = table("people.csv");
  TrainedData others, marked;
  others.add(identity_of("table-file", table("others.csv")));
  const auto with_marks = identity_of("table-file", people);
  marked.add(with_marks);
  EXPECT_FALSE(may_be_same(marked, others));
  EXPECT_EQ(as_known_now(with_marks).secret, with_marks.secret);
  for (const auto& entry : std::filesystem::directory_iterator(path("state/hyfreedp/content"))) {
    const auto name = entry.path().filename().string();
    if (name == own_mark(people) + ".records.json") std::filesystem::remove(entry.path());
  }
  TrainedData recorded;
  recorded.add(as_known_now(with_marks));
  EXPECT_TRUE(may_be_same(recorded, others));
  const auto before = identity_of("table-file", people);
  TrainedData unmarked;
  unmarked.add(before);
  EXPECT_TRUE(may_be_same(unmarked, others));
  EXPECT_TRUE(may_be_same(others, unmarked));
  const auto now = identity_of("table-file", table("people.csv"));
  EXPECT_TRUE(supersedes(now, before));
  auto unread = now;
  unread.reading.clear();
  EXPECT_FALSE(as_known_now(unread).secret.ends_with(" records"));
  EXPECT_TRUE(supersedes(now, unread));
  EXPECT_FALSE(supersedes(now, now));
  EXPECT_FALSE(supersedes(before, now));
}

// Marks that were changed, though as many and as long, count as lost.
TEST_F(SameData, MarksThatWereChangedAreNoMarks) {
  write_rows("people.csv", 1);
  write_rows("others.csv", 2);
  const auto people = table("people.csv"), others = table("others.csv");
  const auto mark = own_mark(people);
  const auto is_known = [&] {
    TrainedData one, other;
    one.add(as_known_now(identity_of("table-file", people)));
    other.add(as_known_now(identity_of("table-file", others)));
    return !may_be_same(one, other);
  };
  ASSERT_TRUE(is_known());
  for (const std::string ending : {".records.json", ".json"}) {
    const auto file = path("state/hyfreedp/content/") + mark + ending;
    const auto text = read_file(file).value();
    auto changed = text;
    auto& digit = changed[changed.find_last_of("0123456789")];
    digit = digit == '1' ? '2' : '1';
    ASSERT_TRUE(write_file_atomically(file, changed, 0600));
    EXPECT_FALSE(is_known()) << ending;
    ASSERT_TRUE(write_file_atomically(file, text, 0600));
    EXPECT_TRUE(is_known()) << ending;
    ASSERT_TRUE(write_file_atomically(file, changed, 0600));
    (void)table("people.csv");
    EXPECT_TRUE(is_known()) << ending << ": read again";
  }
  EXPECT_FALSE(content_marks(mark).all.empty());
  ASSERT_TRUE(remove_folder(path("state/hyfreedp/data.key")));
  EXPECT_TRUE(content_marks(mark).all.empty()) << "under a secret that is lost";
}

TEST_F(SameData, LinesAndATableOfOneNameAreTheSameData) {
  EXPECT_EQ(own_name("/folder/notes.txt").name, "notes");
  EXPECT_EQ(own_name("/folder/notes.txt.gz").ending, ".txt.gz");
  EXPECT_EQ(own_name("/folder/notes.csv").name, "notes");
  std::filesystem::create_symlink("people.csv", path("lines.txt"));
  ASSERT_TRUE(write_file_atomically(path("people.csv"), "x"));
  EXPECT_EQ(own_name(path("lines.txt")).name, "people");
  EXPECT_EQ(own_name(path("lines.txt")).ending, ".txt") << "it is read as lines";
  EXPECT_EQ(as_known_now({.name = "table-file (notes.txt)"}).name, "table-file (notes.txt)");
  EXPECT_EQ(as_known_now({.name = "text-file (notes.txt)"}).name, "text-file (notes)")
      << "as it was recorded";
}

// Read with another class, rows have other marks, which say nothing of those that are lost.
TEST_F(SameData, RecordsAreMarkedAsTheyAreRead) {
  std::string rows = "x,one,other\n";
  for (int i = 0; i < 40; ++i) rows += std::to_string(i * i) + "," + std::to_string(i % 2) + ",1\n";
  ASSERT_TRUE(write_file_atomically(path("rows.csv"), rows));
  const auto by = [&](const char* label) {
    return identity_of("table-file", table("rows.csv", {{"label", label}}));
  };
  const auto one = by("one");
  EXPECT_TRUE(one.secret.ends_with(" records"));
  std::filesystem::remove(path("state/hyfreedp/content/") + own_mark(table("rows.csv", {{"label", "one"}})) +
                          ".records.json");
  const auto other = by("other");
  EXPECT_TRUE(other.secret.ends_with(" records"));
  EXPECT_EQ(as_known_now(other).secret, other.secret);
  EXPECT_FALSE(as_known_now(one).secret.ends_with(" records"));
  EXPECT_EQ(by("one").secret, one.secret) << "marked again";
  // Changed, the marks of both readings are lost, also where the files are read again as one.
  const auto file =
      path("state/hyfreedp/content/") + own_mark(table("rows.csv", {{"label", "one"}})) + ".records.json";
  auto changed = read_file(file).value();
  changed[changed.find_last_of("12345678")] = '9';
  ASSERT_TRUE(write_file_atomically(file, changed, 0600));
  EXPECT_EQ(by("other").secret, other.secret);
  EXPECT_FALSE(as_known_now(one).secret.ends_with(" records"));
}

// Two columns, of which either is the class: rows are the same however the class writes its number.
TEST_F(SameData, ClassesWithASignAreNumbers) {
  std::string rows = "u,v,x\n", swapped = "u,v,x\n";
  for (int i = 0; i < 60; ++i) {
    const std::string u = i % 2 == 0 ? "+5" : "+7", v = i % 3 == 0 ? "+15" : "+17";
    rows += u + "," + v + "," + std::to_string(i * i) + "\n";
    if (i > 0) swapped += u + "," + v + "," + std::to_string(i * i) + "\n";
  }
  ASSERT_TRUE(write_file_atomically(path("rows.csv"), rows));
  ASSERT_TRUE(write_file_atomically(path("other.csv"), swapped));
  const auto by = [&](const char* name, const char* label, const char* labels) {
    return identity_of("table-file", table(name, {{"label", label}, {"labels", labels}}));
  };
  EXPECT_TRUE(is_same_data(by("rows.csv", "u", "+5, +7"), by("other.csv", "v", "+15, +17")));
}

// Formats of numbers take a class for the number that marks take it for.
TEST_F(SameData, ClassesAreDecimalNumbersInEveryFormat) {
  std::string rows;
  for (int i = 0; i < 40; ++i) rows += (i % 2 == 0 ? "5 1:" : "7 1:") + std::to_string(i) + "\n";
  ASSERT_TRUE(write_file_atomically(path("rows.libsvm"), rows));
  const auto& facts = **find_dataset("table-file");
  const auto why_not = [&](const char* labels) {
    const json::object given{{"path", path("rows.libsvm")}, {"labels", labels}, {"features", 1}};
    const auto read = complete_options(facts, resolve_options(facts.options, given, "table-file").value());
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(why_not("5, 7"), "");
  EXPECT_EQ(why_not("+5, 07.0"), "");
  for (const char* labels : {"0x5, 0x7", "5, +-7", "5, inf"})
    EXPECT_NE(why_not(labels).find("the labels in such a file are numbers"), std::string::npos) << labels;
}

// An earlier version marked rows without some of their columns, and called the reading otherwise.
TEST_F(SameData, MarksOfAnEarlierReadingAreNotOfAllRecords) {
  write_rows("people.csv", 1);
  const auto people = table("people.csv");
  const auto mark = own_mark(people);
  const auto now = reading_of_rows(people);
  ASSERT_TRUE(has_marked_records(mark, now));
  const auto before = "table " + now.substr(now.find('{'));
  const auto file = path("state/hyfreedp/content/") + mark + ".json";
  auto object = read_json_file(file).value().get_object();
  object.erase("tag");
  object.at("readings") = json::array{json::value(before)};
  object["tag"] = secret_mark("what is kept of own files " + canonical_json(object)).value();
  ASSERT_TRUE(write_file_atomically(file, canonical_json(object) + "\n", 0600));
  ASSERT_TRUE(content_marks(mark).readings.contains(before));
  EXPECT_FALSE(has_marked_records(mark, before));
  auto recorded = identity_of("table-file", people);
  recorded.reading = before;
  recorded.secret = mark_of_secret() + " records";
  EXPECT_EQ(as_known_now(recorded).secret, mark_of_secret());
}

// What other columns have in common or not does not matter: a thousandth is of one reading.
TEST_F(SameData, ReadingsAreComparedOneByOne) {
  RecordMarks own, theirs, others;
  for (std::int64_t i = 0; i < 9000; ++i) {
    own.train.push_back(i);
    theirs.train.push_back(i < 14 ? i : 10'000 + i);
    others.train.push_back(30'000 + i);
  }
  own.test = own.train;
  theirs.test = theirs.train;
  others.test = others.train;
  const auto folder = path("marks");
  std::filesystem::create_directories(folder);
  const auto mark = std::string(64, 'a');
  ASSERT_TRUE(keep_record_marks(folder, mark, {{"one", theirs}, {"other", others}}));
  RecordMarks more = others;
  for (auto* marks : {&more.train, &more.test})
    for (auto& one : *marks) one += 30'000;
  const auto found =
      with_common_records(folder, marked_files(folder), {{"one", own}, {"other", more}}).value();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found.front().trained_by_both);
  // All of five test records are among theirs, beside another reading of which none is.
  RecordMarks few;
  few.train = {1, 2};
  few.test = {1, 2, 3, 4, 5};
  RecordMarks apart;
  apart.train = apart.test = {70'000, 70'001, 70'002};
  const auto tests =
      with_common_records(folder, marked_files(folder), {{"one", few}, {"other", apart}}).value();
  ASSERT_EQ(tests.size(), 1U);
  EXPECT_TRUE(tests.front().tests_on_theirs);
  EXPECT_FALSE(tests.front().trained_by_both);
  EXPECT_EQ(kept_marks(folder, mark)->size(), 2U);
  EXPECT_TRUE(kept_marks(folder, std::string(64, 'b'))->empty());
}

// The records of one of two files that count as the same data are not marked.
TEST(UnmarkedRecords, MayBeInTestSetsThoughOthersAreFoundThere) {
  const DataIdentity people{
      .name = "people", .marks = {"p", "p train"}, .test_marks = {}, .secret = "s records"};
  DataIdentity unmarked{.name = "unmarked", .marks = {"u", "u train"}, .test_marks = {}, .secret = "s"};
  const DataIdentity test{.name = "test",
                          .marks = {"t", "t train"},
                          .test_marks = {"t test"},
                          .secret = "s records",
                          .common = {"p train"}};
  TrainedData trained;
  trained.add(people);
  trained.add(unmarked);
  ASSERT_TRUE(trained.is_same(test));
  EXPECT_FALSE(may_share_records(test, trained));
  EXPECT_TRUE(may_share_unmarked_records(test, trained));
  auto published = test;
  published.kind = DataKind::published;
  EXPECT_FALSE(may_share_unmarked_records(published, trained));
}

TEST_F(SameData, KeepsItsTestRecordsApartWhereAPublisherSetThemAside) {
  write_rows("people.csv", 1);
  EXPECT_FALSE(keeps_test_apart(identity_of("table-file", table("people.csv"))));
  EXPECT_FALSE(keeps_test_apart(identity_of("emnist", {{"split", "digits"}}))) << "splits overlap";
  EXPECT_TRUE(keeps_test_apart(identity_of("adult", {})));
  EXPECT_TRUE(keeps_test_apart(identity_of("synthetic", {})));
}

// Rows of few values are alike by chance: a spec says so, and that is told. Copies of a row are one
// record.
TEST_F(SameData, EqualRowsThatAreOtherPeoples) {
  std::string twice = "x,y,label\n", thrice = twice, once = twice;
  for (int i = 0; i < 60; ++i) {
    const auto row = std::to_string(i) + ",1," + std::to_string(i % 2) + "\n";
    twice += row + row;
    thrice += row + row + row;
    once += row;
  }
  ASSERT_TRUE(write_file_atomically(path("twice.csv"), twice));
  ASSERT_TRUE(write_file_atomically(path("thrice.csv"), thrice));
  ASSERT_TRUE(write_file_atomically(path("once.csv"), once));
  ASSERT_TRUE(
      write_file_atomically(path("again.csv"), "x,y,label\n99,1,0\n" + once.substr(once.find('\n') + 1)));
  const auto here = table("once.csv");
  EXPECT_TRUE(is_same_table(here, table("twice.csv")));
  EXPECT_TRUE(is_same_table(here, table("thrice.csv")));
  EXPECT_TRUE(is_same_table(here, table("again.csv")));
  const auto others = table("again.csv", {{"other_people", true}});
  EXPECT_FALSE(is_same_table(here, others));
  TrainedData one, other;
  one.add(identity_of("table-file", here));
  other.add(identity_of("table-file", others));
  EXPECT_TRUE(may_be_same(one, other));
  EXPECT_TRUE(may_be_same(other, one));
  EXPECT_FALSE(may_share_records(identity_of("table-file", others), one));
  EXPECT_TRUE(is_said_to_be_others(identity_of("table-file", others), one));
}

TEST_F(SameData, ImagesInAFolderAndInAnotherUnderOtherNames) {
  const auto write = [&](const std::string& folder, const char* ending) {
    for (int i = 0; i < 60; ++i) {
      const std::string pixel = {static_cast<char>('a' + i % 20), static_cast<char>('a' + i / 20), 'x'};
      const auto name = (i % 2 == 0 ? "/a/" : "/b/") + std::to_string(i) + ending;
      ASSERT_TRUE(write_file_atomically(path(folder + name), "P6 1 1 255\n" + pixel));
    }
  };
  const auto images = [&](const std::string& folder) {
    const auto& facts = **find_dataset("image-folder");
    const json::object options{{"path", path(folder)}, {"side", 8}};
    return identity_of(
        "image-folder",
        complete_options(facts, resolve_options(facts.options, options, "image-folder").value()).value());
  };
  write("photos", ".ppm");
  write("pictures", "-turned.ppm");
  const auto photos = images("photos"), pictures = images("pictures");
  EXPECT_TRUE(is_same_data(photos, pictures));
  EXPECT_NE(photos.division, pictures.division);
}

// A spec may say anything in the options, and nothing else of the folder is read.
TEST_F(SameData, WhatIsNoMarkNamesNoFile) {
  ASSERT_TRUE(write_file_atomically(path("state/hyfreedp/other.json"), R"({"all": ["x"]})"));
  EXPECT_TRUE(content_marks("../other").all.empty());
}

// Without HOME it would lie where everybody can plant one.
TEST_F(SameData, TheSecretLiesInAFolderOfTheUsersOwn) {
  const auto key = path("state/hyfreedp/data.key");
  {
    const ScopedVariable home("HOME", std::nullopt), state("XDG_STATE_HOME", std::nullopt);
    const auto refused = made_secret_mark("text");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("Set XDG_STATE_HOME to a folder of your own"), std::string::npos);
    EXPECT_FALSE(secret_mark("text"));
  }
  EXPECT_FALSE(secret_mark("text")) << "there is none yet";
  const auto mark = made_secret_mark("text");
  ASSERT_TRUE(mark) << mark.error().message;
  EXPECT_EQ(secret_mark("text"), *mark);
  using std::filesystem::perms;
  std::filesystem::permissions(path("state/hyfreedp"), perms::all);
  EXPECT_FALSE(secret_mark("text")) << "anybody may have put it there";
  EXPECT_EQ(made_secret_mark("text").value(), *mark) << "the folder is closed again";
  EXPECT_EQ(std::filesystem::status(path("state/hyfreedp")).permissions(), perms::owner_all);
  std::filesystem::permissions(key, perms::owner_read | perms::owner_write | perms::group_write);
  EXPECT_FALSE(secret_mark("text"));
  EXPECT_FALSE(made_secret_mark("text"));
  std::filesystem::permissions(key, perms::owner_read | perms::owner_write);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(key.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(secret_mark("text"));
  const auto planted = made_secret_mark("text");
  ASSERT_FALSE(planted);
  EXPECT_NE(planted.error().message.find("another user's"), std::string::npos);
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

TEST(PublishedData, ATestSetThatTheirPublisherSetAsideHasNoTrainingRecord) {
  const auto tests_on = [](const char* test, const json::object& test_options, const char* trained,
                           const json::object& options) {
    const auto data = identity_of(trained, options);
    return may_share_records(identity_of(test, test_options), {.names = {data.name},
                                                               .marks = data.marks,
                                                               .divisions = {data.division},
                                                               .set_aside = {data.set_aside}});
  };
  EXPECT_FALSE(tests_on("cifar10", {{"test", 100}}, "cifar10", {{"side", 32}}));
  EXPECT_FALSE(tests_on("cifar10-1", {}, "cifar10", {}));
  EXPECT_FALSE(tests_on("stl10", {{"labels", "cifar10"}}, "cifar10", {}));
  EXPECT_FALSE(tests_on("stl10", {{"labels", "cifar10"}}, "stl10", {{"labels", "stl10"}}));
  EXPECT_TRUE(tests_on("cifar10", {{"path", "my.tar"}}, "cifar10", {})) << "files that nobody has compared";
  EXPECT_TRUE(tests_on("emnist", {{"split", "letters"}}, "emnist", {{"split", "balanced"}}));
  EXPECT_FALSE(tests_on("emnist", {{"split", "letters"}}, "emnist", {{"split", "letters"}}));
  EXPECT_TRUE(tests_on("mnist", {}, "emnist", {{"split", "letters"}})) << "the same writers";
  EXPECT_TRUE(is_same_data(identity_of("mnist", {}), identity_of("emnist", {{"split", "digits"}})));
  EXPECT_FALSE(is_same_data(identity_of("mnist", {}), identity_of("fashion-mnist", {})));
  EXPECT_FALSE(tests_on("synthetic", {{"separation", 1}}, "synthetic", {{"separation", 1}})) << "nobody's";
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
