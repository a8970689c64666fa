// What a paper printed, and what was assumed for it, belongs to settings: a panel that is trained
// otherwise has neither, however it came to be changed.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/spec/spec_paper_settings.h"
#include "spec_file.h"
#include "tests/datasets/scratch.h"

namespace hyfreedp::runner {
namespace paper_settings_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const fs::path kPapers = fs::path(HYFREEDP_SOURCE_DIR) / "experiments/papers";

const std::string kTable2 = (kPapers / "hyfreedp/table-2.yaml").string();

Result<Spec> changed(const std::vector<std::string>& settings) {
  return load_spec(kTable2, "paper", settings);
}

TEST(PaperSettings, WhatThePaperTrainedKeepsThem) {
  const auto spec = changed({}).value();
  const auto& panel = spec.content.panels.front();
  EXPECT_EQ(panel.title, "ViT-Small on CIFAR10, all of it trained");
  EXPECT_FALSE(panel.rows.front().paper.empty());
  EXPECT_THAT(panel.footnotes, Contains(HasSubstr("224 pixels")));
  // Other cells of the same settings, where they are trained, and how many at once.
  const auto same = changed({"defaults.seeds=[7]", "defaults.epsilon=[3]", "defaults.train.device=cpu",
                             "defaults.train.microbatch=10", "defaults.evaluate.every=5",
                             "panels.gtsrb-vit-small.dataset.path=elsewhere"});
  ASSERT_TRUE(same) << same.error().message;
  for (const auto& one : same->content.panels) EXPECT_TRUE(one.paper) << one.id;
  EXPECT_THAT(same->warnings, Not(Contains(HasSubstr("the paper's values"))));
}

// What is known of a user's own files once they are there is no setting.
class PaperSettingsOfFiles : public WrittenSpec {};

TEST_F(PaperSettingsOfFiles, AreThoseWithoutThem) {
  fs::create_directories(folder_ / "gisette");
  for (const auto& [part, rows] : {std::pair("train", 6000), std::pair("test", 1000)}) {
    std::string text;
    for (int i = 0; i < rows; ++i)
      text += fmt::format("{} {}:{}\n", i % 2 == 0 ? 1 : -1, i % 5000 + 1, (rows + i) * 1e-4);
    write(fmt::format("gisette/{}.libsvm", part), text);
  }
  const datasets::ScopedVariable data("HYFREEDP_DATA", folder_.string());
  const datasets::ScopedVariable state("XDG_STATE_HOME", (folder_ / "state").string());
  const auto spec = load_spec((kPapers / "mohapatra/figure-3.yaml").string(), "paper");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_THAT(spec->warnings, Not(Contains(HasSubstr("the paper's values"))));
  const auto* const panel = spec::find_panel(spec->content, "gisette-logistic");
  ASSERT_NE(panel, nullptr);
  EXPECT_TRUE(panel->dataset.options.contains("files_mark")) << "the files were not read";
}

TEST(PaperSettings, OtherSettingsOfThePanelLoseThem) {
  for (const char* setting :
       {"panels.0.model=linear", "panels.0.dataset={name: cifar10, side: 32}", "panels.0.train={steps: 7}",
        "panels.0.train={batch_size: 500}", "panels.0.train={clipping: abadi}", "panels.0.delta=1e-5",
        "panels.0.dataset={name: cifar10, side: 224, interpolation: bilinear, train: 2000}",
        "panels.0.train={optimizer: {name: sgd}}"}) {
    const auto spec = changed({setting});
    ASSERT_TRUE(spec) << spec.error().message;
    const auto& panel = spec->content.panels.at(0);
    EXPECT_FALSE(panel.paper) << setting;
    EXPECT_THAT(panel.title, Not(HasSubstr("ViT-Small"))) << setting;
    for (const auto& row : panel.rows) EXPECT_TRUE(row.paper.empty()) << setting;
    EXPECT_THAT(
        panel.footnotes,
        AllOf(Contains(HasSubstr("other settings than those of the paper's table 2")),
              Not(Contains(HasSubstr("224 pixels"))), Not(Contains(HasSubstr("Of the paper's own values")))))
        << setting;
    EXPECT_THAT(spec->warnings, Contains(HasSubstr("not those of its table 2: panel cifar10-vit-small.")));
    // The others are the paper's still.
    EXPECT_TRUE(spec->content.panels.at(1).paper) << setting;
    EXPECT_FALSE(spec->content.assumed.empty());
  }
  EXPECT_THAT(changed({"defaults.delta=1e-5"})->content.assumed, IsEmpty());
  // A user's own title stays.
  const auto mine = changed({"panels.0.model=linear", "panels.0.title=Mine"}).value();
  EXPECT_EQ(mine.content.panels.at(0).title, "Mine");
}

TEST(PaperSettings, OtherSettingsOfARowLoseItsOwnValues) {
  const auto spec = changed({"rows.nondp-gs.options.grid=[1e-3]"});
  ASSERT_TRUE(spec) << spec.error().message;
  const auto& panel = spec->content.panels.at(0);
  EXPECT_TRUE(panel.paper);
  EXPECT_TRUE(panel.rows.at(0).paper.empty());
  EXPECT_THAT(panel.rows.at(0).footnotes,
              Contains(HasSubstr("With other settings than the row of the paper's")));
  EXPECT_FALSE(panel.rows.at(1).paper.empty());
}

class ChangedPaper : public WrittenSpec {};

TEST_F(ChangedPaper, AnIncludingFileAPresetAndAnEdit) {
  for (const char* name : {"values.json", "settings.json", "table-2.yaml"}) {
    fs::copy(kPapers / "hyfreedp" / name, folder_ / name, fs::copy_options::overwrite_existing);
  }
  const auto check = [](const Result<Spec>& spec, bool is_paper) {
    ASSERT_TRUE(spec) << spec.error().message;
    for (const auto& panel : spec->content.panels) {
      EXPECT_EQ(panel.paper.has_value(), is_paper) << panel.id;
      EXPECT_EQ(panel.title.find("ViT-") != std::string::npos, is_paper) << panel.title;
    }
  };
  const auto edited = read_file((folder_ / "table-2.yaml").string()).value();
  const auto with = [&](const std::string& there, const std::string& written) {
    auto text = edited;
    return text.replace(text.find(there), there.size(), written);
  };
  check(load(edited, "paper"), true);
  check(load(with("steps: 135,", "steps: 136, average: ema,"), "paper"), false);
  check(load("include: table-2.yaml\nname: mine\n", "paper"), true);
  check(load("include: table-2.yaml\nname: mine\npresets: {paper: {defaults: {delta: 1e-5}}}\n", "paper"),
        false);
  check(load("include: table-2.yaml\nname: mine\npresets: {other: {from: paper, defaults: {delta: 1e-5}}}\n",
             "other"),
        false);
  // Where nothing is known of the settings, all stays as it is written.
  fs::remove(folder_ / "settings.json");
  check(load(with("delta: N^-1.1", "delta: 1e-5"), "paper"), true);
}

}  // namespace paper_settings_test
}  // namespace hyfreedp::runner
