// Texts that networks write, against transformers' generate (tests/data/generation) and against
// forward passes over whole texts.
#include "harness/models/generation/generation.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <set>

#include "harness/base/describe.h"
#include "harness/base/json.h"
#include "harness/models/generation/nucleus.h"
#include "harness/models/graph/left_to_right.h"
#include "harness/models/layers/make_network.h"
#include "harness/models/networks/bert.h"
#include "harness/models/networks/gpt2.h"
#include "harness/models/networks/llama.h"
#include "harness/models/networks/opt.h"
#include "harness/models/weights/safetensors.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;
using trial::Decoding;
using trial::GenerationOptions;

const std::string kData = HYFREEDP_TEST_DATA;

template <class T>
T read(const json::value& value) {
  return from_json<T>(value, "file").value();
}

json::object config_of(const std::string& name) {
  return read_json_file(kData + "/models/" + name + "/config.json").value().as_object();
}

graph::Graph graph_of_model(const std::string& name) {
  const auto made = [&](auto shape) {
    shape.masked = false;
    return graph_of(shape, std::nullopt).value();
  };
  const auto config = config_of(name);
  if (name == "gpt2") return made(Gpt2Shape::from_json(config, name).value());
  if (name == "opt") return made(OptShape::from_json(config, name).value());
  return made(LlamaShape::from_json(config, name).value());
}

Network network_of(const std::string& name, torch::ScalarType type) {
  auto network = make_network(graph_of_model(name), type, [](const std::string&) { return true; }).value();
  const auto weights = read_safetensors(kData + "/models/" + name + "/weights.safetensors").value();
  for (const auto& [parameter, value] : weights) network.tensor(parameter).copy_(value);
  return network;
}

const std::vector<std::string> kNetworks = {"gpt2", "llama", "opt"};

Tensor row_of(const Ids& ids) { return torch::tensor(at::ArrayRef<std::int64_t>(ids)); }

std::vector<Written> texts_of(const Network& network, std::span<const Ids> prompts,
                              const GenerationOptions& options, std::optional<std::int64_t> end) {
  std::vector<Written> written;
  continue_texts(network, prompts, options, end, [&](std::size_t first, std::span<const Written> texts) {
    EXPECT_EQ(first, written.size());
    EXPECT_LE(static_cast<std::int64_t>(texts.size()), options.batch);
    written.insert(written.end(), texts.begin(), texts.end());
    return true;
  });
  return written;
}

TEST(Generation, TextsAreThoseOfTransformers) {
  std::size_t texts = 0, ended = 0;
  const auto cases = read_json_file(kData + "/generation/texts.json").value();
  for (const auto& one : cases.as_array()) {
    const auto beams = read<std::int64_t>(one.at("beams"));
    const auto name = read<std::string>(one.at("model"));
    const auto network = network_of(name, torch::kFloat32);
    const auto prompts = read<std::vector<Ids>>(one.at("prompts"));
    const auto end = read<std::int64_t>(one.at("end"));
    GenerationOptions options{.decoding = beams > 1 ? Decoding::beam : Decoding::greedy,
                              .tokens = read<std::int64_t>(one.at("tokens")),
                              .beams = beams,
                              .length_penalty = one.at("length_penalty").to_number<double>()};
    for (const std::int64_t batch : {16, 2}) {
      SCOPED_TRACE(name + ", beams " + std::to_string(beams) + ", length penalty " +
                   canonical_json(one.at("length_penalty")) + ", batch " + std::to_string(batch));
      options.batch = batch;
      const auto written = texts_of(network, prompts, options, end);
      ASSERT_EQ(written.size(), prompts.size());
      for (std::size_t i = 0; i < prompts.size(); ++i) {
        auto expected = read<Ids>(one.at("texts").at(i));
        const bool ends = expected.back() == end;
        if (ends) expected.pop_back();
        EXPECT_EQ(written[i].ids, expected) << "prompt " << i;
        EXPECT_EQ(written[i].ended, ends) << "prompt " << i;
        ended += ends ? 1 : 0;
        ++texts;
      }
    }
  }
  EXPECT_GT(ended, 20U);
  EXPECT_GT(texts, 2 * ended);
}

TEST(Generation, ReadingOnGivesTheLogitsOfWholeTexts) {
  for (const auto& name : kNetworks) {
    SCOPED_TRACE(name);
    const auto network = network_of(name, torch::kFloat64);
    // Two texts, read as 3 and 1 tokens, then 2 and 4 of those after them, with the padding's id
    // any; then the rows change places.
    const std::vector<Ids> texts = {{5, 6, 7, 8, 9}, {20, 3, 4, 2, 1}};
    auto reading = Reading::begin(2, 8, torch::kCPU);
    const auto expect_logits = [&](const Tensor& logits, const std::vector<Ids>& whole) {
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const auto expected = network.forward(row_of(whole[i]).unsqueeze(0)).select(1, -1)[0];
        EXPECT_LT((logits[static_cast<std::int64_t>(i)] - expected).abs().max().item<double>(), 1e-12);
      }
    };
    auto logits =
        network.next_logits(torch::tensor({{5, 6, 7}, {20, 11, 13}}), torch::tensor({3, 1}), reading);
    expect_logits(logits, {{5, 6, 7}, {20}});
    logits = network.next_logits(torch::tensor({{8, 9, 0, 0}, {3, 4, 2, 1}}), torch::tensor({2, 4}), reading);
    expect_logits(logits, texts);
    EXPECT_TRUE(at::equal(reading.lengths, torch::tensor({5, 5})));
    reading.select(torch::tensor({1, 0, 0}));
    logits = network.next_logits(torch::tensor({{7}, {7}, {2}}), torch::tensor({1, 1, 1}), reading);
    expect_logits(logits, {{20, 3, 4, 2, 1, 7}, {5, 6, 7, 8, 9, 7}, {5, 6, 7, 8, 9, 2}});
  }
}

TEST(Generation, ATextLongerThanWasSaidIsRefused) {
  const auto network = network_of("gpt2", torch::kFloat32);
  auto reading = Reading::begin(1, 2, torch::kCPU);
  EXPECT_THROW(network.next_logits(torch::tensor({{1, 2, 3}}), torch::tensor({3}), reading),
               std::logic_error);
}

TEST(Generation, OnlyNetworksThatReadFromLeftToRightMayWrite) {
  for (const auto& name : kNetworks)
    EXPECT_TRUE(graph::check_left_to_right(graph_of_model(name), 10)) << name;
  EXPECT_TRUE(graph::check_left_to_right(graph_of_model("gpt2"), 24));
  EXPECT_FALSE(graph::check_left_to_right(graph_of_model("gpt2"), 25));
  EXPECT_FALSE(graph::check_left_to_right(graph_of_model("opt"), 11)) << "two rows are of no token";
  const auto bert = graph_of(BertShape::from_json(config_of("bert"), "bert", BertShape::Family::bert).value(),
                             std::nullopt);
  const auto refused = graph::check_left_to_right(bert.value(), 4);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("looks elsewhere"), std::string::npos);
}

// Uniforms that lie evenly in [0, 1) are drawn to each token as often as its probability says.
TEST(Nucleus, TokensAreDrawnAsOftenAsTheirProbabilitySays) {
  constexpr std::int64_t kDraws = 10000;
  std::vector<double> uniforms;
  for (std::int64_t i = 0; i < kDraws; ++i)
    uniforms.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(kDraws));
  const auto probabilities = torch::tensor({0.1, 0.4, 0.05, 0.25, 0.2}, torch::kFloat64);
  const auto shares = [&](double top_p, double temperature) {
    const auto logits = (probabilities.log() + 3).expand({kDraws, 5});
    std::vector<double> found(5, 0);
    for (const auto token : draw_tokens(logits, top_p, temperature, uniforms))
      found.at(static_cast<std::size_t>(token)) += 1.0 / static_cast<double>(kDraws);
    return found;
  };
  const auto expect = [](const std::vector<double>& found, const std::vector<double>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 2e-4) << i;
  };
  expect(shares(1, 1), {0.1, 0.4, 0.05, 0.25, 0.2});
  expect(shares(0.6, 1), {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
  expect(shares(0.7, 1), {0, 0.4 / 0.85, 0, 0.25 / 0.85, 0.2 / 0.85});
  expect(shares(0.3, 1), {0, 1, 0, 0, 0});
  const double squares = 0.01 + 0.16 + 0.0025 + 0.0625 + 0.04;
  expect(shares(1, 0.5),
         {0.01 / squares, 0.16 / squares, 0.0025 / squares, 0.0625 / squares, 0.04 / squares});
}

TEST(Nucleus, EqualSeedsGiveEqualTexts) {
  const auto network = network_of("llama", torch::kFloat64);
  std::vector<Ids> prompts;
  for (std::int64_t i = 0; i < 9; ++i) prompts.push_back(Ids(static_cast<std::size_t>(1 + i % 4), i));
  GenerationOptions options{.decoding = Decoding::nucleus, .tokens = 12, .top_p = 0.95, .seed = 7};
  const auto texts = [&] {
    std::vector<Ids> found;
    for (const auto& one : texts_of(network, prompts, options, std::nullopt)) found.push_back(one.ids);
    return found;
  };
  const auto first = texts();
  options.batch = 2;
  EXPECT_EQ(texts(), first) << "however prompts are put into batches";
  std::size_t taken = 0;
  continue_texts(network, prompts, options, std::nullopt, [&](std::size_t, std::span<const Written> some) {
    taken += some.size();
    return taken < 4;
  });
  EXPECT_EQ(taken, 4U) << "no more are written than are wanted";
  options.seed = 8;
  EXPECT_NE(texts(), first);
}

// 2,000 equal prompts: the counts of first tokens against softmax, by chi-square over the tokens
// that are expected five times or more (false failure below 1e-4 over seeds; the seed is fixed).
TEST(Nucleus, WrittenTokensHaveTheNetworksDistribution) {
  const auto network = network_of("gpt2", torch::kFloat64);
  constexpr std::size_t kTexts = 2000;
  const Ids prompt = {3, 14, 15};
  const auto logits = network.forward(row_of(prompt).unsqueeze(0)).select(1, -1)[0];
  const auto statistic_at = [&](double temperature) {
    const GenerationOptions options{
        .decoding = Decoding::nucleus, .tokens = 1, .top_p = 1, .temperature = temperature, .batch = 500};
    std::vector<double> counts(static_cast<std::size_t>(logits.numel()), 0);
    for (const auto& one : texts_of(network, std::vector<Ids>(kTexts, prompt), options, std::nullopt))
      counts.at(static_cast<std::size_t>(one.ids.at(0))) += 1;
    const auto expected = at::softmax(logits, 0) * static_cast<double>(kTexts);
    double statistic = 0, cells = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double mean = expected[static_cast<std::int64_t>(i)].item<double>();
      if (mean < 5) continue;
      statistic += (counts[i] - mean) * (counts[i] - mean) / mean;
      ++cells;
    }
    // Normal scale of a chi-square with that many degrees of freedom.
    return (statistic - cells) / std::sqrt(2 * cells);
  };
  EXPECT_LT(statistic_at(1), 4);
  EXPECT_GT(statistic_at(1.5), 4) << "another temperature is told apart";
  EXPECT_GT(statistic_at(0.67), 4);
}

}  // namespace
}  // namespace hyfreedp::models
