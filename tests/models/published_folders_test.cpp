// Folders as timm, transformers and peft save them, beside these programs' own logits; and the same
// folders with the names, keys and values that are mended or refused.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/base/files.h"
#include "harness/models/facts/blueprint.h"
#include "harness/models/facts/weights_fit.h"
#include "harness/models/networks/efficientnet_lite.h"
#include "harness/models/networks/resnet_imagenet.h"
#include "harness/models/weights/batch_norm_folding.h"
#include "harness/models/weights/model_folder.h"
#include "tests/models/compare.h"
#include "tests/models/weights_folder.h"

namespace hyfreedp::models {
namespace published_folders_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kSide = 32;
const random::Key kKey = random::key_from_seed("tests of published folders");

fs::path source(const std::string& name) { return fs::path(HYFREEDP_TEST_DATA) / "published_folders" / name; }

const json::object& expected() {
  static const auto all = read_json_file(source("expected.json").string()).value().as_object();
  return all;
}

torch::Tensor numbers(const json::value& lists, std::vector<std::int64_t> shape) {
  std::vector<double> flat;
  std::function<void(const json::value&)> add = [&](const json::value& value) {
    if (!value.is_array()) return flat.push_back(value.to_number<double>());
    for (const auto& one : value.get_array()) add(one);
  };
  add(lists);
  return torch::tensor(flat, torch::kFloat64).view(shape);
}

// A copy of a folder, which a test may change.
class PublishedFolders : public testing::Test {
 protected:
  PublishedFolders() { fs::create_directories(folder_); }
  ~PublishedFolders() override { fs::remove_all(folder_); }

  std::string copy(const std::string& name) {
    fs::remove_all(folder_ / name);
    fs::copy(source(name), folder_ / name);
    name_ = name;
    return (folder_ / name).string();
  }
  void set(const std::string& key, const json::value& value, const char* file = "config.json") {
    const auto path = (folder_ / name_ / file).string();
    auto config = read_json_file(path).value().as_object();
    auto* object = &config;
    auto last = key;
    if (const auto dot = key.find('/'); dot != std::string::npos) {
      object = &config.at(key.substr(0, dot)).as_object();
      last = key.substr(dot + 1);
    }
    (*object)[last] = value;
    ASSERT_TRUE(write_file_atomically(path, canonical_json(config)));
  }
  void change_weights(const std::function<void(NamedTensors&)>& change) {
    const auto path = (folder_ / name_ / "model.safetensors").string();
    auto file = read_weights(path).value();
    for (auto& [name, value] : file) value = value.clone();
    change(file);
    ASSERT_TRUE(write_safetensors(path, file));
  }
  void rename_all(const std::function<std::string(const std::string&)>& renamed) {
    change_weights([&](NamedTensors& file) {
      NamedTensors other;
      for (const auto& [name, value] : file) other[renamed(name)] = value;
      file = other;
    });
  }

  static ModelInput input_of_folder(const std::string& name) {
    const auto& facts = expected().at(name).as_object();
    if (!facts.contains("vocabulary")) return input_of(kSide, facts.at("classes").as_int64());
    const auto vocabulary = facts.at("vocabulary").as_int64();
    return {.features = 6, .classes = vocabulary, .length = 6, .vocabulary = vocabulary};
  }
  // What planning says of the copy: "fits", or why not.
  std::string planned(json::object given = {}) const {
    const auto model = std::string(expected().at(name_).as_object().at("model").as_string());
    given["weights"] = (folder_ / name_).string();
    const auto options =
        complete_options(resolve_options(find_model(model).value()->options, given, model).value()).value();
    const auto plan = blueprint(model, options, input_of_folder(name_));
    if (!plan) return plan.error().message;
    const auto fits = check_fit(*plan, options);
    return fits ? "fits" : fits.error().message;
  }
  Result<Network> made(json::object given = {}) const {
    const auto model = std::string(expected().at(name_).as_object().at("model").as_string());
    given["weights"] = (folder_ / name_).string();
    const auto options =
        complete_options(resolve_options(find_model(model).value()->options, given, model).value()).value();
    return make_model(model, options, input_of_folder(name_), kKey, torch::kFloat64);
  }
  // Whether the copy's network has the reference's logits, of its own head where it has one.
  testing::AssertionResult gives_logits(const char* which = "logits", json::object given = {}) const {
    const auto& facts = expected().at(name_).as_object();
    const bool tokens = facts.contains("vocabulary");
    if (!tokens) given["head"] = "file";
    if (const auto fits = planned(given); fits != "fits") return testing::AssertionFailure() << fits;
    const auto network = made(given);
    if (!network) return testing::AssertionFailure() << network.error().message;
    // timm computes EVA-02's rotations in float32.
    const double tolerance = name_ == "eva02" ? 1e-5 : 1e-9;
    if (!tokens) {
      const auto logits = network->forward(reference_images(kSide));
      return near_relative(logits, rows(facts.at(which)), tolerance);
    }
    const auto ids = numbers(facts.at("ids"), {2, 6}).to(torch::kInt64);
    const auto wanted = numbers(facts.at(which), {2, 6, facts.at("vocabulary").as_int64()});
    return near_relative(network->forward(ids), wanted, 1e-6);
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("published-" + std::to_string(::getpid()));
  std::string name_;
};

TEST_F(PublishedFolders, GiveTheirProgramsLogits) {
  int folders = 0;
  for (const auto& one : expected()) {
    if (!one.value().is_object()) continue;
    const std::string name(one.key());
    SCOPED_TRACE(name);
    copy(name);
    if (one.value().as_object().contains("logits")) {
      EXPECT_TRUE(gives_logits());
      ++folders;
      continue;
    }
    // Its weights are not here, its sizes are.
    const auto config = read_json_file((folder_ / name / "config.json").string()).value().as_object();
    if (name == "efficientnet-lite") {
      const auto shape = EfficientNetLiteShape::from_json(config, name);
      ASSERT_TRUE(shape) << shape.error().message;
      EXPECT_EQ(shape->list_blocks().size(), 16U);
      EXPECT_TRUE(shape->has_timms_names);
    } else {
      const auto shape = ResnetImagenetShape::from_json(config, name);
      ASSERT_TRUE(shape) << shape.error().message;
      EXPECT_EQ(shape->list_blocks().size(), 16U);
    }
  }
  EXPECT_EQ(folders, 14);
}

TEST_F(PublishedFolders, AnAdapterOfRootScalingGivesPeftsLogits) {
  copy("llama");
  EXPECT_TRUE(
      gives_logits("adapted", {{"trainable", "lora"}, {"adapter", source("llama-adapter").string()}}));
}

// timm's names of EfficientNet-Lite, of the fixture that has the package's.
TEST_F(PublishedFolders, EfficientNetLiteIsReadUnderTimmsNames) {
  EfficientNetLiteShape shape;
  shape.side = 33;
  shape.classes = 3;
  shape.stem = 4;
  shape.widths = {3, 4, 4, 5, 4, 4, 5};
  shape.blocks = {1, 2, 1, 1, 1, 1, 2};
  shape.top = 12;
  const auto file = read_weights(HYFREEDP_TEST_DATA "/efficientnet_lite").value();
  auto timm = shape;
  timm.has_timms_names = true;
  const auto before = normed(shape), after = normed(timm);
  EXPECT_EQ(after.convolutions.at(1).norm, "blocks.0.0.bn1");
  EXPECT_EQ(after.convolutions.at(2).file, "blocks.0.0.conv_pw");
  EXPECT_EQ(after.convolutions.at(2).norm, "blocks.0.0.bn2");
  EXPECT_EQ(after.convolutions.at(5).file, "blocks.1.0.conv_pwl");
  EXPECT_EQ(after.convolutions.at(5).norm, "blocks.1.0.bn3");
  EXPECT_EQ(after.convolutions.back().norm, "bn2");
  NamedTensors renamed{{"classifier.weight", file.at("_fc.weight")},
                       {"classifier.bias", file.at("_fc.bias")}};
  for (std::size_t i = 0; i < before.convolutions.size(); ++i) {
    const auto &from = before.convolutions[i], &to = after.convolutions[i];
    renamed[to.file + ".weight"] = file.at(from.file + ".weight");
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"})
      renamed[to.norm + part] = file.at(from.norm + part);
  }
  const auto wanted = fold_batch_norms(before, file, true).value();
  const auto folded = fold_batch_norms(after, renamed, true);
  ASSERT_TRUE(folded) << folded.error().message;
  ASSERT_EQ(folded->size(), wanted.size());
  for (const auto& [name, value] : wanted) EXPECT_TRUE(at::equal(folded->at(name), value)) << name;
}

TEST_F(PublishedFolders, PrefixesOfWrappersAreTakenOff) {
  for (const std::string prefix : {"module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module."}) {
    for (const char* name : {"llama", "vit", "resnet"}) {
      SCOPED_TRACE(prefix + name);
      copy(name);
      rename_all([&](const std::string& one) { return prefix + one; });
      EXPECT_TRUE(gives_logits());
    }
  }
  // Not where some names lack them.
  copy("vit");
  rename_all([](const std::string& one) { return one == "cls_token" ? one : "module." + one; });
  EXPECT_THAT(planned(), HasSubstr("unexpected: module.blocks.0.attn.proj.bias"));
}

TEST_F(PublishedFolders, ATiedEmbeddingMayHaveEitherNameOrBoth) {
  const auto embedding = "model.embed_tokens.weight", head = "lm_head.weight";
  copy("llama-tied");
  rename_all([&](const std::string& one) { return one == embedding ? head : one; });
  EXPECT_TRUE(gives_logits());
  change_weights([&](NamedTensors& file) { file[embedding] = file.at(head).clone(); });
  EXPECT_TRUE(gives_logits());
  change_weights([&](NamedTensors& file) { file[head] = file.at(head) + 1; });
  EXPECT_THAT(planned(), AllOf(HasSubstr("llama-tied: The weights have other values in lm_head.weight than "
                                         "in model.embed_tokens.weight"),
                               HasSubstr("tie_word_embeddings")));
  const auto made_of_two = made();
  ASSERT_FALSE(made_of_two);
  EXPECT_THAT(made_of_two.error().message, HasSubstr("other values in lm_head.weight"));
  for (const auto type : {torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16}) {
    const auto set_last = [&](double value, double copy) {
      change_weights([&](NamedTensors& file) {
        file[embedding] = file.at(embedding).to(type);
        file[embedding][-1][-1] = value;
        file[head] = file.at(embedding).clone();
        file[head][-1][-1] = copy;
      });
      return planned();
    };
    EXPECT_EQ(set_last(0.5, 0.5), "fits");
    EXPECT_EQ(set_last(0.0, -0.0), "fits");
    EXPECT_THAT(set_last(0.5, -0.5), HasSubstr("other values in lm_head.weight"));
  }
  // More rows, or another type.
  change_weights([&](NamedTensors& file) {
    file[head] = torch::cat({file.at(embedding), file.at(embedding)});
  });
  EXPECT_THAT(planned(), HasSubstr("other values in lm_head.weight"));
  change_weights([&](NamedTensors& file) { file[head] = file.at(embedding).to(torch::kFloat32); });
  EXPECT_THAT(planned(), HasSubstr("other values in lm_head.weight"));
  change_weights([&](NamedTensors& file) {
    file.erase(head);
    file.erase(embedding);
  });
  EXPECT_THAT(planned(), HasSubstr("missing: model.embed_tokens.weight."));

  copy("gpt2");  // names without "transformer."
  rename_all([&](const std::string& one) {
    if (one == "transformer.wte.weight") return std::string(head);
    return one.starts_with("transformer.") ? one.substr(12) : one;
  });
  EXPECT_TRUE(gives_logits());
  change_weights([&](NamedTensors& file) { file["wte.weight"] = file.at(head).clone(); });
  EXPECT_TRUE(gives_logits());
  change_weights([&](NamedTensors& file) { file["wte.weight"] = file.at(head) + 1; });
  EXPECT_THAT(planned(), HasSubstr("other values in lm_head.weight than in wte.weight"));

  copy("llama");  // not tied
  change_weights([&](NamedTensors& file) { file.erase(head); });
  EXPECT_THAT(planned(), AllOf(HasSubstr("missing: lm_head.weight"), HasSubstr("tie_word_embeddings")));
}

TEST_F(PublishedFolders, WeightsOfAnotherNetworkAreRefusedWhilePlanning) {
  copy("llama");
  fs::copy_file(source("gpt2/model.safetensors"), folder_ / "llama/model.safetensors",
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(planned(), AllOf(HasSubstr("missing: model.embed_tokens.weight"),
                               HasSubstr("unexpected: transformer.h.0")));
  for (const char* name : {"vit", "beit", "eva02", "convnext", "resnet"}) {
    SCOPED_TRACE(name);
    copy(name);
    change_weights([](NamedTensors& file) {
      auto& weight = std::find_if(file.begin(), file.end(), [](const auto& one) {
                       return one.second.dim() > 1 && one.first.find("head") == std::string::npos;
                     })->second;
      weight = torch::cat({weight, weight});
    });
    EXPECT_THAT(planned(), HasSubstr("with another shape:"));
  }
  // A head for other classes is drawn anew, unless it is to be the file's.
  copy("vit");
  change_weights([](NamedTensors& file) {
    file["head.weight"] = torch::zeros({7, 16});
    file["head.bias"] = torch::zeros({7});
  });
  EXPECT_EQ(planned(), "fits");
  EXPECT_THAT(planned({{"head", "file"}}), HasSubstr("head.weight [7, 16] for [3, 16]"));
  change_weights([](NamedTensors& file) { file["pos_embed"] = torch::zeros({1, 6, 16}); });
  EXPECT_THAT(planned(), HasSubstr("not of a square of patches"));
  change_weights([](NamedTensors& file) { file["pos_embed"] = torch::zeros({1, 5, 16}); });
  EXPECT_EQ(planned(), "fits");
}

// What would make every number that the network gives NaN, or no number of the file's.
TEST_F(PublishedFolders, ValuesThatNoNetworkHasAreRefusedWhilePlanning) {
  const auto refused = [&](const char* folder, const std::string& tensor, const torch::Tensor& value,
                           json::object given = {}) {
    copy(folder);
    change_weights([&](NamedTensors& file) { file[tensor] = value; });
    const auto network = made(given);
    const auto text = planned(given);
    EXPECT_EQ(network ? "fits" : network.error().message, text) << "planning and worker agree";
    return text;
  };
  auto norm = torch::ones({16});
  norm[5] = NAN;
  const auto message = refused("vit", "norm.weight", norm);
  EXPECT_EQ(message, (folder_ / "vit").string() +
                         ": the tensor norm.weight is not finite: its first such value, nan, is at [5].");
  for (const auto type : {torch::kFloat64, torch::kFloat16, torch::kBFloat16}) {
    auto positions = torch::zeros({1, 17, 16});
    positions[0][16][3] = -INFINITY;
    EXPECT_THAT(refused("vit", "pos_embed", positions.to(type)),
                HasSubstr("the tensor pos_embed is not finite: its first such value, -inf, is at [0, 16, 3]"))
        << type;
  }
  EXPECT_THAT(refused("vit", "norm.weight", torch::ones({16}, torch::kInt32)),
              HasSubstr("the tensor norm.weight has the type I32"));
  EXPECT_THAT(refused("vit", "norm.weight", torch::ones({16}, torch::kBool)), HasSubstr("type BOOL"));
  // What does not reach the network may be anything.
  const auto head = torch::full({3, 16}, NAN);
  EXPECT_EQ(refused("vit", "head.weight", head), "fits");
  EXPECT_THAT(refused("vit", "head.weight", head, {{"head", "file"}}),
              HasSubstr("head.weight is not finite"));
  EXPECT_EQ(refused("gpt2", "h.0.attn.masked_bias", torch::full({1}, -INFINITY)), "fits");
  // With BatchNorms, which are folded.
  auto variance = torch::ones({64});
  variance[2] = -0.0;
  EXPECT_EQ(refused("resnet", "bn1.running_var", variance), "fits");
  variance[1] = -0.25;
  EXPECT_THAT(refused("resnet", "bn1.running_var", variance),
              HasSubstr("the tensor bn1.running_var has a variance below 0, first at [1]"));
  EXPECT_THAT(refused("resnet", "bn1.running_mean", torch::full({64}, INFINITY)),
              HasSubstr("bn1.running_mean is not finite: its first such value, inf, is at [0]"));
  EXPECT_EQ(refused("resnet", "fc.bias", torch::full({3}, NAN)), "fits");
  // And of an adapter.
  copy("llama-adapter");
  const auto path = (folder_ / "llama-adapter/adapter_model.safetensors").string();
  auto adapter = read_weights(path).value();
  auto& [name, value] = *adapter.begin();
  value = torch::full_like(value, NAN);
  ASSERT_TRUE(write_safetensors(path, adapter));
  EXPECT_THAT(refused("llama", "model.norm.weight", torch::ones({16}),
                      {{"trainable", "lora"}, {"adapter", (folder_ / "llama-adapter").string()}}),
              AllOf(HasSubstr(path), HasSubstr(name + " is not finite")));
}

// A state dict is read without LibTorch, too.
TEST_F(PublishedFolders, StateDictsAreCheckedWhilePlanning) {
  const json::object config{{"model_type", "hyfreedp-resnet-imagenet"},
                            {"widths", json::array{5, 2, 3, 2, 2}},
                            {"blocks", json::array{2, 1, 1, 1}},
                            {"block", "bottleneck"},
                            {"classes", 3}};
  copy("resnet");
  fs::remove(folder_ / "resnet/model.safetensors");
  fs::copy_file(fs::path(HYFREEDP_TEST_DATA) / "resnet_imagenet/bottleneck/pytorch_model.bin",
                folder_ / "resnet/pytorch_model.bin");
  ASSERT_TRUE(write_file_atomically((folder_ / "resnet/config.json").string(), canonical_json(config)));
  EXPECT_EQ(planned({{"head", "file"}}), "fits");
  set("blocks", {2, 2, 1, 1});
  EXPECT_THAT(planned(), HasSubstr("missing: layer2.1.bn1.bias"));
}

TEST_F(PublishedFolders, AnAdapterOfAnotherRankIsRefusedWhilePlanning) {
  copy("llama-adapter");
  set("r", 4, "adapter_config.json");
  copy("llama");
  const json::object adapter{{"trainable", "lora"}, {"adapter", (folder_ / "llama-adapter").string()}};
  EXPECT_THAT(planned(adapter),
              AllOf(HasSubstr("llama-adapter/adapter_model.safetensors"),
                    HasSubstr("q_proj.lora_A.weight [2, 16] for [4, 16]"), HasSubstr("'r' is 4")));
}

struct KeyCase {
  const char* folder;
  const char* key;
  const char* value;
  const char* says;  // empty: harmless
};

class PublishedKeys : public PublishedFolders, public testing::WithParamInterface<KeyCase> {};

TEST_P(PublishedKeys, AreKnownOrRefusedByName) {
  const auto& one = GetParam();
  SCOPED_TRACE(fmt::format("{}: {} {}", one.folder, one.key, one.value));
  copy(one.folder);
  set(one.key, json::parse(one.value));
  const auto said = planned();
  if (*one.says == '\0') {
    EXPECT_EQ(said, "fits");
    EXPECT_TRUE(gives_logits());
    return;
  }
  const std::string key(one.key);
  EXPECT_THAT(said, AllOf(HasSubstr("/config.json"), HasSubstr("'" + key.substr(key.find('/') + 1) + "'"),
                          HasSubstr(one.says)));
}

constexpr const char* kUnknown = "not known here";
INSTANTIATE_TEST_SUITE_P(
    Keys, PublishedKeys,
    testing::Values(
        KeyCase{"llama", "model_type", R"("smollm3")", R"(is "smollm3", where only "llama" is supported)"},
        KeyCase{"llama", "architectures", R"(["MistralForCausalLM"])", "LlamaForCausalLM"},
        KeyCase{"llama", "no_rope_layers", "[1, 0]", "is [1,0], where only null or 1 is supported"},
        KeyCase{"llama", "no_rope_layers", "[1, 1]", ""},
        KeyCase{"llama", "partial_rotary_factor", "0.5", "is 0.5"},
        KeyCase{"llama", "partial_rotary_factor", "1.0", ""},
        KeyCase{"llama", "sliding_window", "4096", "is 4096, where only null is supported"},
        KeyCase{"llama", "sliding_window", "null", ""}, KeyCase{"llama", "use_sliding_window", "false", ""},
        KeyCase{"llama", "use_sliding_window", "true", "only null or false"},
        KeyCase{"llama", "layer_types", R"(["full_attention", "full_attention"])", ""},
        KeyCase{"llama", "layer_types", R"(["sliding_attention"])", "full_attention"},
        KeyCase{"llama", "rope_scaling", "null", ""},
        KeyCase{"llama", "rope_parameters", R"({"partial_rotary_factor": 0.5})",
                "is 0.5, where only null or 1"},
        KeyCase{"llama", "rope_scaling", R"({"rope_type": "default", "mrope_section": [1]})", kUnknown},
        KeyCase{"llama", "quantization_config", R"({"bits": 4})", "without quantization"},
        KeyCase{"llama", "attention_multiplier", "0.3", kUnknown},
        KeyCase{"llama", "sliding_windo", "4", "Did you mean 'sliding_window'?"},
        KeyCase{"llama", "num_key_value_heads", R"("one")", "must be a whole number, not \"one\""},
        KeyCase{"llama", "hidden_act", R"("gelu")", "only null or \"silu\""},
        KeyCase{"llama", "pad_token_id", "3", ""}, KeyCase{"llama", "attention_dropout", "0.1", ""},
        KeyCase{"gpt2", "model_type", R"("gpt_neo")", R"(only "gpt2")"},
        KeyCase{"gpt2", "activation_function", R"("relu")", "gelu_new"},
        KeyCase{"gpt2", "scale_attn_by_inverse_layer_idx", "true", "only null or false"},
        KeyCase{"gpt2", "scale_attn_weights", "false", "only null or true"},
        KeyCase{"gpt2", "window_size", "256", kUnknown}, KeyCase{"gpt2", "n_ctx", "8", ""},
        KeyCase{"vit", "model_args/reg_tokens", "4", "is 4, where only 0 is supported"},
        KeyCase{"vit", "model_args/init_values", "1e-5", "only null"},
        KeyCase{"vit", "model_args/class_token", "false", "only true"},
        KeyCase{"vit", "model_args/img_size", "[32, 64]", "two equal ones"},
        KeyCase{"vit", "model_args/patch_size", "[8, 8]", ""},
        KeyCase{"vit", "model_args/act_layer", R"("relu")", "gelu"},
        KeyCase{"vit", "model_args/drop_rate", "0.5", ""},
        KeyCase{"vit", "model_args/pre_norm", "true", "only false"},
        KeyCase{"vit", "model_args/attn_layer", R"("diff")", kUnknown},
        KeyCase{"vit", "colour", "1", kUnknown}, KeyCase{"vit", "num_classes", "0", ""},
        KeyCase{"clip", "model_args/pre_norm", "false", "only true"},
        KeyCase{"clip", "model_args/pre_norm", "true", ""},
        KeyCase{"beit", "model_args/use_shared_rel_pos_bias", "true", "only false"},
        KeyCase{"eva02", "model_args/rope_type", R"("mixed")", "cat"},
        KeyCase{"eva02", "model_args/ref_feat_shape", "[16, 16]", ""},
        KeyCase{"eva02", "model_args/num_reg_tokens", "4", "only 0"},
        KeyCase{"convnext", "model_args/conv_mlp", "true", "only false"},
        KeyCase{"convnext", "model_args/kernel_sizes", "[7, 7, 7, 7]", ""},
        KeyCase{"convnext", "model_args/norm_eps", "1e-5", "is 1e-05, where only null or 1e-06"},
        KeyCase{"resnet", "model_args/stem_type", R"("deep")", "only \"\""},
        KeyCase{"resnet", "model_args/output_stride", "16", "only 32"},
        KeyCase{"resnet", "model_args/global_pool", R"("max")", "avg"}));

// A folder of transformers' is not timm's.
TEST_F(PublishedFolders, AFolderOfTransformersIsNotReadAsTimms) {
  copy("vit");
  ASSERT_TRUE(write_file_atomically((folder_ / "vit/config.json").string(),
                                    R"({"model_type": "vit", "hidden_size": 16})"));
  EXPECT_THAT(planned(), AllOf(HasSubstr("'architecture' is missing"), HasSubstr("save_for_hf")));
  // Somebody's own name for a network of own sizes.
  copy("vit");
  set("architecture", "my_vit");
  EXPECT_THAT(planned(),
              AllOf(HasSubstr("'my_vit' is not known"), HasSubstr("'model_args': img_size, patch")));
}

struct AdapterCase {
  const char* key;
  const char* value;
  const char* says;  // empty: harmless
};

TEST_F(PublishedFolders, KeysOfAdaptersAreKnownOrRefusedByName) {
  const auto adapter = copy("llama-adapter");
  const auto original = read_file(adapter + "/adapter_config.json").value();
  for (const auto& [key, value, says] :
       {AdapterCase{"init_lora_weights", R"("pissa")", "path_initial_model_for_weight_conversion"},
        AdapterCase{"init_lora_weights", R"("pissa_niter_4")", "path_initial_model_for_weight_conversion"},
        AdapterCase{"init_lora_weights", R"("olora")", "changed when it was made"},
        AdapterCase{"init_lora_weights", R"("loftq")", "changed when it was made"},
        AdapterCase{"init_lora_weights", R"("corda")", "changed when it was made"},
        AdapterCase{"init_lora_weights", R"("gaussian")", ""},
        AdapterCase{"layer_replication", "[[0, 2], [1, 2]]", "only null or []"},
        AdapterCase{"layer_replication", "[]", ""}, AdapterCase{"use_dora", "true", "only null or false"},
        AdapterCase{"rank_pattern", R"({"q_proj": 4})", "only null or {}"},
        AdapterCase{"alpha_pattern", R"({"q_proj": 4})", "only null or {}"},
        AdapterCase{"modules_to_save", R"(["lm_head"])", "only null or []"},
        AdapterCase{"bias", R"("all")", "only null or \"none\""},
        AdapterCase{"peft_type", R"("IA3")", "only \"LORA\""}, AdapterCase{"fan_in_fan_out", "true", ""},
        AdapterCase{"lora_dropout", "0.1", ""},
        AdapterCase{"target_modules", R"("all-linear")", "must be a list"},
        AdapterCase{"r", R"("two")", "must be a whole number"}, AdapterCase{"lora_beta", "3", kUnknown}}) {
    SCOPED_TRACE(fmt::format("{} {}", key, value));
    ASSERT_TRUE(write_file_atomically(adapter + "/adapter_config.json", original));
    name_ = "llama-adapter";
    set(key, json::parse(value), "adapter_config.json");
    copy("llama");
    const auto said = planned({{"trainable", "lora"}, {"adapter", adapter}});
    if (*says == '\0') {
      EXPECT_EQ(said, "fits");
    } else {
      EXPECT_THAT(said, AllOf(HasSubstr("/adapter_config.json"), HasSubstr(fmt::format("'{}'", key)),
                              HasSubstr(says)));
    }
  }
}

// Networks whose sizes are options: only their head depends on the number of classes.
TEST_F(PublishedFolders, AKeptNetworkGetsANewHeadForOtherClasses) {
  struct Case {
    const char* model;
    json::object options;
    ModelInput input;
    const char* body;
    const char* head;
  };
  const ModelInput vectors{.features = 7, .classes = 10};
  const ModelInput grey{.features = 196, .classes = 10};
  const ModelInput colour{.features = 3 * 64, .classes = 10, .image = {3, 8, 8}};
  for (const auto& one :
       {Case{"mlp", {{"hidden", json::array{5}}}, vectors, "fc1.weight", "fc2.weight"},
        Case{"cnn", {}, grey, "conv1.weight", "fc2.weight"},
        Case{"resnet", {{"widths", json::array{4, 8}}, {"groups", 2}}, colour, "conv1.weight", "fc.weight"},
        Case{"wrn-16-4", {{"depth", 10}, {"widen", 1}}, colour, "conv1.weight", "fc.weight"}}) {
    SCOPED_TRACE(one.model);
    const auto resolved = [&](json::object given) {
      return complete_options(
                 resolve_options(find_model(one.model).value()->options, given, one.model).value())
          .value();
    };
    auto network = make_model(one.model, resolved(one.options), one.input, kKey, torch::kFloat32).value();
    network.parameters().add_(0.25);
    const auto folder = (folder_ / one.model).string();
    ASSERT_TRUE(write_model_folder(network, blueprint(one.model, resolved(one.options), one.input).value(),
                                   resolved(one.options), folder));
    auto given = one.options;
    given["weights"] = folder;
    const auto options = resolved(given);
    auto fewer = one.input;
    fewer.classes = 3;
    const auto plan = blueprint(one.model, options, fewer).value();
    EXPECT_TRUE(check_fit(plan, options));
    EXPECT_THAT(fit_note(plan, options),
                AllOf(HasSubstr("of 10 classes and the dataset has 3"), HasSubstr("is drawn anew")));
    const auto made = make_model(one.model, options, fewer, kKey, torch::kFloat32);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(at::equal(made->tensor(one.body), network.tensor(one.body)));
    EXPECT_EQ(made->tensor(one.head).size(0), 3);
    EXPECT_EQ(made->tensor(one.head).abs().max().item<float>(), 0);
    // With the same classes the head is the file's, and nothing need be said.
    const auto same = make_model(one.model, options, one.input, kKey, torch::kFloat32).value();
    EXPECT_TRUE(at::equal(same.parameters(), network.parameters()));
    EXPECT_THAT(fit_note(blueprint(one.model, options, one.input).value(), options), IsEmpty());
  }
  // Of a linear model nothing would be left.
  auto network = make_model("linear", {{"init", "zero"}}, vectors, kKey, torch::kFloat32).value();
  const auto folder = (folder_ / "linear").string();
  ASSERT_TRUE(
      write_model_folder(network, blueprint("linear", {{"init", "zero"}}, vectors).value(), {}, folder));
  const ModelInput fewer{.features = 7, .classes = 3};
  const json::object options{{"init", "zero"}, {"weights", folder}};
  const auto fits = check_fit(blueprint("linear", options, fewer).value(), options);
  ASSERT_FALSE(fits);
  EXPECT_THAT(fits.error().message, HasSubstr("describes another network"));
}

}  // namespace published_folders_test
}  // namespace hyfreedp::models
