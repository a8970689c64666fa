// Every spec of the project is planned, and comes back from its JSON with the same bytes, so that
// what the database holds is what the spec said.
#include <filesystem>
#include <gtest/gtest.h>

#include "harness/runner/spec/plan.h"
#include "harness/spec/spec.h"
#include "tests/datasets/scratch.h"
#include "tests/in_project_folder.h"

namespace hyfreedp::runner {
namespace spec_round_trip_test {

std::vector<std::string> spec_files() {
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::recursive_directory_iterator(HYFREEDP_SOURCE_DIR "/experiments")) {
    if (file.path().extension() == ".yaml") paths.push_back(file.path().string());
  }
  return paths;
}

TEST(SpecRoundTrip, EverySpecAndPreset) {
  // As where none of the data are: reading all of them to count and mark them takes seconds.
  const datasets::ScopedVariable no_data("HYFREEDP_DATA", std::nullopt);
  const InProjectFolder there;
  std::size_t panels = 0, kinds = 0;
  for (const auto& path : spec_files()) {
    auto names = presets_of(path).value();
    if (names.empty()) names.emplace_back();
    for (const auto& name : names) {
      const auto loaded = load_spec(path, name);
      ASSERT_TRUE(loaded) << loaded.error().message;
      const auto written = canonical_json(as_json(loaded->content));
      const auto back = spec::read_spec(parse_json(written, path)->as_object(), path);
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_EQ(canonical_json(as_json(*back)), written) << path << " " << name;
      panels += back->panels.size();
      kinds += spec::is_runnable(*back) ? 0 : 1;
    }
  }
  EXPECT_GT(panels, 50u);
  EXPECT_GT(kinds, 20u);
}

TEST(ShippedSpecs, AllLoadAndPlan) {
  // As where none of the data are: reading all of them to count and mark them takes seconds.
  const datasets::ScopedVariable no_data("HYFREEDP_DATA", std::nullopt);
  const InProjectFolder there;
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(HYFREEDP_SOURCE_DIR "/experiments")) {
    if (file.path().extension() != ".yaml") continue;
    auto presets = presets_of(file.path().string()).value();
    if (presets.empty()) presets.emplace_back();
    for (const auto& preset : presets) {
      const auto spec = load_spec(file.path().string(), preset);
      ASSERT_TRUE(spec) << spec.error().message;
      const auto stem = file.path().stem().string();
      EXPECT_EQ(spec->content.name, preset.empty() ? stem : stem + "-" + preset);
      const auto studies = plan(*spec);
      ASSERT_TRUE(studies) << studies.error().message;
      EXPECT_FALSE(studies->empty());
      ++count;
    }
  }
  EXPECT_GE(count, 4u);
}

}  // namespace spec_round_trip_test
}  // namespace hyfreedp::runner
