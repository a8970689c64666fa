#include "datasets/formats/cifar.h"

#include "tests/datasets/scratch.h"
#include "tests/formats/expect_error.h"
#include "tests/formats/tar.h"
#include "tests/formats/written.h"

namespace hyfreedp::datasets {
namespace cifar_test {

constexpr std::size_t kPixels = 3072;

// The pixel of image `seed`, so that every place has another value nearby.
std::uint8_t pixel(int seed, std::size_t at) {
  return static_cast<std::uint8_t>(seed * 31 + at % 251 + at / 1024);
}

std::string record(const std::string& labels, int seed) {
  std::string bytes = labels;
  for (std::size_t at = 0; at < kPixels; ++at) bytes += static_cast<char>(pixel(seed, at));
  return bytes;
}

NamedBytes cifar10_files(const std::string& folder) {
  NamedBytes files;
  for (char batch = '5'; batch >= '1'; --batch) {  // not in their order
    files.emplace_back(
        folder + "data_batch_" + batch + ".bin",
        record({static_cast<char>(batch - '1')}, batch - '0') + record({'\x09'}, 40 + batch - '0'));
  }
  files.emplace_back(folder + "readme.html", "<html>");
  files.emplace_back(folder + "test_batch.bin", record({'\x03'}, 100));
  return files;
}

class Cifar : public Scratch {
 protected:
  std::string write_folder(const std::string& name, const NamedBytes& files) const {
    for (const auto& [file, bytes] : files) {
      written(path(name + "/" + file), bytes);
    }
    return path(name);
  }
  std::string write_tar_gz(const std::string& name, const NamedBytes& files) const {
    write_gz(name, tar_of(files));
    return path(name);
  }
};

TEST_F(Cifar, ABatchIsItsRecordsInOrder) {
  const auto images = parse_cifar(record({'\x09'}, 1) + record({'\0'}, 2), "b", CifarLabels::cifar10);
  ASSERT_TRUE(images.has_value()) << images.error().message;
  EXPECT_EQ(images->count, 2);
  EXPECT_EQ(images->channels, 3);
  EXPECT_EQ(images->height, 32);
  EXPECT_EQ(images->width, 32);
  EXPECT_EQ(images->labels, (std::vector<std::int64_t>{9, 0}));
  ASSERT_EQ(images->pixels.size(), 2 * kPixels);
  for (std::size_t at = 0; at < kPixels; ++at) {
    ASSERT_EQ(images->pixels[at], pixel(1, at));
    ASSERT_EQ(images->pixels[kPixels + at], pixel(2, at));
  }
}

TEST_F(Cifar, Cifar100HasTwoLabels) {
  const auto bytes = record("\x13\x63", 1) + record(std::string("\0\x05", 2), 2);
  const auto fine = parse_cifar(bytes, "b", CifarLabels::cifar100_fine);
  const auto coarse = parse_cifar(bytes, "b", CifarLabels::cifar100_coarse);
  ASSERT_TRUE(fine.has_value() && coarse.has_value());
  EXPECT_EQ(fine->labels, (std::vector<std::int64_t>{99, 5}));
  EXPECT_EQ(coarse->labels, (std::vector<std::int64_t>{19, 0}));
  EXPECT_EQ(fine->pixels, coarse->pixels);
  EXPECT_EQ(fine->pixels[kPixels], pixel(2, 0));
}

TEST_F(Cifar, LengthsAndLabelsAreChecked) {
  const auto one = record({'\x01'}, 1);
  const auto parse = [](const std::string& bytes, CifarLabels labels = CifarLabels::cifar10) {
    return parse_cifar(bytes, "the batch", labels);
  };
  EXPECT_TRUE(fails_with(parse(""), "the batch: ", "has 0 bytes"));
  for (const std::size_t length : {std::size_t{1}, std::size_t{3072}, std::size_t{3074}, std::size_t{6145}}) {
    EXPECT_TRUE(fails_with(parse((one + one).substr(0, length)), "the batch: ", "records of 3073 bytes"))
        << length;
  }
  EXPECT_TRUE(fails_with(parse(one, CifarLabels::cifar100_fine), "the batch: ", "records of 3074 bytes"));
  EXPECT_TRUE(fails_with(parse(one + record({'\x0a'}, 1)),
                         "the batch: ", "record 1 has the label 10; expected is 0 to 9"));
  EXPECT_TRUE(fails_with(parse(record({'\xff'}, 1)), "the batch: ", "label 255"));
  // Both labels are checked, whichever is wanted.
  EXPECT_TRUE(
      fails_with(parse(record("\x14\x01", 1), CifarLabels::cifar100_fine), "the batch: ", "coarse label 20"));
  EXPECT_TRUE(fails_with(parse(record("\x01\x64", 1), CifarLabels::cifar100_coarse),
                         "the batch: ", "fine label 100"));
}

TEST_F(Cifar, FoldersAndTarsGiveTheBatchesInOrder) {
  for (const auto& at :
       {write_folder("flat", cifar10_files("")), write_folder("deep", cifar10_files("cifar-10-batches-bin/")),
        write_tar_gz("c.tar.gz", cifar10_files("cifar-10-batches-bin/"))}) {
    const auto splits = read_cifar(at, CifarLabels::cifar10);
    ASSERT_TRUE(splits.has_value()) << splits.error().message;
    EXPECT_EQ(splits->train.count, 10);
    EXPECT_EQ(splits->train.labels, (std::vector<std::int64_t>{0, 9, 1, 9, 2, 9, 3, 9, 4, 9}));
    EXPECT_EQ(splits->test.labels, (std::vector<std::int64_t>{3}));
    ASSERT_EQ(splits->train.pixels.size(), 10 * kPixels);
    for (std::size_t batch = 0; batch < 5; ++batch) {
      EXPECT_EQ(splits->train.pixels[2 * batch * kPixels + 5], pixel(static_cast<int>(batch) + 1, 5));
      EXPECT_EQ(splits->train.pixels[(2 * batch + 1) * kPixels], pixel(static_cast<int>(batch) + 41, 0));
    }
  }
  const auto hundred = write_tar_gz("h.tar.gz", {{"cifar-100-binary/fine_label_names.txt", "apple\n"},
                                                 {"cifar-100-binary/test.bin", record("\x01\x07", 3)},
                                                 {"cifar-100-binary/train.bin", record("\x02\x08", 4)}});
  const auto splits = read_cifar(hundred, CifarLabels::cifar100_fine);
  ASSERT_TRUE(splits.has_value()) << splits.error().message;
  EXPECT_EQ(splits->train.labels, (std::vector<std::int64_t>{8}));
  EXPECT_EQ(splits->test.labels, (std::vector<std::int64_t>{7}));
}

TEST_F(Cifar, ABatchThatIsMissingDoubledOrDamagedIsNamed) {
  auto files = cifar10_files("d/");
  files.erase(files.begin() + 2);
  EXPECT_TRUE(fails_with(read_cifar(write_tar_gz("a", files), CifarLabels::cifar10), path("a"),
                         "has no data_batch_3.bin"));
  EXPECT_TRUE(fails_with(read_cifar(path("a"), CifarLabels::cifar100_fine), path("a"), "has no train.bin"));
  files = cifar10_files("d/");
  files.emplace_back("e/test_batch.bin", record({'\0'}, 1));
  EXPECT_TRUE(fails_with(read_cifar(write_tar_gz("b", files), CifarLabels::cifar10), path("b"),
                         "has test_batch.bin twice, as d/test_batch.bin and as e/test_batch.bin"));
  files = cifar10_files("d/");
  files[1].second.pop_back();
  EXPECT_TRUE(fails_with(read_cifar(write_tar_gz("c", files), CifarLabels::cifar10),
                         path("c") + ": d/data_batch_4.bin", "has 6145 bytes"));
  auto cut = tar_of(cifar10_files("d/"));
  cut.resize(cut.size() / 2);
  write_gz("cut", cut);
  EXPECT_TRUE(fails_with(read_cifar(path("cut"), CifarLabels::cifar10), path("cut"), "Truncated"));
  EXPECT_TRUE(fails_with(read_cifar(path("none"), CifarLabels::cifar10), path("none"), "not there"));
}

}  // namespace cifar_test
}  // namespace hyfreedp::datasets
