#include "harness/training/written_texts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "datasets/scores/scores.h"
#include "datasets/text_tokenizer.h"
#include "harness/models/facts/blueprint.h"
#include "harness/models/graph/left_to_right.h"

namespace hyfreedp::training {
namespace {

constexpr const char* kWhere = "evaluate.written: ";

struct Record {
  models::Ids prompt, reference;
};

// `ids`, `labels`: a row of `length` each.
Record record_of(const std::int64_t* ids, const std::int64_t* labels, std::int64_t length) {
  Record record;
  std::int64_t at = 0;
  for (; at < length && labels[at] == models::kNotScored; ++at) record.prompt.push_back(ids[at]);
  for (; at < length && labels[at] != models::kNotScored; ++at) record.reference.push_back(labels[at]);
  return record;
}

Result<void> check_network(const trial::TrialConfig& config, const datasets::Sizes& sizes,
                           std::int64_t length) {
  const auto plan = models::blueprint(config.model.name, config.model.options, models::model_input(sizes));
  if (!plan) return plan.error();
  if (auto beams = models::check_beams(*config.evaluation.recorded.written, sizes.vocabulary); !beams)
    return error(kWhere + beams.error().message);
  auto reads = models::graph::check_left_to_right(plan->graph, length);
  return reads ? reads : in_context(kWhere + ("model " + config.model.name), reads.error());
}

}  // namespace

Result<WrittenTask> written_task(const trial::TrialConfig& config, const datasets::Sizes& sizes,
                                 const datasets::SplitData& test) {
  auto tokenizer = datasets::chosen_tokenizer(config.dataset.options);
  if (!tokenizer) return in_context("evaluate.written", tokenizer.error());
  WrittenTask task{.prompts = {}, .references = {}, .tokenizer = std::move(*tokenizer)};
  const auto end = task.tokenizer->marks().end;
  const auto ids = test.features.contiguous(), labels = test.labels.contiguous();
  const auto records = ids.size(0), length = ids.size(1);
  std::map<models::Ids, std::size_t> known;
  std::int64_t without_prompt = 0, cut = 0, longest = 0;
  for (std::int64_t i = 0; i < records; ++i) {
    auto [prompt, reference] = record_of(ids.const_data_ptr<std::int64_t>() + i * length,
                                         labels.const_data_ptr<std::int64_t>() + i * length, length);
    without_prompt += prompt.empty() ? 1 : 0;
    const bool is_whole = !reference.empty() && reference.back() == end;
    cut += is_whole ? 0 : 1;
    if (prompt.empty() || !is_whole) continue;
    reference.pop_back();
    const auto [place, is_new] = known.emplace(prompt, task.prompts.size());
    if (is_new) {
      longest = std::max(longest, static_cast<std::int64_t>(prompt.size()));
      task.prompts.push_back(std::move(prompt));
      task.references.emplace_back();
    }
    const auto text = task.tokenizer->decode(reference);
    if (!text) return error(kWhere + std::string("no texts are made of WordPiece's ids."));
    task.references[place->second].push_back(*text);
  }
  if (without_prompt > 0)
    return error(fmt::format("{}{} of {} test records have no prompt to be continued.", kWhere,
                             without_prompt, records));
  if (cut > 0) {
    return error(fmt::format("{}the references of {} of {} test records are cut at 'length' {}; raise it.",
                             kWhere, cut, records, length));
  }
  if (auto reads = check_network(config, sizes, longest + config.evaluation.recorded.written->tokens); !reads)
    return reads.error();
  return task;
}

Result<std::optional<NamedScores>> write_and_score(const models::Network& network, const WrittenTask& task,
                                                   const trial::GenerationOptions& options,
                                                   const std::function<bool()>& was_stopped) {
  std::vector<scores::Example> examples;
  const auto take = [&](std::size_t first, std::span<const models::Written> texts) {
    for (std::size_t i = 0; i < texts.size(); ++i)
      examples.push_back({task.tokenizer->decode(texts[i].ids).value_or(""), task.references[first + i]});
    return !was_stopped();
  };
  models::continue_texts(network, task.prompts, options, task.tokenizer->marks().end, take);
  if (examples.size() < task.prompts.size()) return std::optional<NamedScores>();
  const auto values = scores::score_texts(examples);
  if (!values) return values.error();
  NamedScores named;
  for (auto [name, value] : *values) {
    std::ranges::replace(name, '_', '-');
    named.emplace_back(std::move(name), value);
  }
  return std::optional(std::move(named));
}

}  // namespace hyfreedp::training
