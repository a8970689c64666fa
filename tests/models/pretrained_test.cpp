// Weights folders through the options of a model.
#include "harness/models/weights/pretrained.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/models/facts/facts.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/model.h"
#include "harness/models/weights/resized_positions.h"
#include "harness/models/weights/weights.h"
#include "tests/datasets/scratch.h"
#include "tests/models/compare.h"

namespace hyfreedp::models {
namespace pretrained_test {

namespace fs = std::filesystem;

const random::Key kKey = random::key_from_seed("tests of pretrained models");

class Pretrained : public testing::Test {
 protected:
  Pretrained() { fs::create_directories(folder_); }
  ~Pretrained() override { fs::remove_all(folder_); }

  // A weights folder from a reference case; empty where that is not at hand.
  std::string from_case(const std::string& name) const {
    const auto source = fs::path(HYFREEDP_TEST_DATA) / "models" / name;
    if (!fs::exists(source)) return "";
    const auto target = folder_ / name;
    fs::create_directories(target);
    fs::copy_file(source / "config.json", target / "config.json", fs::copy_options::overwrite_existing);
    fs::copy_file(source / "weights.safetensors", target / "model.safetensors",
                  fs::copy_options::overwrite_existing);
    return target.string();
  }
  static json::object options_of(const std::string& model, const json::object& given) {
    return complete_options(resolve_options(find_model(model).value()->options, given, model).value())
        .value();
  }
  static NamedTensors stored(const std::string& name, const std::string& file) {
    return read_weights((fs::path(HYFREEDP_TEST_DATA) / "models" / name / file).string()).value();
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("pretrained-" + std::to_string(::getpid()));
};

TEST_F(Pretrained, AVisionTransformerGivesTheReferencesLogits) {
  const auto folder = from_case("vit_token");
  if (folder.empty()) GTEST_SKIP() << "SKIPPED: no reference case vit_token";
  const ModelInput input{.features = 768, .classes = 10, .image = {3, 16, 16}};
  const auto options = options_of("vit", {{"weights", folder}, {"head", "file"}, {"trainable", "lora"}});
  const auto network = make_model("vit", options, input, kKey, torch::kFloat64);
  ASSERT_TRUE(network) << network.error().message;
  const auto images = stored("vit_token", "inputs.safetensors").at("images").to(torch::kFloat64);
  const auto expected = stored("vit_token", "expected.safetensors").at("logits");
  EXPECT_TRUE(near_relative(network->forward(images), expected, 1e-9));
  EXPECT_TRUE(near_relative(network->forward(images.flatten(1)), expected, 1e-9));
}

TEST_F(Pretrained, ANewHeadIsDrawnAndPositionsAreResized) {
  const auto folder = from_case("vit_token");
  if (folder.empty()) GTEST_SKIP() << "SKIPPED: no reference case vit_token";
  const ModelInput input{.features = 3 * 24 * 24, .classes = 3, .image = {3, 24, 24}};
  const auto options = options_of("vit", {{"weights", folder}});
  const auto network = make_model("vit", options, input, kKey, torch::kFloat32);
  ASSERT_TRUE(network) << network.error().message;
  const auto file = read_weights(folder).value();
  EXPECT_TRUE(at::equal(network->tensor("blocks.0.attn.qkv.weight"), file.at("blocks.0.attn.qkv.weight")));
  EXPECT_EQ(network->tensor("head.weight").size(0), 3);
  EXPECT_GT(network->tensor("head.weight").abs().max().item<float>(), 0);
  EXPECT_TRUE(at::equal(network->tensor("pos_embed"), resized_positions(file.at("pos_embed"), 36)));
  // The file's head has ten classes.
  const auto misfit = make_model("vit", options_of("vit", {{"weights", folder}, {"head", "file"}}), input,
                                 kKey, torch::kFloat32);
  ASSERT_FALSE(misfit);
  EXPECT_NE(misfit.error().message.find("head.weight"), std::string::npos) << misfit.error().message;
}

TEST_F(Pretrained, LanguageModelsGiveTheReferencesLogits) {
  for (const std::string name : {"gpt2", "llama", "opt"}) {
    SCOPED_TRACE(name);
    const auto folder = from_case(name);
    if (folder.empty()) GTEST_SKIP() << "SKIPPED: no reference case " << name;
    const auto inputs = stored(name, "inputs.safetensors");
    const auto ids = inputs.at("input_ids");
    const auto vocabulary = weights_config(folder)->at("vocab_size").to_number<std::int64_t>();
    const ModelInput input{
        .features = ids.size(1), .classes = vocabulary, .length = ids.size(1), .vocabulary = vocabulary};
    const auto network =
        make_model(name, options_of(name, {{"weights", folder}}), input, kKey, torch::kFloat64);
    ASSERT_TRUE(network) << network.error().message;
    // Without a mask only samples whose padding lies to the right are the same.
    const auto mask = inputs.at("attention_mask");
    const auto logits = network->forward(ids);
    const auto expected = stored(name, "expected.safetensors").at("logits");
    int compared = 0;
    for (std::int64_t i = 0; i < ids.size(0); ++i) {
      const auto tokens = mask[i].sum().item<std::int64_t>();
      if (mask[i].narrow(0, 0, tokens).min().item<std::int64_t>() == 0) continue;
      ++compared;
      EXPECT_TRUE(near_relative(logits[i].narrow(0, 0, tokens), expected[i].narrow(0, 0, tokens), 1e-9)) << i;
    }
    EXPECT_GT(compared, 0);
  }
}

TEST_F(Pretrained, AClassifierOfTextsGivesTheReferencesLogits) {
  const auto folder = from_case("bert");
  if (folder.empty()) GTEST_SKIP() << "SKIPPED: no reference case bert";
  const auto ids = stored("bert", "inputs.safetensors").at("ids");
  const auto input_of = [&](const torch::Tensor& rows) {
    return ModelInput{.features = rows.size(1), .classes = 3, .length = rows.size(1), .vocabulary = 24};
  };
  const auto made = [&](const torch::Tensor& rows, const char* pool) {
    const auto options = options_of("bert", {{"weights", folder}, {"head", "file"}, {"pool", pool}});
    auto network = make_model("bert", options, input_of(rows), kKey, torch::kFloat64);
    EXPECT_TRUE(network) << network.error().message;
    return std::move(*network);
  };
  auto network = made(ids, "first");
  const auto logits = network.forward(ids);
  EXPECT_TRUE(near_relative(logits, stored("bert", "expected.safetensors").at("logits"), 1e-9));
  // More padding changes nothing: no logit, and no sample's gradient.
  const auto longer = at::cat({ids, torch::zeros({ids.size(0), 2}, ids.options())}, 1);
  for (const char* pool : {"first", "mean"}) {
    auto narrow = made(ids, pool), wide = made(longer, pool);
    const auto gradient = torch::randn({ids.size(0), 3}, torch::kFloat64);
    EXPECT_TRUE(near_relative(wide.record(longer), narrow.record(ids), 1e-9)) << pool;
    wide.backward(gradient);
    narrow.backward(gradient);
    EXPECT_TRUE(near_relative(wide.squared_norms(), narrow.squared_norms(), 1e-9)) << pool;
    auto sum = torch::zeros_like(narrow.parameters()), other = torch::zeros_like(sum);
    narrow.add_clipped_sum({}, sum);
    wide.add_clipped_sum({}, other);
    EXPECT_TRUE(near_relative(other, sum, 1e-9)) << pool;
  }
  // The mean is of the tokens that are not padding: of the row [CLS] [SEP] of two.
  const auto features = made(ids, "mean").features(ids.narrow(0, 3, 1));
  const auto alone = made(ids.narrow(1, 0, 2), "mean").features(ids.narrow(0, 3, 1).narrow(1, 0, 2));
  EXPECT_TRUE(near_relative(features, alone, 1e-9));
  const auto gpt = parameter_count("gpt2", options_of("gpt2", {{"width", 8}}), input_of(ids));
  ASSERT_FALSE(gpt);
  EXPECT_NE(gpt.error().message.find("one class for each sequence"), std::string::npos)
      << gpt.error().message;
  // Where the data pad with another id, padding would be attended to.
  auto otherwise = input_of(ids);
  otherwise.padding = 23;
  const auto bert = parameter_count("bert", options_of("bert", {{"weights", folder}}), otherwise);
  ASSERT_FALSE(bert);
  EXPECT_NE(
      bert.error().message.find("it knows padding by the id 0, and the dataset's sequences end with 23"),
      std::string::npos)
      << bert.error().message;
}

// Of a folder with `padding` as its padding's id.
ModelInput classified(const torch::Tensor& rows, std::int64_t padding) {
  return {
      .features = rows.size(1), .classes = 3, .length = rows.size(1), .vocabulary = 24, .padding = padding};
}

TEST_F(Pretrained, RobertaGivesTheReferencesLogits) {
  const auto folder = from_case("roberta");
  if (folder.empty()) GTEST_SKIP() << "SKIPPED: no reference case roberta";
  constexpr std::int64_t kPadding = 1;
  const auto ids = stored("roberta", "inputs.safetensors").at("ids");
  const auto options = options_of("roberta", {{"weights", folder}, {"head", "file"}});
  const auto logits_of = [&](const torch::Tensor& rows) {
    auto network = make_model("roberta", options, classified(rows, kPadding), kKey, torch::kFloat64);
    EXPECT_TRUE(network) << network.error().message;
    return network->forward(rows);
  };
  const auto expected = stored("roberta", "expected.safetensors").at("logits");
  EXPECT_TRUE(near_relative(logits_of(ids), expected, 1e-9));
  // 10 positions, of which the first token has that after padding's.
  const auto cut = ids.narrow(0, 2, 2).narrow(1, 0, 5);
  EXPECT_TRUE(near_relative(logits_of(cut), expected.narrow(0, 2, 2), 1e-9)) << "padding changes nothing";
  const auto long_rows = at::full({2, 9}, 5, at::kLong);
  const auto too_long = parameter_count("roberta", options, classified(long_rows, kPadding));
  ASSERT_FALSE(too_long);
  EXPECT_NE(too_long.error().message.find("its 8 positions are fewer than the dataset's 9 tokens"),
            std::string::npos)
      << too_long.error().message;
  // One is not read as the other.
  const auto as_bert =
      parameter_count("bert", options_of("bert", {{"weights", folder}}), classified(ids, kPadding));
  ASSERT_FALSE(as_bert);
  EXPECT_NE(as_bert.error().message.find("model_type"), std::string::npos) << as_bert.error().message;
}

TEST_F(Pretrained, TheChecksumIsOfTheFilesAndIsChecked) {
  const auto folder = from_case("vit_token");
  if (folder.empty()) GTEST_SKIP() << "SKIPPED: no reference case vit_token";
  const auto options = options_of("vit", {{"weights", folder}});
  const auto checksum = string_or(options, "weights_sha256", "");
  EXPECT_EQ(checksum.size(), 64U);
  EXPECT_EQ(options_of("vit", {{"weights", folder}, {"weights_sha256", checksum}}), options);
  // Another file under the same name.
  auto weights = read_weights(folder).value();
  weights["cls_token"] = weights["cls_token"] + 1;
  ASSERT_TRUE(write_safetensors(folder + "/model.safetensors", weights));
  const ModelInput input{.features = 768, .classes = 10, .image = {3, 16, 16}};
  const auto network = make_model("vit", options, input, kKey, torch::kFloat32);
  ASSERT_FALSE(network);
  EXPECT_NE(network.error().message.find("checksum"), std::string::npos) << network.error().message;
}

TEST_F(Pretrained, AnAdaptersFolderDecidesRankAndScaleAndIsWhereItBegins) {
  const auto folder = from_case("gpt2");
  if (folder.empty()) GTEST_SKIP() << "SKIPPED: no reference case gpt2";
  const auto adapter = (folder_ / "adapter").string();
  fs::create_directories(adapter);
  for (const char* file : {"adapter_config.json", "adapter_model.safetensors"}) {
    fs::copy_file(fs::path(HYFREEDP_TEST_DATA) / "models" / "gpt2" / "lora" / file, fs::path(adapter) / file);
  }
  const ModelInput input{.features = 6, .classes = 97, .length = 6, .vocabulary = 97};
  const auto options = options_of("gpt2", {{"weights", folder}, {"adapter", adapter}, {"trainable", "lora"}});
  EXPECT_EQ(string_or(options, "adapter_sha256", "").size(), 64U);
  const auto network = make_model("gpt2", options, input, kKey, torch::kFloat64);
  ASSERT_TRUE(network) << network.error().message;
  const auto file = read_weights(adapter + "/adapter_model.safetensors").value();
  ASSERT_FALSE(file.empty());
  for (const auto& [name, value] : file) {
    EXPECT_TRUE(at::equal(network->tensor(name), value.to(torch::kFloat64))) << name;
  }
  // The logits are those of this adapter, not of a new one, whose B is zero.
  const auto ids = torch::arange(6, torch::kInt64).unsqueeze(0);
  const auto plain = make_model("gpt2", options_of("gpt2", {{"weights", folder}, {"trainable", "lora"}}),
                                input, kKey, torch::kFloat64);
  EXPECT_FALSE(near_relative(network->forward(ids), plain->forward(ids), 1e-3));

  // Said twice, for another mode, or with another file under the same name: refused in words.
  const auto refused = [&](json::object changed) {
    for (const auto& item : options) {
      if (!changed.contains(item.key())) changed[item.key()] = item.value();
    }
    const auto made = make_model("gpt2", changed, input, kKey, torch::kFloat64);
    return made ? std::string("accepted") : made.error().message;
  };
  EXPECT_NE(refused({{"lora_alpha", 3.0}}).find("leave 'lora_alpha' out"), std::string::npos);
  EXPECT_NE(refused({{"trainable", "full"}}).find("needs 'trainable: lora'"), std::string::npos);
  EXPECT_NE(refused({{"adapter", "no/such"}}).find("adapter_config.json"), std::string::npos);
  auto changed = file;
  changed.begin()->second = changed.begin()->second + 1;
  ASSERT_TRUE(write_safetensors(adapter + "/adapter_model.safetensors", changed));
  EXPECT_NE(refused({}).find("checksum of the adapter"), std::string::npos);
}

TEST_F(Pretrained, AMissingFolderSaysWhatIsNeededAndWhereItWasLookedFor) {
  const auto given =
      resolve_options(find_model("vit").value()->options, {{"weights", "no/such"}}, "vit").value();
  const auto missing = complete_options(given);
  ASSERT_FALSE(missing);
  for (const char* said : {"model.safetensors", "pytorch_model.bin", "config.json", "Looked in", "no/such"}) {
    EXPECT_NE(missing.error().message.find(said), std::string::npos) << missing.error().message;
  }
  const datasets::ScopedVariable data("HYFREEDP_DATA", std::nullopt), cache("XDG_CACHE_HOME", "/no/such");
  EXPECT_THAT(locate_weights("gpt2").error().message,
              ::testing::HasSubstr("To get it: `hyfreedp data fetch gpt2`"));
  EXPECT_THAT(
      locate_weights("llama2-7b").error().message,
      ::testing::HasSubstr("To get it: the files of meta-llama/Llama-2-7b-hf in a folder of that name"));
}

TEST_F(Pretrained, BatchNormsStatisticsAreRefused) {
  auto network =
      make_model("linear", {{"init", "zero"}}, {.features = 3, .classes = 2}, kKey, torch::kFloat32).value();
  const auto loaded = load_weights(network, {{"fc.weight", torch::ones({2, 3})},
                                             {"fc.bias", torch::ones({2})},
                                             {"bn1.running_mean", torch::ones({2})},
                                             {"bn1.running_var", torch::ones({2})}});
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("BatchNorm"), std::string::npos) << loaded.error().message;
  EXPECT_NE(loaded.error().message.find("bn1"), std::string::npos);
}

}  // namespace pretrained_test
}  // namespace hyfreedp::models
