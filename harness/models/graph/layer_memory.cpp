#include "harness/models/graph/layer_memory.h"

#include <algorithm>

namespace hyfreedp::models::graph {
namespace {

double number(std::int64_t count) { return static_cast<double>(count); }

// Vectors of a sequence, or places of an image; 1 of a vector.
double positions_of(const Sizes& tokens) { return number(count_of(tokens) / tokens.back()); }

struct MemoryOf {
  const Situation& at;

  double in() const { return at.given(); }
  double out() const { return at.gives(); }
  bool trains(std::size_t parameter) const { return parameter < at.trains.size() && at.trains[parameter]; }

  LayerMemory operator()(const Linear& layer) const {
    const double weights = number(layer.inputs) * number(layer.outputs), positions = positions_of(at.output);
    const bool trains_weight = trains(0), trains_bias = trains(1);
    LayerMemory memory{.rules_read_inputs = trains_weight};
    if (!trains_weight) {
      memory.kept = trains_bias ? number(layer.outputs) : 0;
      return memory;
    }
    memory.keeps_pair = at.output.size() == 1 || in() + out() <= weights;
    memory.kept = memory.keeps_pair ? 0 : weights;
    if (at.output.size() == 1) return memory;
    if (trains_bias) memory.kept += number(layer.outputs);
    // Products of all pairs of positions, from which a norm is computed without the gradient.
    memory.forming = memory.keeps_pair ? 3 * positions * positions : weights;
    return memory;
  }

  // LibTorch's convolutions have inputs and results in other orders, too. A GPU lays out the
  // patches that the weight reads, and keeps one or the other.
  LayerMemory operator()(const Convolution& layer) const {
    const auto& shape = layer.shape;
    const double outputs = number(shape.outputs), places = out() / outputs, reads = number(shape.reads());
    const double weights = outputs * reads;
    LayerMemory memory{
        .working = std::max(in(), out()), .rules_read_inputs = trains(0), .going_back = 2 * (in() + out())};
    memory.kept = trains(1) ? outputs : 0;
    if (!trains(0)) return memory;
    const double outputs_of_group = outputs / number(shape.groups);
    const bool by_places = 2 * places * (reads + outputs_of_group) < reads * outputs_of_group;
    const bool depthwise = shape.groups > 1 && shape.groups == shape.inputs && shape.groups == shape.outputs;
    memory.forming = out() + std::min(in(), out());
    if (!at.target.on_cpu) memory.forming += reads * number(shape.groups) * places;
    // They are formed for some samples at a time, which `fixed` has; small ones for all.
    if (layer.standardised) memory.forming += 2 * std::min(weights, in() + out());
    const bool forms = at.target.on_cpu ? !by_places && weights <= in() + out() : weights > in() + out();
    if (!layer.standardised && (depthwise || forms)) {
      memory.kept += weights;
      memory.forming += weights;
    } else {
      memory.keeps_pair = true;
    }
    return memory;
  }

  LayerMemory norm(double statistics, std::int64_t width) const {
    LayerMemory memory{.saved = statistics, .gradient_reads_inputs = true, .rules_read_inputs = true};
    for (const bool one : at.trains) memory.kept += one ? number(width) : 0;
    memory.forming = memory.kept;
    // normalised values, products
    if (!at.target.on_cpu && at.trains_any()) memory.forming += 3 * in();
    return memory;
  }
  LayerMemory operator()(const LayerNorm& layer) const {
    return norm(2 * in() / number(layer.width), layer.width);
  }
  LayerMemory operator()(const GroupNorm& layer) const {
    auto memory = norm(2 * number(layer.groups), layer.channels);
    if (at.target.on_cpu && at.trains_any()) memory.forming += 3 * in();
    return memory;
  }
  LayerMemory operator()(const RmsNorm& layer) const {
    auto memory = norm(in() / number(layer.width), layer.width);
    memory.working = in();
    memory.going_back = 5 * in();
    return memory;
  }

  // Its gradient is never formed.
  LayerMemory operator()(const Embedding& /*layer*/) const {
    const double positions = number(at.output.front());
    return {.rules_read_inputs = trains(0),
            .forming = trains(0) && !at.again ? 3 * positions * positions : 0,
            .keeps_pair = trains(0)};
  }
  // The gradient of a sample's rows is its output gradient.
  LayerMemory operator()(const Positions& /*layer*/) const {
    return {.passes_on = true, .kept = trains(0) ? out() : 0};
  }
  LayerMemory operator()(const ClassToken& layer) const {
    return {.passes_on = true, .kept = trains(0) ? number(layer.width) : 0};
  }
  LayerMemory operator()(const Scale& layer) const {
    if (!trains(0)) return {};
    return {.rules_read_inputs = true, .forming = out(), .kept = number(layer.width)};
  }
  LayerMemory operator()(const QueryValueBias& layer) const {
    LayerMemory memory{.passes_on = true};
    for (const bool one : at.trains) memory.kept += one ? number(layer.width) : 0;
    return memory;
  }

  // LibTorch's own gradient keeps what attention is given and gives, a number for each query of
  // each head, turned copies of queries and keys, and, where keys are shared by heads, copies of
  // keys and values and the scores.
  LayerMemory operator()(const Attention& layer) const {
    const auto& shape = layer.shape;
    const double tokens = number(at.output.front()), heads = number(shape.heads);
    const double scores = heads * tokens * tokens;
    LayerMemory memory{.saved = tokens * heads,
                       .gradient_reads_inputs = true,
                       .gradient_reads_output = true,
                       .going_back = in() + out()};
    if (shape.rotary || shape.grid) {
      memory.saved += in();
      memory.working = 3 * out();
      memory.going_back += in();
    }
    if (shape.kv_heads != shape.heads) {
      memory.saved += 2 * out() + 3 * scores;
      memory.going_back += 2 * out() + 2 * scores;
    }
    if (AttentionShape::forms_scores(at.output.front(), at.target.on_cpu, at.target.is_narrow)) {
      memory.saved += 2 * scores;
      memory.working += 2 * scores;
      memory.going_back += 2 * scores;
    }
    if (shape.side == 0) return memory;
    memory.rules_read_inputs = trains(0);
    memory.kept = trains(0) ? number(shape.distances() * shape.heads) : 0;
    memory.forming = trains(0) ? 5 * scores + memory.kept : 0;
    return memory;
  }

  LayerMemory operator()(const Activation& layer) const {
    using Kind = Activation::Kind;
    switch (layer.kind) {
      case Kind::tanh:
      case Kind::relu:
      case Kind::relu6:
        return {.gradient_reads_output = true};
      case Kind::gelu:
      case Kind::gelu_by_tanh:
        return {.gradient_reads_inputs = true};
      case Kind::quick_gelu:
        return {.gradient_reads_inputs = true, .going_back = 3 * out()};
      case Kind::gated_silu:
        break;
    }
    return {.working = out(), .saved = out(), .gradient_reads_inputs = true, .going_back = out()};
  }
  LayerMemory operator()(const Unflatten& /*layer*/) const { return {.view = true, .passes_on = true}; }
  LayerMemory operator()(const Flatten& /*layer*/) const { return {.view = true, .passes_on = true}; }
  // A byte for each number on a CPU, on a GPU an index of eight. On a CPU windows beyond the image
  // read a padded copy.
  LayerMemory operator()(const MaxPool& layer) const {
    const double padded = at.target.on_cpu && layer.pools_remainder ? in() : 0;
    return {.working = padded, .saved = (at.target.on_cpu ? 0.25 : 2) * out(), .going_back = padded};
  }
  LayerMemory operator()(const FirstToken& /*layer*/) const { return {.view = true}; }
  LayerMemory operator()(const Add& layer) const { return {.passes_on = layer.scale == 1}; }
  template <class Other>
  LayerMemory operator()(const Other& /*layer*/) const {
    return {};
  }
};

}  // namespace

double Situation::given() const {
  double numbers = 0;
  for (const auto& one : inputs) numbers += static_cast<double>(count_of(one));
  return numbers;
}

bool Situation::trains_any() const { return std::ranges::find(trains, true) != trains.end(); }

LayerMemory memory_of(const Layer& layer, const Situation& at) { return std::visit(MemoryOf{at}, layer); }

}  // namespace hyfreedp::models::graph
