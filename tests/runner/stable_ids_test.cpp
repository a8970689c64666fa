// Ids of studies and hashes of specs that are in users' databases: a new key of a spec must not
// move them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {
namespace stable_ids_test {

struct Known {
  const char* spec;
  const char* hash;  // Spec::hash
  // First 16 digits of the SHA-256 of all ids, one a line, in the plan's order.
  const char* studies;
};

class StableIds : public testing::TestWithParam<Known> {};

TEST_P(StableIds, OfReleasedSpecs) {
  const auto spec = load_spec(fmt::format("{}/experiments/{}.yaml", HYFREEDP_SOURCE_DIR, GetParam().spec));
  ASSERT_TRUE(spec) << spec.error().message;
  const auto studies = plan(*spec);
  ASSERT_TRUE(studies) << studies.error().message;
  std::string ids;
  for (const auto& study : *studies) ids += study.id + "\n";
  EXPECT_EQ(spec->hash(), GetParam().hash);
  EXPECT_EQ(sha256_hex(ids).substr(0, 16), GetParam().studies);
}

// As written by 0.4.0; quick as written by 0.7.0, which has more seeds.
INSTANTIATE_TEST_SUITE_P(Specs, StableIds,
                         testing::Values(Known{"adult", "65ac0feff0e67b1d", "afde1a2e00393245"},
                                         Known{"clipping", "367d3b49027b4656", "5e2436af69861889"},
                                         Known{"feature-mean", "5e5702390b529eb3", "ea092e8000f557e6"},
                                         Known{"linear-scaling", "593088d9d3af534e", "7fdcedfa95f8e011"},
                                         Known{"methods", "f726cdda7c7122a4", "be9bba15b0e1c4fa"},
                                         Known{"plus-study", "4f67e12e37632d02", "e2199492466d5072"},
                                         Known{"quick", "5b08cc3a503391f6", "d023526a724424e0"},
                                         Known{"quick-mlp", "ce415907b055ce44", "530f1e68f850e040"},
                                         Known{"quick-pixels", "d64e44471c123d1a", "5cedce3eb36ad93b"},
                                         Known{"quick-variants", "54d4b9c31445dc99", "370744186bc278fd"},
                                         Known{"replay", "17ae5d4ba220f1f4", "f4466d81f69e3d73"},
                                         Known{"replay-pool", "93ee9d6c38a3c56b", "9dee33e2ff5bbb6d"},
                                         Known{"smoke", "e9b99aad2353d75f", "2845e5dddf21a659"},
                                         Known{"smoke-models", "78df5c165918bc52", "f2d19c098359f2ad"}),
                         [](const auto& instance) {
                           std::string name = instance.param.spec;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace stable_ids_test
}  // namespace hyfreedp::runner
