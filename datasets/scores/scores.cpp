#include "datasets/scores/scores.h"

#include <numeric>

#include "datasets/scores/bleu.h"
#include "datasets/scores/cider.h"
#include "datasets/scores/meteor.h"
#include "datasets/scores/nist.h"
#include "datasets/scores/rouge_l.h"
#include "datasets/scores/squad.h"
#include "datasets/scores/tokens_13a.h"

namespace hyfreedp::scores {
namespace {

using Texts = std::span<const Example>;
using Cut = std::span<const TokenExample>;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

template <class One>
double mean_of(std::span<const One> examples, double (*score)(const One&)) {
  std::vector<double> values;
  for (const auto& example : examples) values.push_back(score(example));
  return mean(values);
}

constexpr TextScore kScores[] = {
    {"bleu_mteval13a", "BLEU-4 as NIST's script mteval-v13a computes it, in [0, 1]",
     [](Texts, Cut tokens) { return bleu_mteval13a(tokens); }},
    {"nist_mteval13a", "NIST-5 as the E2E challenge's mteval-v13a computes it",
     [](Texts, Cut tokens) { return nist_mteval13a(tokens); }},
    {"meteor_nltk_exact_and_stem_13a",
     "METEOR as nltk 3.10 computes it, without synonyms and on 13a tokens: not the number of METEOR 1.5",
     [](Texts, Cut tokens) { return mean_of(tokens, meteor_exact_and_stem); }},
    {"rouge_l_coco_13a",
     "ROUGE-L as pycocoevalcap 1.2 computes it, but on 13a tokens, not on those of Stanford's tokenizer",
     [](Texts, Cut tokens) { return mean_of(tokens, rouge_l_coco); }},
    {"cider_coco_13a",
     "CIDEr-D as pycocoevalcap 1.2 computes it, but on 13a tokens, not on those of Stanford's tokenizer",
     [](Texts, Cut tokens) { return mean(cider_coco(tokens)); }},
    {"squad_exact_match", "exact match as SQuAD v1.1's script computes it, as a share",
     [](Texts texts, Cut) { return mean_of(texts, squad_exact_match); }},
    {"squad_f1", "F1 of words as SQuAD v1.1's script computes it, as a share",
     [](Texts texts, Cut) { return mean_of(texts, squad_f1); }},
};

}  // namespace

std::span<const TextScore> text_scores() { return kScores; }

Result<std::vector<NamedValue>> score_texts(Texts examples) {
  if (examples.empty()) return error("there is no text to score");
  std::vector<TokenExample> tokens;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (examples[i].references.empty())
      return error("text " + std::to_string(i + 1) + " has no reference to be compared with");
    tokens.push_back(tokens_13a(examples[i]));
  }
  std::vector<NamedValue> values;
  for (const auto& score : kScores) values.push_back({score.name, score.compute(examples, tokens)});
  return values;
}

}  // namespace hyfreedp::scores
