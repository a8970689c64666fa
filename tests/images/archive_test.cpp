// Folders and tars, well made and hostile. The tars are written by libarchive or byte by byte.
#include "datasets/image/archive.h"

#include <algorithm>
#include <sys/stat.h>

#include "harness/base/files.h"
#include "peak_memory.h"
#include "tests/datasets/scratch.h"

namespace hyfreedp::datasets {
namespace archive_test {

using Files = std::vector<std::pair<std::string, std::string>>;

constexpr auto kAll = [](const std::string&) { return true; };

// A header block of a tar by hand, where libarchive would not write such a one.
std::string tar_header(const std::string& name, const std::string& octal_size, char type = '0',
                       const std::string& link = "") {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  block.replace(100, 7, "0000644");
  block.replace(124, octal_size.size(), octal_size);
  block.replace(136, 11, "00000000000");
  block[156] = type;
  block.replace(157, link.size(), link);
  block.replace(257, 8, std::string("ustar\00000", 8));
  block.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum);
  block.replace(148, 7, std::string(text, 7));
  return block;
}

std::string octal(std::uint64_t size) {
  char text[16];
  std::snprintf(text, sizeof text, "%011llo", static_cast<unsigned long long>(size));
  return text;
}

std::string tar_file(const std::string& name, const std::string& content) {
  return tar_header(name, octal(content.size())) + content +
         std::string((512 - content.size() % 512) % 512, '\0');
}

const std::string kEnd(1024, '\0');

class Archive : public Scratch {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    EXPECT_TRUE(write_file_atomically(path(name), content).has_value());
    return path(name);
  }
  std::string write_packed(const std::string& name, const std::string& content) {
    write_gz(name, {content.begin(), content.end()});
    return path(name);
  }
  // Every file, or the error's message.
  std::string read(const std::string& at, const ArchiveLimits& limits = {}, const Wanted& wanted = kAll) {
    files_.clear();
    const auto visited = visit_files(
        at, wanted,
        [this](const std::string& name, std::string_view bytes) -> Result<void> {
          files_.emplace_back(name, bytes);
          return {};
        },
        limits);
    if (visited) return "";
    EXPECT_TRUE(visited.error().message.starts_with(at)) << visited.error().message;
    return visited.error().message;
  }
  static testing::AssertionResult mentions(const std::string& message, const std::string& what) {
    if (message.find(what) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no '" << what << "' in: " << message;
  }
  Files files_;
};

const Files kThree = {{"a/x.bin", "one"}, {"b.bin", std::string(2000, 'z')}, {"b/empty", ""}};

TEST_F(Archive, AFolderComesSorted) {
  for (auto file = kThree.rbegin(); file != kThree.rend(); ++file) write("f/" + file->first, file->second);
  std::filesystem::create_directories(path("f/nothing/in/here"));
  EXPECT_EQ(read(path("f")), "");
  // By byte of the whole name: '.' comes before '/'.
  EXPECT_EQ(files_, kThree);
  EXPECT_EQ(read(path("f/")), "");
  EXPECT_EQ(files_, kThree);
}

TEST_F(Archive, ATarComesInItsOrderPlainOrGzipped) {
  const auto tar = tar_header("./", octal(0), '5') + tar_file("b.bin", kThree[1].second) +
                   tar_file("./a/x.bin", "one") + tar_file("b//empty", "") + kEnd;
  const Files expected = {kThree[1], kThree[0], kThree[2]};
  EXPECT_EQ(read(write("plain", tar)), "");
  EXPECT_EQ(files_, expected);
  EXPECT_EQ(read(write_packed("packed", tar)), "");
  EXPECT_EQ(files_, expected);
}

TEST_F(Archive, OnlyWantedFilesAreHandedOut) {
  const auto tar = tar_file("a", "1") + tar_file("b", "2") + tar_file("c", "3") + kEnd;
  std::vector<std::string> asked;
  const auto only_b = [&asked](const std::string& name) {
    asked.push_back(name);
    return name == "b";
  };
  EXPECT_EQ(read(write("t", tar), {}, only_b), "");
  EXPECT_EQ(files_, (Files{{"b", "2"}}));
  EXPECT_EQ(asked, (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(Archive, AVisitorsErrorEndsTheReading) {
  const auto tar = write("t", tar_file("a", "1") + tar_file("b", "2") + kEnd);
  int visits = 0;
  const auto visited =
      visit_files(tar, kAll, [&visits](const std::string&, std::string_view) -> Result<void> {
        ++visits;
        return error("enough");
      });
  ASSERT_TRUE(visited.has_error());
  EXPECT_EQ(visited.error().message, "enough");
  EXPECT_EQ(visits, 1);
}

// Of a folder, a tar and a zip: the head of some, all of others, and what is wrong with the rest.
TEST_F(Archive, PartsAreReadAndWhatCannotBeIsNamed) {
  const std::string large(kHeadBytes + 5, 'l');
  write("f/head", large);
  write("f/whole", large);
  write("f/none", "n");
  std::filesystem::create_symlink("head", path("f/soft"));
  const auto tar = tar_file("head", large) + tar_header("soft", octal(0), '2', "head") +
                   tar_file("whole", large) + tar_file("none", "n") + kEnd;
  for (const auto& at : {path("f"), write("t", tar), write_packed("t.gz", tar)}) {
    Files read;
    std::vector<std::string> wrong;
    const auto wanted = [](const std::string& name) {
      return name == "head" ? FilePart::head : name == "whole" ? FilePart::whole : FilePart::none;
    };
    const auto keep = [&read](const std::string& name, std::string_view bytes) -> Result<void> {
      read.emplace_back(name, bytes);
      return {};
    };
    const auto leave = [&wrong](const std::string&, const Error& why) { wrong.push_back(why.message); };
    const auto visited = visit_parts(at, wanted, keep, leave);
    ASSERT_TRUE(visited) << visited.error().message;
    EXPECT_EQ(read, (Files{{"head", large.substr(0, kHeadBytes)}, {"whole", large}})) << at;
    ASSERT_EQ(wrong.size(), 1U) << at;
    EXPECT_TRUE(mentions(wrong.front(), at + ": soft is a link"));
    // One that is too large is left out, and the others are read.
    wrong.clear();
    const auto rest = visit_parts(at, wanted, keep, leave, {.file_bytes = kHeadBytes});
    ASSERT_TRUE(rest) << rest.error().message;
    EXPECT_TRUE(mentions(wrong.back(), "whole has 16389 bytes"));
  }
}

TEST_F(Archive, WhatIsNoFolderAndNoTarIsSaid) {
  EXPECT_TRUE(mentions(read(path("absent")), "not there"));
  EXPECT_TRUE(mentions(read("/dev/null"), "neither"));
  EXPECT_TRUE(mentions(read(write("text", "hello")), "tar"));
  const auto rows = read(write("rows.csv", "x,label\n1,no\n"));
  EXPECT_TRUE(
      mentions(rows, "rows.csv: is no archive that is read here: a tar, plain or gzipped, or a zip."));
  EXPECT_FALSE(mentions(rows, "Fetch"));
  EXPECT_TRUE(mentions(read(write("long", std::string(5000, 'x') + kEnd)), "tar"));
  EXPECT_TRUE(mentions(read(write("empty", "")), "tar"));
}

TEST_F(Archive, NamesThatLeadOutAreRefused) {
  for (const auto* name : {"/etc/passwd", "..", "../x", "a/../../x", "a/..", "./../x"}) {
    EXPECT_NE(read(write("t", tar_file(name, "x") + kEnd)), "") << name;
    EXPECT_TRUE(files_.empty()) << name;
    EXPECT_TRUE(plain_name(name).has_error()) << name;
  }
  EXPECT_TRUE(mentions(read(write("t", tar_file("a\nb", "x") + kEnd)), "a\\x0ab"));
  EXPECT_EQ(plain_name("./a//b/./c").value(), "a/b/c");
  EXPECT_EQ(plain_name("a..b/...").value(), "a..b/...");
  EXPECT_TRUE(plain_name("./").has_error());
  EXPECT_TRUE(plain_name("").has_error());
}

TEST_F(Archive, LinksAndDevicesAreRefused) {
  for (const char type : {'1', '2', '3', '4', '6'}) {  // hard, symbolic, character, block, pipe
    const auto message = read(write("t", tar_header("link", octal(0), type, "target") + kEnd));
    EXPECT_TRUE(mentions(message, "link is a link or a device")) << type;
  }
  write("f/real", "x");
  std::filesystem::create_symlink("real", path("f/soft"));
  EXPECT_TRUE(mentions(read(path("f")), "soft is a link"));
  std::filesystem::remove(path("f/soft"));
  std::filesystem::create_directory_symlink("..", path("f/circle"));
  EXPECT_TRUE(mentions(read(path("f")), "circle is a link"));
  std::filesystem::remove(path("f/circle"));
  ASSERT_EQ(::mkfifo(path("f/pipe").c_str(), 0600), 0);
  EXPECT_TRUE(mentions(read(path("f")), "pipe is a link or a device"));
  std::filesystem::remove(path("f/pipe"));
  EXPECT_EQ(read(path("f")), "");
  // The folder itself may be reached by a link: the user named it.
  std::filesystem::create_directory_symlink("f", path("by_link"));
  EXPECT_EQ(read(path("by_link")), "");
  EXPECT_EQ(files_, (Files{{"real", "x"}}));
}

TEST_F(Archive, EveryTruncationIsAnError) {
  const auto whole = tar_file("a", "1") + tar_file("b", "b" + std::string(2000, '\0')) + kEnd;
  ASSERT_EQ(read(write("whole", whole)), "");
  // The last file ends with zeros, as does a tar. One block of zeros after it is enough.
  const auto files = whole.size() - kEnd.size();
  std::vector<std::size_t> lengths;  // about every end of a block, and within each
  for (std::size_t block = 0; block < files + 512; block += 512) {
    for (const std::size_t more : {0, 1, 300, 511}) lengths.push_back(block + more);
  }
  for (const auto length : lengths) {
    const auto cut = write("cut", whole.substr(0, length));
    EXPECT_NE(read(cut), "") << length;
    EXPECT_NE(read(cut, {}, [](const auto&) { return false; }), "") << length << ", passed over";
    EXPECT_NE(read(write_packed("cut", whole.substr(0, length))), "") << length << ", gzipped";
  }
  EXPECT_EQ(read(write("cut", whole.substr(0, files + 512))), "");
  const auto packed = read_file(write_packed("packed", whole)).value();
  // What follows the end of the tar, in a gzipped one some zeros and the checksum, is not read.
  for (std::size_t length = 0; length + 12 < packed.size(); ++length) {
    EXPECT_NE(read(write("cut", packed.substr(0, length))), "") << length;
  }
}

TEST_F(Archive, SizesAreBoundedBeforeAnythingIsRead) {
  const PeakMemory memory;
  const ArchiveLimits small = {.file_bytes = 100, .total_bytes = 150, .files = 3};
  const auto tar = [](std::initializer_list<std::size_t> sizes) {
    std::string all;
    for (const auto size : sizes) all += tar_file("f" + std::to_string(all.size()), std::string(size, 'x'));
    return all + kEnd;
  };
  EXPECT_EQ(read(write("t", tar({100, 50, 0})), small), "");
  EXPECT_TRUE(mentions(read(write("t", tar({101})), small), "101 bytes"));
  EXPECT_TRUE(mentions(read(write("t", tar({100, 51})), small), "151 bytes"));
  EXPECT_TRUE(mentions(read(write("t", tar({1, 1, 1, 1})), small), "more than 3 files"));
  // Files that are not wanted count as well: they are unpacked to be passed over.
  EXPECT_TRUE(
      mentions(read(write("t", tar({100, 51})), small, [](const auto&) { return false; }), "151 bytes"));
  // A terabyte, declared by 512 bytes; and 200 MB, which the limits allow and the file has not.
  EXPECT_TRUE(mentions(read(write("t", tar_header("f", "77777777777") + kEnd)), "at most"));
  EXPECT_NE(read(write("t", tar_header("f", octal(200'000'000)) + kEnd)), "");
  write("f/a", std::string(101, 'x'));
  EXPECT_TRUE(mentions(read(path("f"), small), "101 bytes"));
  write("f/a", std::string(100, 'x'));
  write("f/b", std::string(51, 'x'));
  EXPECT_TRUE(mentions(read(path("f"), small), "151 bytes"));
  for (const auto* name : {"f/c", "f/d"}) write(name, "");
  EXPECT_TRUE(mentions(read(path("f"), small), "more than 3 files"));
  EXPECT_LE(memory.megabytes(), 20);
}

// 40 MB of zeros in 40 KB of gzip.
TEST_F(Archive, AGzippedBombIsRefusedByItsDeclaredSize) {
  std::string bomb = tar_header("f", octal(40'000'000)) + std::string(40'000'000, '\0') + kEnd;
  const auto at = write_packed("bomb", bomb);
  bomb.clear();
  bomb.shrink_to_fit();
  ASSERT_LE(std::filesystem::file_size(at), 100'000U);
  EXPECT_TRUE(mentions(read(at, {.file_bytes = 1'000'000}), "f has 40000000 bytes"));
}

// Long names and names in UTF-8 travel in extra headers; programs run in the C locale.
TEST_F(Archive, LongAndForeignNamesSurvive) {
  const std::string long_name = "train/" + std::string(150, 'x') + "/" + std::string(180, 'y') + ".png";
  const std::string foreign =
      "train/K\xC3\xA4"
      "fer/1.png";
  const auto padded = [](const std::string& name, char type, const std::string& content) {
    return tar_header(name, octal(content.size()), type) + content +
           std::string((512 - content.size() % 512) % 512, '\0');
  };
  for (const auto& name : {long_name, foreign}) {
    const auto record = " path=" + name + "\n";
    const auto digits = std::to_string(record.size() + 2).size();
    const auto pax = std::to_string(record.size() + digits) + record;
    EXPECT_EQ(read(write("pax", padded("x", 'x', pax) + tar_file("short", "1") + kEnd)), "");
    EXPECT_EQ(files_, (Files{{name, "1"}}));
    EXPECT_EQ(read(write("gnu", padded("././@LongLink", 'L', name + '\0') + tar_file("short", "1") + kEnd)),
              "");
    EXPECT_EQ(files_, (Files{{name, "1"}}));
    // Such a header is bounded too.
    EXPECT_NE(read(write("t", tar_header("x", octal(std::uint64_t{1} << 32), 'x') + kEnd)), "");
    EXPECT_NE(read(write("t", tar_header("x", octal(std::uint64_t{1} << 32), 'L') + kEnd)), "");
  }
  EXPECT_EQ(read(write("raw", tar_file(foreign, "1") + kEnd)), "");
  EXPECT_EQ(files_, (Files{{foreign, "1"}}));
}

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

// As Python's zipfile writes them: `flags` 0x800 says that names are UTF-8.
std::string zip_of(const Files& files, unsigned flags) {
  std::string zip, list;
  for (const auto& [name, content] : files) {
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
    const auto common = little(20, 2) + little(flags, 2) + little(0, 2) + little(0x21 << 16, 4) +
                        little(sum, 4) + little(content.size(), 4) + little(content.size(), 4) +
                        little(name.size(), 2) + little(0, 2);
    list += "PK\1\2" + little(20 | 3 << 8, 2) + common + little(0, 6) + little(0100644U << 16, 4) +
            little(zip.size(), 4) + name;
    zip += "PK\3\4" + common + name + content;
  }
  const auto count = little(files.size(), 2);
  return zip + list + "PK\5\6" + little(0, 4) + count + count + little(list.size(), 4) +
         little(zip.size(), 4) + little(0, 2);
}

// The flag would have libarchive bring names into the locale's characters, which the C locale has
// not. Names without it are bytes.
TEST_F(Archive, NamesOfAZipAreItsBytesWhateverTheLocale) {
  const Files named = {{"train/\xC3\xA9t\xC3\xA9/1.png", "one"}, {"train/\xE5\xA4\x8F/2.png", "two"}};
  for (const unsigned flags : {0x800U, 0U}) {
    EXPECT_EQ(read(write("named.zip", zip_of(named, flags))), "") << flags;
    EXPECT_EQ(files_, named) << flags;
  }
  // A letter and its accent apart, as macOS writes it, come as one.
  EXPECT_EQ(read(write("apart.zip", zip_of({{"e\xCC\x81/1.png", "1"}}, 0x800))), "");
  EXPECT_EQ(files_, (Files{{"\xC3\xA9/1.png", "1"}}));
  const Files latin = {{"train/\xE9t\xE9/1.png", "one"}};
  EXPECT_EQ(read(write("latin.zip", zip_of(latin, 0))), "");
  EXPECT_EQ(files_, latin);
  // Names that are no UTF-8 although the zip says so are said once.
  const auto broken = write("broken.zip", zip_of({latin[0], latin[0], named[0]}, 0x800));
  std::vector<std::string> unread;
  files_.clear();
  const auto visited = visit_parts(
      broken, [](const std::string&) { return FilePart::whole; },
      [this](const std::string& name, std::string_view bytes) -> Result<void> {
        files_.emplace_back(name, bytes);
        return {};
      },
      [&unread](const std::string&, const Error& why) { unread.push_back(why.message); });
  ASSERT_TRUE(visited) << visited.error().message;
  EXPECT_EQ(files_, (Files{named[0]}));
  ASSERT_EQ(unread.size(), 1U);
  EXPECT_TRUE(mentions(unread[0], "has 2 files without a readable name"));
  EXPECT_TRUE(mentions(read(broken), "has a file without a readable name"));
}

}  // namespace archive_test
}  // namespace hyfreedp::datasets
