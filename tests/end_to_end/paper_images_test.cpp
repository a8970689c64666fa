// The papers' experiments on published images and pretrained networks, and on files of a user's,
// through the real binaries: planned where none is on the machine, run on miniature files of the
// true forms, and the first step of the true network.
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <set>

#include "harness/base/json.h"
#include "harness/cli/common/run_needs.h"
#include "harness/runner/execute/run_memory.h"
#include "harness/runner/executors/machine_memory.h"
#include "harness/runner/spec/plan.h"
#include "results/store/store.h"
#include "tests/datasets/scratch.h"
#include "tests/end_to_end/miniature_files.h"
#include "tests/end_to_end/miniature_texts.h"
#include "tests/end_to_end/paper_files.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace paper_images_test {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTable2 = HYFREEDP_SOURCE_DIR "/experiments/papers/hyfreedp/table-2.yaml";

// A plan is printed on any machine. Its exit code says whether this one has the room.
int code_of_plan(const std::string& file) {
  const auto spec = runner::load_spec(file, "paper").value();
  const auto largest = runner::largest_run(runner::plan(spec).value()).value();
  const bool fits =
      cli::check_disk(cli::disk_needs(spec)) && runner::check_memory(largest, runner::machine_memory());
  return fits ? 0 : 2;
}

// Nothing that the machine has is seen: data and weights are those that a test writes to data().
class PaperImages : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    data_.set(data().string());
    cache_.set((folder_ / "cache").string());
    state_.set((folder_ / "state").string());
  }
  fs::path data() const { return folder_ / "data"; }

 private:
  const datasets::ScopedVariable data_{"HYFREEDP_DATA", std::nullopt};
  const datasets::ScopedVariable cache_{"XDG_CACHE_HOME", std::nullopt};
  const datasets::ScopedVariable state_{"XDG_STATE_HOME", std::nullopt};
};

TEST_F(PaperImages, EveryPaperPresetIsPlannedAndPricedWithoutItsFiles) {
  // A worker is asked for the GPU, half a second for each spec.
  const datasets::ScopedVariable no_worker("HYFREEDP_WORKER", "/bin/false");
  std::size_t on_images = 0;
  std::size_t on_features = 0;
  std::size_t on_texts = 0;
  for (const auto& file : files_with("paper")) {
    const auto planned = run({"run", file, "--preset", "paper", "--dry-run"});
    if (planned.code != 0) {
      EXPECT_EQ(planned.code, code_of_plan(file)) << file << '\n' << planned.err;
    }
    EXPECT_THAT(planned.out, ContainsRegex("Price of these: [0-9]+ runs?, .* GPU hours at an assumed"))
        << file;
    if (planned.out.find("Not on this machine: The weights folder 'beit") != std::string::npos) ++on_features;
    for (const char* folder : {"gpt2", "roberta-base", "llama2-7b"}) {
      const auto absent = fmt::format("Not on this machine: The weights folder '{}'", folder);
      if (planned.out.find(absent) != std::string::npos) ++on_texts;
    }
    if (planned.out.find(" and vit:") == std::string::npos) continue;
    ++on_images;
    EXPECT_THAT(planned.out, HasSubstr("Not on this machine: The weights folder 'vit-")) << file;
    EXPECT_THAT(planned.out, HasSubstr("Memory of the largest run on the GPU: about ")) << file;
    EXPECT_THAT(planned.out, ContainsRegex("Disk: caches [0-9.]+ GB, downloads ")) << file;
  }
  EXPECT_GE(on_images, 7U);
  EXPECT_GE(on_features, 12U);
  EXPECT_GE(on_texts, 12U);
}

TEST_F(PaperImages, ARunNamesTheCommandsThatBringItsFiles) {
  const auto refused = run({"run", kTable2, "--preset", "paper"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  for (const char* name : {"cifar10", "cifar100", "svhn", "vit-small-patch16-224", "vit-base-patch16-224"}) {
    EXPECT_THAT(refused.err, HasSubstr(fmt::format("`hyfreedp data fetch {}`", name)));
  }
  for (const char* folder : {"gtsrb", "food101"}) {
    EXPECT_THAT(refused.err, HasSubstr(fmt::format("path '{}': there is no such file or folder", folder)));
  }
  EXPECT_FALSE(fs::exists(folder_ / "out/hyfreedp.sqlite"));
}

// Every kParts-th of the chosen files in each, so that they run side by side.
constexpr int kParts = 7;
class PaperBodies : public PaperImages, public ::testing::WithParamInterface<int> {};

TEST_P(PaperBodies, RunOnMiniatureFiles) {
  draw_no_pictures();
  // Chosen while there is nothing to read, which takes longer than the choice.
  const auto files = files_with("tiny");
  EXPECT_GE(files.size(), 46U);
  const auto chosen = files_with_every_part(files, "tiny");
  const auto tiny = data() / "tiny";
  constexpr int kOf = 20;
  write_cifar10(tiny / "cifar10.tar.gz", kOf);
  write_cifar100(tiny / "cifar100.tar.gz", kOf);
  write_svhn(tiny / "svhn", kOf);
  write_stl10(tiny / "stl10", kOf);
  write_gtsrb(tiny / "gtsrb.tar", 2, 16);
  write_two_classes(tiny / "waterbirds", 40, 10);
  write_two_classes(tiny / "waterbirds-ood", 0, 10);
  write_cifar_shifts(tiny);
  write_gisette(tiny / "gisette", 200, 16);
  const std::string photograph = HYFREEDP_TEST_DATA "/images/decode/small.jpg";
  write_classes(tiny / "food101", photograph, 16, 101);
  write_classes(tiny / "imagenet", photograph, 16, 1000);
  write_vit(data() / "vit-small-patch16-224", {"vit_small_patch16_224", 16, 2, 2});
  write_vit(data() / "vit-base-patch16-224", {"vit_base_patch16_224", 24, 2, 3});
  write_vit(data() / "beit-large-patch16-512", {"beit_large_patch16_512", 16, 2, 2}, 512);
  write_vit(data() / "beitv2-large-patch16-224-in22k", {"beitv2_large_patch16_224", 24, 2, 3});
  write_vit(data() / "vit-large-patch16-384", {"vit_large_patch16_384", 16, 2, 2}, 384);
  write_vit(data() / "clip-giant-patch14-224-laion2b", {"vit_giant_patch14_clip_224", 16, 2, 2});
  write_vit(data() / "eva02-large-patch14-448", {"eva02_large_patch14_448", 16, 2, 2}, 448);
  write_convnext(data() / "convnext-xlarge-384", 8);
  write_resnet20(data() / "cifar100-resnet20");
  write_texts(data());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (static_cast<int>(i) % kParts != GetParam()) continue;
    const auto& file = chosen[i];
    const auto ended = run({"run", file, "--preset", "tiny", "--quiet", "--workers", "1"});
    EXPECT_EQ(ended.code, 0) << file << '\n' << ended.out << ended.err;
    const auto name = runner::load_spec(file, "tiny").value().content.name;
    const auto store =
        results::Store::open((folder_ / "out/hyfreedp.sqlite").string(), results::Store::Mode::read_only);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_FALSE((**store).studies(name).value().empty()) << file;
    EXPECT_EQ(failed_cells(**store, name), "") << file;
    EXPECT_TRUE(fs::exists(folder_ / "out" / name / "report.html")) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(SlowParts, PaperBodies, ::testing::Range(0, kParts));

// The lines of datasets/README.md that lay out Waterbirds and Camelyon17, on miniature archives.
TEST_F(PaperImages, TheRecipesLayOutTheShiftsOfWilds) {
  const auto readme = read_file(HYFREEDP_SOURCE_DIR "/datasets/README.md").value();
  const auto begin = readme.find("lay_out() {");
  ASSERT_NE(begin, std::string::npos);
  const auto recipe = readme.substr(begin, readme.find("```", begin) - begin);
  const auto put = [&](const std::string& name, const std::string& text) {
    const auto file = data() / name;
    fs::create_directories(file.parent_path());
    ASSERT_TRUE(write_file_atomically(file.string(), text));
  };
  const std::string image = "P6 2 2 255\n" + std::string(12, 'x');
  const std::string birds = "waterbird_complete95_forest2water2/", patches = "camelyon17_v1.0/";
  // Classes, splits and places of the images of each: what becomes of them follows.
  std::string metadata = "img_id,img_filename,y,split,place,place_filename\n";
  int id = 0;
  for (const char* row : {"0,0,0", "1,0,1", "1,0,0", "0,1,0", "0,2,0", "1,2,1", "0,2,1", "1,2,0"}) {
    const auto name = fmt::format("{:03}.Bird/Bird_{}.jpg", ++id, row[0]);
    put(birds + name, image);
    metadata += fmt::format("{},{},{},/a/b.jpg\n", id, name, row);
  }
  put(birds + "metadata.csv", metadata);
  metadata = ",patient,node,x_coord,y_coord,tumor,slide,center,split\n";
  id = 0;
  // tumor, slide, center, split: hospital 1 is WILDS's own validation, hospital 2 the shift.
  for (const char* row : {"0,0,0,0", "1,0,3,0", "0,0,4,1", "1,0,0,1", "0,9,1,0", "0,9,2,0", "1,9,2,1"}) {
    const auto name = fmt::format("patch_patient_004_node_{}_x_3_y_5.png", ++id);
    put(patches + fmt::format("patches/patient_004_node_{}/", id) + name, image);
    metadata += fmt::format("{},004,{},3,5,{}\n", id - 1, id, row);
  }
  put(patches + "metadata.csv", metadata);
  ASSERT_TRUE(write_file_atomically((data() / "recipe.sh").string(), "set -e\n" + recipe));
  ASSERT_EQ(std::system(fmt::format("cd '{}' && bash recipe.sh", data().string()).c_str()), 0);
  const auto count = [&](const std::string& folder) {
    return std::distance(fs::directory_iterator(data() / folder), fs::directory_iterator());
  };
  for (const auto& [folder, images] : {std::pair{"waterbirds/train/0", 1},
                                       {"waterbirds/train/1", 2},
                                       {"waterbirds/test/0", 1},
                                       {"waterbirds/test/1", 1},
                                       {"waterbirds-ood/test/0", 1},
                                       {"waterbirds-ood/test/1", 1},
                                       {"camelyon17/train/0", 1},
                                       {"camelyon17/train/1", 1},
                                       {"camelyon17/test/0", 1},
                                       {"camelyon17/test/1", 1},
                                       {"camelyon17-ood/test/0", 1},
                                       {"camelyon17-ood/test/1", 1}}) {
    EXPECT_EQ(count(folder), images) << folder;
  }
}

// Who has CIFAR-10's binary files and timm's ViT-S.
class SlowTrueNetwork : public PaperImages {
 protected:
  void SetUp() override {
    PaperImages::SetUp();
    if (IsSkipped()) return;
    write_cifar10(data() / "cifar10/cifar-10-binary.tar.gz");
    write_vit(data() / "vit-small-patch16-224", {"vit_small_patch16_224", 384, 12, 6});
  }
};

TEST_F(SlowTrueNetwork, IsPlannedWithWhatIsHere) {
  const auto planned = run({"run", kTable2, "--preset", "paper", "--dry-run"});
  if (planned.code != 0) {
    ASSERT_EQ(planned.code, code_of_plan(kTable2)) << planned.err;
  }
  EXPECT_THAT(planned.out, HasSubstr("cifar10 and vit: N = 45000, d = 21669514, B = 1000,"));
  EXPECT_THAT(planned.out, Not(HasSubstr("data fetch cifar10`")));
  EXPECT_THAT(planned.out, Not(HasSubstr("'vit-small-patch16-224'")));
  EXPECT_THAT(planned.out, HasSubstr("data fetch vit-base-patch16-224`"));
}

TEST_F(SlowTrueNetwork, MakesItsFirstStep) {
  if (std::getenv("HYFREEDP_SLOW") == nullptr) {
    GTEST_SKIP() << "SKIPPED: a step of the true network takes some twenty seconds (HYFREEDP_SLOW=1)";
  }
  // The archive is not the published one, so it is named by its path.
  const auto spec = write(
      "step.yaml",
      "name: step\ntitle: One step of ViT-Small\nnoise_seed: s\n"
      "dataset: {name: cifar10, path: cifar10/cifar-10-binary.tar.gz, side: 224, interpolation: bilinear, "
      "train: 64, validation: 16, test: 32}\n"
      "model: {name: vit, weights: vit-small-patch16-224}\nseeds: [0]\nepsilon: [3]\n"
      "train: {batch_size: 16, steps: 1, optimizer: {name: adamw, weight_decay: 0.01}}\n"
      "rows: [{method: hyfreedp, options: {accounting: paper}}]\n");
  const auto ended = run({"run", spec, "--quiet"});
  ASSERT_EQ(ended.code, 0) << ended.out << ended.err;
  const auto store =
      results::Store::open((folder_ / "out/hyfreedp.sqlite").string(), results::Store::Mode::read_only);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((**store).studies("step").value().size(), 1U);
  EXPECT_EQ(failed_cells(**store, "step"), "");
}

}  // namespace paper_images_test
}  // namespace hyfreedp::end_to_end
