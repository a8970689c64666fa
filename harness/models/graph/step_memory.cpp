#include "harness/models/graph/step_memory.h"

#include <utility>

#include "harness/models/graph/layer_memory.h"

namespace hyfreedp::models::graph {
namespace {

// Blocks of memory, each of which lives as long as somebody holds it.
class Blocks {
 public:
  std::size_t add(double numbers) {
    numbers_.push_back(numbers);
    holders_.push_back(0);
    return numbers_.size() - 1;
  }
  void hold(std::size_t block) {
    if (holders_[block]++ == 0) living_ += numbers_[block];
  }
  void release(std::size_t block) {
    if (--holders_[block] == 0) living_ -= numbers_[block];
  }
  double living() const { return living_; }

 private:
  std::vector<double> numbers_;
  std::vector<int> holders_;
  double living_ = 0;
};

struct Step {
  Situation at;
  LayerMemory memory;
  std::vector<int> inputs;  // of earlier steps
  bool needs_gradient = false;
  bool passes_on = false;  // an input needs one
  std::size_t value = 0;   // the block of its output
  std::size_t last_reader = 0;
  std::vector<std::size_t> held;  // by its record
};

// Steps that are computed again on the way back.
struct Block {
  Span span;
  std::vector<std::size_t> held;  // what its steps read of earlier ones
};

// The steps of a pass, and the blocks of what they give. The network's input is held by the caller.
class Pass {
 public:
  Pass(const Graph& graph, const std::vector<bool>& trainable, const ModelInput& input,
       const Target& target) {
    const auto sizes = sizes_of(graph, input);
    auto next = trainable.begin();
    for (std::size_t at = 0; at < graph.places.size(); ++at) {
      const auto& place = graph.places[at];
      Step step{.at = {.output = sizes[at], .again = place.again >= 0, .target = target}};
      for (const int from : place.inputs) {
        if (from == kInput) step.at.inputs.push_back({input.is_sequence() ? input.length : input.features});
        if (from < 0) continue;
        step.inputs.push_back(from);
        step.at.inputs.push_back(sizes[static_cast<std::size_t>(from)]);
      }
      if (step.at.again) {
        step.at.trains = steps_[static_cast<std::size_t>(place.again)].at.trains;
      } else {
        for (std::size_t p = parameters_of(place.layer).size(); p > 0; --p) step.at.trains.push_back(*next++);
      }
      add(std::move(step), place.layer);
    }
    if (!target.recomputes) return;
    for (const auto& span : spans_of_blocks(graph)) {
      if (steps_[span.last].needs_gradient) blocks_.push_back({span, {}});
    }
  }

  // The most of values that live at once in a pass without records.
  double most_of_forward() {
    double most = 0;
    for (std::size_t at = 0; at < steps_.size(); ++at) {
      values_.hold(steps_[at].value);
      most = std::max(most, values_.living() + steps_[at].memory.working);
      let_go_of_inputs(at);
    }
    values_.release(steps_.back().value);
    return most;
  }

  // The forward pass with records. Values below the lowest layer that trains are counted by
  // most_of_forward().
  void record() {
    auto block = blocks_.begin();
    for (auto at = std::size_t{0}; at < steps_.size(); ++at) {
      auto& step = steps_[at];
      if (block != blocks_.end() && at > block->span.last) ++block;
      const bool in_block = block != blocks_.end() && at >= block->span.first;
      if (in_block) hold_inputs(*block, step);
      values_.hold(step.value);
      if (step.needs_gradient) {
        if (!in_block) keep(step);
        count(values_.living() - records_.living() + step.memory.working);
      }
      let_go_of_inputs(at);
    }
  }

  void go_back() {
    Blocks gradients;
    std::vector<std::size_t> of_output(steps_.size(), kNone);
    of_output.back() = gradients.add(steps_.back().at.gives());
    gradients.hold(of_output.back());
    auto block = blocks_.rbegin();
    for (auto at = steps_.size(); at-- > 0;) {
      auto& step = steps_[at];
      if (block != blocks_.rend() && at == block->span.last) record_again(*block++, gradients.living());
      if (!step.needs_gradient || of_output[at] == kNone) continue;
      double computing = 0;
      for (std::size_t i = 0; step.passes_on && i < step.inputs.size(); ++i) {
        const auto from = static_cast<std::size_t>(step.inputs[i]);
        if (!steps_[from].needs_gradient) continue;
        const auto numbers = static_cast<double>(count_of(step.at.inputs[i]));
        if (of_output[from] != kNone) {
          computing += numbers;  // is added to what is there
          continue;
        }
        of_output[from] = step.memory.passes_on ? of_output[at] : gradients.add(numbers);
        gradients.hold(of_output[from]);
      }
      // The rules of a narrow pass read copies of inputs and output gradient in the type of the
      // parameters.
      const double copied = step.at.target.is_narrow ? step.at.given() + step.at.gives() : 0;
      const double most = std::max(step.passes_on ? step.memory.going_back : 0,
                                   step.at.trains_any() ? step.memory.forming + copied : 0);
      count(gradients.living() + computing + most);
      let_go_of_record(step);
      gradients.release(of_output[at]);
      count(gradients.living());
    }
  }

  const StepMemory& counted() const { return counted_; }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  void add(Step step, const Layer& layer) {
    const auto at = steps_.size();
    step.memory = memory_of(layer, step.at);
    step.last_reader = at;
    const bool of_input = step.inputs.empty() && step.memory.view;
    if (step.memory.view && !of_input) {
      step.value = steps_[static_cast<std::size_t>(step.inputs.front())].value;
    } else {
      step.value = values_.add(of_input ? 0 : step.at.gives());
      records_.add(of_input ? 0 : step.at.gives());
    }
    for (const int from : step.inputs) {
      auto& earlier = steps_[static_cast<std::size_t>(from)];
      earlier.last_reader = at;
      step.passes_on = step.passes_on || earlier.needs_gradient;
    }
    step.needs_gradient = step.passes_on || step.at.trains_any();
    steps_.push_back(std::move(step));
  }

  void hold_inputs(Block& block, const Step& step) {
    for (const int from : step.inputs) {
      if (static_cast<std::size_t>(from) >= block.span.first) continue;
      const auto value = steps_[static_cast<std::size_t>(from)].value;
      if (std::ranges::count(block.held, value) > 0) continue;
      block.held.push_back(value);
      records_.hold(value);
      values_.hold(value);
    }
  }

  // `gradients`: the numbers of those that live meanwhile.
  void record_again(Block& block, double gradients) {
    const auto [first, last] = block.span;
    for (auto at = first; at <= last; ++at) {
      auto& step = steps_[at];
      values_.hold(step.value);
      if (step.needs_gradient) keep(step);
      count(gradients + values_.living() - records_.living() + step.memory.working);
      for (const int from : step.inputs) {
        const auto& earlier = steps_[static_cast<std::size_t>(from)];
        if (static_cast<std::size_t>(from) >= first && earlier.last_reader == at)
          values_.release(earlier.value);
      }
    }
    for (auto at = first; at <= last; ++at) {
      const auto reader = steps_[at].last_reader;
      if (reader > last || reader == at) values_.release(steps_[at].value);
    }
    for (const auto value : std::exchange(block.held, {})) {
      records_.release(value);
      values_.release(value);
    }
  }

  void let_go_of_inputs(std::size_t at) {
    for (const int from : steps_[at].inputs) {
      auto& earlier = steps_[static_cast<std::size_t>(from)];
      if (earlier.last_reader == at) values_.release(earlier.value);
    }
  }

  void hold(Step& step, std::size_t value) {
    step.held.push_back(value);
    records_.hold(value);
    values_.hold(value);
  }

  // Updates the maxima; `passing` is what lives beside the records now.
  void count(double passing) {
    const double recorded = records_.living() + saved_;
    counted_.recorded = std::max(counted_.recorded, recorded);
    counted_.passing = std::max(counted_.passing, passing);
    counted_.together = std::max(counted_.together, recorded + passing);
  }

  void keep(Step& step) {
    saved_ += step.memory.saved;
    const auto& memory = step.memory;
    const bool by_rules = memory.rules_read_inputs && step.at.trains_any();
    if (by_rules || (step.passes_on && memory.gradient_reads_inputs)) {
      for (const int from : step.inputs) hold(step, steps_[static_cast<std::size_t>(from)].value);
    }
    if (step.passes_on && memory.gradient_reads_output) hold(step, step.value);
  }

  void let_go_of_record(Step& step) {
    saved_ += step.memory.kept - step.memory.saved;
    if (step.memory.keeps_pair) {
      saved_ += step.at.gives();
      return;
    }
    for (const auto block : step.held) {
      records_.release(block);
      values_.release(block);
    }
  }

  std::vector<Step> steps_;
  std::vector<Block> blocks_;
  Blocks values_;
  Blocks records_;    // the same blocks, held by records
  double saved_ = 0;  // by layers, and for the clipped sum
  StepMemory counted_;
};

// A convolution's sum is added up in float64 and so is every sum on a GPU; the others' where it
// belongs.
double own_sums(const Graph& graph, const std::vector<bool>& trainable, bool on_cpu) {
  double most = 0;
  std::size_t next = 0;
  for (const auto& place : graph.places) {
    if (place.again >= 0) continue;
    const auto own = parameters_of(place.layer);
    const double times = !on_cpu || std::holds_alternative<Convolution>(place.layer) ? 4 : 1;
    for (std::size_t p = 0; p < own.size(); ++p, ++next) {
      if (trainable[next]) most = std::max(most, times * static_cast<double>(count_of(own[p].shape)));
    }
  }
  return most;
}

bool has_convolutions(const Graph& graph) {
  return std::ranges::any_of(
      graph.places, [](const Place& place) { return std::holds_alternative<Convolution>(place.layer); });
}

}  // namespace

StepMemory step_memory(const Graph& graph, const std::vector<bool>& trainable, const ModelInput& input,
                       const Target& target) {
  Pass pass(graph, trainable, input, target);
  const double forward = pass.most_of_forward();
  pass.record();
  pass.go_back();
  auto memory = pass.counted();
  const auto parameters = parameters_of(graph);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const auto size = static_cast<double>(parameters[p].size());
    memory.parameters += size;
    memory.trained += trainable[p] ? size : 0;
  }
  // Norms, their bounds, small results of sums, and what layers take for themselves while a block
  // is computed again, as measured.
  const double not_followed = target.recomputes ? 1.06 : 1.03;
  // The sample as bytes and as numbers; what the loss makes of the outputs.
  const auto outputs = static_cast<double>(count_of(sizes_of(graph, input).back()));
  const double around = 1.25 * static_cast<double>(input.features) + 3 * outputs;
  memory.recorded *= not_followed;
  memory.passing = not_followed * memory.passing + around;
  memory.together = not_followed * memory.together + around;
  memory.forward = not_followed * forward + around;
  memory.sums = own_sums(graph, trainable, target.on_cpu);
  memory.fixed = memory.sums;
  // Copies in float64 of both sides of a product (for_pieces() in layers/samples.h).
  constexpr double kCopies = 4 << 24;
  if (!target.on_cpu) memory.fixed += kCopies;
  // Sums over patches (conv2d.cpp, standardised_conv2d.cpp), and what LibTorch's convolutions keep
  // for themselves, as measured: programs and weights in another order.
  constexpr double kConvolutions = 1 << 24;
  if (has_convolutions(graph)) memory.fixed += kConvolutions;
  return memory;
}

}  // namespace hyfreedp::models::graph
