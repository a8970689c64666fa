#include "datasets/e2e.h"

#include <fmt/format.h>
#include <span>

#include "datasets/byte_pairs.h"
#include "harness/base/files.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::int64_t kNotScored = -100;

// One record from `at` on, which moves behind its line end. Empty: a quote is not closed.
std::vector<std::string> next_record(const std::string& text, std::size_t& at) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"') {
        fields.back().push_back(c);
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        fields.back().push_back('"');
        ++at;
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      ++at;
      return fields;
    } else if (c != '\r') {
      fields.back().push_back(c);
    }
  }
  if (quoted) fields.clear();
  return fields;
}

Result<void> verify(const Facts& facts, const std::string& folder) {
  for (const auto& file : facts.files) {
    const auto path = folder + "/" + file.name;
    const auto content = read_file(path);
    if (!content) return content.error();
    if (const auto found = sha256_hex(*content); found != file.sha256) {
      return error(
          fmt::format("{}: SHA-256 is {} but {} is expected, so this is not the file that the splits were "
                      "defined on. To get it: {}.",
                      path, found, file.sha256, facts.how_to_get));
    }
  }
  return {};
}

SplitData tokenised(BytePairs& pairs, std::span<const E2eRecord> records, std::int64_t length) {
  const auto rows = static_cast<std::int64_t>(records.size());
  SplitData data{.features = at::full({rows, length}, pairs.end_of_text(), at::kLong),
                 .labels = at::full({rows, length}, kNotScored, at::kLong)};
  auto* ids = data.features.mutable_data_ptr<std::int64_t>();
  auto* labels = data.labels.mutable_data_ptr<std::int64_t>();
  const auto width = static_cast<std::size_t>(length);
  for (const auto& record : records) {
    auto tokens = pairs.encode(record.mr + " ||");
    const auto prompt = tokens.size();
    const auto answer = pairs.encode(" " + record.ref);
    tokens.insert(tokens.end(), answer.begin(), answer.end());
    tokens.push_back(pairs.end_of_text());
    for (std::size_t i = 0; i < std::min(tokens.size(), width); ++i) {
      ids[i] = tokens[i];
      if (i >= prompt) labels[i] = tokens[i];
    }
    ids += length;
    labels += length;
  }
  return data;
}

}  // namespace

Result<std::vector<E2eRecord>> read_e2e(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  std::vector<E2eRecord> records;
  std::size_t at = 0;
  if (next_record(*text, at) != std::vector<std::string>{"mr", "ref"}) {
    return error(path + ": the first line must be mr,ref.");
  }
  while (at < text->size()) {
    const auto fields = next_record(*text, at);
    if (fields.size() != 2) {
      return error(
          fmt::format("{}: record {} has {} fields, not 2.", path, records.size() + 1, fields.size()));
    }
    records.push_back({fields[0], fields[1]});
  }
  return records;
}

Result<Dataset> load_e2e(const Facts& facts, const json::object& options) {
  const Sizes n = sizes(facts, options);
  const auto folder = locate(facts);
  if (!folder) return folder.error();
  if (auto verified = verify(facts, *folder); !verified) return verified.error();
  auto pairs = BytePairs::load(*folder + "/gpt2/encoder.json", *folder + "/gpt2/vocab.bpe");
  if (!pairs) return pairs.error();
  const auto development = read_e2e(*folder + "/e2e/devset.csv");
  if (!development) return development.error();
  const auto testing = read_e2e(*folder + "/e2e/testset_w_refs.csv");
  if (!testing) return testing.error();
  const std::span records(*development);
  const auto first = static_cast<std::size_t>(n.private_train);
  if (records.size() != first + static_cast<std::size_t>(n.private_validation) ||
      testing->size() != static_cast<std::size_t>(n.test)) {
    return error(*folder + "/e2e: the files do not have the records that the splits were defined on.");
  }
  return Dataset{.private_train = tokenised(*pairs, records.first(first), n.length),
                 .private_validation = tokenised(*pairs, records.subspan(first), n.length),
                 .test = tokenised(*pairs, *testing, n.length)};
}

}  // namespace hyfreedp::datasets
