// Scores against the numbers of the field's own packages: models/text_metrics.json of the reference
// folder, whose `source` names them, and tests/data/scores.
#include "datasets/scores/scores.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <iostream>

#include "datasets/scores/characters.h"
#include "datasets/scores/cider.h"
#include "datasets/scores/classes.h"
#include "datasets/scores/porter_stemmer.h"
#include "datasets/scores/rouge_l.h"
#include "datasets/scores/squad.h"
#include "datasets/scores/tokens_13a.h"
#include "harness/base/describe.h"
#include "harness/base/json.h"

namespace hyfreedp::scores {
namespace {

constexpr double kSame = 1e-6;

using Strings = std::vector<std::string>;

json::array cases_of(const std::string& name) {
  return read_json_file(std::string(HYFREEDP_TEST_DATA) + "/scores/" + name).value().as_array();
}

template <class T>
T read(const json::value& value) {
  return from_json<T>(value, "file").value();
}

std::filesystem::path reference_file() {
  const char* given = std::getenv("HYFREEDP_REFERENCE_DIR");
  return std::filesystem::path(given != nullptr ? given : HYFREEDP_TEST_DATA) / "models" /
         "text_metrics.json";
}

class ReferenceScores : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(reference_file())) GTEST_SKIP() << "SKIPPED SUITE: no text_metrics.json";
    reference_ = read_json_file(reference_file().string()).value().as_object();
  }

  // The texts of a set, or of one of its other forms ("hyps_ptb" and "refs_ptb").
  std::vector<Example> examples(const json::object& set, const char* texts, const char* references) const {
    std::vector<Example> found;
    const auto places = read<std::vector<std::int64_t>>(set.at("mr_index"));
    for (const auto& text : read<Strings>(set.at(texts))) {
      const auto& input = reference_.at("mrs").at(static_cast<std::size_t>(places.at(found.size())));
      found.push_back({text, read<Strings>(input.at(references))});
    }
    return found;
  }

  json::object reference_;
};

TEST_F(ReferenceScores, EachScoreIsThatOfThePackageThatDefinesIt) {
  std::size_t compared = 0;
  for (const auto& set : reference_.at("sets").as_array()) {
    SCOPED_TRACE(canonical_json(set.at("name")));
    const auto scores = score_texts(examples(set.as_object(), "hyps", "refs"));
    ASSERT_TRUE(scores) << scores.error().message;
    for (const auto& score : *scores) {
      const auto* expected = set.at("metrics").as_object().if_contains(score.name);
      if (expected == nullptr || expected->is_null()) continue;
      EXPECT_NEAR(score.value, expected->to_number<double>(), kSame) << score.name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 5 * reference_.at("sets").as_array().size());
  std::cout << "ReferenceScores: " << compared << " scores of sets compared\n";
}

TEST_F(ReferenceScores, EachTextsOwnScoreIsThatOfThePackage) {
  for (const auto& set : reference_.at("sets").as_array()) {
    SCOPED_TRACE(canonical_json(set.at("name")));
    for (const auto& [texts, references, form] :
         {std::tuple{"hyps", "refs", "_13a"}, {"hyps_ptb", "refs_ptb", "_ptb"}}) {
      std::vector<TokenExample> tokens;
      for (const auto& example : examples(set.as_object(), texts, references)) {
        if (form == std::string("_13a")) {
          tokens.push_back(tokens_13a(example));
          continue;
        }
        tokens.push_back({split_at_space(example.text), {}});
        for (const auto& one : example.references) tokens.back().references.push_back(split_at_space(one));
      }
      const auto& each = set.at("each");
      const auto rouge = read<std::vector<double>>(each.at(std::string("rouge_l_coco") + form));
      const auto cider = read<std::vector<double>>(each.at(std::string("cider_coco") + form));
      const auto own = cider_coco(tokens);
      ASSERT_EQ(rouge.size(), tokens.size());
      ASSERT_EQ(cider.size(), own.size());
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        EXPECT_NEAR(rouge_l_coco(tokens[i]), rouge[i], kSame) << form << " text " << i;
        EXPECT_NEAR(own[i], cider[i], kSame) << form << " text " << i;
      }
    }
  }
}

TEST_F(ReferenceScores, TokensAreThoseOfMteval) {
  for (const auto& pair : reference_.at("tokenize_13a_lc").as_array())
    EXPECT_EQ(tokens_13a(pair.at(0).as_string()), read<Strings>(pair.at(1))) << canonical_json(pair.at(0));
}

TEST(Scores, AnswersAreComparedAsSquadDoes) {
  for (const auto& one : cases_of("answers.json")) {
    const Example example{read<std::string>(one.at("text")), read<Strings>(one.at("references"))};
    EXPECT_EQ(squad_exact_match(example), one.at("exact_match").to_number<double>()) << canonical_json(one);
    EXPECT_NEAR(squad_f1(example), one.at("f1").to_number<double>(), kSame) << canonical_json(one);
  }
}

TEST(Scores, AnswersWithoutWordsMatchAndShareNone) {
  const Example articles{"the", {"an"}};
  EXPECT_EQ(squad_exact_match(articles), 1);
  EXPECT_EQ(squad_f1(articles), 0);
}

TEST(Scores, ClassesAreScoredAsScikitLearnDoes) {
  for (const auto& one : cases_of("classes.json")) {
    const auto predicted = read<std::vector<std::int64_t>>(one.at("predicted"));
    const auto classes = read<std::vector<std::int64_t>>(one.at("classes"));
    if (!one.at("f1").is_null()) {
      EXPECT_NEAR(binary_f1(predicted, classes), one.at("f1").to_number<double>(), 1e-12);
    }
    EXPECT_NEAR(matthews_correlation(predicted, classes), one.at("matthews_correlation").to_number<double>(),
                1e-12);
  }
}

TEST(Scores, StemsAreThoseOfNltk) {
  const auto file = read_json_file(std::string(HYFREEDP_TEST_DATA) + "/scores/stems.json").value();
  for (const auto& item : file.as_object()) {
    const auto stem = porter_stem(characters_of(std::string_view(item.key())));
    EXPECT_EQ(text_of(stem), item.value().as_string()) << item.key();
  }
}

TEST(Scores, EachHasANameOfItsOwnAndADefinition) {
  std::set<std::string> names;
  for (const auto& score : text_scores()) {
    EXPECT_TRUE(names.insert(score.name).second) << score.name;
    EXPECT_GT(std::string(score.definition).size(), 20U);
  }
}

TEST(Scores, WithoutTextsOrReferencesThereIsNoScore) {
  EXPECT_FALSE(score_texts({}));
  const std::vector<Example> bare = {{"one", {"one"}}, {"two", {}}};
  const auto scores = score_texts(bare);
  ASSERT_FALSE(scores);
  EXPECT_EQ(scores.error().message, "text 2 has no reference to be compared with");
}

TEST(Scores, BytesThatAreNoTextAreCharactersOfTheirOwn) {
  EXPECT_EQ(characters_of("a\xff\xc3"), U"a\xfffd\xfffd");
  EXPECT_EQ(split_at_space("\xc2\xa0one\xe2\x80\x83two\xc2\x85"), (Strings{"one", "two"}));
  EXPECT_TRUE(score_texts(std::vector<Example>{{"\xff \xfe", {"\xff"}}}));
}

}  // namespace
}  // namespace hyfreedp::scores
