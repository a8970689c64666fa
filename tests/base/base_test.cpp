#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <pwd.h>
#include <unistd.h>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/option_lines.h"
#include "harness/base/options.h"
#include "harness/base/program.h"
#include "harness/base/text.h"
#include "harness/base/utf8.h"
#include "harness/base/version.h"

namespace hyfreedp {
namespace base_test {

// Texts and whole numbers are written without Boost's serializer, to the same bytes.
TEST(Json, CanonicalTextsAreTheSerializers) {
  for (int c = 0; c < 256; ++c) {
    const std::string text{'a', static_cast<char>(c), 'b'};
    EXPECT_EQ(canonical_json(json::value(text)), json::serialize(json::value(text))) << c;
    EXPECT_EQ(canonical_json(json::object{{text, 1}}), json::serialize(json::object{{text, 1}})) << c;
  }
  for (const json::value& value :
       {json::value(std::numeric_limits<std::int64_t>::min()), json::value(std::int64_t{0}),
        json::value(std::numeric_limits<std::uint64_t>::max()), json::value(nullptr), json::value(true),
        json::value(""), json::value("a long text, longer than a small string is")}) {
    EXPECT_EQ(canonical_json(value), json::serialize(value));
  }
}

TEST(Json, CanonicalTextDoesNotDependOnTheOrderOfInsertion) {
  const json::object a{{"b", 1}, {"a", json::array{1.5, "x"}}};
  const json::object b{{"a", json::array{1.5, "x"}}, {"b", 1}};
  EXPECT_EQ(canonical_json(a), canonical_json(b));
  EXPECT_EQ(canonical_json(a), R"({"a":[1.5,"x"],"b":1})");
}

TEST(Json, DoublesReadBackExactly) {
  for (const double value : {0.1, 1.0, 1e-300, 6.7784905546796565e-06, -0.0, 1e22, 123456789.125}) {
    const auto text = canonical_json(json::value(value));
    const auto back = parse_json(text, "test");
    ASSERT_TRUE(back);
    ASSERT_TRUE(back->is_double()) << text;
    EXPECT_EQ(back->get_double(), value) << text;
    EXPECT_EQ(canonical_json(*back), text);
  }
}

TEST(Json, NonFiniteNumbersAreWords) {
  EXPECT_EQ(canonical_json(number(INFINITY)), "\"inf\"");
  EXPECT_TRUE(std::isnan(to_double(number(std::nan("")), "x").value()));
  EXPECT_EQ(to_double(number(-INFINITY), "x").value(), -INFINITY);
}

TEST(Options, FillsDefaultsAndNamesTheNearestKey) {
  const std::vector<OptionSpec> table = {
      {.name = "lr", .type = OptionType::real, .default_value = 1e-3, .help = "rate", .min = 0},
      {.name = "interval", .type = OptionType::integer, .default_value = 5, .help = "K", .min = 1}};
  const auto resolved = resolve_options(table, {{"lr", 1}}, "spec.yaml:3");
  ASSERT_TRUE(resolved);
  EXPECT_EQ(canonical_json(*resolved), R"({"interval":5,"lr":1.0})");
  const auto unknown = resolve_options(table, {{"intervall", 1}}, "spec.yaml:3");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("Did you mean 'interval'?"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("spec.yaml:3"), std::string::npos);
  EXPECT_FALSE(resolve_options(table, {{"interval", 0}}, "x"));
  EXPECT_FALSE(resolve_options(table, {{"interval", 2.5}}, "x"));
  EXPECT_FALSE(resolve_options(table, {{"lr", "fast"}}, "x"));
  EXPECT_FALSE(resolve_options(table, {{"lr", "nan"}}, "x"));
}

TEST(Options, OneThatIsReadWithAnothersChoiceIsRefusedWithoutIt) {
  const std::vector<OptionSpec> table = {
      choice_option("rule", {"root", "fixed"}, "how"),
      only_with("rule", "fixed", {.name = "first", .default_value = 1e-4, .min = 0, .max = 1})};
  for (const auto& given : {json::object{}, json::object{{"first", 1e-4}}, json::object{{"rule", "fixed"}},
                            json::object{{"rule", "fixed"}, {"first", 0.5}}}) {
    EXPECT_TRUE(resolve_options(table, given, "x")) << json::serialize(given);
  }
  for (const auto& given : {json::object{{"first", 0.5}}, json::object{{"rule", "root"}, {"first", 0.5}}}) {
    const auto refused = resolve_options(table, given, "spec.yaml:3");
    ASSERT_FALSE(refused) << json::serialize(given);
    EXPECT_EQ(refused.error().message, "spec.yaml:3: 'first' is read only with 'rule: fixed'.");
  }
  EXPECT_NE(describe_options(table).find("only with 'rule: fixed'"), std::string::npos);
}

TEST(Text, NearestName) {
  const std::vector<std::string> names = {"nondp-gs", "prodigy", "hyfreedp"};
  EXPECT_EQ(nearest_name("prodgy", names), "prodigy");
  EXPECT_EQ(nearest_name("completely-else", names), "");
  // In other letters it is the name itself.
  EXPECT_EQ(nearest_name("AdamW", {"adam", "adamw"}), "adamw");
}

TEST(Text, Durations) {
  EXPECT_EQ(human_duration(0.85), "850 ms");
  EXPECT_EQ(human_duration(12.34), "12.3 s");
  EXPECT_EQ(human_duration(245), "4 min 05 s");
  EXPECT_EQ(human_duration(7620), "2 h 07 min");
}

TEST(Files, AtomicWriteReplacesAndKeepsTheMode) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("hyfreedp-base-" + std::to_string(::getpid()));
  const auto path = (folder / "deep" / "file").string();
  ASSERT_TRUE(write_file_atomically(path, "one", 0600));
  ASSERT_TRUE(write_file_atomically(path, "two", 0600));
  EXPECT_EQ(read_file(path).value(), "two");
  EXPECT_EQ(std::filesystem::status(path).permissions() & std::filesystem::perms::mask,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(read_file(path));
}

TEST(Files, Sha256KnownAnswer) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Files, AScratchFolderGoesWithAllThatIsInIt) {
  std::string path;
  {
    auto made = ScratchFolder::make();
    ASSERT_TRUE(made) << made.error().message;
    path = made->path();
    ASSERT_TRUE(write_file_atomically(path + "/a/b", "x"));
    const auto inside = ScratchFolder::make(path + "/new").value();
    EXPECT_EQ(inside.path().rfind(path + "/new/", 0), 0U);
    const auto moved = std::move(*made);
    EXPECT_EQ(moved.path(), path);
    EXPECT_TRUE(std::filesystem::exists(path + "/a/b"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_NE(ScratchFolder::make("/dev/null").error().message.find("/dev/null"), std::string::npos);
}

// Not below a folder that everybody may write to.
TEST(Files, WithoutHomeTheCacheIsInTheHomeThatTheSystemKnows) {
  const char* names[] = {"HOME", "XDG_CACHE_HOME"};
  std::map<std::string, std::string> before;
  for (const char* name : names) {
    if (const char* value = std::getenv(name)) before[name] = value;
  }
  ::unsetenv("XDG_CACHE_HOME");
  const std::string home = ::getpwuid(::geteuid())->pw_dir;
  ::setenv("HOME", "/some/home", 1);
  EXPECT_EQ(cache_folder(), "/some/home/.cache/hyfreedp");
  ::setenv("HOME", "", 1);
  EXPECT_EQ(cache_folder(), home + "/.cache/hyfreedp");
  ::unsetenv("HOME");
  EXPECT_EQ(cache_folder(), home + "/.cache/hyfreedp");
  for (const auto& [name, value] : before) ::setenv(name.c_str(), value.c_str(), 1);
}

TEST(Text, BytesAreToldInThreeDigits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(12'340), "12.3 kB");
  EXPECT_EQ(bytes_text(999'499), "999 kB");
  EXPECT_EQ(bytes_text(999'500), "1 MB");
  EXPECT_EQ(bytes_text(18'826'032), "18.8 MB");
  EXPECT_EQ(bytes_text(2'500'000'000'000'000), "2.5e+03 TB");
}

TEST(Program, IsFoundAsAnExecutableFileOfThePath) {
  const auto scratch = ScratchFolder::make().value();
  const auto folder = [&](const char* name) { return scratch.path() + "/" + name; };
  ASSERT_TRUE(make_folders(folder("a/tool")));  // a folder of that name is no program
  ASSERT_TRUE(write_file_atomically(folder("b/tool"), "x"));
  ASSERT_TRUE(write_file_atomically(folder("c/tool"), "#!/bin/sh\n", 0755));
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", (folder("a") + ":" + folder("b") + ":" + folder("c")).c_str(), 1);
  EXPECT_EQ(find_program("tool"), folder("c/tool"));
  EXPECT_EQ(find_program("other"), std::nullopt);
  // A path that is relative is from this folder, wherever the program is to run.
  const auto from = std::filesystem::relative(folder("c"), std::filesystem::current_path()).string();
  ::setenv("PATH", from.c_str(), 1);
  const auto end = run_program({.program = "tool", .folder = folder("a")});
  ::setenv("PATH", before.c_str(), 1);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_code, 0);
}

TEST(Program, EndsWithItsCodeAndItsErrors) {
  const auto scratch = ScratchFolder::make().value();
  const auto run = [&](const std::string& lines) {
    return run_program({.program = "sh",
                        .arguments = {"-c", lines},
                        .folder = scratch.path(),
                        .output = scratch.path() + "/said",
                        .without = {"HOME"}});
  };
  const auto end = run("pwd; echo \"<$HOME>$PATH\"; cat; echo 'broken  ' >&2; exit 3");
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_EQ(end->errors, "broken  \n");
  const auto path = std::string(std::getenv("PATH"));
  EXPECT_EQ(read_file(scratch.path() + "/said").value(), scratch.path() + "\n<>" + path + "\n");
  EXPECT_NE(run("kill -9 $$")->exit_code, 0);
  // More than a pipe holds.
  EXPECT_EQ(run("head -c 300000 /dev/zero >&2")->errors.size(), 300'000U);
  EXPECT_NE(run_program({.program = "no-such-program"}).error().message.find("is not installed"),
            std::string::npos);
  EXPECT_NE(run_program({.program = "/nowhere/program"}).error().message.find("cannot be started"),
            std::string::npos);
  EXPECT_TRUE(must_succeed({.program = "true"}));
  const auto failed = must_succeed({.program = "sh", .arguments = {"-c", "echo broken >&2; exit 3"}});
  EXPECT_EQ(failed.error().message, "sh failed: broken\n");
}

TEST(Program, IsHeardLineByLine) {
  std::string said, warned;
  const auto hear = [&](const std::string& line) {
    said += line + "|";
    return line != "stop";
  };
  const auto warn = [&](const std::string& line) { warned += line + "|"; };
  const auto run = [&](const std::string& lines, const std::string& input) {
    said = warned = "";
    return run_program({.program = "sh",
                        .arguments = {"-c", lines},
                        .with = {{"GIVEN", "value"}},
                        .input = input,
                        .on_output = hear,
                        .on_errors = warn})
        .value();
  };
  const auto end = run("echo $GIVEN; cat; printf 'w1\n\nw2\n\n' >&2", "a\nb");
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(said, "value|a|b|");
  EXPECT_EQ(warned, "w1||w2||");
  EXPECT_EQ(end.last_words(), "w2");
  // More on each side than a pipe holds.
  const std::string large(300'000, 'x');
  EXPECT_EQ(run("cat", large).exit_code, 0);
  EXPECT_EQ(said, large + "|");
  EXPECT_EQ(run("exit 4", large).exit_code, 4);
  // Nobody reads any more after "stop", of which the program hears when it writes.
  EXPECT_NE(run("echo stop; yes", "").exit_code, 0);
  EXPECT_EQ(said, "stop|");
  EXPECT_EQ(run("true", "").last_words(), "");
}

TEST(Utf8, BytesOfNoCharacterAreReplaced) {
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(as_utf8("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(as_utf8("caf\xC3"), "caf" + replaced);
  EXPECT_EQ(as_utf8("\xFF\x80"
                    "b\xED\xA0\x80"),
            replaced + replaced + "b" + replaced + replaced + replaced);
  EXPECT_EQ(as_utf8(""), "");
}

TEST(Version, NamesTheCommitWhereItIsKnown) {
  const auto plain = program_version();
  EXPECT_EQ(plain, fmt::format("{} (comparability {})", kVersion, kComparabilityVersion));
  set_build_commit("0123456789ab-dirty");
  EXPECT_EQ(program_version(), plain.substr(0, plain.size() - 1) + ", commit 0123456789ab-dirty)");
  set_build_commit("");
}

}  // namespace base_test
}  // namespace hyfreedp
