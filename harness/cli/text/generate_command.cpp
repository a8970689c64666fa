#include <cmath>
#include <fmt/format.h>
#include <thread>
#include <vector>

#include "harness/base/describe.h"
#include "harness/base/files.h"
#include "harness/cli/common/command.h"
#include "harness/cli/text/text_lines.h"
#include "harness/models/facts/weights_source.h"
#include "harness/runner/executors/local_executor.h"
#include "harness/runner/lineage/initial_weights.h"
#include "harness/trial/generation.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
Has a network that predicts tokens continue prompts, with the tokenizer in its weights folder.
WEIGHTS is that folder, or the name of fetched weights; it may be what `run --keep-weights` kept.
Prints a JSON object for each prompt: prompt, text, tokens, ended (whether by the end of text).
  --beam N        beam search with N beams, as transformers' generate finds its text
  --top-p P       draws from the likeliest tokens, as do --temperature and --seed
Without these the likeliest token is taken each time. Equal seeds give equal texts with the same
numbers of prompts at once and of threads; with others the rounding of logits may decide a token.
Example: hyfreedp generate smollm2-135m --prompts prompts.txt --top-p 0.9 --seed 1)";

struct GenerateRequest {
  std::optional<std::string> weights, prompts, adapter;
  Given beam, length_penalty, top_p, temperature, seed, tokens, batch, threads;

  void describe(Options& options) {
    options.positional(weights, "weights", "WEIGHTS");
    options.in_usage("--prompts FILE");
    options.value(prompts, "prompts", "FILE",
                  "a prompt a line; or *.jsonl with the member `prompt`; - reads standard input");
    options.value(adapter, "adapter", "DIR", "an adapter of peft's for these weights");
    options.value(beam, "beam", "N", "beam search with N beams, 2 or more");
    options.value(length_penalty, "length-penalty", "X",
                  "with --beam: a text counts by its logarithmic probability over its tokens to this power "
                  "(default 1)");
    options.value(top_p, "top-p", "P",
                  "draws from the fewest tokens that have this probability (default 0.9)");
    options.value(temperature, "temperature", "T", "draws with logits divided by T (default 1)");
    options.value(seed, "seed", "S", "of the draws, a whole number (default 0)");
    options.value(tokens, "tokens", "N", "most tokens of a text (default 64)");
    options.value(batch, "batch", "N", "prompts at once (default 16)");
    options.value(threads, "threads", "N", "threads (default: one for each processor)");
  }
  Checked check() const {
    if (!weights) return unusable("generate needs a folder of weights");
    if (!prompts) return unusable("generate needs --prompts FILE, or --prompts - for standard input");
    return {};
  }
};

Result<trial::GenerationOptions> options_of_request(const GenerateRequest& request) {
  json::object given;
  const bool draws = request.top_p || request.temperature || request.seed;
  if (request.beam && draws)
    return error("--beam searches and does not draw; leave out --top-p, --temperature and --seed.");
  if (request.length_penalty && !request.beam) return error("--length-penalty is read only with --beam.");
  given["decoding"] = request.beam ? "beam" : draws ? "nucleus" : "greedy";
  for (const auto& [option, name, is_whole] :
       {std::tuple<const Given&, const char*, bool>{request.beam, "beams", true},
        {request.length_penalty, "length_penalty", false},
        {request.top_p, "top_p", false},
        {request.temperature, "temperature", false},
        {request.seed, "seed", true},
        {request.tokens, "tokens", true},
        {request.batch, "batch", true}}) {
    if (!option) continue;
    const auto value = number_of(option);
    if (!value) return value.error();
    // A whole number beyond these is refused by the option's range.
    const bool whole = is_whole && *value == std::floor(*value) && std::abs(*value) < 1e18;
    given[name] = whole ? json::value(static_cast<std::int64_t>(*value)) : json::value(*value);
  }
  const auto resolved = resolve_options(trial::generation_options(), given, "generate");
  if (!resolved) return resolved.error();
  return read_options<trial::GenerationOptions>(*resolved);
}

// Sends each line that the worker writes to `out`.
Outcome ask_worker(const std::string& request, std::ostream& out) {
  const auto path = runner::find_worker();
  if (!path) return path.error();
  const auto scratch = ScratchFolder::make();
  if (!scratch) return scratch.error();
  const auto file = scratch->path() + "/request.json";
  if (auto written = write_file_atomically(file, request, 0600); !written) return written.error();
  const auto end = runner::run_worker(
      *path, {.program = {}, .arguments = {"--generate", file}, .on_output = [&](const std::string& line) {
                return static_cast<bool>(out << line << std::endl);
              }});
  if (!end) return end.error();
  if (end->exit_code == 0) return 0;
  const auto said = end->last_words();
  constexpr std::string_view kLead = "hyfreedp-worker: ";
  if (said.starts_with(kLead)) return error(said.substr(kLead.size()));
  return Refusal(error(fmt::format("The worker at {} exited with status {}{}", *path, end->exit_code,
                                   said.empty() ? "." : ": " + said)));
}

// An error where weights or adapter cannot be found.
Result<void> warn_of_confidential(const trial::GenerationRequest& asked, std::ostream& err) {
  auto folders = std::vector{models::locate_weights(asked.weights)};
  if (!asked.adapter.empty()) folders.push_back(models::locate_adapter(asked.adapter));
  for (const auto& folder : folders) {
    if (!folder) return folder.error();
    const auto confidential = runner::are_confidential(*folder);
    if (!confidential) return confidential.error();
    if (!*confidential) continue;
    err << "hyfreedp generate: warning: the weights in '" << *folder
        << "' are confidential: no epsilon covers what they write, which may repeat private examples.\n";
  }
  return {};
}

Outcome generate(const GenerateRequest& request, std::ostream& out, std::ostream& err) {
  auto options = options_of_request(request);
  if (!options) return options.error();
  trial::GenerationRequest asked{.weights = *request.weights,
                                 .adapter = request.adapter.value_or(""),
                                 .prompts = {},
                                 .options = *options,
                                 .threads = std::max<std::int64_t>(1, std::thread::hardware_concurrency())};
  if (request.threads) {
    const auto threads = count_of(request.threads, 1024);
    if (!threads) return threads.error();
    asked.threads = *threads;
  }
  if (auto warned = warn_of_confidential(asked, err); !warned) return warned.error();
  auto prompts = text_lines(*request.prompts, "prompt");
  if (!prompts) return prompts.error();
  if (prompts->empty()) return error(*request.prompts + ": has no prompt.");
  asked.prompts = std::move(*prompts);
  return ask_worker(canonical_json(as_json(asked)), out);
}

}  // namespace

Command generate_command() {
  return {"generate", kText, action<GenerateRequest>(generate), "has a network continue prompts",
          "hyfreedp generate smollm2-135m --prompts prompts.txt"};
}

}  // namespace hyfreedp::cli
