#include "harness/models/facts/step_memory.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace hyfreedp::models {
namespace {

enum class Kind { vectors, positions, convolution, normalisation, table };

// Numbers of one sample.
struct LayerNumbers {
  Kind kind = Kind::vectors;
  double inputs = 0;
  double outputs = 0;
  double beside = 0;  // of the layers without parameters that follow it
  double sum = 0;     // of a residual block, which no layer's rules read
  double unread = 0;  // of these, what no gradient needs
  double waits = 0;   // of a layer before it, while the layers without parameters are computed
  double weights = 0;
  double bias = 0;
  double places = 1;
  bool trains = false;
  bool trains_weight = false;
  bool standardised = false;  // its per-sample gradients are never kept
  // They are always kept. Counted so for ConvNeXt, whose kernels are large.
  bool depthwise = false;
  double patches = 0;  // of a convolution: what its weight reads at all places, each by itself

  double given() const { return outputs + beside + sum - unread; }
  // Whether its input and output gradient are kept, and no per-sample gradients.
  bool keeps_pair(bool on_cpu) const;
  double kept(bool on_cpu) const;
};

bool LayerNumbers::keeps_pair(bool on_cpu) const {
  if (!trains_weight || depthwise || kind == Kind::normalisation || kind == Kind::table) return false;
  if (kind == Kind::vectors || standardised) return true;
  return kind == Kind::convolution && !on_cpu ? inputs + outputs > weights : inputs + outputs <= weights;
}

// Of a trained layer whose output gradient is known.
double LayerNumbers::kept(bool on_cpu) const {
  if (!trains) return 0;
  if (kind == Kind::normalisation) return weights + bias;
  if (kind == Kind::table) return outputs;
  if (!trains_weight) return kind == Kind::vectors ? outputs : bias;
  return (keeps_pair(on_cpu) ? inputs + outputs : weights) + bias;
}

// What the family adds to the parameters' list.
struct Family {
  double tokens = 0;         // of a sequence; 0: the layers read vectors or images
  bool pads = false;         // strided convolutions read a padded copy of their input
  bool pools = false;        // convolutions are followed by a pool
  bool adds = false;         // what a block's second convolution gives is added to its input
  bool wide = false;         // weight-standardised convolutions
  double attention = 0;      // numbers a block beside the layers': what attention gives and saves
  std::string attends = {};  // the layers that they follow end so
  // Of the activation between the linear layers of a block: copies of what they give.
  double activation = 0;
  std::string activates = {};
  bool reads_tokens = false;  // convolutions read copies of places laid out as tokens
  double tied = 0;            // entries of a vocabulary whose table is the output projection, too
  bool fires = false;         // convolutions are in fire modules
  bool pools_stem = false;    // a pool follows the first convolution, which halves its image
  double scores = 0;          // of attention, all heads'
};

Family family_of(const MlpShape& /*shape*/) { return {}; }
Family family_of(const CnnShape& /*shape*/) { return {.pools = true}; }
Family family_of(const ResnetShape& shape) { return {.adds = true, .wide = shape.wide}; }
Family family_of(const EfficientNetLiteShape& /*shape*/) { return {.pads = true}; }
Family family_of(const SqueezeNetShape& /*shape*/) { return {.fires = true}; }
Family family_of(const ResnetImagenetShape& shape) { return {.pools_stem = !shape.for_cifar}; }
Family family_of(const ConvnextShape& /*shape*/) {
  return {.activation = 1, .activates = ".mlp.fc1", .reads_tokens = true};
}
Family family_of(const VitShape& shape) {
  const auto tokens = static_cast<double>(shape.patches() + 1), d = static_cast<double>(shape.width);
  const auto heads = static_cast<double>(shape.heads);
  const bool eva = shape.is_eva02();
  // EVA-02's attention has copies of queries, keys and values, two of which it turns, and its gate
  // gives two activations.
  return {.tokens = tokens,
          .attention = tokens * ((eva ? 4 : 1) * d + heads),
          .attends = eva ? ".attn.v_proj" : ".attn.qkv",
          .activation = eva ? 2.0 : 1.0,
          .activates = eva ? ".mlp.fc1_x" : ".mlp.fc1",
          .scores = heads * tokens * tokens};
}
Family family_of(const Gpt2Shape& shape, double tokens) {
  const auto d = static_cast<double>(shape.width);
  return {.tokens = tokens,
          .attention = tokens * (d + static_cast<double>(shape.heads)),
          .attends = ".attn.c_attn",
          .activation = 1,
          .activates = ".mlp.c_fc",
          .tied = shape.tied ? static_cast<double>(shape.vocabulary) : 0};
}
// Attention turns queries and keys; where keys are shared by heads, they are copied for each.
Family family_of(const LlamaShape& shape, double tokens) {
  const auto queries = static_cast<double>(shape.heads * shape.head_width);
  const auto heads = static_cast<double>(shape.heads);
  const double shared = shape.heads == shape.kv_heads ? 0 : 2 * queries + 3 * heads * tokens;
  return {.tokens = tokens,
          .attention = tokens * (3 * queries + shared),
          .attends = ".self_attn.v_proj",
          .activation = 2,
          .activates = ".mlp.up_proj",
          .tied = shape.tied ? static_cast<double>(shape.vocabulary) : 0};
}

Family family_of(const Blueprint::Shape& shape, const ModelInput& input) {
  const auto tokens = static_cast<double>(input.length);
  if (const auto* gpt2 = std::get_if<Gpt2Shape>(&shape)) return family_of(*gpt2, tokens);
  if (const auto* llama = std::get_if<LlamaShape>(&shape)) return family_of(*llama, tokens);
  return std::visit(
      [](const auto& one) {
        if constexpr (requires { family_of(one); }) return family_of(one);
        return Family();
      },
      shape);
}

std::string layer_of(const std::string& parameter) { return parameter.substr(0, parameter.rfind('.')); }

// The layers of a blueprint, from the input on.
class Layers {
 public:
  Layers(const Blueprint& plan, const ModelInput& input)
      : plan_(plan), family_(family_of(plan.shape, input)), last_(static_cast<double>(input.features)) {
    const auto sizes = graph::sizes_of(plan.graph, input);
    for (std::size_t at = 0; at < sizes.size(); ++at) {
      const auto& place = plan.graph.places[at];
      const bool of_image = std::holds_alternative<graph::Convolution>(place.layer);
      if (!of_image && !(std::holds_alternative<graph::Linear>(place.layer) && family_.reads_tokens))
        continue;
      for (const auto& name : graph::parameter_names(place))
        places_of_[name] = graph::count_of(sizes[at]) / (of_image ? sizes[at].front() : sizes[at].back());
    }
    if (std::holds_alternative<VitShape>(plan.shape)) places_of_.clear();
  }

  std::vector<LayerNumbers> list() {
    for (std::size_t i = 0; i < plan_.parameters.size(); ++i) add(plan_.parameters[i], plan_.trainable[i]);
    if (family_.tied > 0) add_tied();
    return std::move(layers_);
  }

 private:
  void add(const Parameter& parameter, bool trains) {
    const auto size = static_cast<double>(parameter.size());
    const auto name = layer_of(parameter.name);
    // BEiT's biases of queries and of values are one layer.
    const bool is_bias = parameter.name.ends_with(".bias") || parameter.name.ends_with(".v_bias");
    if (is_bias && !layers_.empty() && name == name_) {
      layers_.back().bias = size;
      layers_.back().trains = layers_.back().trains || trains;
      return;
    }
    name_ = name;
    if (parameter.name.ends_with(".relative_position_bias_table")) return add_relative_bias(size, trains);
    LayerNumbers layer{.weights = size, .trains = trains, .trains_weight = trains};
    layer.inputs = last_;
    if (parameter.shape.size() == 4) {
      describe_convolution(parameter, layer);
    } else if (parameter.shape.size() == 2) {
      describe_matrix(parameter, layer);
    } else if (parameter.shape.size() == 3) {  // a class token, a table of positions
      layer.kind = Kind::table;
      layer.outputs = family_.tokens * static_cast<double>(parameter.shape.back());
    } else {
      layer.kind = Kind::normalisation;
      layer.outputs = last_;
      // Mean and deviation of each position.
      layer.beside = 2 * (family_.reads_tokens ? places_ : family_.tokens);
    }
    if (family_.reads_tokens && !layers_.empty() && !reads_input(parameter.name, layer)) {
      layers_.back().unread = layers_.back().outputs;
    }
    last_ = layer.outputs;
    if (family_.pools_stem && layers_.empty()) {
      last_ /= 4;
      layer.beside = 3 * last_;  // what the pool gives, and for each number the place it is of
    }
    if (parameter.name.ends_with(".q_bias")) layer.outputs = 0;  // only the sum with it is kept
    layers_.push_back(layer);
  }

  // Between convolutions and tokens: whether the layer's gradients need what it is given. A
  // convolution has a copy of it.
  bool reads_input(const std::string& parameter, const LayerNumbers& layer) const {
    if (layer.kind == Kind::convolution) return false;
    const bool normalises = layer.kind == Kind::normalisation && !parameter.ends_with(".gamma");
    return normalises || layer.trains || plan_.lora.has_value();
  }

  // A part of attention, which passes nothing on. To train it each sample's scores are formed.
  void add_relative_bias(double size, bool trains) {
    layers_.push_back({.kind = Kind::table,
                       .beside = trains ? 2 * family_.scores : 0,
                       .weights = size,
                       .trains = trains,
                       .trains_weight = trains});
  }

  void describe_convolution(const Parameter& parameter, LayerNumbers& layer) {
    const auto number = [&](std::size_t at) { return static_cast<double>(parameter.shape[at]); };
    const auto places = static_cast<double>(places_at(parameter));
    layer.kind = Kind::convolution;
    layer.standardised = family_.wide;
    layer.places = places_ = places;
    layer.outputs = number(0) * places;
    // It reads what its block reads, of which it may leave out three in four.
    for (const char* shortcut : {".shortcut.", ".downsample."}) {
      if (family_.reads_tokens || parameter.name.find(shortcut) == std::string::npos) continue;
      layer.inputs = number(1) * places * 4;
    }
    const bool one_each = number(1) == 1 && !layers_.empty();
    layer.depthwise = one_each && family_.reads_tokens;
    layer.patches = (one_each ? number(0) : number(1)) * number(2) * number(3) * places;
    if (family_.pools) layer.beside = layer.outputs;
    if (family_.adds && parameter.name.find(".conv2.") != std::string::npos) layer.sum = layer.outputs;
    if (family_.fires && !layers_.empty()) {
      layer.inputs = number(1) * places;
      // What a pool gives to the module, and both branches as one image.
      const bool pooled = layer.inputs != 2 * last_;
      if (pooled && parameter.name.find(".squeeze.") != std::string::npos) layer.beside = layer.inputs;
      if (parameter.name.find(".expand3x3.") != std::string::npos) layer.beside = 2 * layer.outputs;
    }
    const bool strided = number(2) > 1 && layer.inputs > layer.outputs;
    if (family_.reads_tokens && layer.trains && !layers_.empty()) layer.beside = layer.inputs;
    if (family_.pads && strided) layer.beside += 1.3 * layer.inputs;
  }

  void describe_matrix(const Parameter& parameter, LayerNumbers& layer) const {
    auto outputs = static_cast<double>(parameter.shape[0]), inputs = static_cast<double>(parameter.shape[1]);
    if (name_.ends_with("c_attn") || name_.ends_with("c_proj") || name_.ends_with("c_fc")) {
      std::swap(inputs, outputs);
    }
    const bool table = name_.ends_with("wte") || name_.ends_with("wpe") || name_.ends_with("embed_tokens");
    const auto tokens = places_at(parameter) > 1 ? static_cast<double>(places_at(parameter)) : family_.tokens;
    const bool vectors =
        tokens == 0 || (std::holds_alternative<VitShape>(plan_.shape) && plan_.graph.head == name_ + ".");
    layer.kind = table ? Kind::table : vectors ? Kind::vectors : Kind::positions;
    layer.places = vectors ? 1 : tokens;
    layer.outputs = layer.places * (table ? inputs : outputs);
    layer.inputs = table ? 0 : layer.places * inputs;
    if (!family_.attends.empty() && name_.ends_with(family_.attends)) layer.beside = family_.attention;
    if (!family_.activates.empty() && name_.ends_with(family_.activates)) {
      layer.beside = family_.activation * layer.outputs;
      layer.waits = (family_.activation - 1) * layer.outputs;  // a gate
    }
  }

  void add_tied() {
    const auto& table = plan_.parameters.front();
    const bool trains = plan_.trainable.front();
    layers_.push_back({.kind = Kind::positions,
                       .inputs = family_.tokens * static_cast<double>(table.shape.at(1)),
                       .outputs = family_.tokens * family_.tied,
                       .weights = HUGE_VAL,  // never formed
                       .places = family_.tokens,
                       .trains = trains,
                       .trains_weight = trains});
  }

  std::int64_t places_at(const Parameter& parameter) const {
    const auto found = places_of_.find(parameter.name);
    return found == places_of_.end() ? 1 : found->second;
  }

  const Blueprint& plan_;
  Family family_;
  std::map<std::string, std::int64_t> places_of_;
  double last_;        // numbers that the layer before gives
  double places_ = 0;  // of the last convolution
  std::string name_;
  std::vector<LayerNumbers> layers_;
};

// The first layer that trains; their number where none does.
std::size_t lowest_of(const std::vector<LayerNumbers>& layers) {
  std::size_t lowest = 0;
  while (lowest < layers.size() && !layers[lowest].trains) ++lowest;
  return lowest;
}

double recorded_by(const std::vector<LayerNumbers>& layers, std::size_t lowest, bool on_cpu) {
  if (lowest == layers.size()) return 0;
  double given = layers[lowest].inputs, kept = 0;
  for (std::size_t l = lowest; l < layers.size(); ++l) given += layers[l].given();
  double most = given;
  for (std::size_t l = layers.size(); l-- > lowest;) {
    given -= layers[l].given();
    kept += layers[l].kept(on_cpu);
    // What the layer below gave is what this one keeps.
    const double shared = layers[l].keeps_pair(on_cpu) ? std::min(given, layers[l].inputs) : 0;
    most = std::max(most, given + kept - shared);
  }
  return most;
}

// While the rules of this layer and its gradients are computed. The lowest that trains has no
// gradient for its input. A GPU lays out the patches that a convolution's weight reads.
double passing_of(const LayerNumbers& layer, bool is_lowest, bool on_cpu) {
  // Between positions, from which a norm is computed without the gradient.
  const bool by_pairs =
      layer.kind == Kind::positions && layer.trains_weight && layer.inputs + layer.outputs < layer.weights;
  const double pairs = by_pairs ? 3 * layer.places * layer.places : 0;
  const double around =
      is_lowest ? layer.outputs + std::min(layer.inputs, layer.outputs) : 2 * (layer.inputs + layer.outputs);
  const double patches = layer.trains_weight && !on_cpu ? layer.patches : 0;
  return around + layer.beside + pairs + patches;
}

// While it computes what it gives: a shortcut beside it holds its input, and a convolution's
// activation is other memory than its own result.
double forward_of(const LayerNumbers& layer) {
  if (layer.kind == Kind::vectors) return layer.inputs + layer.outputs + layer.beside;
  const double results = layer.kind == Kind::convolution ? 2 * layer.outputs : layer.outputs;
  return 2 * layer.inputs + results + layer.beside + layer.waits;
}

}  // namespace

Result<StepMemory> step_memory(const std::string& model, const json::object& options, const ModelInput& input,
                               bool on_cpu) {
  const auto plan = blueprint(model, options, input);
  if (!plan) return plan.error();
  const auto layers = Layers(*plan, input).list();
  StepMemory memory;
  for (const auto& parameter : plan->parameters) memory.parameters += static_cast<double>(parameter.size());
  memory.trained = static_cast<double>(plan->trainable_count());
  const auto lowest = lowest_of(layers);
  memory.recorded = recorded_by(layers, lowest, on_cpu);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto& layer = layers[l];
    memory.forward = std::max(memory.forward, forward_of(layer));
    if (l >= lowest) memory.passing = std::max(memory.passing, passing_of(layer, l == lowest, on_cpu));
    // A convolution's sum is added up in float64; the others' where it belongs.
    if (layer.trains_weight && std::isfinite(layer.weights)) {
      memory.fixed = std::max(memory.fixed, (layer.kind == Kind::convolution ? 4 : 1) * layer.weights);
    }
  }
  // The image as bytes and, where no record or layer has it already, as numbers; what the loss
  // makes of the outputs.
  const auto features = static_cast<double>(input.features), outputs = 3 * layers.back().outputs;
  memory.passing += (lowest > 0 ? 1.25 : 0.25) * features + outputs;
  memory.forward += (layers.size() > 1 ? 1.25 : 0.25) * features + outputs;
  // Sums over patches (conv2d.cpp, standardised_conv2d.cpp), and what LibTorch's convolutions keep
  // for themselves, as measured: programs and weights in another order.
  constexpr double kConvolutions = 1 << 24;
  if (std::ranges::any_of(layers, [](const auto& layer) { return layer.kind == Kind::convolution; })) {
    memory.fixed += kConvolutions;
  }
  return memory;
}

}  // namespace hyfreedp::models
