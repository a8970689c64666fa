// The targets of libFuzzer for a second each: known inputs, some thousand times changed at random
// with a fixed seed, must neither crash a reader nor make it throw; and what was found so must stay
// mended.
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "tests/fuzz/targets.h"

namespace hyfreedp::fuzz {
namespace {

using Inputs = std::vector<std::string>;

class Changer {
 public:
  explicit Changer(Inputs corpus) : corpus_(std::move(corpus)) {}

  std::string next() {
    auto text = one();
    for (auto changes = 1 + below(4); changes > 0; --changes) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  const std::string& one() { return corpus_[below(corpus_.size())]; }

  void change(std::string& text) {
    static const Inputs kTokens = {
        "null", "-1", "1e999", "nan", "\"\"", "[]", "{}", "true", "18446744073709551615",
        "\n",   ": ", "- ",    "&a",  "*a",   "!",  "\0", "\xff", "99999999999999999999"};
    const auto at = below(text.size() + 1);
    switch (below(5)) {
      case 0:
        text.insert(at, kTokens[below(kTokens.size())]);
        break;
      case 1:
        text.erase(at, 1 + below(20));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 3: {
        const auto& other = one();
        const auto from = below(other.size() + 1);
        text.insert(at, other.substr(from, below(60)));
        break;
      }
      default: {  // a value becomes another
        const auto end = text.find_first_of(" ,}\n", at);
        text.replace(at, end == std::string::npos ? end : end - at, kTokens[below(kTokens.size())]);
      }
    }
  }

  Inputs corpus_;
  std::mt19937 random_{20};
};

// Reads the corpus, which must be read, and `count` changed inputs. Some of these must be read and
// some refused, or the changes reach nothing; none may throw.
::testing::AssertionResult survives(const Inputs& corpus, int count,
                                    const std::function<bool(std::string_view)>& read) {
  for (const auto& text : corpus) {
    if (!read(text)) return ::testing::AssertionFailure() << "refused:\n" << text;
  }
  Changer changer(corpus);
  int was_read = 0;
  for (int i = 0; i < count; ++i) {
    const auto text = changer.next();
    try {
      was_read += read(text) ? 1 : 0;
    } catch (const std::exception& thrown) {
      return ::testing::AssertionFailure() << thrown.what() << " is thrown for\n" << text;
    }
  }
  if (was_read <= count / 100 || was_read >= count - count / 100)
    return ::testing::AssertionFailure() << was_read << " of " << count << " changed inputs were read";
  return ::testing::AssertionSuccess();
}

constexpr const char* kSpec = R"(name: fuzz
title: Two methods
dataset: {name: synthetic, train: 2000}
model: linear
seeds: [0, 1, 2]
epsilon: [1, 3, inf]
train:
  sample_rate: 0.05
  steps: 100
  optimizer: adamw
rows:
  - prodigy
  - {method: hyfreedp-plus, id: ours, epsilon: 3}
  - {id: rates, method: fixed-rate, each: {options.lr: [0.001, 0.01]}}
evaluate: {every: 25}
)";

// Laid over another file, and with the same values under two names.
const std::string kIncluding = std::string("include: ") + HYFREEDP_SOURCE_DIR + R"(/experiments/nightly.yaml
name: fuzz
title: &t Another
description: *t
defaults: {seeds: [0, 1], train: {average: ema}}
)";

TEST(Fuzz, Specs) { EXPECT_TRUE(survives({kSpec, kIncluding}, 600, read_spec)); }

TEST(Fuzz, Messages) {
  EXPECT_TRUE(survives(
      {R"({"type":"hello","version":"1","fingerprint":{}})",
       R"({"type":"progress","trial":"a1","step":3,"steps":10,"scalars":{"eta":0.5,"loss":"nan"}})",
       R"({"type":"done","trial":"a1","state":"finished","kind":"","message":"","seconds":0.5,"peak_bytes":9})",
       R"({"type":"prepare","dataset":{"name":"synthetic","options":{}}})",
       R"({"type":"run","trial":"a1","config":{},"journal":"j","key":"k","attempts":1,"checkpoint_seconds":600})"},
      60000, read_message));
}

// Letters of columns: an input of this form names them by their places in targets.h.
std::string cell(std::size_t column, const std::string& value) {
  // From 60, which is 0 to it, letters are printable.
  return static_cast<char>(2 * Database::kColumns + column) + value + "\n";
}

TEST(Fuzz, DatabaseRows) {
  Inputs corpus = {""};
  const auto add = [&](const char* table, const char* column, const std::string& value) {
    corpus.push_back(cell(Database::column_of(table, column), value));
  };
  add("specs", "resolved", canonical_json(small::spec().resolved));
  add("trials", "config", canonical_json(small::trial("t").config));
  add("trials", "notes", R"(["stuck at d0"])");
  add("trials", "counts", R"({"accepted":3})");
  add("trials", "events", canonical_json(accounting::events_to_json({.events = small::trial("t").events})));
  add("trials", "charged", R"([{"executed":{"events":[]},"name":"n"}])");
  add("trials", "builds", "[]");
  add("studies", "composition", R"({"rule":"trial","trials":["t"]})");
  add("studies", "total", canonical_json(as_json(small::spent(1, "pld"))));
  add("studies", "flags", R"(["a flag"])");
  add("metrics", "value", "0.5");
  add("steps", "scalars", R"({"eta":0.5,"d":"nan"})");
  add("retired_studies", "trials", R"(["t"])");
  EXPECT_TRUE(survives(corpus, 400, read_database));
}

}  // namespace
}  // namespace hyfreedp::fuzz
