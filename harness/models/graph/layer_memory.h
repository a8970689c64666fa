// The memory that one place of a graph reads, saves and forms in a training step, in numbers of one
// sample: the behaviour of the classes in harness/models/layers, added up by step_memory.h.
#pragma once

#include "harness/models/graph/graph.h"

namespace hyfreedp::models::graph {

// Where a step computes, whether in a type of 16 bits, and whether it computes a block again
// instead of keeping its activations.
struct Target {
  bool on_cpu = true;
  bool is_narrow = false;
  bool recomputes = false;
};

// The inputs, output and training state of a place in a step.
struct Situation {
  std::vector<Sizes> inputs;
  Sizes output;
  std::vector<bool> trains;  // each parameter of the layer
  bool again = false;        // the layer of an earlier place, whose rules run there
  Target target = {};

  double given() const;  // numbers of all inputs
  double gives() const { return static_cast<double>(count_of(output)); }
  bool trains_any() const;
};

struct LayerMemory {
  // Forward. `view`: the output is its input's memory.
  bool view = false;
  double working = 0;  // beside inputs and output
  // Numbers that the record saves for the gradients, beside the layer's inputs and output.
  double saved = 0;
  bool gradient_reads_inputs = false;
  bool gradient_reads_output = false;
  bool rules_read_inputs = false;
  // Backward. `passes_on`: the input gradient is the output gradient's memory.
  bool passes_on = false;
  double going_back = 0;  // beside input and output gradient
  double forming = 0;     // while its rules run
  // Numbers that stay for the clipped sum: the pair of input and output gradient if `keeps_pair`,
  // and `kept` in addition.
  bool keeps_pair = false;
  double kept = 0;
};

LayerMemory memory_of(const Layer& layer, const Situation& at);

}  // namespace hyfreedp::models::graph
