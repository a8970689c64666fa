// Every registered model on data that suits it: public counts, gradients against LibTorch's
// autograd, and what trains.
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

#include "datasets/facts.h"
#include "harness/models/facts/blueprint.h"
#include "harness/models/layers/loss.h"
#include "harness/models/model.h"
#include "harness/random/stream.h"
#include "tests/models/compare.h"

namespace hyfreedp::models {
namespace registry_test {

using torch::Tensor;

const random::Key kKey = random::key_from_seed("tests of registered models");

// On some processors the last bits of an MKL product depend on where its operands lie in memory,
// unless this is set before MKL is first used. FrozenWeights... compares networks whose weights
// lie in different places.
[[maybe_unused]] const int kSameBitsEverywhere = ::setenv("MKL_CBWR", "AUTO", 0);

struct Example {
  explicit Example(const Facts& facts) : name(facts.name), options(facts.example.options) {
    const auto* data = datasets::find_dataset(facts.example.dataset).value();
    input = model_input(datasets::sizes(
        *data, resolve_options(data->options, facts.example.dataset_options, data->name).value()));
  }
  json::object resolved() const {
    return resolve_options(find_model(name).value()->options, options, name).value();
  }
  Result<Network> make(const torch::TensorOptions& as = torch::kFloat64,
                       std::optional<torch::ScalarType> compute = {}) const {
    return make_model(name, resolved(), input, kKey, as, compute);
  }
  Tensor features(std::int64_t samples) const {
    at::manual_seed(7);
    if (input.is_sequence()) return at::randint(input.vocabulary, {samples, input.length}, torch::kInt64);
    return at::randn({samples, input.features}, torch::kFloat64);
  }
  Tensor labels(const Tensor& features) const {
    return input.predicts_tokens() ? next_tokens(features)
                                   : torch::arange(features.size(0), torch::kInt64).remainder(input.classes);
  }
  Loss loss() const { return input.predicts_tokens() ? Loss::token_mean : Loss::cross_entropy; }

  std::string name;
  json::object options;
  ModelInput input;
};

// Weights at which no gradient vanishes: heads and adapters begin at zero.
void stir(Network& network) {
  at::manual_seed(11);
  const torch::NoGradGuard no_gradients;
  network.parameters().add_(at::randn_like(network.parameters()) * 0.2);
}

void record(const Example& example, Network& network, const Tensor& features) {
  const auto logits = network.record(features);
  network.backward(sample_losses(example.loss(), logits, example.labels(features), true).logit_gradient);
}

// Gradient of the summed loss by autograd through the same forward pass.
Tensor autograd_sum(const Example& example, const Tensor& features) {
  const at::AutoGradMode with_gradients(true);
  auto network = example.make(torch::TensorOptions().dtype(torch::kFloat64).requires_grad(true)).value();
  stir(network);
  const auto logits = network.forward(features);
  const auto losses = sample_losses(example.loss(), logits, example.labels(features), false).losses;
  losses.sum().backward();
  return network.parameters().grad();
}

std::vector<Example> examples() {
  std::vector<Example> all;
  for (const auto& facts : model_facts()) all.emplace_back(facts);
  return all;
}

// The modes that a model's facts offer.
std::vector<std::string> modes(const std::string& name) {
  for (const auto& option : find_model(name).value()->options) {
    if (option.name == "trainable") return option.choices;
  }
  return {};
}

TEST(RegisteredModel, MatchesItsPublicParameterCount) {
  for (const auto& example : examples()) {
    SCOPED_TRACE(example.name);
    const auto network = example.make();
    ASSERT_TRUE(network) << network.error().message;
    EXPECT_EQ(network->dimension(), parameter_count(example.name, example.resolved(), example.input).value());
    auto covered = std::int64_t{0};
    for (const auto& slice : network->layout()) {
      EXPECT_EQ(slice.offset, covered);
      covered += slice.size;
    }
    EXPECT_EQ(covered, network->dimension());
    const auto logits = network->forward(example.features(2));
    EXPECT_EQ(logits.size(0), 2);
    EXPECT_EQ(logits.size(-1), example.input.classes);
    EXPECT_TRUE(at::isfinite(logits).all().item<bool>());
  }
}

// What is known of a network before it is built is read from its graph.
TEST(RegisteredModel, HasTheTensorsAndSizesOfItsGraph) {
  for (const auto& example : examples()) {
    SCOPED_TRACE(example.name);
    const auto network = example.make().value();
    const auto plan = blueprint(example.name, example.resolved(), example.input).value();
    ASSERT_EQ(network.layout().size(), plan.parameters.size());
    for (std::size_t p = 0; p < plan.parameters.size(); ++p) {
      EXPECT_EQ(network.layout()[p].name, plan.parameters[p].name);
      EXPECT_EQ(network.layout()[p].shape, plan.parameters[p].shape) << plan.parameters[p].name;
    }
    const auto features = example.features(1);
    const auto sizes = graph::sizes_of(plan.graph, example.input);
    EXPECT_EQ(network.forward(features).squeeze(0).sizes().vec(), sizes.back());
    // A layer is found by its name: of each the values before it are computed.
    auto at_each = network;
    for (std::size_t at = 0; at < sizes.size(); ++at) {
      const auto& place = plan.graph.places[at];
      if (place.name.empty() || place.again >= 0 || place.inputs.front() < 0) continue;
      at_each.set_head(place.name);
      EXPECT_EQ(at_each.features(features).squeeze(0).sizes().vec(),
                sizes[static_cast<std::size_t>(place.inputs.front())])
          << place.name;
    }
  }
}

TEST(RegisteredModel, GradientsAreThoseOfAutograd) {
  for (const auto& example : examples()) {
    SCOPED_TRACE(example.name);
    const auto features = example.features(3);
    auto network = example.make().value();
    stir(network);
    record(example, network, features);
    auto sum = torch::zeros({network.dimension()}, torch::kFloat64);
    network.add_clipped_sum({}, sum);
    EXPECT_TRUE(near_relative(sum, autograd_sum(example, features), 1e-9));
    const auto norms = network.squared_norms();
    for (std::int64_t i = 0; i < 3; ++i) {
      // Alone in its batch, a sample's label would be another one.
      const auto one = torch::zeros({3}, torch::kFloat64).index_fill(0, torch::tensor({i}), 1);
      auto gradient = torch::zeros_like(sum);
      network.add_clipped_sum(one, gradient);
      EXPECT_NEAR(norms[i].item<double>() / gradient.square().sum().item<double>(), 1, 1e-9);
    }
  }
}

TEST(RegisteredModel, EachPartTrainsAloneAndCostsNothingBelowIt) {
  for (auto example : examples()) {
    const auto features = example.features(2);
    std::int64_t records_of_all = 0;
    const auto base = example.make().value();
    for (const auto& mode : modes(example.name)) {
      SCOPED_TRACE(example.name + " " + mode);
      example.options["trainable"] = mode;
      auto network = example.make();
      if (!network) {
        // A tied output projection is no head; Llama has neither biases nor norms with one.
        EXPECT_TRUE(mode.ends_with("head") || mode == "bitfit") << network.error().message;
        continue;
      }
      EXPECT_EQ(network->dimension(),
                parameter_count(example.name, example.resolved(), example.input).value());
      // The base model starts the same whatever trains.
      for (const auto* layout : {&base.layout(), &base.frozen_layout()}) {
        for (const auto& slice : *layout) {
          EXPECT_TRUE(at::equal(network->tensor(slice.name), base.tensor(slice.name))) << slice.name;
        }
      }
      std::map<std::string, Tensor> before;
      for (const auto& slice : network->frozen_layout()) {
        before[slice.name] = network->tensor(slice.name).clone();
      }
      stir(*network);
      record(example, *network, features);
      auto sum = torch::zeros({network->dimension()}, torch::kFloat64);
      network->add_clipped_sum({}, sum);
      EXPECT_TRUE(near_relative(sum, autograd_sum(example, features), 1e-9));
      network->parameters().sub_(sum, 0.1);
      for (const auto& [name, value] : before) EXPECT_TRUE(at::equal(network->tensor(name), value)) << name;
      const auto records = network->activation_records();
      if (mode == "full") records_of_all = records;
      if (mode == "head") {
        EXPECT_EQ(records, example.name == "roberta" ? 2 : 1);
      }
      if (mode == "last-block") {
        EXPECT_LT(records, records_of_all);
      }
    }
  }
}

// What the head computes of the features are the logits, in every type of computation; and the
// facts know their width.
TEST(RegisteredModel, FeaturesAreWhatTheHeadReads) {
  std::int64_t with_head = 0;
  for (const auto& example : examples()) {
    SCOPED_TRACE(example.name);
    auto network = example.make().value();
    stir(network);
    const auto input = example.features(3);
    const auto width = feature_width(example.name, example.resolved(), example.input);
    const auto head = blueprint(example.name, example.resolved(), example.input).value().graph.head;
    ASSERT_EQ(network.has_head(), width.has_value());
    ASSERT_EQ(network.has_head(), !head.empty());
    if (!width) {
      EXPECT_NE(width.error().message.find("tied"), std::string::npos) << width.error().message;
      EXPECT_THROW(network.features(input), std::logic_error);
      continue;
    }
    ++with_head;
    const auto features = network.features(input);
    EXPECT_EQ(features.size(0), 3);
    EXPECT_EQ(features.size(-1), *width);
    EXPECT_EQ(network.activation_records(), 0);
    const auto logits = at::linear(features, network.tensor(head + "weight"), network.tensor(head + "bias"));
    EXPECT_TRUE(near_relative(logits, network.forward(input), 1e-12));
    if (example.input.is_sequence()) continue;
    EXPECT_EQ(features.dim(), 2);
    auto narrow = example.make(torch::kFloat32).value();
    narrow.parameters().copy_(network.parameters());
    narrow.set_compute_type(torch::kBFloat16);
    const auto rounded = narrow.features(input.to(torch::kFloat32));
    EXPECT_EQ(rounded.scalar_type(), torch::kFloat32);
    EXPECT_TRUE(near_relative(rounded.to(torch::kFloat64), features, 0.05));
  }
  EXPECT_GE(with_head, 6);
}

// A batch of texts is cut to the last token that is predicted (training/batch_reader.h): no later
// token may change a loss or a gradient.
TEST(RegisteredModel, OfTokensReadsNoFurtherThanWhatItPredicts) {
  std::set<std::string> causal;
  for (const auto& example : examples()) {
    if (!example.input.predicts_tokens()) continue;
    SCOPED_TRACE(example.name);
    causal.insert(example.name);
    const auto whole = example.features(3);
    const auto length = whole.size(1), kept = length / 2;
    auto labels = example.labels(whole);
    labels.narrow(1, kept, length - kept).fill_(kNotScored);
    const auto pass = [&](std::int64_t columns) {
      auto network = example.make().value();
      stir(network);
      const auto logits = network.record(whole.narrow(1, 0, columns).contiguous());
      const auto of = sample_losses(example.loss(), logits, labels.narrow(1, 0, columns).contiguous(), true);
      network.backward(of.logit_gradient);
      auto sum = at::zeros({network.dimension()}, torch::kFloat64);
      const auto squares = network.squared_norms();
      network.add_clipped_sum(at::rsqrt(squares), sum);
      return std::vector{of.losses, squares, sum};
    };
    const auto expected = pass(length), found = pass(kept);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(near_relative(found[i], expected[i], 1e-12)) << i;
  }
  EXPECT_EQ(causal, (std::set<std::string>{"gpt2", "llama", "opt"}));
}

// Logits, squared norms and the sum of all gradients.
std::vector<Tensor> pass_of(const Example& example, Network& network) {
  const auto features = example.features(3);
  auto input = example.input.is_sequence() ? features : features.to(torch::kFloat32);
  const auto logits = network.forward(input);
  record(example, network, input);
  auto sum = at::zeros({network.dimension()});
  network.add_clipped_sum({}, sum);
  return {logits, network.squared_norms(), network.squared_norm_bounds(), sum};
}

// They are then those of a network whose frozen weights were rounded.
TEST(RegisteredModel, FrozenWeightsAreStoredInTheTypeThatItBeginsToComputeIn) {
  std::size_t with_frozen = 0;
  for (auto example : examples()) {
    for (const auto& mode : modes(example.name)) {
      SCOPED_TRACE(example.name + ", " + mode);
      example.options["trainable"] = mode;
      auto made = example.make(torch::kFloat32);
      if (!made) continue;  // the mode needs a head of its own
      auto& wide = *made;
      auto narrow = example.make(torch::kFloat32, torch::kBFloat16).value();
      EXPECT_EQ(narrow.compute_type(), torch::kBFloat16);
      EXPECT_EQ(narrow.parameters().scalar_type(), torch::kFloat32);
      if (narrow.frozen_layout().empty()) continue;
      ++with_frozen;
      for (const auto& slice : narrow.frozen_layout()) {
        EXPECT_EQ(narrow.tensor(slice.name).scalar_type(), torch::kBFloat16);
        wide.tensor(slice.name).copy_(narrow.tensor(slice.name));
      }
      stir(wide);
      stir(narrow);
      for (const auto type : {torch::kBFloat16, torch::kFloat32, torch::kBFloat16}) {
        wide.set_compute_type(type);
        narrow.set_compute_type(type);
        const auto expected = pass_of(example, wide), found = pass_of(example, narrow);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          EXPECT_TRUE(at::equal(found[i], expected[i])) << i;
        }
      }
    }
  }
  EXPECT_GE(with_frozen, 20);
}

// An adapter beside the head does not move the place where features are taken.
TEST(RegisteredModel, FeaturesOfAnAdaptedHeadAreThoseBeforeIt) {
  auto example = Example(*find_model("vit").value());
  const auto plain = example.make().value();
  example.options["trainable"] = "lora";
  example.options["lora_targets"] = "head";
  auto adapted = example.make().value();
  stir(adapted);
  const auto input = example.features(2);
  EXPECT_TRUE(at::equal(adapted.features(input), plain.features(input)));
  EXPECT_EQ(feature_width("vit", example.resolved(), example.input).value(), 16);
}

std::vector<std::string> trained(const std::string& model, json::object options) {
  for (const auto& facts : model_facts()) {
    if (facts.name != model) continue;
    auto example = Example(facts);
    for (const auto& item : options) example.options[item.key()] = item.value();
    std::vector<std::string> names;
    const auto network = example.make().value();
    for (const auto& slice : network.layout()) names.push_back(slice.name);
    return names;
  }
  return {};
}

TEST(RegisteredModel, PartsHaveTheNamesTheySay) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(trained("vit", {{"trainable", "head"}}), (Names{"head.weight", "head.bias"}));
  const auto last = trained("vit", {{"trainable", "last-block"}});
  EXPECT_EQ(last.front(), "blocks.1.norm1.weight");
  EXPECT_EQ(last.back(), "head.bias");
  EXPECT_EQ(last.size(), 12U + 2 + 2);
  const auto ends = trained("vit", {{"trainable", "first-last-block"}});
  EXPECT_EQ(ends.front(), "blocks.0.norm1.weight");
  EXPECT_EQ(ends.size(), last.size() + 12);
  EXPECT_EQ(trained("vit", {{"trainable", "lora"}, {"lora_targets", "attn.proj"}}),
            (Names{"base_model.model.blocks.0.attn.proj.lora_A.weight",
                   "base_model.model.blocks.0.attn.proj.lora_B.weight",
                   "base_model.model.blocks.1.attn.proj.lora_A.weight",
                   "base_model.model.blocks.1.attn.proj.lora_B.weight"}));
  EXPECT_EQ(trained("vit", {{"trainable_pattern", "^(cls_token|pos_embed)$"}}),
            (Names{"cls_token", "pos_embed"}));
  EXPECT_EQ(trained("gpt2", {{"trainable", "bitfit"}}).size(), 13U);
  EXPECT_EQ(trained("linear", {}), (Names{"fc.weight", "fc.bias"}));
  EXPECT_EQ(trained("linear", {{"bias", false}}), Names{"fc.weight"});
}

TEST(RegisteredModel, ASubsetThatIsNoneIsAnError) {
  const auto message = [](const std::string& model, const json::object& options) {
    auto example = Example(*find_model(model).value());
    for (const auto& item : options) example.options[item.key()] = item.value();
    const auto count = parameter_count(model, example.resolved(), example.input);
    return count ? std::string() : count.error().message;
  };
  EXPECT_NE(message("vit", {{"trainable_pattern", "no such layer"}}).find("nothing to train"),
            std::string::npos);
  EXPECT_NE(message("vit", {{"trainable_pattern", "("}}).find("regular expression"), std::string::npos);
  EXPECT_NE(message("vit", {{"trainable_pattern", "x"}, {"trainable", "head"}}).find("leave"),
            std::string::npos);
  EXPECT_NE(message("vit", {{"trainable", "lora"}, {"lora_targets", "c_attn"}}).find("c_attn"),
            std::string::npos);
  EXPECT_NE(message("gpt2", {{"trainable", "head"}}).find("tied"), std::string::npos);
  EXPECT_NE(message("llama", {{"trainable", "bitfit"}}).find("nothing to train"), std::string::npos);
  EXPECT_NE(message("vit", {{"size", "vit_tiny_patch16_224"}}).find("decides"), std::string::npos);
}

// Published sizes, without building the networks.
TEST(RegisteredModel, NamedSizesHaveThePublishedCounts) {
  const auto count = [](const std::string& model, const json::object& given, const ModelInput& input) {
    const auto options = resolve_options(find_model(model).value()->options, given, model).value();
    return parameter_count(model, options, input).value();
  };
  const ModelInput imagenet{.features = 3 * 224 * 224, .classes = 1000, .image = {3, 224, 224}};
  EXPECT_EQ(count("vit", {{"size", "vit_tiny_patch16_224"}}, imagenet), 5717416);
  EXPECT_EQ(count("vit", {{"size", "vit_base_patch16_224"}}, imagenet), 86567656);
  const ModelInput text{.features = 64, .classes = 50257, .length = 64, .vocabulary = 50257};
  EXPECT_EQ(count("gpt2", {{"size", "gpt2"}}, text), 124439808);
  EXPECT_EQ(count("llama", {{"size", "llama-3.2-1b"}}, text), 1235814400);
  const ModelInput cifar{.features = 3 * 32 * 32, .classes = 10, .image = {3, 32, 32}};
  // De et al., arXiv:2204.13650: WRN-16-4 has 2.75 million parameters.
  EXPECT_NEAR(static_cast<double>(count("wrn-16-4", {}, cifar)), 2.75e6, 0.01e6);
}

TEST(RegisteredModel, DataThatDoNotSuitAreRefused) {
  const ModelInput vectors{.features = 16, .classes = 3};
  const ModelInput tokens{.features = 8, .classes = 12, .length = 8, .vocabulary = 12};
  for (const auto& example : examples()) {
    const bool sequences = example.input.is_sequence();
    const auto count = parameter_count(example.name, example.resolved(), sequences ? vectors : tokens);
    EXPECT_FALSE(count) << example.name;
  }
  EXPECT_FALSE(parameter_count("vit", Example(*find_model("vit").value()).resolved(), vectors));
  // Pixels of colours are pixels.
  const auto cnn = resolve_options(find_model("cnn").value()->options, {}, "cnn").value();
  const ModelInput colour{.features = 3072, .classes = 10, .image = {3, 32, 32}};
  EXPECT_NE(parameter_count("cnn", cnn, colour).error().message.find("say 'channels: 3'"), std::string::npos);
  EXPECT_NE(parameter_count("cnn", cnn, {.features = 15, .classes = 3})
                .error()
                .message.find("Use the dataset's pixels"),
            std::string::npos);
}

TEST(RegisteredModel, OptionsThatOthersLeaveUnreadAreRefused) {
  const auto refusal = [](json::object more) {
    auto example = Example(*find_model("vit").value());
    for (const auto& one : more) example.options[one.key()] = one.value();
    const auto count = parameter_count("vit", example.resolved(), example.input);
    return count ? std::string("accepted") : count.error().message;
  };
  EXPECT_NE(refusal({{"lora_rank", 4}}).find("'lora_rank' is read only with 'trainable: lora'"),
            std::string::npos);
  EXPECT_NE(refusal({{"lora_alpha", 3}}).find("'lora_alpha'"), std::string::npos);
  EXPECT_NE(refusal({{"lora_targets", "attn.proj"}}).find("'lora_targets'"), std::string::npos);
  EXPECT_NE(refusal({{"head", "file"}}).find("'head: file' is read only with 'weights'"), std::string::npos);
  const json::object lora{{"trainable", "lora"}, {"lora_rank", 4}};
  EXPECT_EQ(refusal(lora), "accepted");
  auto one_wrong = lora;
  one_wrong["lora_targets"] = "attn.qkv, atn.proj";
  EXPECT_NE(refusal(one_wrong).find("'lora_targets' has 'atn.proj'"), std::string::npos);
}

// 40 000 draws: a sample deviation is off by 1 % with probability 1e-2 in none of 1e6 seeds; the
// tolerance is 2.5 %.
TEST(RegisteredModel, InitialValuesAreTheAuthors) {
  auto example = Example(*find_model("vit").value());
  example.options["width"] = 96;
  const auto network = example.make().value();
  const auto qkv = network.tensor("blocks.0.attn.qkv.weight");
  EXPECT_LE(qkv.abs().max().item<double>(), 0.04);
  EXPECT_GT(qkv.abs().max().item<double>(), 0.0399);
  // of a normal cut at two deviations
  EXPECT_NEAR(qkv.std().item<double>(), 0.02 * 0.8796, 0.0005);
  EXPECT_EQ(network.tensor("blocks.0.attn.qkv.bias").abs().max().item<double>(), 0);
  EXPECT_EQ(network.tensor("norm.weight").min().item<double>(), 1);
  EXPECT_GT(network.tensor("pos_embed").std().item<double>(), 0.01);
  auto adapted = example;
  adapted.options["trainable"] = "lora";
  const auto lora = adapted.make().value();
  EXPECT_EQ(lora.tensor("base_model.model.blocks.0.attn.qkv.lora_B.weight").abs().max().item<double>(), 0);
  EXPECT_LE(lora.tensor("base_model.model.blocks.0.attn.qkv.lora_A.weight").abs().max().item<double>(),
            1 / std::sqrt(96.0));
  // An adapter at its start changes nothing.
  const auto features = example.features(2);
  EXPECT_TRUE(at::equal(network.forward(features), lora.forward(features)));
}

// Heads begin at zero, or He-normal where the option says so; nothing else moves. A value beyond 6
// deviations: 2e-9 each.
TEST(RegisteredModel, HeadsBeginAtZeroOrDrawn) {
  std::int64_t offered = 0;
  for (const auto& facts : model_facts()) {
    const char* name = facts.name == "linear" ? "init" : "last_layer";
    if (std::none_of(facts.options.begin(), facts.options.end(),
                     [&](const auto& option) { return option.name == name; })) {
      continue;
    }
    SCOPED_TRACE(facts.name);
    ++offered;
    auto example = Example(facts);
    const auto zero = example.make().value();
    const auto head = blueprint(facts.name, example.resolved(), example.input).value().graph.head + "weight";
    EXPECT_EQ(zero.tensor(head).abs().max().item<double>(), 0);
    example.options[name] = "he";
    const auto drawn = example.make().value();
    const auto weight = drawn.tensor(head);
    const double deviation = std::sqrt(2.0 / static_cast<double>(weight.size(1)));
    EXPECT_GT(weight.abs().min().item<double>(), 0);
    EXPECT_LT(weight.abs().max().item<double>(), 6 * deviation);
    EXPECT_GT(weight.square().mean().sqrt().item<double>(), 0.4 * deviation);
    for (const auto& parameter :
         blueprint(facts.name, example.resolved(), example.input).value().parameters) {
      if (parameter.name == head) continue;
      EXPECT_TRUE(at::equal(zero.tensor(parameter.name), drawn.tensor(parameter.name)));
    }
  }
  EXPECT_GE(offered, 5);
}

Reads read_of(const ModelInput& input) {
  if (!input.is_sequence()) return Reads::numbers;
  return input.predicts_tokens() ? Reads::sequences : Reads::classified_sequences;
}

TEST(Registry, ReadsWhatItsExampleHasAndRefusesOthersNamingModelsThatReadThem) {
  for (const auto& example : examples()) {
    const auto& facts = *find_model(example.name).value();
    EXPECT_EQ(facts.reads, read_of(example.input)) << example.name;
    for (const auto& other : examples()) {
      if (read_of(other.input) == facts.reads) continue;
      const auto refused = blueprint(example.name, example.resolved(), other.input);
      ASSERT_FALSE(refused) << example.name << " on the data of " << other.name;
      const auto& message = refused.error().message;
      if (message.find("Use one that has") != std::string::npos) continue;
      EXPECT_NE(message.find(other.name), std::string::npos) << message << "; of " << other.name;
    }
  }
}

}  // namespace registry_test
}  // namespace hyfreedp::models
