// `hyfreedp score`, and what `hyfreedp generate` refuses before it asks a worker.
#include <algorithm>
#include <gmock/gmock.h>

#include "datasets/scores/scores.h"
#include "results/table/table_options.h"
#include "tests/cli/command_fixture.h"

namespace hyfreedp::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ScoreCommand : public CommandTest {
 protected:
  ScoreCommand() : CommandTest("score") {}
};

TEST_F(ScoreCommand, PrintsEachScoreWithItsDefinition) {
  const auto texts = file("texts.txt", "The cat sat.\n\nA dog ran home quickly now.\n");
  const auto references = file("references.txt", "The cat sat.\nOne that is not there\nA dog ran home.\n");
  ASSERT_EQ(run({texts, references}), 0) << err();
  for (const auto& score : scores::text_scores()) {
    EXPECT_THAT(out(), HasSubstr(score.name));
    EXPECT_THAT(out(), HasSubstr(score.definition));
  }
  const auto values = answer({texts, references});
  EXPECT_EQ(values.at("texts").to_number<int>(), 3);
  EXPECT_NEAR(values.at("squad_exact_match").to_number<double>(), 1.0 / 3, 1e-12);
}

TEST_F(ScoreCommand, BlankLinesPartTheReferencesOfTexts) {
  const auto texts = file("texts.txt", "one two three\nfour five");
  const auto references =
      file("references.txt", "\xef\xbb\xbfsix\r\nOne two three\r\n\r\n\r\nfour five\r\n\r\n");
  EXPECT_EQ(answer({texts, references}).at("squad_exact_match").to_number<double>(), 1);
}

TEST_F(ScoreCommand, ReadsWhatGenerateWrote) {
  const auto texts = file("texts.jsonl", R"({"prompt": "a", "text": "x y", "tokens": 2, "ended": true})"
                                         "\n");
  EXPECT_EQ(answer({texts, file("r.txt", "X y.\n")}).at("squad_f1").to_number<double>(), 1);
}

TEST_F(ScoreCommand, FilesThatDoNotFitAreRefused) {
  const auto texts = file("texts.txt", "one\ntwo\n");
  expect_refused({}, {"score needs two files"});
  expect_refused({texts, file("three.txt", "a\nb\nc\n")}, {"has 2 texts", "has references of 3 texts"});
  expect_refused({texts, file("groups.txt", "a\nb\n\n")}, {"has references of 1 text"});
  expect_refused({file("empty.txt", ""), file("none.txt", "")}, {"there is no text to score"});
  expect_refused({texts, path("absent.txt")}, {"absent.txt"});
  expect_refused({texts, file("latin.txt", "one\ncaf\xe9\n")}, {"latin.txt:2: is not UTF-8"});
}

// Tables show each of them under its name.
TEST(TextScores, AreMetricsOfTables) {
  for (const auto& score : scores::text_scores()) {
    std::string name = score.name;
    std::ranges::replace(name, '_', '-');
    const auto metric = enum_from<spec::Metric>(name, "");
    ASSERT_TRUE(metric) << name;
    EXPECT_EQ(results::metric_facts(*metric).recorded, name);
    EXPECT_EQ(spec::recorded_by(*metric), spec::RecordedBy::written) << name;
  }
  for (const auto& name : names_of<spec::Metric>())
    EXPECT_FALSE(results::metric_facts(*enum_from<spec::Metric>(name, "")).title.empty()) << name;
}

class GenerateCommand : public CommandTest {
 protected:
  GenerateCommand() : CommandTest("generate") {}
};

TEST_F(GenerateCommand, WarnsOfWeightsThatAreNoRelease) {
  const auto weights = folder_.string();
  const auto empty = file("empty.txt", "");
  for (const char* name : {"config.json", "model.safetensors"}) file(name, "{}");
  const auto said = [&](const std::string& metadata, const char* name = "trial.json") {
    file(name, metadata);
    EXPECT_EQ(run({weights, "--prompts", empty}), 2);
    return err();
  };
  EXPECT_THAT(said(R"({"watermark": "confidential"})"), HasSubstr("no epsilon covers what they write"));
  EXPECT_THAT(said(R"({"private_data": []})"), Not(HasSubstr("warning")));
  EXPECT_THAT(said("[]"), HasSubstr("trial.json: must be an object"));
  std::filesystem::remove(path("trial.json"));
  EXPECT_THAT(said("{}", "kept.json"), HasSubstr("no epsilon covers what they write"));
}

TEST_F(GenerateCommand, WhatCannotBeIsRefused) {
  const auto prompts = file("prompts.txt", "one\n");
  const auto weights = folder_.string();
  for (const char* name : {"config.json", "model.safetensors"}) file(name, "{}");
  expect_refused({}, {"generate needs a folder of weights"});
  expect_refused({weights}, {"--prompts"});
  expect_refused({"no-such-weights", "--prompts", prompts}, {"no-such-weights"});
  expect_refused({weights, "--prompts", prompts, "--beam", "4", "--top-p", "0.9"},
                 {"--beam searches and does not draw"});
  expect_refused({weights, "--prompts", prompts, "--beam", "1"}, {"beams", "from 2 to 256"});
  expect_refused({weights, "--prompts", prompts, "--beam", "2.5"}, {"beams"});
  expect_refused({weights, "--prompts", prompts, "--length-penalty", "2"},
                 {"--length-penalty is read only with --beam"});
  expect_refused({weights, "--prompts", prompts, "--top-p", "1.5"}, {"top_p"});
  expect_refused({weights, "--prompts", prompts, "--tokens", "many"}, {"--tokens"});
  expect_refused({weights, "--prompts", file("empty.txt", "")}, {"empty.txt: has no prompt"});
}

}  // namespace
}  // namespace hyfreedp::cli
