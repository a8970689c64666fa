// A folder of one test's own, with the cache and the data folder pointed into it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>
#include <zlib.h>

#include "datasets/cache_file.h"

namespace hyfreedp::datasets {

class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::optional<std::string>& value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) before_ = old;
    set(value);
  }
  ~ScopedVariable() { set(before_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  void set(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

 private:
  std::string name_;
  std::optional<std::string> before_;
};

class Scratch : public testing::Test {
 protected:
  Scratch()
      : folder_(make_folder()), cache_("XDG_CACHE_HOME", folder_ + "/cache"), data_("HYFREEDP_DATA", {}) {}
  ~Scratch() override { std::filesystem::remove_all(folder_); }

  static std::string make_folder() {
    std::string pattern = testing::TempDir() + "datasets_XXXXXX";
    return ::mkdtemp(pattern.data()) != nullptr ? pattern : "";
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write_gz(const std::string& name, const std::vector<std::uint8_t>& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    const gzFile file = gzopen(path(name).c_str(), "wb");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
              static_cast<int>(bytes.size()));
    gzclose(file);
  }

  // One file is in the cache, and it is the one that was foretold from the options.
  void expect_foretold_cache(const Facts& facts, const json::object& options) const {
    const auto file = cache_file(facts, options, "cpu");
    ASSERT_TRUE(file) << "no cache";
    ASSERT_TRUE(std::filesystem::exists(file->path)) << file->path;
    EXPECT_EQ(std::filesystem::file_size(file->path), file->bytes);
    EXPECT_EQ(std::filesystem::path(file->path).parent_path(), path("cache/hyfreedp/features"));
  }

  std::string folder_;
  ScopedVariable cache_, data_;
};

}  // namespace hyfreedp::datasets
