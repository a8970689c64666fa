#include "harness/models/weights/safetensors.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace hyfreedp::models {
namespace safetensors_test {

class Safetensors : public testing::Test {
 protected:
  ~Safetensors() override { std::filesystem::remove(path_); }

  void write(const std::string& header, const std::string& data, std::int64_t claimed_header = -1) {
    const std::uint64_t length =
        claimed_header < 0 ? header.size() : static_cast<std::uint64_t>(claimed_header);
    std::ofstream file(path_, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file << header << data;
  }
  std::string refusal() {
    const auto read = read_safetensors(path_);
    return read ? "accepted" : read.error().message;
  }

  const std::string path_ = testing::TempDir() + "safetensors-" + std::to_string(::getpid());
};

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  // Padded so that the data begins at a multiple of 8, as the format's own writers do.
  std::string header =
      R"({"t":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

TEST_F(Safetensors, ReadsValues) {
  const float values[] = {1.5F, -2.F, 3.F, 0.25F};
  write(entry("F32", "[2,2]", "[0,16]"), std::string(reinterpret_cast<const char*>(values), 16));
  const auto read = read_safetensors(path_);
  ASSERT_TRUE(read) << read.error().message;
  const auto& tensor = read->at("t");
  EXPECT_EQ(tensor.sizes(), torch::IntArrayRef({2, 2}));
  EXPECT_EQ(tensor[1][1].item<float>(), 0.25F);
}

TEST_F(Safetensors, TensorsThatBeginAtAnyByteAreCopied) {
  const float values[] = {1.5F, -2.F};
  write(entry("F32", "[2]", "[1,9]"), "x" + std::string(reinterpret_cast<const char*>(values), 8));
  const auto read = read_safetensors(path_);
  ASSERT_TRUE(read) << read.error().message;
  const auto& tensor = read->at("t");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % 4, 0U);
  EXPECT_EQ(tensor[0].item<float>(), 1.5F);
  EXPECT_EQ(tensor[1].item<float>(), -2.F);
}

TEST_F(Safetensors, UnsignedNumbersAreRead) {
  for (const auto& [name, bytes] : {std::pair{"U16", 2}, {"U32", 4}, {"U64", 8}}) {
    std::string data(static_cast<std::size_t>(2 * bytes), '\0');
    data[0] = 7;
    data[static_cast<std::size_t>(bytes) + 1] = 1;  // 256
    write(entry(name, "[2]", "[0," + std::to_string(2 * bytes) + "]"), data);
    const auto read = read_safetensors(path_);
    ASSERT_TRUE(read) << read.error().message;
    const auto numbers = read->at("t").to(torch::kFloat64);
    EXPECT_EQ(numbers[0].item<double>(), 7) << name;
    EXPECT_EQ(numbers[1].item<double>(), 256) << name;
  }
}

TEST_F(Safetensors, TensorsOutliveTheFile) {
  const double value = 7;
  write(entry("F64", "[1]", "[0,8]"), std::string(reinterpret_cast<const char*>(&value), 8));
  auto tensor = read_safetensors(path_).value().at("t");
  std::filesystem::remove(path_);
  EXPECT_EQ(tensor.item<double>(), 7);
}

TEST_F(Safetensors, RefusesWhatDoesNotFit) {
  const std::string data(16, '\0');
  const struct {
    std::string header, data, says;
    std::int64_t claimed = -1;
  } bad[] = {
      {entry("F32", "[2,2]", "[0,16]"), std::string(12, '\0'), "outside the file"},
      {entry("F32", "[2,2]", "[0,12]"), data, "do not fit the shape"},
      {entry("F32", "[2,2]", "[16,0]"), data, "outside the file"},
      {entry("F32", "[2,2]", "[-1,15]"), data, "outside the file"},
      {entry("F32", "[2,2]", "[0]"), data, "not a pair"},
      {entry("F32", "[-2,-2]", "[0,16]"), data, "not a list of lengths"},
      {entry("F32", "[4611686018427387904,4]", "[0,0]"), data, "not a list of lengths"},
      {entry("F32", "[0,18446744073709551615]", "[0,0]"), data, "not a list of lengths"},
      {entry("F99", "[2,2]", "[0,16]"), data, "unknown dtype"},
      {entry("F32", "4", "[0,16]"), data, "not an array"},
      {R"({"t":7})", data, "not an object"},
      {"[1]", data, "not an object"},
      {"{", data, "header"},
      {"{}", data, "does not fit the file", 4096},
      {"{}", data, "does not fit the file", INT64_MAX},
  };
  for (const auto& item : bad) {
    write(item.header, item.data, item.claimed);
    EXPECT_NE(refusal().find(item.says), std::string::npos) << item.header << "\n" << refusal();
    EXPECT_NE(refusal().find(path_), std::string::npos);
  }
}

TEST_F(Safetensors, RefusesAbsentEmptyAndShortFiles) {
  EXPECT_NE(refusal().find("No such file"), std::string::npos);
  std::ofstream(path_, std::ios::binary) << "";
  EXPECT_NE(refusal().find("too short"), std::string::npos);
  std::ofstream(path_, std::ios::binary) << "1234567";
  EXPECT_NE(refusal().find("too short"), std::string::npos);
}

}  // namespace safetensors_test
}  // namespace hyfreedp::models
