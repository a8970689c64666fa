#include "harness/training/worker/generate.h"

#include <ATen/Parallel.h>
#include <algorithm>
#include <fmt/format.h>
#include <iostream>

#include "datasets/text/tokenizer.h"
#include "harness/base/describe.h"
#include "harness/base/utf8.h"
#include "harness/models/facts/blueprint.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/generation/generation.h"
#include "harness/models/graph/left_to_right.h"
#include "harness/models/model.h"
#include "harness/training/worker/outbox.h"
#include "harness/training/worker/session.h"

namespace hyfreedp::worker {
namespace {

Result<trial::GenerationRequest> requested(const std::string& file) {
  const auto value = read_json_file(file);
  if (!value) return value.error();
  return from_json<trial::GenerationRequest>(*value, file);
}

// The prompts' tokens.
Result<std::vector<models::Ids>> tokens_of(const trial::GenerationRequest& request,
                                           datasets::Tokenizer& tokenizer) {
  std::vector<models::Ids> prompts;
  for (const auto& prompt : request.prompts) {
    auto ids = tokenizer.marks().before;
    const auto own = tokenizer.encode(prompt);
    ids.insert(ids.end(), own.begin(), own.end());
    if (ids.empty())
      return error(fmt::format("Prompt {} is empty, and the tokenizer of '{}' puts no mark before a text.",
                               prompts.size() + 1, request.weights));
    prompts.push_back(std::move(ids));
  }
  return prompts;
}

// The network of a weights folder, for texts of `length` tokens of such a vocabulary.
Result<models::Network> network_of(const trial::GenerationRequest& request, const std::string& folder,
                                   std::int64_t vocabulary, std::int64_t length) {
  const auto config = models::weights_config(folder);
  if (!config) return config.error();
  const auto name = string_or(*config, "model_type", "");
  const auto facts = models::find_model(name);
  if (!facts) return in_context(folder + "/config.json: 'model_type'", facts.error());
  json::object given{{"weights", request.weights}};
  if (!request.adapter.empty()) {
    given["adapter"] = request.adapter;
    given["trainable"] = "lora";
  }
  auto options = resolve_options((**facts).options, given, "model " + name);
  if (!options) return options.error();
  options = models::complete_options(std::move(*options));
  if (!options) return options.error();
  const models::ModelInput input{.classes = vocabulary, .length = length, .vocabulary = vocabulary};
  const auto plan = models::blueprint(name, *options, input);
  if (!plan) return plan.error();
  if (auto reads = models::graph::check_left_to_right(plan->graph, length); !reads)
    return in_context("model " + name, reads.error());
  return models::make_model(name, *options, input, random::key_from_seed("every weight is in the file"),
                            torch::kFloat32);
}

Result<int> generate(const trial::GenerationRequest& request, Outbox& outbox) {
  const auto folder = models::locate_weights(request.weights);
  if (!folder) return folder.error();
  const auto tokenizer = datasets::load_tokenizer(*folder);
  if (!tokenizer) return tokenizer.error();
  if (!(**tokenizer).decode({}))
    return error(*folder + ": no texts are made of WordPiece's ids (vocab.txt).");
  const auto prompts = tokens_of(request, **tokenizer);
  if (!prompts) return prompts.error();
  std::size_t longest = 0;
  for (const auto& prompt : *prompts) longest = std::max(longest, prompt.size());
  const auto& options = request.options;
  const auto network = network_of(request, *folder, (**tokenizer).vocabulary(),
                                  static_cast<std::int64_t>(longest) + options.tokens);
  if (!network) return network.error();
  if (auto checked = models::check_beams(options, (**tokenizer).vocabulary()); !checked)
    return checked.error();
  bool is_heard = true;
  const auto send = [&](std::size_t first, std::span<const models::Written> texts) {
    for (std::size_t i = 0; i < texts.size() && is_heard; ++i) {
      const auto text = (**tokenizer).decode(texts[i].ids).value_or("");
      is_heard = outbox.send({{"prompt", request.prompts[first + i]},
                              {"text", as_utf8(text)},
                              {"tokens", texts[i].ids.size()},
                              {"ended", texts[i].ended}});
    }
    return is_heard;
  };
  models::continue_texts(*network, *prompts, options, (**tokenizer).marks().end, send);
  return is_heard ? kStopped : kNobodyReads;
}

}  // namespace

int run_generate(const std::string& file) {
  Outbox outbox;
  const auto request = requested(file);
  if (request) at::set_num_threads(static_cast<int>(request->threads));
  const auto status = request ? generate(*request, outbox) : Result<int>(request.error());
  if (status) return *status;
  std::cerr << "hyfreedp-worker: " << status.error().message << "\n";
  return kBadInput;
}

}  // namespace hyfreedp::worker
