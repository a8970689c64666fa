// The networks that `hyfreedp data fetch` brings, beside transformers with the same files.
#include <filesystem>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "datasets/text/tokenizer.h"
#include "harness/base/describe.h"
#include "harness/base/files.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/model.h"
#include "tests/models/compare.h"

namespace hyfreedp::models {
namespace fetched_weights_test {

using Numbers = std::vector<double>;
using Ids = std::vector<std::int64_t>;

const json::value& cases_of(const std::string& name) {
  static const auto all =
      read_json_file(std::string(HYFREEDP_TEST_DATA) + "/fetched_weights/cases.json").value().as_object();
  return all.at(name);
}

template <class T>
T value_of(const json::value& object, const char* key) {
  return from_json<T>(object.at(key), key).value();
}

// The weights are 0.1 GB each, so only who has fetched them tests them.
class FetchedWeights : public testing::Test {
 protected:
  // Whether the weights are here; `folder_` is then theirs.
  bool has(const std::string& name) {
    folder_ = fetched_weights_folder(name);
    return std::filesystem::exists(folder_ + "/config.json");
  }
  static std::string skipped(const std::string& name) {
    return "SKIPPED: these weights are not here: hyfreedp data fetch " + name;
  }
  static Network made(const std::string& model, json::object options, const ModelInput& input) {
    const auto completed =
        complete_options(resolve_options(find_model(model).value()->options, options, model).value()).value();
    return make_model(model, completed, input, random::key_from_seed("tests of fetched weights"),
                      torch::kFloat32)
        .value();
  }

  std::string folder_;
};

TEST_F(FetchedWeights, MiniLmHasTransformersEmbeddingsAndLogits) {
  if (!has("minilm-l6")) GTEST_SKIP() << skipped("minilm-l6");
  const auto& cases = cases_of("minilm-l6");
  const auto tokens = datasets::load_tokenizer(folder_).value();
  const auto sentences = value_of<std::vector<std::string>>(cases, "sentences");
  const auto ids = value_of<std::vector<Ids>>(cases, "ids");
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    auto made = tokens->encode(sentences[i]);
    made.insert(made.begin(), 101);  // [CLS]
    made.push_back(102);             // [SEP]
    made.resize(ids[i].size(), 0);   // padding
    EXPECT_EQ(made, ids[i]) << sentences[i];
  }
  const auto length = static_cast<std::int64_t>(ids[0].size());
  const auto network =
      made("bert", {{"weights", "minilm-l6"}, {"pool", "mean"}},
           {.features = length, .classes = 2, .length = length, .vocabulary = tokens->vocabulary()});
  const auto places = torch::arange(2).unsqueeze(1) + torch::arange(384).unsqueeze(0);
  network.tensor("classifier.weight").copy_(torch::cos(places.to(torch::kFloat64)));
  network.tensor("classifier.bias").zero_();
  std::vector<torch::Tensor> rows;
  for (const auto& one : ids) rows.push_back(torch::tensor(one));
  const auto batch = torch::stack(rows);
  const auto embeddings = network.features(batch), logits = network.forward(batch);
  const auto wanted = value_of<std::vector<Numbers>>(cases, "embeddings");
  const auto wanted_logits = value_of<std::vector<Numbers>>(cases, "logits");
  for (std::int64_t i = 0; i < batch.size(0); ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_TRUE(near_relative(embeddings[i], torch::tensor(wanted[at], torch::kFloat64), 1e-4)) << i;
    EXPECT_TRUE(near_relative(logits[i], torch::tensor(wanted_logits[at], torch::kFloat64), 1e-4)) << i;
  }
}

TEST_F(FetchedWeights, SmolLm2HasTransformersLosses) {
  if (!has("smollm2-135m")) GTEST_SKIP() << skipped("smollm2-135m");
  const auto tokens = datasets::load_tokenizer(folder_).value();
  const auto vocabulary = tokens->vocabulary();
  const auto network = made("llama", {{"weights", "smollm2-135m"}},
                            {.features = 64, .classes = vocabulary, .length = 64, .vocabulary = vocabulary});
  for (const auto& one : cases_of("smollm2-135m").as_array()) {
    const auto prompt = value_of<std::string>(one, "prompt"), text = value_of<std::string>(one, "text");
    SCOPED_TRACE(text);
    auto ids = tokens->encode(prompt);
    const auto scored_from = static_cast<std::int64_t>(ids.size()) - 1;
    std::ranges::copy(tokens->encode(text), std::back_inserter(ids));
    ASSERT_EQ(ids, value_of<Ids>(one, "ids"));
    const auto length = static_cast<std::int64_t>(ids.size());
    const auto all = torch::tensor(ids);
    const auto logits = network.forward(all.unsqueeze(0))[0].to(torch::kFloat64);
    const auto next = all.slice(0, 1).unsqueeze(1);
    const auto losses = -torch::log_softmax(logits.slice(0, 0, length - 1), 1).gather(1, next).squeeze(1);
    EXPECT_TRUE(
        near_relative(losses, torch::tensor(value_of<Numbers>(one, "losses"), torch::kFloat64), 1e-4));
    EXPECT_TRUE(near_relative(logits[length - 1].slice(0, 0, vocabulary, 1024),
                              torch::tensor(value_of<Numbers>(one, "last_logits"), torch::kFloat64), 1e-4));
    const auto perplexity = losses.slice(0, scored_from).mean().exp().item<double>();
    const auto wanted = value_of<double>(one, "perplexity_of_text");
    EXPECT_NEAR(perplexity, wanted, 1e-3 * wanted);
  }
}

}  // namespace fetched_weights_test
}  // namespace hyfreedp::models
