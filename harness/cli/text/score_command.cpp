#include <algorithm>
#include <fmt/format.h>

#include "datasets/scores/scores.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/cli/common/command.h"
#include "harness/cli/text/text_lines.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
Compares written texts with references, by BLEU, NIST, METEOR, ROUGE-L, CIDEr, exact match and F1,
each with the name of its definition. TEXTS has a text a line, or is what `hyfreedp generate`
wrote, called *.jsonl (its member `text`). REFERENCES has a reference a line, or is such a *.jsonl;
or, where a text has several, groups of lines that blank lines part, a group for each text, as the
E2E challenge has them. A single blank line makes groups of the whole file.
Example: hyfreedp score written.jsonl references.txt)";

struct ScoreRequest {
  std::optional<std::string> texts, references;
  bool json = false;

  void describe(Options& options) {
    options.positional(texts, "texts", "TEXTS");
    options.positional(references, "references", "REFERENCES");
    options.flag(json, "json", "print a JSON object");
  }
  Checked check() const {
    if (texts && references) return {};
    return unusable("score needs two files, of texts and of references");
  }
};

using Texts = std::vector<std::string>;

// The references of each text.
std::vector<Texts> groups_of(const Texts& lines) {
  std::vector<Texts> groups;
  const bool has_groups = std::ranges::any_of(lines, &std::string::empty);
  bool is_open = false;
  for (const auto& line : lines) {
    if (has_groups && line.empty()) {
      is_open = false;
      continue;
    }
    if (!is_open) groups.emplace_back();
    groups.back().push_back(line);
    is_open = has_groups;
  }
  return groups;
}

Outcome score(const ScoreRequest& request, std::ostream& out, std::ostream&) {
  const auto texts = text_lines(*request.texts, "text");
  if (!texts) return texts.error();
  const auto lines = text_lines(*request.references, "text");
  if (!lines) return lines.error();
  auto groups = groups_of(*lines);
  if (groups.size() != texts->size()) {
    return error(fmt::format("{} has {}, and {} has references of {}.", *request.texts,
                             counted(static_cast<std::int64_t>(texts->size()), "text"), *request.references,
                             counted(static_cast<std::int64_t>(groups.size()), "text")));
  }
  std::vector<scores::Example> examples;
  for (std::size_t i = 0; i < texts->size(); ++i) examples.push_back({(*texts)[i], std::move(groups[i])});
  const auto values = scores::score_texts(examples);
  if (!values) return in_context(*request.texts, values.error());
  if (request.json) {
    json::object object{{"texts", examples.size()}};
    for (const auto& [name, value] : *values) object[name] = number(value);
    out << pretty_json(object);
    return 0;
  }
  const auto definitions = scores::text_scores();
  for (std::size_t i = 0; i < values->size(); ++i)
    out << fmt::format("{:<32} {:>9.6f}  {}\n", (*values)[i].name, (*values)[i].value,
                       definitions[i].definition);
  return 0;
}

}  // namespace

Command score_command() {
  return {"score", kText, action<ScoreRequest>(score), "scores of written texts against references",
          "hyfreedp score written.jsonl references.txt"};
}

}  // namespace hyfreedp::cli
