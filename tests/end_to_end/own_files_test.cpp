// A user's own files, run without code by the real programs: with the caches still to be made, and
// once more from them.
#include <fmt/format.h>

#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace own_files_test {

using ::testing::HasSubstr;

class OwnFiles : public Program {
 protected:
  // Runs `dataset` in two output folders, of which the second finds the caches of the first.
  void expect_runs(const std::string& dataset, const std::string& model = "linear") {
    draw_no_pictures();
    const auto spec = write("own.yaml", "name: own\ndataset: " + dataset + "\nmodel: " + model +
                                            "\nepsilon: [8]\nseeds: [0]\nnoise_seed: s\n"
                                            "train: {batch_size: 50, steps: 3, optimizer: adamw}\n"
                                            "rows: [prodigy]\n");
    const auto planned = run({"run", spec, "--dry-run"});
    EXPECT_EQ(planned.code, 0) << planned.out << planned.err;
    for (const char* out : {"first", "second"}) {
      const auto ended = run({"run", spec, "--quiet", "--out", out});
      EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
      EXPECT_THAT(ended.out, HasSubstr("1 study of 1 cell, 0 known before"));
    }
  }
  // 120 images of two classes.
  void write_photos(const std::string& name) {
    for (int i = 0; i < 120; ++i) {
      const auto kind = fmt::format("{}/{}", name, i % 2 == 0 ? "cats" : "dogs");
      fs::create_directories(folder_ / kind);
      const bool is_other = name == "others" || (name == "half" && i < 60);
      write(fmt::format("{}/{:03}.ppm", kind, i), "P6\n8 8\n255\n" + std::string(1, is_other ? 'o' : 'p') +
                                                      std::string(8 * 8 * 3 - 1, static_cast<char>(i)));
    }
  }
  static std::string file_of_numpy(const char* type, const std::string& shape, const std::string& values) {
    const auto header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n", type, shape);
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + values;
  }
};

TEST_F(OwnFiles, ATableOfTextRuns) {
  std::string text = "x,kind,y\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("{},{},{}\n", i % 7, i % 2 == 0 ? "no" : "yes", i % 5);
  write("a.csv", text);
  expect_runs("{name: table-file, path: a.csv, label: kind, labels: \"no, yes\", normalise: norm}");
}

TEST_F(OwnFiles, ArraysOfNumPyRun) {
  std::string values, classes;
  for (int i = 0; i < 300; ++i) {
    for (const float value : {static_cast<float>(i % 7), static_cast<float>(i % 5)}) {
      values.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    classes += static_cast<char>(i % 3);
  }
  fs::create_directories(folder_ / "features");
  write("features/train.npy", file_of_numpy("<f4", "(300, 2)", values));
  write("features/train.labels.npy", file_of_numpy("|u1", "(300,)", classes));
  expect_runs("{name: table-file, path: features, labels: 0..2}");
}

TEST_F(OwnFiles, TextsTrainALanguageModel) {
  fs::copy(fs::path(HYFREEDP_TEST_DATA) / "text" / "tokenizer_json" / "smollm", folder_ / "tokenizer");
  for (const char* file : {"tokenizer/config.json", "tokenizer/model.safetensors"}) write(file, "{}");
  std::string text;
  for (int i = 0; i < 300; ++i) text += fmt::format("hello {}, the name of the place is {}\n", i % 7, i % 5);
  write("own.txt", text);
  expect_runs("{name: text-file, path: own.txt, tokenizer: tokenizer, records: blocks, length: 16}",
              "{name: gpt2, width: 16, depth: 1, heads: 2, trainable: lora, lora_rank: 2}");
}

TEST_F(OwnFiles, AFolderOfImagesRuns) {
  write_photos("photos");
  expect_runs("{name: image-folder, path: photos, side: 8}");
}

TEST_F(OwnFiles, ImagesAreToldByTheirContent) {
  write_photos("photos");
  for (int i = 0; i < 20; ++i) {
    write(fmt::format("photos/{}/more{:02}", i % 2 == 0 ? "cats" : "dogs", i),
          "P6\n8 8\n255\n" + std::string(192, 'm'));
  }
  write("photos/dogs/notes.txt", "none");
  const auto spec = write("told.yaml",
                          "name: told\ndataset: {name: image-folder, path: photos, side: 8}\nmodel: linear\n"
                          "epsilon: [8]\nseeds: [0]\nnoise_seed: s\ntrain: {batch_size: 50, steps: 3, "
                          "optimizer: adamw}\nrows: [prodigy]\n");
  const auto ended = run({"run", spec, "--quiet", "--log", "log.jsonl"});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  const std::string said =
      "photos: 140 images are read, 20 of them by what they contain, not by their names; left "
      "out is 1 file that is no JPEG, PNG or PPM, or hidden: dogs/notes.txt";
  EXPECT_THAT(ended.err, HasSubstr(said));
  EXPECT_THAT(read_file((folder_ / "log.jsonl").string()).value(), HasSubstr(said));
}

// Nine of them, each broken in another way.
TEST_F(OwnFiles, AllBrokenFilesAreInOneAnswer) {
  write_photos("photos");
  const auto data = fs::path(HYFREEDP_TEST_DATA) / "images" / "decode";
  const auto jpeg = read_file((data / "small.jpg").string()).value();
  auto png = read_file((data / "rgb8.png").string()).value();
  png[45] = static_cast<char>(png[45] ^ 1);
  const std::vector<std::pair<std::string, std::string>> decoded = {
      {"cats/truncated.jpg", jpeg.substr(0, jpeg.size() - 9)},
      {"cats/crc.png", png},
      {"cats/short.ppm", "P6\n8 8\n255\nabc"},
      {"dogs/deep.ppm", "P6 1 1 65535\nabcdef"}};
  for (const auto& [name, bytes] : decoded) write("photos/" + name, bytes);
  const auto spec = write("own.yaml",
                          "name: own\ndataset: {name: image-folder, path: photos, side: 8}\nmodel: linear\n"
                          "epsilon: [8]\nseeds: [0]\nnoise_seed: s\ntrain: {batch_size: 50, steps: 3, "
                          "optimizer: adamw}\nrows: [prodigy]\n");
  EXPECT_EQ(run({"run", spec, "--dry-run"}).code, 0);
  for (const auto& arguments :
       {std::vector<std::string>{"run", spec, "--dry-run", "--data"}, {"run", spec, "--quiet"}}) {
    const auto ended = run(arguments);
    EXPECT_EQ(ended.code, 2) << ended.out << ended.err;
    for (const auto& [name, bytes] : decoded) EXPECT_THAT(ended.err, HasSubstr("photos: " + name));
  }
  const std::vector<std::pair<std::string, std::string>> seen = {{"dogs/empty.jpg", ""},
                                                                 {"dogs/page.jpg", "<html>"},
                                                                 {"dogs/other.webp", "RIFF....WEBP"},
                                                                 {"outside.png", png}};
  for (const auto& [name, bytes] : seen) write("photos/" + name, bytes);
  fs::create_symlink("nowhere", folder_ / "photos/dogs/link.jpg");
  const auto refused = run({"run", spec, "--dry-run"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("own.yaml has 9 mistakes:"));
  for (const auto* files : {&decoded, &seen}) {
    for (const auto& [name, bytes] : *files) EXPECT_THAT(refused.err, HasSubstr("photos: " + name));
  }
  EXPECT_THAT(refused.err, HasSubstr("photos: dogs/link.jpg is a link"));
}

// Pretraining without privacy: the weights are kept only where the images are declared public, and
// a private run begins with them only on other images.
TEST_F(OwnFiles, WeightsOfImagesThatAreDeclaredPublicAreKept) {
  for (const char* name : {"photos", "copies", "others", "half"}) write_photos(name);
  const auto spec = [this](const std::string& name, const std::string& dataset, const std::string& model,
                           const std::string& epsilon) {
    return write(
        name + ".yaml",
        "name: " + name + "\npanels:\n  - id: one\n    dataset: {name: image-folder, side: 8, path: " +
            dataset + "}\n    model: " + model + "\n    epsilon: [" + epsilon +
            "]\n    seeds: [0]\n    delta: 1e-3\n    train: {batch_size: 50, steps: 3, optimizer: adamw}\n"
            "    rows: [{method: fixed-rate, options: {lr: 0.1}}]\n");
  };
  const auto kept = [this](const std::string& file) {
    return run({"run", file, "--quiet", "--keep-weights"});
  };
  const auto refused = kept(spec("secret", "photos", "linear", "inf"));
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("trained without noise on private data"));

  const auto ended = kept(spec("public", "photos, public: true", "linear", "inf"));
  ASSERT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("declared public training"));
  const auto folder = folder_ / "out/public/weights/one/fixed-rate.non-private.seed-0";
  const auto metadata = read_json_file((folder / "trial.json").string()).value().as_object();
  EXPECT_FALSE(metadata.contains("watermark"));

  const auto model = "{name: linear, weights: " + folder.string() + "}";
  const auto other = kept(spec("other", "others", model, "8"));
  EXPECT_EQ(other.code, 0) << other.out << other.err;
  const auto same = kept(spec("same", "photos", model, "8"));
  EXPECT_EQ(same.code, 2) << same.out;
  EXPECT_THAT(same.err, HasSubstr("were trained on 'image-folder (photos)' already"));
  const auto copied = kept(spec("copied", "copies", model, "8"));
  EXPECT_EQ(copied.code, 2) << "the same images under another name";

  // Half of these are photos, too, and the photos were read before them.
  const auto public_half = run({"run", spec("half", "half, public: true", "linear", "inf"), "--quiet",
                                "--keep-weights", "--out", "elsewhere"});
  ASSERT_EQ(public_half.code, 0) << public_half.err;
  const auto of_half = folder_ / "elsewhere/half/weights/one/fixed-rate.non-private.seed-0";
  const auto later = kept(spec("later", "photos", "{name: linear, weights: " + of_half.string() + "}", "8"));
  EXPECT_EQ(later.code, 2) << later.out;
  EXPECT_THAT(later.err, HasSubstr("whose files are those of image-folder (photos)"));
}

}  // namespace own_files_test
}  // namespace hyfreedp::end_to_end
