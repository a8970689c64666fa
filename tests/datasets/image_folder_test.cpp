// A user's folder of images: its counts, its bytes and the features that a frozen network makes.
#include "datasets/image_folder.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <set>

#include "datasets/dataset.h"
#include "datasets/image/decode.h"
#include "harness/base/files.h"
#include "harness/models/model.h"
#include "harness/models/weights/weights.h"
#include "scratch.h"
#include "tests/formats/tar.h"
#include "tests/images/peak_memory.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSide = 8;

class OwnImages : public Scratch {
 protected:
  // 3 classes of 20 training images of 12 x 10 pixels, and 4 test images each.
  OwnImages() {
    for (const char* name : {"ant", "bee", "cat"}) {
      for (int i = 0; i < 20; ++i) write(fmt::format("train/{}/{:02}.ppm", name, i));
      for (int i = 0; i < 4; ++i) write(fmt::format("test/{}/{:02}.ppm", name, i));
    }
  }
  void write(const std::string& name) {
    const auto file = images() + "/" + name;
    fs::create_directories(fs::path(file).parent_path());
    std::string content = "P6 12 10 255\n";
    for (int i = 0; i < 12 * 10 * 3; ++i) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      content.push_back(static_cast<char>(state_ >> 56U));
    }
    std::ofstream(file, std::ios::binary) << content;
  }
  std::string images() const { return path("images"); }
  static const Facts& facts() { return *find_dataset("image-folder").value(); }
  Result<json::object> completed(json::object given) const {
    if (!given.contains("path")) given["path"] = images();
    if (!given.contains("side")) given["side"] = kSide;
    return complete_options(facts(), resolve_options(facts().options, given, "image-folder").value());
  }
  // The file's bytes as [3, side, side], made the long way.
  at::Tensor expected(const std::string& name, std::int64_t side) const {
    const auto image = decode_image(read_file(images() + "/" + name).value(), name).value();
    const auto square =
        centre_crop(resize_shorter(image, side, Interpolation::bicubic).value(), side).value();
    auto planes = at::empty({3 * side * side}, at::kByte);
    for (std::int64_t c = 0; c < 3; ++c) {
      for (std::int64_t i = 0; i < side * side; ++i) {
        planes[c * side * side + i] = square.pixels[static_cast<std::size_t>(i * 3 + c)];
      }
    }
    return planes;
  }
  json::object with_vit(json::object options);
  ImagePlaces places(const json::object& options) const {
    const auto folder = read_image_folder(images()).value();
    return divide_images(folder, options).value().places;
  }

  const ScopedVariable state_folder_{"XDG_STATE_HOME", path("state")};
  std::uint64_t state_ = 1;
};

std::string refusal(const Result<json::object>& completed) {
  return completed ? "taken" : completed.error().message;
}

TEST_F(OwnImages, AreCountedWhenASpecIsRead) {
  const auto options = completed({});
  ASSERT_TRUE(options.has_value()) << options.error().message;
  const auto sizes = facts().sizes(*options);
  EXPECT_EQ(sizes.private_train + sizes.private_validation, 60);
  EXPECT_GE(sizes.private_validation, 2);
  EXPECT_LE(sizes.private_validation, 14);
  EXPECT_EQ(sizes.test, 12);
  EXPECT_EQ(sizes.classes, 3);
  EXPECT_EQ(sizes.image, (std::array<std::int64_t, 3>{3, kSide, kSide}));
  // The first test/ file decides that only those are tested on; before it a tenth was.
  EXPECT_EQ(facts().sizes(completed({{"test", 3}}).value()).test, 3);
  // The same again with everything given, as a worker sees it.
  EXPECT_EQ(complete_options(facts(), *options).value(), *options);
}

TEST_F(OwnImages, OptionsThatDoNotFitAreRefused) {
  EXPECT_NE(refusal(complete_options(facts(), resolve_options(facts().options, {}, "x").value()))
                .find("needs 'path'"),
            std::string::npos);
  EXPECT_NE(refusal(completed({{"path", "nowhere"}})).find("HYFREEDP_DATA, which is not set"),
            std::string::npos);
  EXPECT_NE(refusal(completed({{"train", 60}})).find("train asks for 60 images"), std::string::npos);
  EXPECT_NE(refusal(completed({{"test", 13}})).find("test asks for 13 images, but there are 12"),
            std::string::npos);
  EXPECT_NE(refusal(completed({{"classes", 4}})).find("has 3 classes, not 4"), std::string::npos);
  EXPECT_NE(refusal(completed({{"network", "vit"}})).find("no effect"), std::string::npos);
  EXPECT_NE(refusal(completed({{"features", "network"}})).find("needs 'network'"), std::string::npos);
  EXPECT_NE(refusal(completed({{"features", "network"}, {"network", "vit"}})).find("needs 'weights'"),
            std::string::npos);
}

// So that a spec can be planned and priced where its images are not.
TEST_F(OwnImages, AShiftSetIsTheImagesOfTestAlone) {
  const auto own = completed({}).value();
  fs::create_directories(path("shifted"));
  fs::rename(images() + "/test", path("shifted/test"));
  const json::object given{{"path", path("shifted")}, {"side", kSide}};
  const auto resolved = resolve_options(facts().options, given, "image-folder").value();
  const auto panel = complete_options(facts(), resolved);
  ASSERT_TRUE(panel.has_error());
  EXPECT_NE(panel.error().message.find("none is in the part for train"), std::string::npos)
      << panel.error().message;
  const auto options = complete_options(facts(), test_alone(facts(), resolved).value());
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(check_ood_test("shifted", sizes(facts(), *options), sizes(facts(), own)));
  const auto data = load_dataset("image-folder", *options);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->private_train.features.size(0), 0);
  EXPECT_EQ(data->private_validation.features.size(0), 0);
  EXPECT_EQ(data->test.labels.bincount().min().item<std::int64_t>(), 4);
  EXPECT_EQ(data->test.labels.size(0), 12);

  // Of a folder with other images too, those of test/ alone.
  fs::copy(path("shifted/test"), images() + "/test", fs::copy_options::recursive);
  const auto both =
      complete_options(
          facts(),
          test_alone(
              facts(),
              resolve_options(facts().options, {{"path", images()}, {"side", kSide}}, "image-folder").value())
              .value())
          .value();
  EXPECT_EQ(sizes(facts(), both).private_train, 0);
  EXPECT_TRUE(at::equal(load_dataset("image-folder", both)->test.features, data->test.features));

  EXPECT_TRUE(check_same_classes(*options, own));
  fs::rename(path("shifted/test/bee"), path("shifted/test/wasp"));
  const auto other = check_same_classes(*options, own);
  ASSERT_TRUE(other.has_error());
  EXPECT_NE(other.error().message.find("its class 1 is 'cat', and that of"), std::string::npos)
      << other.error().message;
}

TEST_F(OwnImages, OneTooLargeToBeReadIsRefusedWhenASpecIsRead) {
  const auto large = images() + "/train/ant/large.ppm";
  std::ofstream(large) << "P6";
  std::filesystem::resize_file(large, (std::uint64_t{1} << 28) + 1);
  EXPECT_NE(refusal(completed({})).find("large.ppm has 268435457 bytes; at most 268435456 are read"),
            std::string::npos)
      << refusal(completed({}));
}

TEST_F(OwnImages, ThatAreNotHereArePlannedByTheSizesOfTheSpec) {
  const json::object sizes = {
      {"path", "nowhere"}, {"train", 30}, {"validation", 5}, {"test", 9}, {"classes", 4}};
  const auto options = completed(sizes);
  ASSERT_TRUE(options.has_value()) << options.error().message;
  EXPECT_EQ(facts().sizes(*options).private_train, 30);
  EXPECT_FALSE(options->contains("files_mark"));
  EXPECT_NE(check_present(facts(), *options).error().message.find("no such file or folder"),
            std::string::npos);
  EXPECT_TRUE(load_dataset("image-folder", *options).has_error());
  // They came after the spec was read.
  auto later = *options;
  later["path"] = images();
  EXPECT_NE(load_dataset("image-folder", later).error().message.find("was not here when the spec was read"),
            std::string::npos);
  later["sha256"] = own_files_checksum(images()).value();
  later["validation"] = 1;
  EXPECT_NE(load_dataset("image-folder", later).error().message.find("has 3 classes, not 4"),
            std::string::npos);
  auto fewer = sizes;
  fewer.erase("classes");
  EXPECT_NE(refusal(completed(fewer)).find("must give train, validation, test and classes"),
            std::string::npos);
  EXPECT_TRUE(check_present(facts(), completed({}).value()).has_value());
}

TEST_F(OwnImages, AChangedFileIsNoticed) {
  const auto before = completed({}).value();
  write("train/ant/00.ppm");
  EXPECT_NE(refusal(complete_options(facts(), before)).find("have changed since"), std::string::npos);
  const auto loaded = load_dataset("image-folder", before);
  ASSERT_TRUE(loaded.has_error());
  EXPECT_NE(loaded.error().message.find("have changed since"), std::string::npos);
}

// Nothing else decides where a file is, so that a smaller part is the beginning of a larger one.
TEST_F(OwnImages, PlacesFollowFromNames) {
  const auto all = places(completed({}).value());
  const auto some = places(completed({{"validation", 2}, {"train", 20}, {"test", 5}}).value());
  EXPECT_EQ(all.size(), 72u);
  EXPECT_EQ(some.size(), 27u);
  std::set<std::pair<int, std::int64_t>> seen;
  for (const auto& [name, place] : some) {
    EXPECT_EQ(all.at(name), place) << name;
    EXPECT_TRUE(seen.insert({static_cast<int>(place.split), place.row}).second);
    EXPECT_EQ(place.split == Split::test, name.starts_with("test/")) << name;
  }
  // The classes are mixed.
  std::set<std::int64_t> first;
  for (const auto& [name, place] : all) {
    if (place.split == Split::private_train && place.row < 10) first.insert(place.label);
  }
  EXPECT_EQ(first.size(), 3u);
}

// Neither other files nor the folder around all move a file from one part to another.
TEST_F(OwnImages, OtherFilesDoNotMoveOne) {
  fs::remove_all(images() + "/test");
  for (const char* name : {"ant", "bee", "cat"}) {
    for (int i = 20; i < 120; ++i) write(fmt::format("train/{}/{:03}.ppm", name, i));
  }
  const auto all = places(completed({}).value());
  std::map<Split, int> sizes;
  for (const auto& [name, place] : all) ++sizes[place.split];
  // 360 files, of which each is in the test part with probability 1/10: 36 +- 5.7.
  EXPECT_NEAR(sizes[Split::test], 36, 6 * 5.7);
  EXPECT_NEAR(sizes[Split::private_validation], 32, 6 * 5.4);
  for (int i = 20; i < 120; i += 2) fs::remove(images() + fmt::format("/train/bee/{:03}.ppm", i));
  for (const auto& [name, place] : places(completed({}).value()))
    EXPECT_EQ(place.split, all.at(name).split) << name;
  fs::create_directories(path("around"));
  fs::rename(images(), path("around/photos"));
  fs::rename(path("around"), images());
  for (const auto& [name, place] : places(completed({}).value())) {
    ASSERT_TRUE(name.starts_with("photos/")) << name;
    EXPECT_EQ(place.split, all.at(name.substr(7)).split) << name;
  }
}

// Options are exported; a checksum would tell whether a guess of all images is right.
TEST_F(OwnImages, AreKnownByAMarkUnderASecretKey) {
  const auto mark = completed({}).value().at("files_mark").as_string();
  const auto sha256 = own_files_checksum(images()).value();
  EXPECT_EQ(mark.size(), 64u);
  EXPECT_NE(mark, sha256);
  EXPECT_EQ(fs::status(path("state/hyfreedp/data.key")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(completed({}).value().at("files_mark").as_string(), mark);
  {
    const ScopedVariable other("XDG_STATE_HOME", path("other state"));
    EXPECT_NE(completed({}).value().at("files_mark").as_string(), mark);
  }
  // A published one is compared, and is the same on every machine.
  const auto published = completed({{"sha256", sha256}}).value();
  EXPECT_FALSE(published.contains("files_mark"));
  EXPECT_NE(refusal(completed({{"sha256", std::string(64, '0')}})).find("they have changed"),
            std::string::npos);
}

TEST_F(OwnImages, AreBytesThatStandForNumbers) {
  const auto options = completed({{"normalise", "imagenet"}}).value();
  const auto data = load_dataset("image-folder", options);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  EXPECT_EQ(data->private_train.features.scalar_type(), at::kByte);
  for (const auto& [name, place] : places(options)) {
    const auto& split = data->split(place.split);
    EXPECT_TRUE(at::equal(split.features[place.row], expected(name, kSide))) << name;
    EXPECT_EQ(split.labels[place.row].item<std::int64_t>(), place.label) << name;
  }
  const auto& train = data->private_train;
  const auto values = train.values(3, 2, at::kDouble);
  const std::array<double, 3> mean = {0.485, 0.456, 0.406};
  const std::array<double, 3> deviation = {0.229, 0.224, 0.225};
  for (const std::int64_t column : {std::int64_t{0}, std::int64_t{65}, std::int64_t{191}}) {
    const auto channel = static_cast<std::size_t>(column / (kSide * kSide));
    const auto byte = static_cast<double>(train.features[4][column].item<std::uint8_t>());
    EXPECT_NEAR(values[1][column].item<double>(), (byte / 255 - mean[channel]) / deviation[channel], 1e-12);
  }
}

TEST_F(OwnImages, AreReadOnceAndThenCached) {
  const auto options = completed({}).value();
  EXPECT_FALSE(fs::exists(cache_file(facts(), options, "cpu")->path));
  const auto first = load_dataset("image-folder", options).value();
  expect_foretold_cache(facts(), options);
  fs::remove_all(images() + "/train");
  const auto again = load_dataset("image-folder", options);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(at::equal(again->private_train.features, first.private_train.features));
}

// By their content, in a folder and in an archive of it alike, when a spec is read and when it
// runs.
TEST_F(OwnImages, AreToldByTheirContent) {
  const auto before = completed({}).value();
  EXPECT_FALSE(before.contains("by_content"));
  for (const char* name : {"train/ant/20", "train/ant/21.jpe", "train/bee/22.pnm", "test/cat/23.jxl"})
    write(name);
  std::ofstream(images() + "/train/bee/notes.txt") << "none";
  Notes notes;
  const json::object given{{"path", images()}, {"side", kSide}};
  const auto resolved = resolve_options(facts().options, given, "image-folder").value();
  const auto options = complete_options(facts(), resolved, &notes);
  ASSERT_TRUE(options) << options.error().message;
  const auto n = facts().sizes(*options);
  EXPECT_EQ(n.private_train + n.private_validation, 63);
  EXPECT_EQ(n.test, 13);
  // Part of a run's identity: with the same counts earlier versions took other images.
  EXPECT_EQ(options->at("by_content"), 4);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0], images() +
                          ": 76 images are read, 4 of them by what they contain, not by their names; left "
                          "out is 1 file that is no JPEG, PNG or PPM, or hidden: train/bee/notes.txt");
  const auto data = load_dataset("image-folder", *options);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  const auto all = places(*options);
  EXPECT_EQ(all.size(), 76U);
  for (const auto& [name, place] : all) {
    EXPECT_TRUE(at::equal(data->split(place.split).features[place.row], expected(name, kSide))) << name;
  }
  expect_foretold_cache(facts(), *options);
  EXPECT_TRUE(check_data(facts(), *options).has_value());

  TarFile tar(path("own.tar.gz"));
  for (const auto& entry : fs::recursive_directory_iterator(images())) {
    if (!entry.is_regular_file()) continue;
    tar.add("own/" + entry.path().lexically_relative(images()).string(),
            read_file(entry.path().string()).value());
  }
  tar.close();
  const auto packed = completed({{"path", path("own.tar.gz")}});
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(facts().sizes(*packed), n);
  EXPECT_TRUE(at::equal(load_dataset("image-folder", *packed).value().test.features, data->test.features));
}

TEST_F(OwnImages, ClassesWithoutImagesAreSaid) {
  const auto notes_of = [this] {
    Notes notes;
    const json::object given{{"path", images()}, {"side", kSide}};
    const auto options =
        complete_options(facts(), resolve_options(facts().options, given, "image-folder").value(), &notes);
    EXPECT_TRUE(options) << options.error().message;
    return notes;
  };
  EXPECT_EQ(notes_of(), Notes());
  fs::create_directories(images() + "/train/zebra");
  fs::create_directories(images() + "/train/yak");
  std::ofstream(images() + "/train/yak/.DS_Store") << "none";
  fs::create_directories(images() + "/train/.hidden");
  fs::create_directories(images() + "/test/zebra");
  fs::remove_all(images() + "/test/bee");
  const auto notes = notes_of();
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(
      notes[1],
      images() + ": the folders test/zebra, train/yak, train/zebra have no image, so they are no classes");
  EXPECT_EQ(notes[2], images() + ": no image of test is of the class bee: the accuracy says nothing of it");
}

// The owner's own validation images, under the names that other programs give them.
TEST_F(OwnImages, MayHaveAValidationPartOfTheirOwn) {
  const auto before = completed({}).value();
  for (const char* folder : {"val", "valid", "validation"}) {
    SCOPED_TRACE(folder);
    for (const char* name : {"ant", "bee", "cat"}) {
      for (int i = 0; i < 5; ++i) write(fmt::format("{}/{}/{:02}.ppm", folder, name, i));
    }
    const auto options = completed({});
    ASSERT_TRUE(options.has_value()) << options.error().message;
    const auto n = facts().sizes(*options);
    EXPECT_EQ(n.private_train, 60);
    EXPECT_EQ(n.private_validation, 15);
    EXPECT_EQ(n.test, 12);
    for (const auto& [name, place] : places(*options)) {
      EXPECT_EQ(name.starts_with(folder), place.split == Split::private_validation) << name;
    }
    fs::remove_all(images() + "/" + folder);
  }
  EXPECT_EQ(completed({}).value(), before);
  // Without test images one in ten of train is the test part, and none of val.
  for (const char* name : {"ant", "bee", "cat"}) {
    fs::rename(images() + "/test/" + name, images() + "/t-" + name);
    for (int i = 0; i < 30; ++i) write(fmt::format("val/{}/{:02}.ppm", name, i));
    fs::remove_all(images() + "/t-" + name);
  }
  const auto n = facts().sizes(completed({}).value());
  EXPECT_EQ(n.private_validation, 90);
  EXPECT_EQ(n.private_train + n.test, 60);
  EXPECT_GT(n.test, 0);
}

TEST_F(OwnImages, ThatAreToBeTurnedAreCounted) {
  for (const char* name : {"20.jpg", "21.jpg"}) {
    const std::string exif("Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0", 28);
    auto jpeg = read_file(std::string(HYFREEDP_TEST_DATA) + "/images/decode/small.jpg").value();
    jpeg.insert(2, std::string("\xFF\xE1\0\x1E", 4) + exif);
    std::ofstream(images() + "/train/ant/" + name, std::ios::binary) << jpeg;
  }
  Notes notes;
  const json::object given{{"path", images()}, {"side", kSide}};
  const auto options =
      complete_options(facts(), resolve_options(facts().options, given, "image-folder").value(), &notes);
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("of 2 of 74 images EXIF says that they are to be turned"), std::string::npos)
      << notes[0];
  EXPECT_TRUE(load_dataset("image-folder", *options).has_value());
}

// Truncated, empty, another format, damaged, not readable as a file: all in one answer, whoever
// asks.
TEST_F(OwnImages, AllThatAreBrokenAreNamedAtOnce) {
  const auto damage = [this](const char* name, const std::string& bytes) {
    std::ofstream(images() + "/" + name, std::ios::binary | std::ios::trunc) << bytes;
  };
  const auto file = [](const char* name) {
    return read_file(std::string(HYFREEDP_TEST_DATA) + "/images/decode/" + name).value();
  };
  auto png = file("rgb8.png");
  png[45] = static_cast<char>(png[45] ^ 1);
  const auto jpeg = file("small.jpg");
  const std::vector<std::pair<const char*, std::string>> seen_by_decoding = {
      {"train/ant/30.jpg", jpeg.substr(0, jpeg.size() - 9)},
      {"train/bee/31.png", png},
      {"train/cat/32.ppm", "P6 12 10 255\nshort"},
      {"test/ant/33.ppm", "P6 1 1 65535\nabcdef"}};
  for (const auto& [name, bytes] : seen_by_decoding) damage(name, bytes);
  const auto planned = completed({});
  ASSERT_TRUE(planned) << "only its first bytes are read when a spec is read: " << planned.error().message;
  const auto names_all = [](const std::string& message, const auto& broken) {
    for (const auto& [name, bytes] : broken) {
      EXPECT_NE(message.find(name), std::string::npos) << name << " is not in: " << message;
    }
    EXPECT_EQ(std::ranges::count(message, '\n'), static_cast<std::ptrdiff_t>(broken.size()) - 1) << message;
  };
  const auto checked = check_data(facts(), *planned);
  ASSERT_TRUE(checked.has_error());
  names_all(checked.error().message, seen_by_decoding);
  const auto loaded = load_dataset("image-folder", *planned);
  ASSERT_TRUE(loaded.has_error());
  names_all(loaded.error().message, seen_by_decoding);

  auto all = seen_by_decoding;
  for (const auto& [name, bytes] :
       std::vector<std::pair<const char*, std::string>>{{"train/ant/34.jpg", ""},
                                                        {"train/bee/35.jpg", "<!DOCTYPE html>"},
                                                        {"train/cat/36.webp", "RIFF....WEBP"}}) {
    damage(name, bytes);
    all.emplace_back(name, bytes);
  }
  fs::create_symlink("00.ppm", images() + "/train/ant/37.ppm");
  all.emplace_back("train/ant/37.ppm", "");
  damage("train/38.ppm", "P6 1 1 255\nabc");
  all.emplace_back("train/38.ppm", "");
  names_all(refusal(completed({})), all);
}

// A spec that takes a part of the images runs although others are broken.
TEST_F(OwnImages, ThatAreNotTakenMayBeBroken) {
  std::string last;
  std::int64_t row = -1;
  for (const auto& [name, place] : places(completed({}).value())) {
    if (place.split != Split::private_train || place.row <= row) continue;
    row = place.row;
    last = name;
  }
  std::ofstream(images() + "/" + last, std::ios::trunc) << "<html>";
  EXPECT_NE(refusal(completed({})).find(last), std::string::npos);
  const auto options = completed({{"train", row}});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(load_dataset("image-folder", *options).has_value());
}

TEST_F(OwnImages, ADamagedImageIsNamed) {
  std::ofstream(images() + "/train/bee/03.ppm", std::ios::binary | std::ios::trunc) << "P6 12 10 255\nshort";
  const auto loaded = load_dataset("image-folder", completed({}).value());
  ASSERT_TRUE(loaded.has_error());
  EXPECT_NE(loaded.error().message.find("train/bee/03.ppm"), std::string::npos) << loaded.error().message;
}

// 20 photographs of 27 MB each, as bytes, are 540 MB.
TEST_F(OwnImages, OfManyPixelsAreNotAllInMemoryAtOnce) {
  fs::remove_all(images());
  for (int i = 0; i < 20; ++i) {
    const auto file = fmt::format("{}/train/{}/{}.pgm", images(), i % 2 == 0 ? "a" : "b", i);
    write_file_atomically(file,
                          "P5 3000 3000 255\n" + std::string(std::size_t{9'000'000}, static_cast<char>(i)))
        .value();
  }
  const auto options = completed({});
  ASSERT_TRUE(options.has_value()) << options.error().message;
  const PeakMemory memory;
  const auto data = load_dataset("image-folder", *options);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  EXPECT_LT(memory.megabytes(), 350);
  for (const auto& [name, place] : places(*options)) {
    const auto i = std::stoi(name.substr(name.rfind('/') + 1));
    EXPECT_EQ(data->split(place.split).features[place.row][100].item<int>(), i) << name;
  }
}

// A small network of images of 8 pixels, frozen.
json::object OwnImages::with_vit(json::object options) {
  const auto source = fs::path(HYFREEDP_TEST_DATA) / "models" / "vit_token";
  const auto folder = path("vit");
  fs::create_directories(folder);
  const auto over = fs::copy_options::overwrite_existing;
  fs::copy_file(source / "config.json", folder + "/config.json", over);
  fs::copy_file(source / "weights.safetensors", folder + "/model.safetensors", over);
  options["features"] = "network";
  options["network"] = "vit";
  options["weights"] = folder;
  options["side"] = 8;
  return options;
}

models::Network frozen_vit(const json::object& options) {
  const auto frozen = frozen_network(options).value();
  const models::ModelInput input{.features = 192, .classes = 2, .image = {3, 8, 8}};
  return models::make_model(frozen.name, frozen.options, input, random::key_from_seed("any"), torch::kFloat32)
      .value();
}

at::Tensor numbers(const at::Tensor& bytes) { return bytes.to(at::kFloat).div(255).sub(0.5).div(0.5); }

TEST_F(OwnImages, AFrozenNetworkMakesFeatures) {
  const auto options = completed(with_vit({}));
  ASSERT_TRUE(options.has_value()) << options.error().message;
  const auto data = load_dataset("image-folder", *options);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  const auto sizes = facts().sizes(*options);
  EXPECT_EQ(data->private_train.features.sizes().vec(),
            (std::vector<std::int64_t>{sizes.private_train, sizes.features}));
  EXPECT_EQ(sizes.image[0], 0);
  expect_foretold_cache(facts(), *options);
  auto unknown = *options;
  unknown.erase("weights_sha256");
  EXPECT_EQ(cache_file(facts(), unknown, "cpu")->path, "");

  const auto network = frozen_vit(*options);
  for (const auto& [name, place] : places(*options)) {
    const auto bytes = expected(name, 8).unsqueeze(0);
    const auto wanted = network.features(numbers(bytes))[0];
    EXPECT_TRUE(at::allclose(data->split(place.split).features[place.row], wanted, 1e-4, 1e-5)) << name;
  }
  auto other = *options;
  other["weights_sha256"] = std::string(64, '0');
  EXPECT_NE(refusal(complete_options(facts(), other)).find("but 'weights_sha256' is 000"), std::string::npos);
}

// Finite weights may give infinite features; with them every run would end with a loss of NaN.
TEST_F(OwnImages, FeaturesThatAreNotFiniteAreRefused) {
  const auto given = with_vit({});
  const auto file = path("vit") + "/model.safetensors";
  auto weights = models::read_weights(file).value();
  for (auto& [name, value] : weights) value = value.clone();
  weights.at("norm.weight").fill_(3e38);
  ASSERT_TRUE(models::write_safetensors(file, weights));
  const auto options = completed(given);
  ASSERT_TRUE(options.has_value()) << options.error().message;
  const auto data = load_dataset("image-folder", *options);
  ASSERT_FALSE(data.has_value());
  EXPECT_NE(data.error().message.find("gives features that are not finite"), std::string::npos)
      << data.error().message;
  EXPECT_FALSE(fs::exists(cache_file(facts(), *options, "cpu")->path));
}

// [3, 8, 8], moved by up to a pixel each way with the border mirrored, and mirrored left to right:
// all 18 ways.
at::Tensor all_moves(const at::Tensor& image) {
  const auto inside = [](std::int64_t at) { return at < 0 ? -at : at > 7 ? 14 - at : at; };
  std::vector<at::Tensor> moved;
  for (int which = 0; which < 18; ++which) {
    auto copy = at::empty_like(image);
    for (std::int64_t y = 0; y < 8; ++y) {
      for (std::int64_t x = 0; x < 8; ++x) {
        const auto row = inside(y + which % 9 / 3 - 1);
        const auto column = inside((which < 9 ? x : 7 - x) + which % 3 - 1);
        copy.select(1, y).select(1, x).copy_(image.select(1, row).select(1, column));
      }
    }
    moved.push_back(copy);
  }
  return at::stack(moved);
}

TEST_F(OwnImages, FeaturesOfRandomCopiesTakeTheTrainingImagesPlace) {
  constexpr std::int64_t kCopies = 5;
  const auto options = completed(with_vit({{"copies", kCopies}}));
  ASSERT_TRUE(options.has_value()) << options.error().message;
  const auto sizes = facts().sizes(*options);
  EXPECT_EQ(sizes.copies, kCopies);
  const auto data = load_dataset("image-folder", *options);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  const auto& train = data->private_train;
  EXPECT_EQ(train.copies, kCopies);
  EXPECT_EQ(train.features.sizes().vec(),
            (std::vector<std::int64_t>{sizes.private_train, kCopies * sizes.features}));
  EXPECT_EQ(data->test.copies, 1);
  expect_foretold_cache(facts(), *options);

  const auto network = frozen_vit(*options);
  std::set<std::int64_t> ways;
  for (const auto& [name, place] : places(*options)) {
    const auto image = expected(name, 8);
    if (place.split != Split::private_train) {
      const auto wanted = network.features(numbers(image.unsqueeze(0)))[0];
      EXPECT_TRUE(at::allclose(data->split(place.split).features[place.row], wanted, 1e-4, 1e-5)) << name;
      continue;
    }
    const auto possible = network.features(numbers(all_moves(image.view({3, 8, 8})).view({18, 192})));
    for (std::int64_t copy = 0; copy < kCopies; ++copy) {
      const auto found = train.features[place.row].view({kCopies, -1})[copy];
      const auto [distance, way] = at::min((possible - found).abs().amax(1), 0);
      EXPECT_LT(distance.item<double>(), 1e-4) << name << ", copy " << copy;
      ways.insert(way.item<std::int64_t>());
    }
  }
  EXPECT_GT(ways.size(), 6u);

  // Fewer copies are the first of these, and no other image's presence moves them.
  const auto first_of = [&](const std::string& name, const json::object& of, const Dataset& some) {
    for (const auto& [other, place] : places(of)) {
      if (other == name && place.split == Split::private_train) {
        return some.private_train.features[place.row].narrow(0, 0, sizes.features);
      }
    }
    return at::empty({0});
  };
  std::string kept, removed;
  for (const auto& [name, place] : places(*options)) {
    if (place.split != Split::private_train) continue;
    (removed.empty() ? removed : kept) = name;
  }
  const auto before = first_of(kept, *options, *data);
  fs::remove(images() + "/" + removed);
  const auto fewer = completed(with_vit({{"copies", 2}}));
  ASSERT_TRUE(fewer.has_value()) << fewer.error().message;
  const auto again = load_dataset("image-folder", *fewer);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(at::allclose(first_of(kept, *fewer, *again), before, 1e-4, 1e-5)) << kept;
  EXPECT_NE(refusal(completed({{"copies", 2}})).find("no effect"), std::string::npos);
}

// What every block gives, at the norm that is asked for, in a cache of its own.
TEST_F(OwnImages, AFrozenNetworksBlocksAreJoined) {
  const auto plain = with_vit({});
  auto given = plain;
  given["layer"] = "block-quarters";
  given["feature_norm"] = 50;
  const auto options = completed(given);
  ASSERT_TRUE(options.has_value()) << options.error().message;
  const auto last = completed(plain).value();
  EXPECT_FALSE(last.contains("layer"));
  EXPECT_FALSE(last.contains("feature_norm"));
  EXPECT_NE(cache_file(facts(), *options, "cpu")->path, cache_file(facts(), last, "cpu")->path);
  const auto data = load_dataset("image-folder", *options);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  expect_foretold_cache(facts(), *options);

  EXPECT_EQ(frozen_network(*options).value().options.at("pool"), "block-quarters");
  const auto network = frozen_vit(*options);
  for (const auto& [name, place] : places(*options)) {
    const auto bytes = expected(name, 8).unsqueeze(0);
    auto wanted = network.features(numbers(bytes))[0];
    wanted = wanted * (50 / wanted.norm());
    EXPECT_EQ(wanted.size(0), facts().sizes(*options).features);
    EXPECT_TRUE(at::allclose(data->split(place.split).features[place.row], wanted, 1e-4, 1e-4)) << name;
  }
  EXPECT_NE(refusal(completed({{"layer", "block-tokens"}})).find("'layer' has no effect"), std::string::npos);
  EXPECT_NE(refusal(completed({{"features", "network"},
                               {"network", "squeezenet"},
                               {"weights", path("vit")},
                               {"layer", "block-tokens"}}))
                .find("needs a vision transformer"),
            std::string::npos);
}

}  // namespace
}  // namespace hyfreedp::datasets
