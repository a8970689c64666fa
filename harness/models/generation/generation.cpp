#include "harness/models/generation/generation.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "harness/models/generation/beams.h"
#include "harness/models/generation/nucleus.h"
#include "harness/random/stream.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

Tensor whole_numbers(const std::vector<std::int64_t>& values) {
  return torch::tensor(at::ArrayRef<std::int64_t>(values), torch::kInt64);
}

// The prompts of one batch, and what the network has read of those that are not finished.
class Batch {
 public:
  Batch(const Network& network, std::span<const Ids> prompts, std::int64_t tokens)
      : network_(network), device_(network.parameters().device()) {
    std::size_t longest = 0;
    for (const auto& prompt : prompts) {
      HYFREEDP_CHECK(!prompt.empty(), "a prompt without a token cannot be continued");
      longest = std::max(longest, prompt.size());
    }
    const auto rows = static_cast<std::int64_t>(prompts.size());
    auto ids = torch::zeros({rows, static_cast<std::int64_t>(longest)}, torch::kInt64);
    std::vector<std::int64_t> counts;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const auto length = static_cast<std::int64_t>(prompts[i].size());
      ids[static_cast<std::int64_t>(i)].narrow(0, 0, length).copy_(whole_numbers(prompts[i]));
      counts.push_back(length);
    }
    reading_ = Reading::begin(rows, static_cast<std::int64_t>(longest) + tokens, device_);
    logits_ = network_.next_logits(ids.to(device_), whole_numbers(counts).to(device_), reading_);
  }

  // The logits of the next token of each row, [rows, V].
  const Tensor& logits() const { return logits_; }
  // Goes on with these rows, in this order, each with its next token.
  void read(const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& tokens) {
    std::vector<std::int64_t> as_they_are(static_cast<std::size_t>(reading_.lengths.size(0)));
    std::iota(as_they_are.begin(), as_they_are.end(), std::int64_t{0});
    if (rows != as_they_are) reading_.select(whole_numbers(rows).to(device_));
    const auto ids = whole_numbers(tokens).to(device_);
    logits_ = network_.next_logits(ids.unsqueeze(1), torch::ones_like(ids), reading_);
  }

 private:
  const Network& network_;
  torch::Device device_;
  Reading reading_;
  Tensor logits_;
};

using Choose = std::function<std::vector<std::int64_t>(
    const Tensor& logits, const std::vector<std::size_t>& prompts, std::int64_t step)>;

// One text of each prompt, whose tokens `choose` chooses.
void write_by(const Choose& choose, Batch batch, std::int64_t tokens, std::optional<std::int64_t> end,
              std::span<Written> written) {
  std::vector<std::size_t> prompts;  // of the rows
  for (std::size_t i = 0; i < written.size(); ++i) prompts.push_back(i);
  for (std::int64_t step = 0; step < tokens; ++step) {
    const auto chosen = choose(batch.logits(), prompts, step);
    std::vector<std::size_t> left;
    std::vector<std::int64_t> rows, next;
    for (std::size_t row = 0; row < prompts.size(); ++row) {
      auto& text = written[prompts[row]];
      text.ended = chosen[row] == end;
      if (text.ended) continue;
      text.ids.push_back(chosen[row]);
      left.push_back(prompts[row]);
      rows.push_back(static_cast<std::int64_t>(row));
      next.push_back(chosen[row]);
    }
    prompts = std::move(left);
    if (prompts.empty() || step + 1 == tokens) return;
    batch.read(rows, next);
  }
}

void write_by_beams(Batch batch, const trial::GenerationOptions& options, std::optional<std::int64_t> end,
                    std::span<Written> written) {
  std::vector<BeamSearch> searches;  // of the prompts that are not finished
  std::vector<std::size_t> prompts;
  for (std::size_t i = 0; i < written.size(); ++i) {
    searches.emplace_back(options, end);
    prompts.push_back(i);
  }
  for (bool is_first = true; !searches.empty(); is_first = false) {
    const auto logarithms = at::log_softmax(batch.logits().to(torch::kFloat32), 1).cpu();
    std::vector<BeamSearch> left;
    std::vector<std::size_t> left_prompts;
    std::vector<std::int64_t> rows, next;
    for (std::size_t i = 0; i < searches.size(); ++i) {
      auto& search = searches[i];
      const auto at = static_cast<std::int64_t>(i);
      search.go_on(is_first ? logarithms.narrow(0, at, 1)
                            : logarithms.narrow(0, at * options.beams, options.beams));
      if (search.is_finished()) {
        written[prompts[i]] = search.best();
        continue;
      }
      for (const auto& beam : search.running()) {
        rows.push_back(is_first ? at : at * options.beams + beam.parent);
        next.push_back(beam.ids.back());
      }
      left.push_back(std::move(search));
      left_prompts.push_back(prompts[i]);
    }
    searches = std::move(left);
    prompts = std::move(left_prompts);
    if (!searches.empty()) batch.read(rows, next);
  }
}

std::vector<std::int64_t> likeliest(const Tensor& logits) {
  const auto found = logits.argmax(1).cpu();
  return {found.const_data_ptr<std::int64_t>(), found.const_data_ptr<std::int64_t>() + found.numel()};
}

}  // namespace

Result<void> check_beams(const trial::GenerationOptions& options, std::int64_t vocabulary) {
  if (options.decoding != trial::Decoding::beam || 2 * options.beams <= vocabulary) return {};
  return error(fmt::format("{} beams need a vocabulary of {}, and the tokenizer has {} tokens.",
                           options.beams, 2 * options.beams, vocabulary));
}

void continue_texts(const Network& network, std::span<const Ids> prompts,
                    const trial::GenerationOptions& options, std::optional<std::int64_t> end,
                    const TakeTexts& take) {
  const torch::NoGradGuard no_gradients;
  const auto key = random::key_from_seed("texts that are written: " + std::to_string(options.seed));
  const auto most = static_cast<std::size_t>(options.batch);
  for (std::size_t begin = 0; begin < prompts.size(); begin += most) {
    const auto count = std::min(most, prompts.size() - begin);
    Batch batch(network, prompts.subspan(begin, count), options.tokens);
    std::vector<Written> texts(count);
    switch (options.decoding) {
      case trial::Decoding::greedy:
        write_by([](const Tensor& logits, const auto&, std::int64_t) { return likeliest(logits); },
                 std::move(batch), options.tokens, end, texts);
        break;
      case trial::Decoding::beam:
        write_by_beams(std::move(batch), options, end, texts);
        break;
      case trial::Decoding::nucleus:
        write_by(
            [&](const Tensor& logits, const std::vector<std::size_t>& rows, std::int64_t step) {
              std::vector<double> uniforms(rows.size());
              const random::Address address{.step = static_cast<std::uint32_t>(step),
                                            .purpose = random::Purpose::synthetic_data};
              for (std::size_t i = 0; i < rows.size(); ++i)
                random::fill_uniforms(key, address, begin + rows[i], std::span(uniforms).subspan(i, 1));
              return draw_tokens(logits, options.top_p, options.temperature, uniforms);
            },
            std::move(batch), options.tokens, end, texts);
        break;
    }
    if (!take(begin, texts)) return;
  }
}

}  // namespace hyfreedp::models
