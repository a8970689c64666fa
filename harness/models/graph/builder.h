// Puts a graph together, with low-rank adapters (pairs of linear layers, lora.h) beside the linear
// layers that are their targets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/models/graph/graph.h"
#include "harness/models/graph/lora.h"

namespace hyfreedp::models::graph {

class Builder {
 public:
  explicit Builder(std::optional<Lora> lora = {}) : lora_(std::move(lora)) {}

  // Adds a place and returns its index, by which later places name their inputs. Without inputs it
  // reads the place before it; the first reads the network's input.
  int add(std::string name, Layer layer, std::vector<int> inputs = {});
  // Adds a linear layer and, if it is a target, its adapter: A uniform 1 / sqrt(inputs) (Kaiming
  // with slope sqrt(5)), B zero, so that training starts at the base model.
  int linear(const std::string& name, const Linear& layer, int input);
  // Adds a place of the same layer as an earlier one.
  int again(int place, int input);
  int last() const { return static_cast<int>(graph_.places.size()) - 1; }

  // Parameters of a block, of the head or of the task have names that begin with `name` and a dot.
  void block(const std::string& name) { graph_.blocks.push_back(name + "."); }
  void head(const std::string& name) { head(name, name); }
  void head(const std::string& name, const std::string& task) {
    graph_.head = name + ".";
    graph_.task = task + ".";
  }

  // The graph. An error if the adapter's targets match no layer. Called once.
  Result<Graph> finish();

 private:
  std::optional<Lora> lora_;
  bool adapted_ = false;
  Graph graph_;
};

}  // namespace hyfreedp::models::graph
