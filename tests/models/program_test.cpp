// A head on what a saved program gives.
#include "harness/models/layers/program.h"

#include <gmock/gmock.h>

#include "harness/base/files.h"
#include "harness/models/facts/blueprint.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/model.h"
#include "tests/models/compare.h"
#include "tests/models/reference_images.h"

namespace hyfreedp::models {
namespace program_test {

using testing::AllOf;
using testing::HasSubstr;

const random::Key kKey = random::key_from_seed("tests of programs");
const ModelInput kImages = input_of(8, 3);

std::string file(const std::string& name) { return HYFREEDP_TEST_DATA "/programs/" + name; }

Result<Network> made(const std::string& model, const std::string& program, const json::value& width,
                     const ModelInput& input, json::object given = {}) {
  given["program"] = file(program);
  given["program_features"] = width;
  const auto options =
      complete_options(resolve_options(find_model(model).value()->options, given, model).value());
  if (!options) return options.error();
  return make_model(model, *options, input, kKey, torch::kFloat32);
}
std::string refusal(const std::string& program, const json::value& width, const ModelInput& input = kImages) {
  const auto network = made("linear", program, width, input);
  return network ? "accepted" : network.error().message;
}

TEST(Programs, GiveTheirFeaturesToAHeadOfOurs) {
  auto network = made("linear", "training.pt", 4, kImages, {{"init", "he"}});
  ASSERT_TRUE(network) << network.error().message;
  const auto expected = read_json_file(file("expected.json")).value().as_object();
  const auto features = rows(expected.at("features"));
  const auto images = reference_images(8).to(torch::kFloat32);
  EXPECT_TRUE(near_relative(network->features(images.flatten(1)), features, 1e-5));
  const auto logits = at::matmul(features, network->tensor("fc.weight").to(torch::kFloat64).t());
  EXPECT_TRUE(near_relative(network->forward(images), logits, 1e-5));
  EXPECT_EQ(network->dimension(), 3 * 4 + 3);
  // The gradient of a sample is that of a linear layer on its features.
  const auto recorded = network->record(images.flatten(1));
  const auto upstream = torch::tensor({{1.0F, 0.0F, 0.0F}, {0.0F, 2.0F, 0.0F}});
  network->backward(upstream);
  const auto wanted = upstream.square().sum(1) * (features.square().sum(1) + 1);
  EXPECT_TRUE(near_relative(network->squared_norms(), wanted, 1e-5));

  const auto deeper =
      made("mlp", "vectors.pt", 8, {.features = 4, .classes = 2}, {{"hidden", json::array{5}}});
  ASSERT_TRUE(deeper) << deeper.error().message;
  EXPECT_EQ(deeper->tensor("fc1.weight").sizes(), (std::vector<std::int64_t>{5, 8}));
}

TEST(Programs, ThatMixSamplesOrGiveOtherShapesAreRefused) {
  EXPECT_THAT(refusal("mixing.pt", 4), AllOf(HasSubstr("mixing.pt"), HasSubstr("it mixes samples")));
  EXPECT_THAT(refusal("training.pt", 5),
              AllOf(HasSubstr("[5, 4], where [5, 5]"), HasSubstr("'program_features' is 5")));
  EXPECT_THAT(refusal("training.pt", 4, {.features = 7, .classes = 3}), HasSubstr("does not run on samples"));
  EXPECT_THAT(refusal("expected.json", 4), HasSubstr("no file of torch.jit.save"));
  EXPECT_THAT(refusal("none.pt", 4), HasSubstr("is not on this machine"));
  EXPECT_THAT(refusal("training.pt", nullptr), HasSubstr("need each other"));
}

// The file's content is part of what a run begins with.
TEST(Programs, AreKnownByTheirChecksum) {
  const auto given = [](json::object more) {
    more["program"] = file("vectors.pt");
    more["program_features"] = 8;
    return complete_options(resolve_options(find_model("linear").value()->options, more, "linear").value());
  };
  const auto options = given({}).value();
  EXPECT_EQ(string_or(options, "program_sha256", "").size(), 64U);
  EXPECT_EQ(parameter_count("linear", options, {.features = 4, .classes = 2}).value(), 8 * 2 + 2);
  EXPECT_FALSE(given({{"program_sha256", std::string(64, '0')}}));
  // Without a program the options are as they were.
  const auto plain = resolve_options(find_model("linear").value()->options, {}, "linear").value();
  EXPECT_FALSE(plain.contains("program"));
}

}  // namespace program_test
}  // namespace hyfreedp::models
