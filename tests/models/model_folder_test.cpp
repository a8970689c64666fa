// Networks written as folders and read again; names, shapes and bytes beside those of the reference
// files.
#include "harness/models/weights/model_folder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include "datasets/facts.h"
#include "harness/base/files.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/model.h"
#include "harness/models/networks/gpt2.h"
#include "harness/models/networks/llama.h"
#include "harness/models/networks/vit.h"
#include "harness/models/weights/weights.h"

namespace hyfreedp::models {
namespace model_folder_test {

namespace fs = std::filesystem;

const random::Key kKey = random::key_from_seed("tests of model folders");

class ModelFolders : public testing::Test {
 protected:
  ModelFolders() { fs::create_directories(folder_); }
  ~ModelFolders() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  static json::object options_of(const std::string& model, const json::object& given) {
    return complete_options(resolve_options(find_model(model).value()->options, given, model).value())
        .value();
  }
  static Network made(const std::string& model, const json::object& options, const ModelInput& input) {
    auto network = make_model(model, options, input, kKey, torch::kFloat32);
    EXPECT_TRUE(network) << network.error().message;
    return std::move(*network);
  }
  // A reference case as a weights folder, and the input that its network takes.
  std::string from_case(const std::string& name) const {
    const auto source = fs::path(HYFREEDP_TEST_DATA) / "models" / name;
    if (!fs::exists(source)) return "";
    fs::create_directories(folder_ / name);
    fs::copy_file(source / "config.json", folder_ / name / "config.json");
    fs::copy_file(source / "weights.safetensors", folder_ / name / "model.safetensors");
    if (fs::exists(source / "lora")) fs::copy(source / "lora", folder_ / name / "lora");
    return file(name);
  }
  static ModelInput input_of(const std::string& name, const std::string& folder) {
    const auto config = weights_config(folder).value();
    const bool beit = name == "beit";
    if (!beit && !name.starts_with("vit")) {
      const auto vocabulary = int_or(config, "vocab_size", 0);
      return {.features = 6, .classes = vocabulary, .length = 6, .vocabulary = vocabulary};
    }
    const auto family = beit ? VitShape::Family::beit : VitShape::Family::vit;
    const auto shape = VitShape::from_json(config, "config", family).value();
    return {.features = shape.channels * shape.image * shape.image,
            .classes = shape.classes,
            .image = {shape.channels, shape.image, shape.image}};
  }
  static void expect_same(const NamedTensors& written, const NamedTensors& expected) {
    EXPECT_EQ(written.size(), expected.size());
    for (const auto& [name, value] : expected) {
      const auto found = written.find(name);
      ASSERT_NE(found, written.end()) << name;
      EXPECT_EQ(found->second.scalar_type(), value.scalar_type()) << name;
      EXPECT_TRUE(at::equal(found->second, value)) << name;
    }
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("model-folders-" + std::to_string(::getpid()));
};

TEST_F(ModelFolders, OfEveryRegisteredModelGiveTheSameNetwork) {
  for (const auto& facts : model_facts()) {
    SCOPED_TRACE(facts.name);
    const auto* data = datasets::find_dataset(facts.example.dataset).value();
    const auto input = model_input(datasets::sizes(
        *data, resolve_options(data->options, facts.example.dataset_options, data->name).value()));
    const auto options = options_of(facts.name, facts.example.options);
    auto network = made(facts.name, options, input);
    at::manual_seed(5);
    network.parameters().copy_(at::randn_like(network.parameters()));
    const auto plan = blueprint(facts.name, options, input).value();
    const auto folder = file(facts.name);
    const auto written = write_model_folder(network, plan, options, folder);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_TRUE(written->has_network);
    EXPECT_FALSE(written->has_adapter);

    json::object again{{"weights", folder}};
    if (!plan.description.has_sizes_of_folder) {
      again = facts.example.options;
      again["weights"] = folder;
    }
    if (std::any_of(facts.options.begin(), facts.options.end(),
                    [](const auto& option) { return option.name == "head"; })) {
      again["head"] = "file";
    }
    const auto reread = made(facts.name, options_of(facts.name, again), input);
    EXPECT_TRUE(at::equal(reread.parameters(), network.parameters()));
    EXPECT_EQ(canonical_json(blueprint(facts.name, options_of(facts.name, again), input)->description.config),
              canonical_json(plan.description.config));
  }
}

TEST_F(ModelFolders, HaveTheTokenizerOfTheWeights) {
  const auto reference = from_case("bert");
  if (reference.empty()) GTEST_SKIP() << "SKIPPED: no reference case bert";
  std::ofstream(reference + "/vocab.txt") << "[PAD]\n";
  std::ofstream(reference + "/tokenizer.model") << std::string("\0\xff", 2);
  const ModelInput input{.features = 8, .classes = 2, .length = 8, .vocabulary = 24};
  const auto options = options_of("bert", {{"weights", reference}, {"trainable", "lora-head"}});
  const auto plan = blueprint("bert", options, input).value();
  ASSERT_TRUE(write_model_folder(made("bert", options, input), plan, options, file("out")));
  EXPECT_EQ(read_file(file("out") + "/vocab.txt").value(), "[PAD]\n");
  EXPECT_EQ(read_file(file("out") + "/tokenizer.model").value(), std::string("\0\xff", 2));
  const auto adapter = read_json_file(file("out") + "/adapter_config.json").value();
  EXPECT_EQ(adapter.at("task_type"), "SEQ_CLS");
}

TEST_F(ModelFolders, HaveTheNamesAndBytesOfTheReferenceFiles) {
  for (const std::string name : {"vit_token", "vit_avg", "beit", "gpt2", "llama", "opt"}) {
    SCOPED_TRACE(name);
    const auto reference = from_case(name);
    if (reference.empty()) GTEST_SKIP() << "SKIPPED: no reference case " << name;
    const auto model = name.substr(0, name.find('_'));
    const auto input = input_of(name, reference);
    json::object given{{"weights", reference}};
    if (model == "vit" || model == "beit") given["head"] = "file";
    const auto options = options_of(model, given);
    const auto plan = blueprint(model, options, input).value();
    ASSERT_TRUE(write_model_folder(made(model, options, input), plan, options, file("out-" + name)));
    expect_same(read_weights(file("out-" + name)).value(), read_weights(reference).value());
    // What the library's own config says, ours says too.
    const auto theirs = weights_config(reference).value();
    const auto ours = weights_config(file("out-" + name)).value();
    for (const char* key : {"architecture",
                            "num_classes",
                            "num_features",
                            "global_pool",
                            "model_type",
                            "architectures",
                            "vocab_size",
                            "n_embd",
                            "n_layer",
                            "n_head",
                            "n_positions",
                            "activation_function",
                            "layer_norm_epsilon",
                            "hidden_size",
                            "intermediate_size",
                            "num_hidden_layers",
                            "num_attention_heads",
                            "num_key_value_heads",
                            "head_dim",
                            "rms_norm_eps",
                            "max_position_embeddings",
                            "tie_word_embeddings",
                            "hidden_act",
                            "ffn_dim",
                            "word_embed_proj_dim",
                            "do_layer_norm_before",
                            "bos_token_id",
                            "eos_token_id"}) {
      if (!theirs.contains(key)) continue;
      EXPECT_EQ(ours.at(key), theirs.at(key)) << key;
    }
  }
}

TEST_F(ModelFolders, NameTheSpecialTokensOfTheFolderTheyBeganWithOrNone) {
  const auto written = [&](const std::string& model, const json::object& given, std::int64_t vocabulary) {
    const ModelInput input{.features = 6, .classes = vocabulary, .length = 6, .vocabulary = vocabulary};
    const auto options = options_of(model, given);
    const auto plan = blueprint(model, options, input).value();
    EXPECT_TRUE(write_model_folder(made(model, options, input), plan, options, file(model)));
    return weights_config(file(model)).value();
  };
  const json::object small{{"width", 8}, {"depth", 1}, {"heads", 1}};
  for (const std::string model : {"gpt2", "llama", "opt"}) {
    SCOPED_TRACE(model);
    auto config = written(model, small, 12);
    EXPECT_EQ(config.at("bos_token_id"), nullptr);
    EXPECT_EQ(config.at("eos_token_id"), nullptr);
    EXPECT_EQ(config.at("pad_token_id"), nullptr);
    config["eos_token_id"] = json::array{3, 4};
    config["pad_token_id"] = 5;
    config.erase("bos_token_id");
    ASSERT_TRUE(write_file_atomically(file(model) + "/config.json", pretty_json(config)));
    fs::rename(file(model), file(model + "-begun"));
    config = written(model, {{"weights", file(model + "-begun")}}, 12);
    EXPECT_EQ(config.at("eos_token_id"), (json::array{3, 4}));
    EXPECT_EQ(config.at("pad_token_id"), 5);
    EXPECT_FALSE(config.contains("bos_token_id"));
  }
  EXPECT_FALSE(written("gpt2", small, 50257).contains("eos_token_id"));
  EXPECT_EQ(written("gpt2", small, 50258).at("eos_token_id"), nullptr);
}

TEST_F(ModelFolders, AnAdapterHasPeftsFilesAndLeavesAnUntouchedNetworkOut) {
  const auto reference = from_case("gpt2");
  if (reference.empty()) GTEST_SKIP() << "SKIPPED: no reference case gpt2";
  const auto input = input_of("gpt2", reference);
  const auto options =
      options_of("gpt2", {{"weights", reference}, {"adapter", reference + "/lora"}, {"trainable", "lora"}});
  const auto plan = blueprint("gpt2", options, input).value();
  const auto written = write_model_folder(made("gpt2", options, input), plan, options, file("out"));
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_TRUE(written->has_adapter);
  EXPECT_FALSE(written->has_network);
  EXPECT_FALSE(fs::exists(file("out/model.safetensors")));
  expect_same(read_weights(file("out/adapter_model.safetensors")).value(),
              read_weights(reference + "/lora/adapter_model.safetensors").value());
  const auto ours = read_json_file(file("out/adapter_config.json"))->as_object();
  const auto theirs = read_json_file(reference + "/lora/adapter_config.json")->as_object();
  for (const char* key : {"task_type", "peft_type", "r", "target_modules", "fan_in_fan_out", "bias",
                          "use_rslora", "inference_mode"}) {
    EXPECT_EQ(ours.at(key), theirs.at(key)) << key;
  }
  EXPECT_EQ(ours.at("lora_alpha").to_number<double>(), theirs.at("lora_alpha").to_number<double>());
  EXPECT_EQ(string_or(ours, "base_model_name_or_path", ""), reference);
}

// A drawn network is in no other file, and neither is a head that trained or was drawn.
TEST_F(ModelFolders, WhatNoOtherFileHasStandsBesideTheAdapter) {
  const auto reference = from_case("vit_token");
  if (reference.empty()) GTEST_SKIP() << "SKIPPED: no reference case vit_token";
  const auto input = input_of("vit", reference);
  const json::object file_head{{"weights", reference}, {"head", "file"}, {"trainable", "lora"}};
  auto trained_head = file_head;
  trained_head["trainable"] = "lora-head";
  auto drawn_head = file_head;
  drawn_head["head"] = "new";
  const json::object drawn{{"width", 16}, {"heads", 2}, {"depth", 1}, {"trainable", "lora"}};
  int number = 0;
  for (const auto& [given, expected] : {std::pair{file_head, false}, std::pair{trained_head, true},
                                        std::pair{drawn_head, true}, std::pair{drawn, true}}) {
    SCOPED_TRACE(canonical_json(given));
    const auto options = options_of("vit", given);
    const auto plan = blueprint("vit", options, input).value();
    auto network = made("vit", options, input);
    at::manual_seed(6);
    network.parameters().copy_(at::randn_like(network.parameters()));
    const auto folder = file(std::to_string(number++));
    const auto written = write_model_folder(network, plan, options, folder);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(written->has_network, expected);
    const auto again = options_of("vit", {{"weights", expected ? folder : reference},
                                          {"adapter", folder},
                                          {"head", "file"},
                                          {"trainable", string_or(given, "trainable", "")}});
    const auto reread = made("vit", again, input);
    at::manual_seed(7);
    const auto images = at::randn({3, input.features});
    EXPECT_TRUE(at::equal(reread.forward(images), network.forward(images)));
  }
}

// Every number of a configuration that a shape reads is written again, none of them a default.
template <class Shape>
void expect_all_come_back(const json::object& config) {
  const auto written = model_config(Shape::from_json(config, "test").value());
  for (const auto& item : config) {
    ASSERT_TRUE(written.contains(item.key())) << item.key();
    EXPECT_EQ(canonical_json(written.at(item.key())), canonical_json(item.value())) << item.key();
  }
}

TEST_F(ModelFolders, ConfigurationsComeBackAsTheyWere) {
  expect_all_come_back<Gpt2Shape>({{"vocab_size", 31},
                                   {"n_positions", 9},
                                   {"n_embd", 12},
                                   {"n_layer", 2},
                                   {"n_head", 3},
                                   {"n_inner", 20},
                                   {"layer_norm_epsilon", 1e-3},
                                   {"tie_word_embeddings", false}});
  expect_all_come_back<LlamaShape>({{"vocab_size", 31},
                                    {"hidden_size", 12},
                                    {"intermediate_size", 20},
                                    {"num_hidden_layers", 2},
                                    {"num_attention_heads", 6},
                                    {"num_key_value_heads", 3},
                                    {"head_dim", 4},
                                    {"rms_norm_eps", 1e-3},
                                    {"rope_theta", 500.0},
                                    {"max_position_embeddings", 77},
                                    {"attention_bias", true},
                                    {"mlp_bias", true},
                                    {"tie_word_embeddings", true}});
  for (const char* pool : {"avg", "token"}) {
    for (const bool bias : {false, true}) {
      expect_all_come_back<VitShape>({{"architecture", "vit_tiny_patch16_224"},
                                      {"num_classes", 7},
                                      {"global_pool", pool},
                                      {"model_args", json::object{{"img_size", 12},
                                                                  {"patch_size", 4},
                                                                  {"embed_dim", 6},
                                                                  {"depth", 3},
                                                                  {"num_heads", 2},
                                                                  {"mlp_ratio", 3.0},
                                                                  {"in_chans", 2},
                                                                  {"qkv_bias", bias},
                                                                  {"global_pool", pool}}}});
    }
  }
}

TEST_F(ModelFolders, AnotherNetworkOfTheSameShapesIsRefused) {
  const ModelInput input{.features = 5, .classes = 3};
  const auto tanh = options_of("mlp", {{"hidden", json::array{4}}});
  ASSERT_TRUE(write_model_folder(made("mlp", tanh, input), blueprint("mlp", tanh, input).value(), tanh,
                                 file("tanh")));
  const auto relu =
      options_of("mlp", {{"hidden", json::array{4}}, {"activation", "relu"}, {"weights", file("tanh")}});
  const auto network = make_model("mlp", relu, input, kKey, torch::kFloat32);
  ASSERT_FALSE(network);
  EXPECT_NE(network.error().message.find("another network"), std::string::npos) << network.error().message;
}

TEST_F(ModelFolders, ScaledRotaryEmbeddingsComeBackAsTheyWere) {
  auto config = LlamaShape::named_config("llama-3.2-1b", "test").value();
  const auto shape = LlamaShape::from_json(config, "test").value();
  const auto written = model_config(shape);
  const auto again = LlamaShape::from_json(written, "test").value();
  EXPECT_EQ(again.frequencies, shape.frequencies);
  EXPECT_EQ(again.tied, true);
  EXPECT_EQ(canonical_json(model_config(again)), canonical_json(written));
  // The newer form of the same.
  const auto old = config.at("rope_scaling").as_object();
  auto parameters = old;
  parameters["rope_theta"] = config.at("rope_theta");
  config.erase("rope_scaling");
  config.erase("rope_theta");
  config["rope_parameters"] = parameters;
  EXPECT_EQ(canonical_json(model_config(LlamaShape::from_json(config, "test").value())),
            canonical_json(written));
}

}  // namespace model_folder_test
}  // namespace hyfreedp::models
