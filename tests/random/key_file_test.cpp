#include "harness/random/key_file.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/base/files.h"

namespace hyfreedp::random {
namespace {

class KeyFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "key_file_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/keys/run";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static unsigned mode_of(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
  }
  void write(const std::string& text, unsigned mode = 0600) const {
    ASSERT_TRUE(write_file_atomically(path_, text, mode).has_value());
    ::chmod(path_.c_str(), mode);
  }

  std::string folder_, path_;
};

TEST_F(KeyFile, IsCreatedOnceAndReadBack) {
  const auto made = create_or_read_key(path_);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const auto read = create_or_read_key(path_);
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(*made == *read);
  const auto other = create_or_read_key(folder_ + "/keys/other");
  ASSERT_TRUE(other.has_value());
  EXPECT_FALSE(*made == *other);
}

TEST_F(KeyFile, HasMode0600WhateverTheUmaskAndLeavesNoTemporary) {
  const auto before = ::umask(0);
  const auto made = create_or_read_key(path_);
  ::umask(before);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(mode_of(path_), 0600u);
  const auto entries = std::filesystem::directory_iterator(folder_ + "/keys");
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST_F(KeyFile, ProcessesStartingAtOnceGetTheSameKey) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      char go = 0;
      ::close(ready[1]);
      (void)!::read(ready[0], &go, 1);  // until the parent closes its end
      const auto key = create_or_read_key(path_);
      const bool written =
          key && write_file_atomically(folder_ + "/seen-" + std::to_string(i),
                                       std::string(key->bytes.begin(), key->bytes.end()), 0600);
      ::_exit(written ? 0 : 1);
    }
    children.push_back(child);
  }
  ::close(ready[0]);
  ::close(ready[1]);
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto key = create_or_read_key(path_);
  ASSERT_TRUE(key.has_value());
  for (int i = 0; i < 8; ++i) {
    const auto seen = read_file(folder_ + "/seen-" + std::to_string(i));
    ASSERT_TRUE(seen.has_value());
    EXPECT_TRUE(*seen == std::string(key->bytes.begin(), key->bytes.end()));
  }
}

TEST_F(KeyFile, AMalformedFileIsRefusedUnquotedAndLeftAlone) {
  const std::string digits(64, 'a');
  for (const std::string& text :
       {std::string(), std::string("hyfreedp key 1\n"), "hyfreedp key 1\n" + digits,
        "hyfreedp key 2\n" + digits + "\n", "hyfreedp key 1\n" + digits.substr(1) + "x\n",
        "hyfreedp key 1\n" + digits + "\n\n"}) {
    write(text);
    const auto key = create_or_read_key(path_);
    ASSERT_TRUE(key.has_error());
    EXPECT_NE(key.error().message.find(path_), std::string::npos);
    EXPECT_EQ(key.error().message.find("aaaa"), std::string::npos);
    EXPECT_EQ(*read_file(path_), text);
  }
  write("hyfreedp key 1\n" + digits + "\n");
  EXPECT_TRUE(create_or_read_key(path_).has_value());
}

TEST_F(KeyFile, AFileThatOthersCanReadIsRefusedUnquoted) {
  write("hyfreedp key 1\n" + std::string(64, 'a') + "\n", 0640);
  const auto key = create_or_read_key(path_);
  ASSERT_TRUE(key.has_error());
  EXPECT_NE(key.error().message.find("chmod 600"), std::string::npos);
  EXPECT_EQ(key.error().message.find("aaaa"), std::string::npos);
}

TEST_F(KeyFile, NothingIsPrinted) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const auto made = create_or_read_key(path_);
  const auto read = create_or_read_key(path_);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_TRUE(made.has_value() && read.has_value());
}

TEST_F(KeyFile, IsDeletedAndDeletingTwiceIsFine) {
  const auto first = create_or_read_key(path_);
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(delete_key(path_).has_value());
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_TRUE(delete_key(path_).has_value());
  const auto second = create_or_read_key(path_);
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(*first == *second);
}

TEST_F(KeyFile, AnUnwritableFolderIsAnErrorThatNamesIt) {
  ASSERT_TRUE(write_file_atomically(folder_ + "/file", "x").has_value());
  const auto key = create_or_read_key(folder_ + "/file/run");
  ASSERT_TRUE(key.has_error());
  EXPECT_NE(key.error().message.find(folder_ + "/file"), std::string::npos);
}

}  // namespace
}  // namespace hyfreedp::random
