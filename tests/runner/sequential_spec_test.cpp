// `seeds: {until: ...}` in a spec: what it may say, and how mistakes are told.
#include "harness/runner/execute/only.h"
#include "harness/runner/execute/spec_diff.h"
#include "spec_file.h"

namespace hyfreedp::runner {
namespace sequential_spec_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SequentialSpec : public WrittenSpec {
 protected:
  static std::string yaml(const std::string& seeds, const std::string& rows = "[prodigy, hyfreedp]") {
    return "name: demo\ndataset: {name: synthetic, train: 1000}\nmodel: linear\nepsilon: [1, inf]\n"
           "train: {sample_rate: 0.1, steps: 20, optimizer: adamw}\nseeds: " +
           seeds + "\nrows: " + rows + "\n";
  }
  static std::string until(const std::string& rule, const std::string& rest = "from: 3, to: 20") {
    return "{until: \"" + rule + "\", " + rest + "}";
  }
  spec::Panel panel(const std::string& text) const {
    const auto spec = load(text);
    if (spec) return spec->content.panels.at(0);
    ADD_FAILURE() << spec.error().message;
    return {};
  }
};

TEST_F(SequentialSpec, TheRuleIsReadAndAllSeedsThatMayBeAreListed) {
  const auto read =
      panel(yaml(until("paired interval of prodigy - hyfreedp is narrower than 0.5 or excludes 0")));
  ASSERT_TRUE(read.sequential);
  EXPECT_EQ(read.sequential->first, "prodigy");
  EXPECT_EQ(read.sequential->second, "hyfreedp");
  EXPECT_EQ(read.sequential->narrower, 0.5);
  EXPECT_TRUE(read.sequential->excludes_zero);
  EXPECT_EQ(read.sequential->from, 3);
  EXPECT_EQ(read.sequential->to, 20);
  EXPECT_EQ(read.sequential->confidence, 0.95);
  EXPECT_EQ(read.seeds.size(), 20u);
  EXPECT_EQ(plan(load(yaml(until("paired interval of prodigy - hyfreedp excludes 0"))).value())->size(),
            2u * 2 * 20);

  const auto other =
      panel(yaml(until("paired interval of prodigy\n  -   hyfreedp excludes 0 or narrower than 2",
                       "from: 2, to: 4, confidence: 0.9")));
  EXPECT_EQ(other.sequential->until, "paired interval of prodigy - hyfreedp excludes 0 or narrower than 2");
  EXPECT_EQ(other.sequential->narrower, 2);
  EXPECT_EQ(other.sequential->confidence, 0.9);
}

TEST_F(SequentialSpec, AMistakeIsToldWithAnExample) {
  const std::string good = "paired interval of prodigy - hyfreedp excludes 0";
  for (const std::string rule : {"prodigy - hyfreedp excludes 0", "paired interval of prodigy excludes 0",
                                 "paired interval of prodigy - hyfreedp",
                                 "paired interval of prodigy - hyfreedp is narrower than nothing",
                                 "paired interval of prodigy - hyfreedp is narrower than -1",
                                 "paired interval of prodigy - hyfreedp excludes 0 and is narrower than 1",
                                 "paired interval of prodigy - hyfreedp excludes 0 or excludes 0", ""}) {
    EXPECT_THAT(
        refusal(yaml(until(rule))),
        AllOf(HasSubstr("seeds.until must be like 'paired interval of prodigy - hyfreedp is narrower than "
                        "0.5 or excludes 0'"),
              HasSubstr("Example: `until: paired interval of")))
        << rule;
  }
  EXPECT_THAT(
      refusal(yaml(until("paired interval of prodigi - hyfreedp excludes 0"))),
      HasSubstr("seeds.until names 'prodigi', which is no row of the panel (it has: prodigy, hyfreedp). "
                "Did you mean 'prodigy'?"));
  EXPECT_THAT(refusal(yaml(until("paired interval of prodigy - prodigy excludes 0"))),
              HasSubstr("compares a row with itself"));
  EXPECT_THAT(refusal(yaml(until(good, "from: 1, to: 20"))),
              HasSubstr("seeds.from must be at least 2: one seed has no interval"));
  EXPECT_THAT(refusal(yaml(until(good, "from: 5, to: 4"))),
              HasSubstr("seeds.to must be at least 'from', which is 5"));
  EXPECT_THAT(refusal(yaml(until(good, "from: 3, to: 2000"))), HasSubstr("seeds.to must be at most 1000"));
  EXPECT_THAT(refusal(yaml(until(good, "from: 3, to: 9, confidence: 95"))),
              HasSubstr("seeds.confidence must be at least 0.5 and below 1"));
  EXPECT_THAT(refusal(yaml(until(good, "from: 3"))), HasSubstr("'to' is missing"));
  EXPECT_THAT(refusal(yaml("{from: 3, to: 20}")), HasSubstr("'until' is missing"));
  EXPECT_THAT(refusal(yaml(until(good, "from: 3, to: 20, til: 9"))), HasSubstr("til"));
}

TEST_F(SequentialSpec, RowsThatCannotBeComparedAreRefused) {
  const std::string rule = until("paired interval of prodigy - hyfreedp excludes 0");
  EXPECT_THAT(refusal(yaml(rule, "[prodigy, {method: hyfreedp, seeds: [0, 1]}]")),
              HasSubstr("compares 'hyfreedp', which lists seeds of its own"));
  EXPECT_THAT(refusal(yaml(rule, "[prodigy, {method: hyfreedp, epsilon: [1, 3]}]")),
              HasSubstr("compares 'prodigy' and 'hyfreedp', which do not have the same columns"));
  auto fixed = yaml(rule);
  fixed.replace(fixed.find("epsilon: [1, inf]"), 17, "noise_multiplier: [2, 4]");
  EXPECT_THAT(refusal(fixed), HasSubstr("under 'noise_multiplier' each row has its own"));
}

TEST_F(SequentialSpec, AListOfAPresetReplacesTheRule) {
  const auto text = yaml(until("paired interval of prodigy - hyfreedp excludes 0")) +
                    "presets: {small: {seeds: [0, 1]}, shorter: {seeds: {to: 6}}}\n";
  const auto small = load(text, "small").value().content.panels.at(0);
  EXPECT_FALSE(small.sequential);
  EXPECT_THAT(small.seeds, ElementsAre(0, 1));
  EXPECT_EQ(load(text, "shorter").value().content.panels.at(0).sequential->to, 6);
}

// The hash of a spec that lists its seeds is what it was.
TEST_F(SequentialSpec, TheResolvedSpecHoldsTheRuleOnlyWhereThereIsOne) {
  const auto with = resolved(yaml(until("paired interval of prodigy - hyfreedp excludes 0")));
  const auto& panel = with.at("panels").as_array().at(0).as_object();
  EXPECT_EQ(panel.at("sequential").as_object().at("to").as_int64(), 20);
  const auto again = from_json<spec::Spec>(json::value(with), "spec");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(canonical_json(as_json(*again)), canonical_json(with));
  const auto without = resolved(yaml("[0, 1]"));
  EXPECT_FALSE(without.at("panels").as_array().at(0).as_object().contains("sequential"));
}

TEST_F(SequentialSpec, ADifferentRuleMayTrainMore) {
  const auto before = load(yaml(until("paired interval of prodigy - hyfreedp excludes 0"))).value();
  const auto now = load(yaml(until("paired interval of prodigy - hyfreedp is narrower than 1"))).value();
  const auto diff = spec_diff(before, now).value();
  EXPECT_FALSE(diff.differences.empty());
  for (const auto& difference : diff.differences) {
    EXPECT_THAT(difference.path, HasSubstr("sequential"));
    EXPECT_EQ(difference.effect, DiffEffect::trained) << difference.path;
  }
  EXPECT_THAT(spec_diff(before, before)->differences, IsEmpty());
}

}  // namespace sequential_spec_test
}  // namespace hyfreedp::runner
