// Beam search for the continuation of one prompt, token by token that of transformers' generate()
// (version 4.57) with early_stopping=False, also where it is a heuristic: the search ends when the
// best running text, were it as long as now, is no better than the worst of `beams` finished ones.
#pragma once

#include <optional>

#include "harness/models/layers/network.h"
#include "harness/trial/generation.h"

namespace hyfreedp::models {

struct Written;

class BeamSearch {
 public:
  struct Beam {
    std::vector<std::int64_t> ids;  // of what was written, with the token that ends it
    float score = 0;                // running: ln p; finished: over tokens^length_penalty
    std::int64_t parent = 0;        // running: the beam that it goes on from
    bool finished = false;
  };

  BeamSearch(const trial::GenerationOptions& options, std::optional<std::int64_t> end);

  // Adds one token. `logarithms`: ln p of the next token for each running beam, [beams, V] float32
  // on the CPU; at first [1, V], of the prompt. V is at least 2 * beams.
  void go_on(const torch::Tensor& logarithms);
  bool is_finished() const { return finished_; }
  // The `beams` texts to go on with, after go_on().
  const std::vector<Beam>& running() const { return running_; }
  // The text of the best beam, once the search is finished.
  Written best() const;

 private:
  std::vector<Beam> candidates(const torch::Tensor& logarithms) const;
  void keep_finished(const std::vector<Beam>& candidates);
  float over() const;  // by which a finished text's logarithmic probability is divided

  std::int64_t beams_;
  std::int64_t tokens_;
  double length_penalty_;
  std::optional<std::int64_t> end_;
  std::int64_t length_ = 0;  // tokens written
  std::vector<Beam> running_, best_;
  bool finished_ = false;
};

}  // namespace hyfreedp::models
