#include "datasets/formats/idx.h"

#include <fstream>

#include "harness/base/files.h"
#include "tests/datasets/scratch.h"
#include "tests/images/peak_memory.h"

namespace hyfreedp::datasets {
namespace idx_test {

using Bytes = std::vector<std::uint8_t>;

class Idx : public Scratch {
 protected:
  // Reads `bytes` as a gzipped file; the error's message, or "" when it was read.
  std::string read(const Bytes& bytes) {
    write_gz("file.gz", bytes);
    auto result = read_idx(path("file.gz"));
    if (result.has_error()) {
      EXPECT_NE(result.error().message.find(path("file.gz")), std::string::npos)
          << "the error must name the file";
      return result.error().message;
    }
    array_ = std::move(*result);
    return "";
  }
  static bool mentions(const std::string& message, const std::string& what) {
    return message.find(what) != std::string::npos;
  }
  IdxArray array_;
};

const Bytes kTwoByThree = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255};

TEST_F(Idx, ReadsShapeAndElementsGzippedOrPlain) {
  ASSERT_EQ(read(kTwoByThree), "");
  EXPECT_EQ(array_.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(array_.bytes, (Bytes{1, 2, 3, 4, 5, 255}));
  ASSERT_TRUE(
      write_file_atomically(path("plain"), std::string(kTwoByThree.begin(), kTwoByThree.end())).has_value());
  const auto plain = read_idx(path("plain"));
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->bytes, array_.bytes);
}

TEST_F(Idx, EveryTruncationIsAnError) {
  for (std::size_t length = 0; length < kTwoByThree.size(); ++length) {
    const auto message =
        read(Bytes(kTwoByThree.begin(), kTwoByThree.begin() + static_cast<std::ptrdiff_t>(length)));
    EXPECT_TRUE(mentions(message, "truncated")) << length << ": " << message;
  }
}

TEST_F(Idx, BytesAfterTheLastElementAreAnError) {
  auto longer = kTwoByThree;
  longer.push_back(0);
  EXPECT_TRUE(mentions(read(longer), "after the last element"));
}

TEST_F(Idx, EveryHeaderFieldIsChecked) {
  const auto with = [](std::size_t at, std::uint8_t value) {
    auto bytes = kTwoByThree;
    bytes[at] = value;
    return bytes;
  };
  EXPECT_TRUE(mentions(read(with(0, 1)), "not an IDX file"));
  EXPECT_TRUE(mentions(read(with(1, 1)), "not an IDX file"));
  EXPECT_TRUE(mentions(read(with(2, 0x0d)), "0x0d"));
  EXPECT_TRUE(mentions(read(with(3, 0)), "dimensions"));
  EXPECT_TRUE(mentions(read(with(3, 5)), "dimensions"));
  EXPECT_TRUE(mentions(read(with(3, 255)), "dimensions"));
}

TEST_F(Idx, SizesThatMultiplyTooFarAreRefusedBeforeAnythingIsAllocated) {
  EXPECT_TRUE(mentions(read({0, 0, 8, 1, 255, 255, 255, 255}), "2^31"));
  EXPECT_TRUE(mentions(read({0, 0, 8, 2, 0, 1, 0, 0, 0, 1, 0, 0}), "2^31"));
  // 2^16 * 2^16 * 2^16 * 2^16 = 2^64 would wrap to 0.
  EXPECT_TRUE(mentions(read({0, 0, 8, 4, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0}), "2^31"));
}

TEST_F(Idx, ATruncatedFileTakesTheMemoryOfWhatItHas) {
  const PeakMemory memory;
  EXPECT_TRUE(mentions(read({0, 0, 8, 1, 127, 255, 255, 255, 1, 2}), "truncated"));  // 2 GB
  EXPECT_LE(memory.megabytes(), 64);
}

TEST_F(Idx, AnEmptyDimensionIsAnEmptyArray) {
  ASSERT_EQ(read({0, 0, 8, 2, 0, 0, 0, 0, 255, 255, 255, 255}), "");
  EXPECT_TRUE(array_.bytes.empty());
}

TEST_F(Idx, ADamagedGzipFileIsAnError) {
  write_gz("file.gz", kTwoByThree);
  const auto whole = *read_file(path("file.gz"));
  auto flipped = whole;
  // in the stored checksum
  flipped[whole.size() - 6] = static_cast<char>(flipped[whole.size() - 6] ^ 1);
  ASSERT_TRUE(write_file_atomically(path("flipped.gz"), flipped).has_value());
  EXPECT_TRUE(read_idx(path("flipped.gz")).has_error());
  ASSERT_TRUE(write_file_atomically(path("cut.gz"), whole.substr(0, whole.size() - 9)).has_value());
  EXPECT_TRUE(read_idx(path("cut.gz")).has_error());
}

TEST_F(Idx, AMissingFileIsAnErrorThatNamesIt) {
  const auto result = read_idx(path("absent"));
  ASSERT_TRUE(result.has_error());
  EXPECT_TRUE(mentions(result.error().message, path("absent")));
}

}  // namespace idx_test
}  // namespace hyfreedp::datasets
