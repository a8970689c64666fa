#include "harness/models/weights/weights.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

#include "harness/base/safetensors_file.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/files/state_dict.h"
#include "harness/models/layers/linear.h"
#include "harness/models/layers/make_network.h"
#include "harness/models/networks/gpt2.h"
#include "harness/models/weights/safetensors.h"
#include "harness/models/weights/tensor_types.h"

namespace hyfreedp::models {
namespace weights_test {

namespace fs = std::filesystem;

class Weights : public testing::Test {
 protected:
  Weights() { fs::create_directories(folder_); }
  ~Weights() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("weights-" + std::to_string(::getpid()));
};

Network small_network() {
  return Network::make({{"a", std::make_shared<Linear>(3, 2)}, {"b", std::make_shared<Linear>(2, 2, false)}},
                       torch::kFloat32, [](const std::string& name) { return name != "b.weight"; })
      .value();
}

TEST_F(Weights, ARoundTripKeepsEveryBitOfEveryType) {
  NamedTensors tensors;
  at::manual_seed(1);
  for (const auto type : {torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16}) {
    tensors[std::string("t") + torch::toString(type)] = at::randn({3, 5}).to(type);
  }
  tensors["flags"] = torch::tensor({true, false, true});
  tensors["ids"] = torch::arange(7);
  tensors["strided"] = at::randn({4, 6}).t();
  tensors["empty"] = torch::zeros({0, 3});
  ASSERT_TRUE(write_safetensors(file("x.safetensors"), tensors));
  const auto read = read_safetensors(file("x.safetensors"));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), tensors.size());
  for (const auto& [name, value] : tensors) {
    EXPECT_EQ(read->at(name).scalar_type(), value.scalar_type()) << name;
    EXPECT_TRUE(at::equal(read->at(name), value)) << name;
  }
}

TEST_F(Weights, AreLoadedByNameTrainableAndFrozen) {
  auto network = small_network();
  const NamedTensors weights = {{"a.weight", torch::ones({2, 3}).to(torch::kBFloat16)},
                                {"a.bias", torch::full({2}, 2.0)},
                                {"b.weight", torch::full({2, 2}, 3.0, torch::kFloat64)}};
  const auto loaded = load_weights(network, weights);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(network.tensor("a.weight").sum().item<float>(), 6);
  EXPECT_EQ(network.tensor("b.weight").sum().item<float>(), 12);
}

TEST_F(Weights, WhatDoesNotFitIsListedByNameAndNothingIsLoaded) {
  auto network = small_network();
  const auto loaded = load_weights(
      network,
      {{"a.weight", torch::ones({3, 2})}, {"a.bias", torch::ones({2})}, {"c.weight", torch::ones({1})}});
  ASSERT_FALSE(loaded);
  const auto& message = loaded.error().message;
  EXPECT_NE(message.find("missing: b.weight"), std::string::npos) << message;
  EXPECT_NE(message.find("unexpected: c.weight"), std::string::npos) << message;
  EXPECT_NE(message.find("a.weight [3, 2] for [2, 3]"), std::string::npos) << message;
  EXPECT_EQ(network.parameters().abs().max().item<float>(), 0);
}

TEST_F(Weights, RulesAllowPrefixesAbsencesAndLeftovers) {
  auto network = small_network();
  LoadRules rules;
  rules.prefix = "a.";
  rules.may_be_absent = [](const std::string& name) { return name == "b.weight"; };
  rules.may_be_left = [](const std::string& name) { return name == "mask"; };
  const NamedTensors weights = {
      {"weight", torch::ones({2, 3})}, {"a.bias", torch::ones({2})}, {"mask", torch::ones({1})}};
  EXPECT_TRUE(load_weights(network, weights, rules));
  EXPECT_EQ(network.tensor("a.weight").sum().item<float>(), 6);
  // The same parameter under both names.
  auto twice = weights;
  twice["bias"] = torch::zeros({2});
  EXPECT_FALSE(load_weights(network, twice, rules));
}

TEST_F(Weights, ShardsAreReadThroughTheirIndex) {
  ASSERT_TRUE(write_safetensors(file("one.safetensors"), {{"a", torch::ones({2})}}));
  ASSERT_TRUE(write_safetensors(file("two.safetensors"), {{"b", torch::ones({3})}}));
  const auto with_index = [&](const std::string& map) {
    write("model.safetensors.index.json", "{\"weight_map\": " + map + "}");
    return read_weights(folder_.string());
  };
  const auto read = with_index(R"({"a": "one.safetensors", "b": "two.safetensors"})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->size(), 2U);
  const std::pair<const char*, const char*> refused[] = {{R"({"a": "../one.safetensors"})", "same folder"},
                                                         {R"({"a": "/etc/passwd"})", "same folder"},
                                                         {R"({"a": ".."})", "same folder"},
                                                         {R"({"a": "two.safetensors"})", "no tensor 'a'"},
                                                         {R"({"a": "absent.safetensors"})", "No such file"},
                                                         {R"({"a": 3})", "file name"},
                                                         {R"([])", "weight_map"}};
  for (const auto& [map, says] : refused) {
    const auto bad = with_index(map);
    ASSERT_FALSE(bad) << map;
    EXPECT_NE(bad.error().message.find(says), std::string::npos) << bad.error().message;
  }
}

// Every type, as the reader without LibTorch gives it, and still there when the file is not.
TEST_F(Weights, AStateDictOfEveryTypeIsRead) {
  const std::map<std::string, std::string> types = {
      {"F64", "Double"}, {"F32", "Float"}, {"F16", "Half"}, {"BF16", "BFloat16"}, {"I64", "Long"},
      {"I32", "Int"},    {"I16", "Short"}, {"I8", "Char"},  {"U8", "Byte"},       {"BOOL", "Bool"}};
  const auto source = fs::path(HYFREEDP_TEST_DATA) / "state_dicts";
  const auto path = file("pytorch_model.bin");
  const auto copy = [&](const std::string& name) {
    fs::copy_file(source / name, path, fs::copy_options::overwrite_existing);
  };
  for (const char* form : {"zip", "stream"}) {
    SCOPED_TRACE(form);
    copy(std::string("types.protocol4.") + form + ".pth");
    auto stored = read_state_dict(path).value();
    const auto read = read_weights(folder_.string());
    ASSERT_TRUE(read) << read.error().message;
    fs::remove(path);
    ASSERT_EQ(read->size(), stored.size());
    EXPECT_EQ(read->size(), 10U);
    ASSERT_TRUE(write_safetensors(file("again.safetensors"), *read));
    const auto again = read_weights(file("again.safetensors")).value();
    ASSERT_EQ(again.size(), 10U);
    for (const auto& [name, value] : *read) {
      EXPECT_EQ(c10::toString(value.scalar_type()), types.at(std::string(name_of(stored.at(name).type))))
          << name;
      EXPECT_EQ(again.at(name).scalar_type(), value.scalar_type()) << name;
      EXPECT_TRUE(at::equal(again.at(name), value)) << name;
      EXPECT_EQ(value.sizes(), stored.at(name).shape) << name;
      const auto& bytes = stored.at(name).values.bytes;
      EXPECT_EQ(std::string_view(static_cast<const char*>(value.data_ptr()), value.nbytes()), bytes) << name;
    }
  }
  // A tensor keeps the bytes that it is a view of.
  torch::Tensor alone;
  {
    copy("strided.protocol4.zip.pth");
    const auto read = read_weights(folder_.string()).value();
    alone = read.at("base");
    EXPECT_EQ(read.at("empty").numel(), 0);
  }
  EXPECT_TRUE(at::equal(alone, torch::arange(24, torch::kFloat32)));
}

TEST_F(Weights, AFolderMayHaveAStateDict) {
  const auto source = fs::path(HYFREEDP_TEST_DATA) / "state_dicts" / "module.protocol2.zip.pth";
  write("config.json", "{}");
  const auto located = [&] {
    const auto found = locate_weights(folder_.string());
    return found ? *found : found.error().message;
  };
  EXPECT_NE(located().find("none of model.safetensors"), std::string::npos) << located();
  EXPECT_NE(read_weights(folder_.string()).error().message.find("none of model.safetensors"),
            std::string::npos);
  fs::copy_file(source, file("pytorch_model.bin"));
  EXPECT_EQ(located(), folder_.string());
  const auto read = read_weights(folder_.string());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->contains("0.weight"));
  // Its bytes are part of the folder's checksum.
  const auto checksum = weights_checksum(folder_.string()).value();
  fs::copy_file(source.parent_path() / "module.protocol2.stream.pth", file("pytorch_model.bin"),
                fs::copy_options::overwrite_existing);
  EXPECT_NE(weights_checksum(folder_.string()).value(), checksum);
  // Beside a model.safetensors neither is it read nor does it count.
  ASSERT_TRUE(write_safetensors(file("model.safetensors"), {{"a", torch::ones({2})}}));
  EXPECT_EQ(read_weights(folder_.string())->size(), 1U);
  const auto of_safetensors = weights_checksum(folder_.string()).value();
  fs::remove(file("pytorch_model.bin"));
  EXPECT_EQ(weights_checksum(folder_.string()).value(), of_safetensors);
}

TEST_F(Weights, AnAdapterComesBackAsItWasWritten) {
  const auto shape = [] {
    Gpt2Shape small;
    small.vocabulary = 11;
    small.positions = 4;
    small.width = 8;
    small.depth = 2;
    small.heads = 2;
    small.hidden = 16;
    return small;
  }();
  const Lora lora{.rank = 2, .alpha = 6, .targets = {"c_attn"}};
  const auto trains = [](const std::string& name) { return name.find(".lora_") != std::string::npos; };
  auto network = make_network(graph_of(shape, lora).value(), torch::kFloat32, trains).value();
  at::manual_seed(2);
  network.parameters().copy_(at::randn({network.dimension()}));
  ASSERT_TRUE(write_adapter(network, lora, file("adapter")));
  const auto config = read_adapter_config(file("adapter"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->rank, 2);
  EXPECT_EQ(config->scale(), 3);
  auto other = make_network(graph_of(shape, *config).value(), torch::kFloat32, trains).value();
  const auto loaded = load_adapter(other, file("adapter"));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(at::equal(other.parameters(), network.parameters()));
}

// A reader that trusts a length or an offset reads outside the mapping and the process dies.
TEST_F(Weights, MutatedFilesAreReadOrRefusedAndNeverFollowedOutside) {
  at::manual_seed(3);
  const NamedTensors tensors = {{"a", at::randn({3, 4})}, {"b", at::randn({5}).to(torch::kBFloat16)}};
  ASSERT_TRUE(write_safetensors(file("good.safetensors"), tensors));
  std::ifstream stream(file("good.safetensors"), std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(stream)), {});
  std::mt19937_64 engine(4);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine);
  };
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    auto bad = good;
    const auto changes = 1 + below(4);
    for (std::size_t i = 0; i < changes; ++i) {
      // Mostly in the header, where lengths and offsets are.
      const auto at = below(4) == 0 ? below(bad.size()) : below(std::min<std::size_t>(bad.size(), 200));
      bad[at] = below(2) == 0 ? static_cast<char>('0' + below(10)) : static_cast<char>(below(256));
    }
    if (below(4) == 0) bad.resize(below(bad.size()) + 1);
    std::ofstream(file("bad.safetensors"), std::ios::binary) << bad;
    const auto read = read_safetensors(file("bad.safetensors"));
    if (!read) {
      ++refused;
      EXPECT_FALSE(read.error().message.empty());
      continue;
    }
    for (const auto& [name, value] : *read) value.to(torch::kFloat64).sum();
  }
  EXPECT_GT(refused, 300);
}

}  // namespace weights_test
}  // namespace hyfreedp::models
