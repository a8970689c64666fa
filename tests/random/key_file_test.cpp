#include "harness/random/key_file.h"

#include <array>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/base/files.h"

namespace hyfreedp::random {
namespace key_file_test {

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

KeyLabel label_of(const std::string& nonce, std::int64_t attempt = 0) {
  return {.nonce = nonce, .trial = "0123456789abcdef", .attempt = attempt, .config = {{"dataset", "adult"}}};
}

TEST_F(KeyFile, OfARunSaysWhatItWasMadeFor) {
  EXPECT_FALSE(read_key(path_)->has_value());
  const auto nonce = nonce_from_entropy().value();
  EXPECT_EQ(nonce.size(), 32U);
  EXPECT_NE(nonce, nonce_from_entropy().value());
  const auto made = replace_key(path_, label_of(nonce, 3));
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(mode_of(path_), 0600u);
  const auto read = read_key(path_).value();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->key, *made);
  ASSERT_TRUE(read->label.has_value());
  EXPECT_EQ(read->label->nonce, nonce);
  EXPECT_EQ(read->label->trial, "0123456789abcdef");
  EXPECT_EQ(read->label->attempt, 3);
  EXPECT_EQ(read->label->config, (json::object{{"dataset", "adult"}}));
  EXPECT_TRUE(create_or_read_key(path_).has_error()) << "a run's key is none of a spec's draws";

  const auto next = replace_key(path_, label_of(nonce_from_entropy().value()));
  EXPECT_FALSE(*next == *made);
  EXPECT_EQ(read_key(path_).value()->key, *next);
  const auto entries = std::filesystem::directory_iterator(folder_ + "/keys");
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST_F(KeyFile, OfTheFirstFormatHasNoLabel) {
  const auto made = create_or_read_key(path_).value();
  const auto read = read_key(path_).value();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->key, made);
  EXPECT_FALSE(read->label.has_value());
}

TEST_F(KeyFile, AMalformedLabelIsRefused) {
  ASSERT_TRUE(replace_key(path_, label_of(std::string(32, 'a'))));
  const auto whole = *read_file(path_);
  for (const char* part : {"nonce", "trial", "attempt", "config", "{"}) {
    auto text = whole;
    text[text.find(part, 80)] = 'x';
    write(text);
    EXPECT_TRUE(read_key(path_).has_error()) << part;
  }
  for (const std::size_t length : {whole.size() - 1, whole.size() / 2, std::size_t{80}, std::size_t{20}}) {
    write(whole.substr(0, length));
    EXPECT_TRUE(read_key(path_).has_error()) << length;
  }
}

TEST_F(KeyFile, OfASeededRunAloneMayHaveANumberForANonce) {
  auto label = label_of("attempt 1");
  ASSERT_TRUE(replace_key(path_, label));
  EXPECT_TRUE(read_key(path_).has_error());
  label.config["noise_seed"] = nullptr;
  ASSERT_TRUE(replace_key(path_, label));
  EXPECT_TRUE(read_key(path_).has_error());
  label.config["noise_seed"] = "s";
  ASSERT_TRUE(replace_key(path_, label));
  EXPECT_EQ(read_key(path_).value()->label->nonce, "attempt 1");
  label.nonce = "";
  ASSERT_TRUE(replace_key(path_, label));
  EXPECT_TRUE(read_key(path_).has_error());
}

// What lies in the file is the whole key: 80 keys have more than 45 different values in every byte.
// A fair byte has 69 of them at the median and 45 or fewer with a chance below 1e-12.
TEST_F(KeyFile, HoldsEveryByteOfTheKey) {
  std::array<std::set<unsigned char>, 32> values;
  for (int i = 0; i < 40; ++i) {
    const auto path = folder_ + "/keys/" + std::to_string(i);
    const auto of_run = replace_key(path, label_of(std::string(32, 'b'))).value();
    EXPECT_EQ(read_key(path).value()->key, of_run);
    const auto of_draws = create_or_read_key(path + ".draws").value();
    for (std::size_t byte = 0; byte < 32; ++byte)
      values[byte].insert({of_run.bytes[byte], of_draws.bytes[byte]});
  }
  for (const auto& seen : values) EXPECT_GT(seen.size(), 45U);
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

}  // namespace key_file_test
}  // namespace hyfreedp::random
