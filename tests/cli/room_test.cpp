// What a spec needs in memory and on the disk: what --dry-run says of it, what is refused, and what
// `hyfreedp list specs` tells.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "command_fixture.h"
#include "datasets/cache_file.h"
#include "harness/cli/common/run_needs.h"
#include "harness/cli/show/list_specs.h"
#include "harness/runner/execute/run_memory.h"
#include "tests/datasets/scratch.h"

namespace hyfreedp::cli {
namespace room_test {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Room : public CommandTest {
 protected:
  Room() : CommandTest("run") {}
  void SetUp() override {
    CommandTest::SetUp();
    cache_.set(path("cache"));
    data_.set(path("data"));
  }

  // Of one panel.
  std::string spec(const std::string& dataset, const std::string& model, const std::string& train = "") {
    return file("one.yaml",
                fmt::format("name: one\ntitle: One\nnoise_seed: s\ndataset: {}\nmodel: {}\nseeds: [0]\n"
                            "epsilon: [3]\ndelta: 1e-5\n"
                            "train: {{batch_size: 64, steps: 2, optimizer: adamw{}}}\n"
                            "rows: [{{method: fixed-rate, options: {{lr: 0.1}}}}]\n",
                            dataset, model, train));
  }
  DiskNeeds disk(const std::string& dataset, const std::string& model = "linear") {
    const auto loaded = runner::load_spec(spec(dataset, model));
    EXPECT_TRUE(loaded) << loaded.error().message;
    return disk_needs(*loaded);
  }
  runner::RunMemory memory(const std::string& dataset, const std::string& model,
                           const std::string& train = "") {
    const auto loaded = runner::load_spec(spec(dataset, model, train));
    EXPECT_TRUE(loaded) << loaded.error().message;
    return runner::largest_run(runner::plan(*loaded).value()).value();
  }

  const datasets::ScopedVariable cache_{"XDG_CACHE_HOME", std::nullopt};
  const datasets::ScopedVariable data_{"HYFREEDP_DATA", std::nullopt};
};

constexpr const char* kImages =
    "{name: image-folder, path: photos, side: 224, train: 1000, validation: 100, test: 100, classes: 5}";

constexpr const char* kSmall =
    "{name: image-folder, path: photos, side: 32, train: 1000, validation: 100, test: 100, classes: 5}";

// Bytes of pixels and labels, a page for the header, and up to 63 bytes after each of six arrays.
constexpr double kBytes = 1200.0 * (3 * 224 * 224 + 8);

TEST_F(Room, CachesAndDownloadsAreCounted) {
  const auto own = disk(kImages);
  EXPECT_NEAR(static_cast<double>(own.caches), kBytes + 4096, 6 * 64);
  EXPECT_EQ(own.cached, 0U);
  EXPECT_EQ(own.downloads, 0U);
  EXPECT_EQ(own.folder, path("cache") + "/hyfreedp");
  EXPECT_GT(own.free, 0U);
  const auto published = disk(
      "{name: cifar10, features: network, network: efficientnet-lite, weights: efficientnet-lite0, side: "
      "64}");
  EXPECT_NEAR(static_cast<double>(published.caches), 60000.0 * (4 * 1280 + 8) + 4096, 6 * 64);
  EXPECT_EQ(published.downloads, 170'052'171U + 18'826'032U);
  EXPECT_EQ(disk("{name: synthetic, train: 1000}").caches, 0U);
  EXPECT_EQ(disk_text(disk("{name: synthetic, train: 1000}")), "");
}

TEST_F(Room, ShiftSetsCount) {
  const std::string cifar = "{name: cifar10, side: 64}";
  const auto shifted = cifar + "\nood_test: [{id: new, dataset: {name: cifar10-1, side: 64}}]";
  const double bytes = 2000.0 * (3 * 64 * 64 + 8) + 4096;
  const auto more = disk(shifted), plain = disk(cifar);
  EXPECT_NEAR(static_cast<double>(more.caches - plain.caches), bytes, 6 * 64);
  EXPECT_EQ(more.downloads, plain.downloads + 6'144'128U + 8'128U);
  EXPECT_NEAR(memory(shifted, "linear").mapped - memory(cifar, "linear").mapped, bytes, 6 * 64);
  // Without a cache all is in a worker's memory: 500 vectors of 16 numbers, and their labels.
  const auto generated = std::string("synthetic\nood_test: [{id: far, dataset: synthetic}]");
  EXPECT_NEAR(memory(generated, "linear").host - memory("synthetic", "linear").host, 500.0 * (16 * 4 + 8), 1);
}

TEST_F(Room, ACacheThatIsThereIsNotNeededAgain) {
  const auto loaded = runner::load_spec(spec("{name: cifar10, side: 64}", "linear")).value();
  const auto& dataset = loaded.content.panels.front().dataset;
  const auto cache =
      datasets::cache_file(*datasets::find_dataset("cifar10").value(), dataset.options, "cpu").value();
  fs::create_directories(fs::path(cache.path).parent_path());
  { std::ofstream made(cache.path); }
  fs::resize_file(cache.path, cache.bytes - 1);
  EXPECT_EQ(disk_needs(loaded).cached, 0U);
  fs::resize_file(cache.path, cache.bytes);
  const auto needs = disk_needs(loaded);
  EXPECT_EQ(needs.cached, cache.bytes);
  EXPECT_EQ(needs.needed(), needs.downloads);
  EXPECT_THAT(disk_text(needs), HasSubstr("caches 738 MB (there), downloads 170 MB; 170 MB more in"));
}

TEST_F(Room, ADiskThatIsTooSmallIsRefusedByNumbers) {
  DiskNeeds needs{
      .downloads = 5'000'000'000, .caches = 60'000'000'000, .cached = 4'000'000'000, .folder = "/c"};
  needs.free = 61'000'000'000;
  EXPECT_TRUE(check_disk(needs));
  needs.free -= 1;
  EXPECT_EQ(
      check_disk(needs).error().message,
      "The spec needs 61 GB of disk in /c for caches and downloads, and 61 GB are free there; make room, "
      "or let XDG_CACHE_HOME name a folder that has it.");
}

// Both, before anything is made.
TEST_F(Room, ASpecThatCannotFitIsRefused) {
  const auto large = spec(
      "{name: image-folder, path: photos, side: 4096, train: 1000000, validation: 1, test: 1, classes: 5}",
      "linear");
  EXPECT_EQ(run({large, "--dry-run", "--out", path("out")}), 2);
  EXPECT_THAT(out(), HasSubstr("Disk: caches 50.3 TB"));
  EXPECT_THAT(err(), ContainsRegex("needs [0-9.e+]+ TB of disk in .*/cache/hyfreedp for caches"));
  const auto deep =
      spec("{name: synthetic, train: 1000}", "{name: mlp, hidden: [65536, 65536, 65536, 65536]}");
  EXPECT_EQ(run({deep, "--dry-run", "--out", path("out")}), 2);
  EXPECT_THAT(out(), HasSubstr("Memory of the largest run: about "));
  EXPECT_THAT(err(), HasSubstr("smaller `microbatch`"));
  EXPECT_EQ(run({deep, "--out", path("out")}), 2);
  EXPECT_THAT(err(), HasSubstr("he largest run needs up to "));
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(Room, ADryRunSaysWhatIsNeeded) {
  EXPECT_EQ(run({spec("{name: synthetic, train: 1000}", "linear"), "--dry-run", "--workers", "3", "--out",
                 path("out")}),
            0);
  EXPECT_THAT(out(),
              ContainsRegex("Memory of the largest run: about [0-9]+ MB at most; 3 runs at once: .* of "));
  EXPECT_THAT(out(), Not(HasSubstr("Disk:")));
  EXPECT_EQ(run({spec(kSmall, "linear"), "--dry-run", "--out", path("out")}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("Beside it 3.7 MB are mapped from the cache"));
  EXPECT_THAT(out(), HasSubstr("Disk: caches 3.7 MB; 3.7 MB more in " + path("cache") + "/hyfreedp, where "));
}

TEST_F(Room, TheMemoryToUseMayBeGiven) {
  const auto one = spec("{name: synthetic, train: 1000}", "linear");
  EXPECT_EQ(run({one, "--dry-run", "--memory", "0.3", "--out", path("out")}), 0) << err();
  EXPECT_THAT(out(), ContainsRegex("2 runs at once: 4[0-9][0-9] MB of 300 MB"));
  EXPECT_THAT(
      err(),
      HasSubstr("and there are 300 MB: a run that does not fit waits for the others. --workers 1 fits;"));
  EXPECT_EQ(run({one, "--dry-run", "--memory", "0", "--out", path("out")}), 2);
}

TEST_F(Room, LimitsAreChecked) {
  const auto one = spec("{name: synthetic, train: 1000}", "linear");
  expect_refused({one, "--hang-minutes", "-1"}, {"--hang-minutes", "at least 0"});
  expect_refused({one, "--time-limit", "0"}, {"--time-limit", "must be positive and finite"});
  expect_refused({one, "--time-limit", "inf"}, {"--time-limit", "finite"});
  expect_refused({one, "--memory-limit", "16GB"}, {"--memory-limit", "16GB"});
  expect_refused({one, "--memory", "nan"}, {"--memory", "finite"});
}

TEST_F(Room, MemoryFollowsTheMicrobatchAndWhatTrains) {
  const std::string vit = "{name: vit, size: vit_small_patch16_224}";
  const auto whole = memory(kImages, vit, ", microbatch: 16").host;
  const auto half = memory(kImages, vit, ", microbatch: 8").host;
  // 16 numbers a channel, token and block; by hand.
  const double sample = 4.0 * 16 * 384 * 197 * 12;
  EXPECT_GT(whole - half, 8 * sample);
  EXPECT_LT(whole - half, 1.3 * 8 * sample);
  const auto head = memory(kImages, "{name: vit, size: vit_small_patch16_224, trainable: head}").host;
  EXPECT_LT(head, 0.5 * whole);
  // An augmented copy is a sample.
  EXPECT_EQ(memory(kImages, vit, ", microbatch: 16, augmentations: 4").host, whole);
  EXPECT_GT(memory(kImages, vit, ", microbatch: 16, augmentations: 32").host, whole + 15 * sample);
}

TEST_F(Room, ReadingATableOfOnesOwnCounts) {
  const auto of = [&](int features) {
    return memory(fmt::format("{{name: table-file, path: t.csv, train: 100000, validation: 1000, test: 1000, "
                              "features: {}}}",
                              features),
                  "linear")
        .host;
  };
  EXPECT_GE(of(1500) - of(1000), 102000.0 * 500 * (20 + 4));
}

TEST_F(Room, OnAGpuDataAndNetworkAreThere) {
  const auto there = memory(kImages, "{name: vit, size: vit_small_patch16_224}", ", device: cuda");
  const auto here = memory(kImages, "{name: vit, size: vit_small_patch16_224}");
  EXPECT_EQ(here.device, 0);
  EXPECT_EQ(here.mapped, there.mapped);
  EXPECT_GT(there.device, kBytes + 4 * 22e6 * 6);
}

TEST_F(Room, AFrozenNetworkWorksWhereTheRunDoes) {
  const auto* const features =
      "{name: cifar10, side: 512, features: network, network: beit, weights: beit-large-patch16-512}";
  const auto on_gpu = memory(features, "linear", ", device: cuda");
  const auto here = memory(features, "linear");
  // Of 303 million parameters, which are in the file too.
  constexpr double kWeights = 4 * 303e6;
  EXPECT_EQ(here.device, 0);
  EXPECT_GT(here.host, 2 * kWeights);
  EXPECT_GT(on_gpu.host, 2 * kWeights);
  EXPECT_LT(on_gpu.host, 2 * kWeights + 3e9);
  EXPECT_GT(on_gpu.device, 2 * kWeights);
  EXPECT_LT(on_gpu.device, 16e9);

  EXPECT_EQ(datasets::frozen_images_at_once(3 * 32 * 32, false), 256);
  EXPECT_EQ(datasets::frozen_images_at_once(3 * 224 * 224, false), 256);
  EXPECT_EQ(datasets::frozen_images_at_once(3 * 512 * 512, false), 49);
  EXPECT_EQ(datasets::frozen_images_at_once(3 * 96 * 96, true), 18);
  EXPECT_EQ(datasets::frozen_images_at_once(3 * 512 * 512, true), 1);
}

TEST_F(Room, AllOfASelectionIsReadToMakeItsCache) {
  const auto of = [&](const std::string& split) {
    return memory(fmt::format("{{name: emnist, split: {}, train: 100, validation: 100, test: 100}}", split),
                  "linear")
        .host;
  };
  EXPECT_GE(of("byclass") - of("balanced"), (814'255.0 - 131'600.0) * 700);
}

TEST_F(Room, WorkersThatDoNotFitAreTold) {
  const runner::RunMemory run{.host = 3e9};
  EXPECT_EQ(runner::workers_that_fit(run, 4, 10'000'000'000), 3);
  EXPECT_EQ(runner::workers_that_fit(run, 2, 10'000'000'000), 2);
  EXPECT_EQ(runner::workers_that_fit(run, 4, 1), 1);
  // The estimate may be 1.5 times what is needed, and 250 MB.
  EXPECT_TRUE(runner::check_memory(run, 1'833'333'334));
  EXPECT_FALSE(runner::check_memory(run, 1'833'333'333));
}

TEST_F(Room, ListedSpecsSayWhatTheyNeed) {
  fs::create_directories(folder_ / "specs");
  const auto add = [&](const std::string& name, const std::string& dataset, const std::string& train = "") {
    fs::rename(spec(dataset, "linear", train), folder_ / "specs" / name);
  };
  add("a.yaml", "{name: synthetic, train: 1000}");
  add("b.yaml", "cifar10");
  add("c.yaml", kSmall);
  add("d.yaml", "{name: synthetic, train: 1000}", ", device: cuda");
  add("e.yaml",
      "{name: image-folder, path: p, side: 4096, train: 1000000, validation: 1, test: 1, classes: 5}");
  const auto listed = listed_specs((folder_ / "specs").string()).value();
  const auto preset = [&listed](std::size_t at) { return listed.at(at).presets.at(0); };
  EXPECT_EQ(preset(0).state, "runnable");
  EXPECT_TRUE(preset(0).needs.empty());
  EXPECT_EQ(preset(1).state, "data missing");
  EXPECT_THAT(preset(1).needs, ElementsAre("`fetch` of 170 MB"));
  EXPECT_THAT(preset(2).needs, ElementsAre("files that cannot be fetched"));
  EXPECT_THAT(preset(4).needs, Contains(ContainsRegex("TB of disk")));
  std::ostringstream text, lines;
  print(listed, text);
  EXPECT_THAT(text.str(), HasSubstr("cell: cifar10; needs `fetch` of 170 MB\n"));
  print_short(listed, lines);
  EXPECT_THAT(lines.str(), HasSubstr("One  (needs `fetch` of 170 MB)\n"));
  EXPECT_EQ(to_json(listed).at(1).at("presets").at(0).at("needs").at(0).as_string(), "`fetch` of 170 MB");
  if (fs::exists("/dev/nvidiactl")) return;
  EXPECT_EQ(preset(3).state, "gpu missing");
  EXPECT_THAT(preset(3).needs, ElementsAre(ContainsRegex("a GPU with [0-9.]+ GB")));
}

}  // namespace room_test
}  // namespace hyfreedp::cli
