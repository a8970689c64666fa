#include "datasets/e2e.h"

#include <functional>
#include <memory>
#include <span>

#include "datasets/dataset.h"
#include "datasets/formats/csv.h"
#include "datasets/text/byte_pairs.h"

namespace hyfreedp::datasets {
namespace {

constexpr const char* kEndOfText = "<|endoftext|>";

struct Encoder {
  std::function<std::vector<std::int64_t>(std::string_view)> encode;
  std::vector<std::int64_t> before;
  std::int64_t end_of_text = 0;
};

SplitData tokenised(const Encoder& encoder, std::span<const E2eRecord> records, std::int64_t length) {
  const auto rows = static_cast<std::int64_t>(records.size());
  const auto end_of_text = encoder.end_of_text;
  SplitData data{.features = at::empty({rows, length}, at::kLong),
                 .labels = at::empty({rows, length}, at::kLong)};
  auto* ids = data.features.mutable_data_ptr<std::int64_t>();
  auto* labels = data.labels.mutable_data_ptr<std::int64_t>();
  const auto width = static_cast<std::size_t>(length);
  for (const auto& record : records) {
    auto tokens = encoder.before;
    const auto add = [&](const std::string& text) {
      const auto more = encoder.encode(text);
      tokens.insert(tokens.end(), more.begin(), more.end());
    };
    add(record.mr + " ||");
    const auto prompt = tokens.size();
    add(" " + record.ref);
    tokens.push_back(end_of_text);
    fill_continued(tokens, prompt, end_of_text, {ids, width}, {labels, width});
    ids += length;
    labels += length;
  }
  return data;
}

Result<Encoder> encoder_of(const json::object& options, const std::string& folder) {
  if (!string_or(options, "tokenizer", "").empty()) {
    auto loaded = chosen_tokenizer(options);
    if (!loaded) return loaded.error();
    const std::shared_ptr<Tokenizer> tokenizer = std::move(*loaded);
    const auto& marks = tokenizer->marks();
    return Encoder{[tokenizer](std::string_view text) { return tokenizer->encode(text); }, marks.before,
                   marks.end.value()};
  }
  auto loaded = BytePairs::load(folder + "/gpt2/encoder.json", folder + "/gpt2/vocab.bpe", {kEndOfText});
  if (!loaded) return loaded.error();
  const auto pairs = std::make_shared<BytePairs>(std::move(*loaded));
  return Encoder{
      [pairs](std::string_view text) { return pairs->encode(text); }, {}, pairs->mark(kEndOfText).value()};
}

}  // namespace

Result<std::vector<E2eRecord>> read_e2e(const std::string& path) {
  auto lines = read_csv(path, {"mr", "ref"});
  if (!lines) return lines.error();
  std::vector<E2eRecord> records;
  for (auto& line : *lines) records.push_back({std::move(line.fields[0]), std::move(line.fields[1])});
  return records;
}

Result<Dataset> E2e::load(const Facts& all_facts, const json::object& options) {
  const Sizes n = sizes(options);
  const auto facts = with_needed_files(all_facts, options);
  const auto folder = locate(facts);
  if (!folder) return folder.error();
  if (auto verified = verify_files(facts, *folder); !verified) return verified.error();
  const auto encoder = encoder_of(options, *folder);
  if (!encoder) return encoder.error();
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
  return Dataset{.private_train = tokenised(*encoder, records.first(first), n.length),
                 .private_validation = tokenised(*encoder, records.subspan(first), n.length),
                 .test = tokenised(*encoder, *testing, n.length)};
}

}  // namespace hyfreedp::datasets
