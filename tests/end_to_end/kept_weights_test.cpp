// Trained weights out of a run and into the next one: `hyfreedp run --keep-weights`, then a spec
// that begins with the folder and takes one step of next to no length. Its test loss must be that
// of the run that wrote the folder.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace kept_weights_test {

using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  const char* name;
  const char* dataset;
  const char* model;    // as a spec has it
  const char* options;  // of the model, by which the folder is read again; @ is the folder
  const char* files;    // that the folder must have, beside trial.json
};

constexpr const char* kImages =
    "{name: synthetic-images, channels: 1, side: 16, train: 200, validation: 40, test: 60}";
constexpr const char* kTokens =
    "{name: synthetic-tokens, vocabulary: 12, length: 6, train: 200, validation: 40, test: 60}";

const Case kCases[] = {
    {"cnn", "{name: synthetic-images, channels: 1, side: 28, train: 200, validation: 40, test: 60}",
     "{name: cnn, filters: [2, 4], hidden: 8}", "name: cnn, filters: [2, 4], hidden: 8, weights: @",
     "config.json model.safetensors"},
    {"vit", kImages, "{name: vit, width: 16, depth: 1, heads: 2, trainable: lora-head, lora_rank: 2}",
     "name: vit, weights: @, adapter: @, head: file, trainable: lora-head",
     "config.json model.safetensors adapter_config.json adapter_model.safetensors"},
    {"gpt2", kTokens, "{name: gpt2, width: 16, depth: 1, heads: 2, trainable: lora, lora_rank: 2}",
     "name: gpt2, weights: @, adapter: @, trainable: lora",
     "config.json model.safetensors adapter_config.json adapter_model.safetensors"},
    {"llama", kTokens, "{name: llama, width: 16, depth: 1, heads: 2, kv_heads: 1}", "name: llama, weights: @",
     "config.json model.safetensors"},
    {"efficientnet-lite",
     "{name: synthetic-images, channels: 3, side: 32, train: 200, validation: 40, test: 60}",
     "{name: efficientnet-lite, widths: [4, 4, 4, 4, 4, 4, 4, 4, 8], blocks: [1, 1, 1, 1, 1, 1, 1]}",
     "name: efficientnet-lite, weights: @, head: file", "config.json model.safetensors"},
    {"squeezenet", "{name: synthetic-images, channels: 3, side: 32, train: 200, validation: 40, test: 60}",
     "{name: squeezenet, widths: [4, 4, 4, 4, 4, 4, 4, 4, 4], squeeze: [2, 2, 2, 2, 2, 2, 2, 2]}",
     "name: squeezenet, weights: @, head: file", "config.json model.safetensors"},
    {"resnet-imagenet",
     "{name: synthetic-images, channels: 3, side: 32, train: 200, validation: 40, test: 60}",
     "{name: resnet-imagenet, widths: [4, 4, 4, 4, 4], blocks: [1, 1, 1, 1], block: bottleneck}",
     "name: resnet-imagenet, weights: @, head: file", "config.json model.safetensors"},
    {"convnext", "{name: synthetic-images, channels: 3, side: 32, train: 200, validation: 40, test: 60}",
     "{name: convnext, widths: [4, 4, 4, 4], blocks: [1, 1, 1, 1]}", "name: convnext, weights: @, head: file",
     "config.json model.safetensors"},
    {"clip", kImages, "{name: clip, width: 16, depth: 1, heads: 2}", "name: clip, weights: @, head: file",
     "config.json model.safetensors"},
    {"eva02", kImages, "{name: eva02, width: 16, depth: 2, heads: 2, pool: block-quarters}",
     "name: eva02, weights: @, head: file", "config.json model.safetensors"}};

// The smallest rate that a row takes: it moves nothing that a float of a weight's size can show.
constexpr const char* kNoLength = "1e-12";
constexpr double kSame = 1e-7;
// Of public data seeded noise is no secret: how far training moves is no matter of chance.
const std::string kSeeded = "noise_seed: kept\n";

// One run, and the panel of it in a spec.
struct Panel {
  std::string id, dataset, model;
};

std::string spec_of(const std::string& name, const std::vector<Panel>& panels, const std::string& lr,
                    int steps, const std::string& head = "") {
  auto text = fmt::format(
      "name: {}\ntitle: {}\n{}defaults:\n  seeds: [0]\n  epsilon: [8]\n  delta: 1e-3\n"
      "  train: {{sample_rate: 0.2, steps: {}, optimizer: sgd}}\n"
      "rows: [{{method: fixed-rate, options: {{lr: {}}}}}]\npanels:\n",
      name, name, head, steps, lr);
  for (const auto& panel : panels) {
    text += fmt::format("  - {{id: {}, dataset: {}, model: {}}}\n", panel.id, panel.dataset, panel.model);
  }
  return text;
}

class KeepWeights : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    draw_no_pictures();
  }
  fs::path kept(const std::string& spec, const std::string& panel = "one") const {
    return folder_ / "out" / spec / "weights" / panel / "fixed-rate.eps-8.seed-0";
  }
  json::object metadata(const std::string& spec, const std::string& panel = "one") const {
    return read_json_file((kept(spec, panel) / "trial.json").string()).value().as_object();
  }
  double loss(const std::string& spec, const std::string& panel = "one") const {
    return double_or(metadata(spec, panel).at("test").as_object(), "loss", NAN);
  }
  // Of a spec that must end well.
  Ended run_and_keep(const std::string& name, const std::string& text) {
    auto ended = run({"run", write(name + ".yaml", text), "--keep-weights", "--quiet", "--workers", "1"});
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    return ended;
  }
};

TEST_F(KeepWeights, AreReadAgainAndGiveTheSameLoss) {
  std::vector<Panel> drawn, read;
  for (const auto& one : kCases) {
    drawn.push_back({one.name, one.dataset, one.model});
    std::string options = one.options;
    for (auto at = options.find('@'); at != std::string::npos; at = options.find('@')) {
      options.replace(at, 1, kept("trained", one.name).string());
    }
    read.push_back({one.name, one.dataset, "{" + options + "}"});
  }
  const auto trained = run_and_keep("trained", spec_of("trained", drawn, "2", 6, kSeeded));
  ASSERT_EQ(trained.code, 0);
  EXPECT_THAT(trained.out, HasSubstr(fmt::format("Weights of {} runs", drawn.size())));
  ASSERT_EQ(run_and_keep("again", spec_of("again", read, kNoLength, 1)).code, 0);
  ASSERT_EQ(run_and_keep("drawn", spec_of("drawn", drawn, kNoLength, 1, kSeeded)).code, 0);
  for (const auto& one : kCases) {
    SCOPED_TRACE(one.name);
    std::istringstream files(one.files);
    for (std::string file; files >> file;) EXPECT_TRUE(fs::exists(kept("trained", one.name) / file)) << file;
    EXPECT_NEAR(loss("again", one.name), loss("trained", one.name), kSame);
    // Without the folder the same step gives another loss: training did something.
    EXPECT_GT(std::abs(loss("drawn", one.name) - loss("trained", one.name)), 1e-3);
  }
}

TEST_F(KeepWeights, TheMetadatasModelEntryReadsTheFolder) {
  std::vector<Panel> panels;
  for (const std::string name :
       {"vit", "efficientnet-lite", "squeezenet", "resnet-imagenet", "convnext", "clip", "eva02"}) {
    const auto* const found = std::find_if(std::begin(kCases), std::end(kCases),
                                           [&](const Case& known) { return known.name == name; });
    ASSERT_NE(found, std::end(kCases)) << name;
    panels.push_back({name, found->dataset, found->model});
  }
  ASSERT_EQ(run_and_keep("trained", spec_of("trained", panels, "0.5", 3)).code, 0);
  for (auto& panel : panels) {
    auto entry = metadata("trained", panel.id).at("model").as_object();
    for (auto& member : entry) {
      if (member.value().is_string() && member.value().get_string() == "FOLDER") {
        member.value() = kept("trained", panel.id).string();
      }
    }
    panel.model = canonical_json(entry);
  }
  ASSERT_EQ(run_and_keep("again", spec_of("again", panels, kNoLength, 1)).code, 0);
  for (const auto& panel : panels) {
    EXPECT_NEAR(loss("again", panel.id), loss("trained", panel.id), kSame) << panel.id;
  }
}

// An unseeded run that was killed on its way gives, once it is complete, weights whose loss is the
// row's.
TEST_F(KeepWeights, OfARunThatWasKilledAndResumed) {
  const std::string data = "{name: synthetic, train: 2000, validation: 100, test: 200, features: 64}";
  const auto spec =
      write("long.yaml", spec_of("long", {{"one", data, "{name: mlp, hidden: [16]}"}}, "0.1", 3000));
  auto running = start({"run", spec, "--keep-weights", "--quiet"});
  ASSERT_TRUE(wait_for([&] { return journal_bytes() > 60000 || !running.is_running(); }));
  ASSERT_TRUE(running.is_running()) << "the run was over before it could be hit";
  running.kill();
  running.wait();
  EXPECT_FALSE(fs::exists(kept("long")));
  const auto again = run({"run", spec, "--keep-weights", "--quiet"});
  ASSERT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_FALSE(fs::exists(folder_ / "out/staged-weights"));
  const auto model = fmt::format("{{name: mlp, hidden: [16], weights: {}}}", kept("long").string());
  ASSERT_EQ(run_and_keep("again", spec_of("again", {{"one", data, model}}, kNoLength, 1)).code, 0);
  EXPECT_NEAR(loss("again"), loss("long"), kSame);
}

TEST_F(KeepWeights, AFolderThatCannotBeMadeIsSaidBeforeAnythingTrains) {
  write("out/staged-weights", "a file in the folder's place");
  const auto spec = write("s.yaml", spec_of("s", {{"one", kImages, kCases[1].model}}, "0.5", 3));
  const auto ended = run({"run", spec, "--keep-weights", "--quiet"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("staged-weights"));
  EXPECT_EQ(journal_bytes(), 0U);
}

TEST_F(KeepWeights, ASpecWithoutARowThatReleasesAnyIsRefusedInOneSentence) {
  const auto spec =
      write("s.yaml",
            "name: s\ntitle: s\nnoise_seed: x\npanels:\n  - id: one\n    dataset: adult\n    model: linear\n"
            "    seeds: [0]\n    epsilon: [3]\n    delta: N^-1.1\n    train: {sample_rate: 0.1, steps: 3, "
            "optimizer: sgd}\n    rows: [{method: fixed-rate, options: {lr: 0.1}}]\n");
  // Where the data is missing, that is what is said first.
  const auto ended = run({"run", spec, "--keep-weights", "--quiet"});
  EXPECT_EQ(ended.code, 2);
  if (ended.err.find("is not on this machine") == std::string::npos) {
    EXPECT_THAT(ended.err, HasSubstr("noise_seed repeats its noise"));
    EXPECT_THAT(ended.err, HasSubstr("--confidential"));
  }
  const auto alone = run({"run", spec, "--confidential"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--confidential is for --keep-weights"));
}

TEST_F(KeepWeights, ADryRunSaysOfWhichRows) {
  auto text = spec_of("s", {{"one", kImages, kCases[1].model}}, "0.5", 3);
  const auto ended = run({"run", write("s.yaml", text), "--keep-weights", "--dry-run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Weights would be kept of 1 of 1 studies."));
  EXPECT_FALSE(fs::exists(folder_ / "out/staged-weights"));
  text.replace(text.find(kImages), std::string(kImages).size(), "adult");
  text.replace(text.find(kCases[1].model), std::string(kCases[1].model).size(), "linear");
  text.replace(text.find("rows: ["), 7, "rows: [{method: nondp-gs, options: {grid: [0.1]}}, ");
  const auto mixed = run({"run", write("mixed.yaml", text), "--keep-weights", "--dry-run"});
  EXPECT_THAT(mixed.out, HasSubstr("Weights would be kept of 1 of 2 studies."));
  EXPECT_THAT(mixed.out, HasSubstr("(one, nondp-gs)"));
}

TEST_F(KeepWeights, FinishedRunsCannotGiveThemLater) {
  const auto spec = write("s.yaml", spec_of("s", {{"one", kImages, kCases[1].model}}, "0.5", 3));
  ASSERT_EQ(run({"run", spec, "--quiet"}).code, 0);
  const auto late = run({"run", spec, "--keep-weights", "--quiet"});
  EXPECT_EQ(late.code, 1);
  EXPECT_THAT(late.err, HasSubstr("one/fixed-rate.eps-8.seed-0"));
  EXPECT_THAT(late.err, HasSubstr("--fresh trains anew"));
  EXPECT_EQ(run({"run", spec, "--quiet"}).code, 0);
}

}  // namespace kept_weights_test
}  // namespace hyfreedp::end_to_end
