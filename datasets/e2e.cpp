#include "datasets/e2e.h"

#include <span>

#include "datasets/dataset.h"

namespace hyfreedp::datasets {
namespace {

SplitData tokenised(const E2eTokens& tokens, std::span<const E2eRecord> records, std::int64_t length) {
  const auto rows = static_cast<std::int64_t>(records.size());
  SplitData data{.features = at::empty({rows, length}, at::kLong),
                 .labels = at::empty({rows, length}, at::kLong)};
  auto* ids = data.features.mutable_data_ptr<std::int64_t>();
  auto* labels = data.labels.mutable_data_ptr<std::int64_t>();
  const auto width = static_cast<std::size_t>(length);
  for (const auto& record : records) {
    auto all = tokens.prompt(record);
    const auto prompt = all.size();
    const auto answer = tokens.encode(" " + record.ref);
    all.insert(all.end(), answer.begin(), answer.end());
    all.push_back(tokens.end_of_text);
    fill_continued(all, prompt, tokens.end_of_text, {ids, width}, {labels, width});
    ids += length;
    labels += length;
  }
  return data;
}

}  // namespace

Result<Dataset> E2e::load(const Facts& all_facts, const json::object& options) {
  const Sizes n = sizes(options);
  const auto facts = with_needed_files(all_facts, options);
  const auto folder = locate(facts);
  if (!folder) return folder.error();
  if (auto verified = verify_files(facts, *folder); !verified) return verified.error();
  const auto tokens = e2e_tokens(options, *folder);
  if (!tokens) return tokens.error();
  const auto development = read_e2e(*folder + "/e2e/devset.csv");
  if (!development) return development.error();
  const auto testing = read_e2e(*folder + kTestFile);
  if (!testing) return testing.error();
  const std::span records(*development);
  const auto first = static_cast<std::size_t>(n.private_train);
  if (records.size() != first + static_cast<std::size_t>(n.private_validation) ||
      testing->size() != static_cast<std::size_t>(n.test)) {
    return error(*folder +
                 "/e2e: the records in these files are not those that the splits were defined on. Get the "
                 "files that `hyfreedp list datasets` describes.");
  }
  return Dataset{.private_train = tokenised(*tokens, records.first(first), n.length),
                 .private_validation = tokenised(*tokens, records.subspan(first), n.length),
                 .test = tokenised(*tokens, *testing, n.length)};
}

}  // namespace hyfreedp::datasets
