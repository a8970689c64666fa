// Layouts of image folders, and two real sets of images.
#include "datasets/image/image_folder.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

#include "datasets/image/decode.h"
#include "harness/base/files.h"
#include "tests/datasets/scratch.h"

namespace hyfreedp::datasets {
namespace image_folder_test {

using Names = std::vector<std::string>;
constexpr auto kTrain = ImageSplit::train;
constexpr auto kTest = ImageSplit::test;

std::string refusal(const Names& names, const std::vector<ClassTable>& tables = {}) {
  const auto folder = image_folder_of("there", names, tables);
  if (folder) return "listed";
  EXPECT_TRUE(folder.error().message.starts_with("there: ")) << folder.error().message;
  return folder.error().message;
}

testing::AssertionResult mentions(const std::string& message, const std::string& what) {
  if (message.find(what) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << what << "' in: " << message;
}

TEST(ImageFolderOf, TrainAndTestWithSortedClasses) {
  const auto folder = image_folder_of(
      "there", {"train/cat/2.jpg", "test/ant/1.JPEG", "train/cat/1.png", "train/ant/1.ppm", "train/bee/7.JPG",
                "README.md", "train/cat/.hidden.png", "train/ant/._1.ppm"});
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  EXPECT_EQ(folder->classes, (Names{"ant", "bee", "cat"}));
  EXPECT_EQ(folder->files, (std::vector<ImageFile>{{kTest, 0, "test/ant/1.JPEG"},
                                                   {kTrain, 0, "train/ant/1.ppm"},
                                                   {kTrain, 1, "train/bee/7.JPG"},
                                                   {kTrain, 2, "train/cat/1.png"},
                                                   {kTrain, 2, "train/cat/2.jpg"}}));
  EXPECT_EQ(folder->left_out, (Names{"README.md", "train/ant/._1.ppm", "train/cat/.hidden.png"}));
}

TEST(ImageFolderOf, UndividedAlsoWithAClassCalledTrain) {
  const auto folder = image_folder_of("there", {"train/1.png", "bus/1.png", "car/1.png"});
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  EXPECT_EQ(folder->classes, (Names{"bus", "car", "train"}));
  for (const auto& file : folder->files) EXPECT_EQ(file.split, ImageSplit::undivided);
  EXPECT_EQ(folder->files.back(), (ImageFile{ImageSplit::undivided, 2, "train/1.png"}));
}

TEST(ImageFolderOf, OneFolderAroundAllIsTakenOff) {
  for (const Names& names : {Names{"mine/train/a/1.png", "mine/train/b/1.png", "mine/test/b/1.png"},
                             Names{"mine/a/1.png", "mine/b/1.png", "about.txt"}}) {
    const auto folder = image_folder_of("there", names);
    ASSERT_TRUE(folder.has_value()) << folder.error().message;
    EXPECT_EQ(folder->classes, (Names{"a", "b"}));
    EXPECT_TRUE(folder->files.back().name.starts_with("mine/"));
  }
  // train alone is no such folder.
  const auto folder = image_folder_of("there", {"train/a/1.png", "train/b/1.png"});
  ASSERT_TRUE(folder.has_value());
  EXPECT_EQ(folder->files.front().split, kTrain);
}

const ClassTable kTable = {"test/labels.csv", "Filename;Width;ClassId\r\n1.ppm;3;7\r\n2.ppm;3;12\r\n"};

TEST(ImageFolderOf, ATableHasTheClassesOfATestSet) {
  const Names names = {"train/00007/1.png", "train/00012/1.png", "test/1.png", "test/2.png",
                       "test/labels.csv"};
  const auto folder =
      image_folder_of("there", names, {{"test/other.csv", "Filename,Width\n1.ppm,3\n"}, kTable});
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  EXPECT_EQ(folder->files[0], (ImageFile{kTest, 0, "test/1.png"}));
  EXPECT_EQ(folder->files[1], (ImageFile{kTest, 1, "test/2.png"}));
  EXPECT_TRUE(mentions(refusal(names), "test/1.png is in no class's folder"));
  EXPECT_TRUE(mentions(refusal(names, {kTable, kTable}), "labels.csv:2: has 1.ppm a second time"));
  EXPECT_TRUE(mentions(refusal(names, {{"t.csv", "ClassId,Filename\n7\n"}}), "t.csv:2: has 1 fields"));
  EXPECT_TRUE(mentions(refusal(names, {{"t.csv", "ClassId,Filename\n8,1.ppm"}}), "class 8"));
  auto twins = names;
  twins.push_back("train/7/1.png");
  const auto exact = image_folder_of("there", twins, {kTable});
  ASSERT_TRUE(exact.has_value()) << "7 is a folder's whole name";
  twins.push_back("train/012/1.png");
  EXPECT_TRUE(mentions(refusal(twins, {kTable}), "class 12")) << "00012 or 012?";
}

TEST(ImageFolderOf, TestImagesAloneHaveTheClassesOfTheirFolders) {
  const auto folder = image_folder_of("there", {"test/b/1.png", "test/a/2.png", "test/a/1.png"});
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_EQ(folder->classes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(folder->files, (std::vector<ImageFile>{{ImageSplit::test, 0, "test/a/1.png"},
                                                   {ImageSplit::test, 0, "test/a/2.png"},
                                                   {ImageSplit::test, 1, "test/b/1.png"}}));
}

TEST(ImageFolderOf, OtherLayoutsAreErrors) {
  EXPECT_TRUE(mentions(refusal({}), "no image"));
  EXPECT_TRUE(mentions(refusal({"a/1.txt", "b/.1.png"}), "no image"));
  EXPECT_TRUE(mentions(refusal({"1.png", "2.png"}), "1.png is not in a class's folder"));
  EXPECT_TRUE(mentions(refusal({"a/1.png", "2.png"}), "2.png is not in a class's folder"));
  EXPECT_TRUE(mentions(refusal({"a/1.png", "a/2.png"}), "one class, a"));
  EXPECT_TRUE(mentions(refusal({"train/1.png", "test/1.png"}), "without their classes"));
  EXPECT_TRUE(mentions(refusal({"test/a/1.png", "test/1.png"}), "one class, a"));
  EXPECT_TRUE(mentions(refusal({"train/a/1.png", "train/b/1.png", "dev/a/1.png"}), "dev/ has an image"));
  EXPECT_TRUE(mentions(refusal({"train/a/1.png", "train/b/1.png", "val/c/1.png"}),
                       "the class c, which train has not"));
  EXPECT_TRUE(mentions(refusal({"train/a/1.png", "train/b/1.png", "train/1.png"}), "train/1.png"));
  EXPECT_TRUE(mentions(refusal({"train/a/b/1.png", "train/b/1.png"}), "train/a/b/1.png"));
  EXPECT_TRUE(mentions(refusal({"train/a/1.png", "train/b/1.png", "test/c/1.png"}),
                       "the class c, which train has not"));
  EXPECT_TRUE(mentions(refusal({"a/1.png", "b/1.png", "b/2.webp"}), "b/2.webp is not read"));
  EXPECT_TRUE(mentions(refusal({"a/1.png", "b/1.png", "a/1.png"}), "a/1.png is in it twice"));
}

// macOS writes accents behind their letters, others in one character with them.
TEST(ImageFolderOf, TwoUnicodeFormsOfANameAreOneClass) {
  const std::string apart = "cafe\xCC\x81", composed = "caf\xC3\xA9";
  const auto folder = image_folder_of(
      "there", {"train/" + composed + "/1.png", "train/the/1.png", "test/" + apart + "/1.png"});
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  EXPECT_EQ(folder->classes, (Names{composed, "the"}));
  EXPECT_EQ(folder->files[0], (ImageFile{kTest, 0, "test/" + apart + "/1.png"}));
  ASSERT_EQ(folder->joined.size(), 1U);
  EXPECT_TRUE(mentions(folder->joined[0], "caf\\xc3\\xa9 and cafe\\xcc\\x81 are one class"));
  // Also where both are in one part; the numbers follow the first, by byte.
  const auto both = image_folder_of("there", {composed + "/1.png", apart + "/2.png", "tea/1.png"});
  ASSERT_TRUE(both.has_value()) << both.error().message;
  EXPECT_EQ(both->classes, (Names{apart, "tea"}));
  EXPECT_EQ(both->files[0].label, 0);
  EXPECT_EQ(both->files[1].label, 0);
  // One form alone stays as it is; bytes that are no UTF-8 are compared as they are.
  const auto alone = image_folder_of("there", {apart + "/1.png", "\xE9/1.png", "\xE8/1.png"});
  ASSERT_TRUE(alone.has_value()) << alone.error().message;
  EXPECT_EQ(alone->classes, (Names{apart, "\xE8", "\xE9"}));
  EXPECT_TRUE(alone->joined.empty());
  EXPECT_TRUE(is_same_class(apart, composed));
  EXPECT_FALSE(is_same_class("cafe", composed));
}

TEST(ImageFolderOf, AllFilesInNoPlaceAreNamedAtOnce) {
  const auto message = refusal(
      {"train/a/1.png", "train/b/1.png", "dev/a/1.png", "train/3.png", "train/a/4.webp", "test/c/5.png"});
  for (const char* name : {"dev/a/1.png", "train/3.png", "train/a/4.webp", "test/c/5.png"}) {
    EXPECT_TRUE(mentions(message, name));
  }
  Names many = {"a/1.png", "b/1.png"};
  for (int i = 0; i < 30; ++i) many.push_back(std::to_string(i) + ".png");
  EXPECT_TRUE(mentions(refusal(many), "... and 10 more, 30 in all."));
  // So are parts that are called in other letters.
  Names capitals;
  for (int i = 0; i < 30; ++i) {
    for (const char* part : {"Train/a", "Train/b", "Test/a", "VAL/b"}) {
      capitals.push_back(fmt::format("{}/{}.png", part, i));
    }
  }
  const auto lower = refusal(capitals);
  EXPECT_TRUE(
      mentions(lower,
               "in lower case: Test/ is to be called test/, Train/ is to be called train/, VAL/ is to "
               "be called val/."));
  EXPECT_EQ(lower.find('\n'), std::string::npos) << lower;
  EXPECT_TRUE(
      mentions(refusal({"train/a/1.png", "train/b/1.png", "Test/a/1.png"}), "Test/ is to be called test/"));
  // A folder that is no part of the layout is one mistake, however many images it has.
  Names other = {"train/a/1.png", "train/b/1.png"};
  for (int i = 0; i < 30; ++i) other.push_back(fmt::format("extra/a/{:02}.png", i));
  const auto once = refusal(other);
  EXPECT_TRUE(mentions(once, "extra/ has 30 images, the first extra/a/00.png, beside train/ or test/."));
  EXPECT_EQ(once.find('\n'), std::string::npos) << once;
  EXPECT_TRUE(mentions(refusal({"train/a/1.png", "train/b/1.png", "test/a/1.png", "top.png"}),
                       "top.png is not in a class's folder."));
}

class ByContent : public Scratch {};

TEST_F(ByContent, ImagesAreReadWhateverTheirNames) {
  const std::string ppm = "P6 1 1 255\nabc";
  for (const char* name :
       {"a/1.png", "a/2", "a/3.jpe", "b/4.pnm", "b/5.webp", "b/6.PGM", "a/.7.ppm", "a/._8"}) {
    write_file_atomically(path(std::string("own/") + name), ppm).value();
  }
  write_file_atomically(path("own/a/notes.txt"), "P6 is a format").value();
  write_file_atomically(path("own/b/page.jpg"), "<html>").value();
  write_file_atomically(path("own/b/empty.jpeg"), "").value();
  const auto folder = read_image_folder(path("own"));
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  Names names;
  for (const auto& file : folder->files) names.push_back(file.name);
  EXPECT_EQ(names, (Names{"a/1.png", "a/2", "a/3.jpe", "b/4.pnm", "b/5.webp", "b/6.PGM", "b/empty.jpeg",
                          "b/page.jpg"}));
  EXPECT_EQ(folder->left_out, (Names{"a/.7.ppm", "a/._8", "a/notes.txt"}));
  EXPECT_EQ(folder->heads.images, (std::set<std::string>{"a/2", "a/3.jpe", "b/4.pnm", "b/5.webp"}));
  EXPECT_EQ(folder->heads.broken.size(), 2U);
  EXPECT_TRUE(mentions(folder->heads.broken.at("b/page.jpg"), "web page"));
  EXPECT_TRUE(mentions(folder->heads.broken.at("b/empty.jpeg"), "empty"));
  EXPECT_EQ(folder->heads.turned, 0);
}

class TablesOfTest : public Scratch {};

// They are kept while the list is made, before anything is known of them.
TEST_F(TablesOfTest, AreBoundedTogether) {
  for (const char* name : {"train/a/1.ppm", "train/b/1.ppm", "test/1.ppm"}) {
    write_file_atomically(path(std::string("own/") + name), "P6 1 1 255\nabc").value();
  }
  write_file_atomically(path("own/test/classes.csv"), "Filename,ClassId\n1.ppm,a\n").value();
  EXPECT_TRUE(read_image_folder(path("own")).has_value());
  for (const char* name : {"1.csv", "2.csv"}) {
    write_file_atomically(path(std::string("own/test/") + name), std::string(std::size_t{34} << 20, '\n'))
        .value();
  }
  const auto folder = read_image_folder(path("own"));
  ASSERT_TRUE(folder.has_error());
  EXPECT_TRUE(mentions(folder.error().message, "the tables of test/ have more than"));
}

class RealImages : public testing::Test {
 protected:
  // The path of a file of the data folder; nothing, with a word, when it is absent.
  static std::string real(const std::string& name) {
    const char* folder = std::getenv("HYFREEDP_DATA");
    const auto path = folder == nullptr ? "" : std::string(folder) + "/" + name;
    return std::filesystem::exists(path) ? path : "";
  }
  struct Read {
    ImageFolder folder;
    std::map<ImageSplit, std::int64_t> sizes;
    std::map<std::pair<ImageSplit, std::int64_t>, std::int64_t> of_class;
  };
  // Decodes every image; all must be 32 x 32.
  static Read read_all(const std::string& path) {
    Read result{.folder = read_image_folder(path).value(), .sizes = {}, .of_class = {}};
    std::map<std::string, const ImageFile*> files;
    for (const auto& file : result.folder.files) files[file.name] = &file;
    const auto visited = visit_files(
        path, [&files](const std::string& name) { return files.contains(name); },
        [&](const std::string& name, std::string_view bytes) -> Result<void> {
          const auto image = decode_image(bytes, name);
          if (!image) return image.error();
          if (image->height != 32 || image->width != 32) return error(name + " is not 32 x 32");
          const auto& file = *files[name];
          ++result.sizes[file.split];
          ++result.of_class[{file.split, file.label}];
          return {};
        });
    EXPECT_TRUE(visited.has_value()) << visited.error().message;
    return result;
  }
};

TEST_F(RealImages, Cifar10) {
  const auto path = real("cifar10-jpeg.tar");
  if (path.empty()) GTEST_SKIP() << "SKIPPED: no $HYFREEDP_DATA/cifar10-jpeg.tar";
  auto cifar = read_all(path);
  EXPECT_EQ(cifar.folder.classes, (Names{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog",
                                         "horse", "ship", "truck"}));
  EXPECT_TRUE(cifar.folder.left_out.empty());
  EXPECT_EQ(cifar.sizes[kTrain], 50000);
  EXPECT_EQ(cifar.sizes[kTest], 10000);
  for (std::int64_t label = 0; label < 10; ++label) EXPECT_EQ((cifar.of_class[{kTest, label}]), 1000);
}

TEST_F(RealImages, Gtsrb) {
  const auto path = real("gtsrb-32.tar");
  if (path.empty()) GTEST_SKIP() << "SKIPPED: no $HYFREEDP_DATA/gtsrb-32.tar";
  auto gtsrb = read_all(path);
  EXPECT_EQ(gtsrb.folder.classes.size(), 43U);
  EXPECT_EQ(gtsrb.folder.left_out.size(), 45U);  // 43 + 2 tables
  EXPECT_EQ(gtsrb.sizes[kTrain], 39209);
  EXPECT_EQ(gtsrb.sizes[kTest], 12630);
  // Published counts: class 0 has 210 and 60 images, class 2 has 2,250 and 750.
  EXPECT_EQ((gtsrb.of_class[{kTrain, 0}]), 210);
  EXPECT_EQ((gtsrb.of_class[{kTest, 0}]), 60);
  EXPECT_EQ((gtsrb.of_class[{kTrain, 2}]), 2250);
  EXPECT_EQ((gtsrb.of_class[{kTest, 2}]), 750);
  // The first row of the published table: 00000 is of class 16.
  const auto first = std::find_if(gtsrb.folder.files.begin(), gtsrb.folder.files.end(),
                                  [](const ImageFile& file) { return file.name == "test/00000.png"; });
  ASSERT_NE(first, gtsrb.folder.files.end());
  EXPECT_EQ(gtsrb.folder.classes[static_cast<std::size_t>(first->label)], "00016");
}

}  // namespace image_folder_test
}  // namespace hyfreedp::datasets
