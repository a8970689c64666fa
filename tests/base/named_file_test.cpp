// Files that a user names: what stands there is written into or replaced, never lost.
#include "harness/base/named_file.h"

#include <fcntl.h>
#include <filesystem>
#include <future>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/base/files.h"

namespace hyfreedp {
namespace named_file_test {

namespace fs = std::filesystem;

class NamedFile : public testing::Test {
 protected:
  NamedFile() : scratch_(ScratchFolder::make().value()) {}
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  static unsigned mode(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(scratch_.path()), fs::directory_iterator()));
  }
  static std::string refusal(const std::string& path) {
    const auto written = write_named_file(path, "content");
    return written ? "" : written.error().message;
  }

  ScratchFolder scratch_;
};

TEST_F(NamedFile, IsReplacedAndKeepsItsMode) {
  ASSERT_TRUE(write_named_file(path("sub/new"), "one"));
  EXPECT_EQ(read_file(path("sub/new")).value(), "one");
  ASSERT_TRUE(write_named_file(path("file"), "one"));
  for (const unsigned wanted : {0600U, 0664U, 0444U}) {
    ASSERT_EQ(::chmod(path("file").c_str(), wanted), 0);
    ASSERT_TRUE(write_named_file(path("file"), "two"));
    EXPECT_EQ(mode(path("file")), wanted);
  }
  EXPECT_EQ(read_file(path("file")).value(), "two");
  EXPECT_EQ(files(), 2U) << "nothing else is left";
}

TEST_F(NamedFile, ConfidentialContentIsItsOwnersAlone) {
  ASSERT_TRUE(write_named_file(path("new"), "c", true));
  EXPECT_EQ(mode(path("new")), 0600U);
  ASSERT_EQ(::chmod(path("new").c_str(), 0664), 0);
  ASSERT_TRUE(write_named_file(path("new"), "c", true));
  EXPECT_EQ(mode(path("new")), 0600U);
}

TEST_F(NamedFile, ALinkStaysAndItsTargetIsReplaced) {
  fs::create_directory(path("there"));
  ASSERT_TRUE(write_named_file(path("there/target"), "before"));
  ASSERT_EQ(::chmod(path("there/target").c_str(), 0640), 0);
  fs::create_symlink("there/target", path("one"));
  fs::create_symlink(path("one"), path("two"));
  ASSERT_TRUE(write_named_file(path("two"), "after"));
  EXPECT_TRUE(fs::is_symlink(path("two")));
  EXPECT_TRUE(fs::is_symlink(path("one")));
  EXPECT_EQ(read_file(path("there/target")).value(), "after");
  EXPECT_EQ(mode(path("there/target")), 0640U);
  fs::create_symlink("there/absent", path("dangling"));
  ASSERT_TRUE(write_named_file(path("dangling"), "made"));
  EXPECT_EQ(read_file(path("there/absent")).value(), "made");
  EXPECT_TRUE(fs::is_symlink(path("dangling")));
  fs::create_symlink("round", path("round"));
  EXPECT_NE(refusal(path("round")).find("leads back to itself"), std::string::npos);
}

TEST_F(NamedFile, ADeviceIsWrittenInto) {
  EXPECT_EQ(refusal("/dev/null"), "");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  if (fs::is_character_file("/dev/full")) {
    EXPECT_NE(refusal("/dev/full").find("No space left"), std::string::npos);
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
    fs::create_symlink("/dev/full", path("full"));
    EXPECT_NE(refusal(path("full")), "");
    EXPECT_TRUE(fs::is_symlink(path("full")));
  }
}

TEST_F(NamedFile, AFifoIsWrittenInto) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const std::string content(200000, 'x');  // more than a pipe holds
  auto written = std::async(std::launch::async, [&] { return write_named_file(path("fifo"), content); });
  EXPECT_EQ(read_file(path("fifo")).value(), content);
  EXPECT_TRUE(written.get());
  EXPECT_TRUE(fs::is_fifo(path("fifo")));
}

TEST_F(NamedFile, AnOpenFileOfThisProcessIsWrittenInto) {
  const int descriptor = ::open(path("open").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(::write(descriptor, "before ", 7), 7);
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    ASSERT_TRUE(write_named_file(folder + std::to_string(descriptor), "and after "));
  }
  EXPECT_EQ(read_file(path("open")).value(), "before and after and after ");
  ::close(descriptor);
  EXPECT_NE(refusal("/dev/fd/987"), "");
  EXPECT_TRUE(is_standard_output("/dev/stdout"));
  EXPECT_TRUE(is_standard_output("/proc/self/fd/1"));
  fs::create_symlink("/dev/stdout", path("out"));
  EXPECT_TRUE(is_standard_output(path("out")));
  EXPECT_FALSE(is_standard_output(path("open")));
  EXPECT_FALSE(is_standard_output(""));
  EXPECT_FALSE(named_descriptor("/dev/fd/1x"));
  EXPECT_FALSE(named_descriptor("/dev/fd/"));
}

TEST_F(NamedFile, AFolderIsNoFile) {
  EXPECT_NE(refusal(scratch_.path()).find("is a folder; name a file"), std::string::npos);
  EXPECT_NE(refusal(path("new/")).find("is a folder; name a file"), std::string::npos);
  EXPECT_NE(refusal("").find("is a folder; name a file"), std::string::npos);
  ASSERT_TRUE(write_named_file(path("file"), ""));
  EXPECT_NE(refusal(path("file/below")), "");
}

TEST_F(NamedFile, WritableFoldersAreToldFromOthers) {
  EXPECT_TRUE(is_writable_folder(scratch_.path()));
  EXPECT_TRUE(is_writable_folder(path("new/below")));
  ASSERT_TRUE(write_named_file(path("file"), ""));
  EXPECT_FALSE(is_writable_folder(path("file")));
  EXPECT_FALSE(is_writable_folder(path("file/below")));
}

}  // namespace named_file_test
}  // namespace hyfreedp
