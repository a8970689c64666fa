#include "datasets/e2e.h"

#include <span>

#include "datasets/dataset.h"
#include "datasets/formats/csv.h"
#include "datasets/text/byte_pairs.h"

namespace hyfreedp::datasets {
namespace {

constexpr const char* kEndOfText = "<|endoftext|>";

SplitData tokenised(BytePairs& pairs, std::span<const E2eRecord> records, std::int64_t length) {
  const auto rows = static_cast<std::int64_t>(records.size());
  const auto end_of_text = pairs.mark(kEndOfText).value();
  SplitData data{.features = at::full({rows, length}, end_of_text, at::kLong),
                 .labels = at::full({rows, length}, kNotScored, at::kLong)};
  auto* ids = data.features.mutable_data_ptr<std::int64_t>();
  auto* labels = data.labels.mutable_data_ptr<std::int64_t>();
  const auto width = static_cast<std::size_t>(length);
  for (const auto& record : records) {
    auto tokens = pairs.encode(record.mr + " ||");
    const auto prompt = tokens.size();
    const auto answer = pairs.encode(" " + record.ref);
    tokens.insert(tokens.end(), answer.begin(), answer.end());
    tokens.push_back(end_of_text);
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
  auto lines = read_csv(path, {"mr", "ref"});
  if (!lines) return lines.error();
  std::vector<E2eRecord> records;
  for (auto& line : *lines) records.push_back({std::move(line.fields[0]), std::move(line.fields[1])});
  return records;
}

Result<Dataset> E2e::load(const Facts& facts, const json::object& options) {
  const Sizes n = sizes(options);
  const auto folder = locate(facts);
  if (!folder) return folder.error();
  if (auto verified = verify_files(facts, *folder); !verified) return verified.error();
  auto pairs = BytePairs::load(*folder + "/gpt2/encoder.json", *folder + "/gpt2/vocab.bpe", {kEndOfText});
  if (!pairs) return pairs.error();
  const auto development = read_e2e(*folder + "/e2e/devset.csv");
  if (!development) return development.error();
  const auto testing = read_e2e(*folder + "/e2e/testset_w_refs.csv");
  if (!testing) return testing.error();
  const std::span records(*development);
  const auto first = static_cast<std::size_t>(n.private_train);
  if (records.size() != first + static_cast<std::size_t>(n.private_validation) ||
      testing->size() != static_cast<std::size_t>(n.test)) {
    return error(*folder +
                 "/e2e: the records in these files are not those that the splits were defined on. Get the "
                 "files that `hyfreedp list datasets` describes.");
  }
  return Dataset{.private_train = tokenised(*pairs, records.first(first), n.length),
                 .private_validation = tokenised(*pairs, records.subspan(first), n.length),
                 .test = tokenised(*pairs, *testing, n.length)};
}

}  // namespace hyfreedp::datasets
