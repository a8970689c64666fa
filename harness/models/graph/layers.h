// The kinds of layer as plain structs, without LibTorch: sizes, initial values, and names of
// parameters that stand alone. A network is a list of them (graph.h). The class of the same name in
// harness/models/layers has the forward pass and the rules of per-sample gradients;
// make_layer (harness/models/layers/make_layer.h) makes it from the struct.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace hyfreedp::models {

// The initial distribution of a tensor. `scale` is the constant, the standard deviation, or the
// bound of a uniform distribution. `truncated` is a normal that is redrawn beyond two standard
// deviations (of the untruncated normal, as in timm).
struct Initial {
  enum class Kind { constant, normal, truncated, uniform };
  Kind kind = Kind::constant;
  double scale = 0;
};
// Normal with deviation sqrt(2 / inputs) (He et al., arXiv:1502.01852), and uniform within
// 1 / sqrt(inputs), for a layer each of whose outputs reads so many values.
Initial he_normal(std::int64_t inputs);
Initial uniform_by_inputs(std::int64_t inputs);

struct Conv2dShape {
  std::int64_t inputs = 1;
  std::int64_t outputs = 1;
  std::array<std::int64_t, 2> kernel{1, 1};
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> padding{0, 0};
  std::array<std::int64_t, 2> dilation{1, 1};
  std::int64_t groups = 1;
  bool with_bias = true;

  // Values that each output reads.
  std::int64_t reads() const { return inputs / groups * kernel[0] * kernel[1]; }
};

// Rotation frequencies [head_dim / 2]; see networks/llama.h for their scaling.
struct Rotary {
  std::vector<double> frequencies;
  double scale = 1;  // factor of the rotated vectors
};

// Rotation i of a half turns by place * trained_side / side * 10000^(-i / (head_width / 4)).
struct GridRotation {
  std::int64_t side = 1;          // patches a side
  std::int64_t trained_side = 1;  // the same of the images that the network was first trained on
};

// layers/attention.h says what each part means.
struct AttentionShape {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_width = 1;
  bool packed = true;  // true: one input qkv
  bool causal = false;
  bool masked = false;       // true: the last input is a mask, or the ids of the tokens
  std::int64_t padding = 0;  // the value of that input at positions which none attends to
  std::optional<Rotary> rotary = {};
  std::optional<GridRotation> grid = {};
  std::int64_t side = 0;  // 0: no bias

  // True where the scores of `tokens` are one tensor. LibTorch's fused attention, which keeps no
  // scores, multiplies each head of each sample on its own, which takes several times as long on a
  // CPU for few tokens in a type of 16 bits (`is_narrow`).
  static bool forms_scores(std::int64_t tokens, bool on_cpu, bool is_narrow) {
    return on_cpu && is_narrow && tokens <= 128;
  }

  // Rows of a table of relative biases: one for each distance, three of the class token.
  std::int64_t distances() const { return (2 * side - 1) * (2 * side - 1) + 3; }
};

namespace graph {

// Layers with parameters. Biases, and the shifts of norms, start at zero.
struct Linear {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  bool with_bias = true;
  bool transposed = false;  // the weight is [in, out]
  Initial weight = {};
};
struct Convolution {
  Conv2dShape shape;
  Initial weight = {};
  Initial bias = {};
  bool standardised = false;  // its weights are, before each application
};
struct GroupNorm {
  std::int64_t groups = 1;
  std::int64_t channels = 0;
  double eps = 1e-5;
};
struct LayerNorm {
  std::int64_t width = 0;
  double eps = 1e-5;
};
struct RmsNorm {
  std::int64_t width = 0;
  double eps = 1e-6;
};
// Looks up ids; applied to vectors [T, width] it is the output projection, tied to the table.
struct Embedding {
  std::int64_t rows = 0;
  std::int64_t width = 0;
  Initial table = {};
};
// `parameter` here and in the next two: the parameter's name after the place's name and a dot, or
// the whole name if the place has none.
struct Positions {
  std::string parameter = "weight";
  std::vector<std::int64_t> shape;  // ends in [T, width]
  Initial table = {};
  std::int64_t first = 0;  // row of the first token
};
struct ClassToken {
  std::string parameter;
  std::int64_t width = 0;
  Initial token = {};
};
struct Scale {
  std::string parameter;
  std::int64_t width = 0;
  Initial factors = {};
};
struct QueryValueBias {
  std::string prefix;  // of both names
  std::int64_t width = 0;
};
struct Attention {
  AttentionShape shape;  // where it has a side, there is a table
};

// Layers without.
struct Program {
  std::string file;  // of torch.jit.save
  std::array<std::int64_t, 3> image = {};
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
};
struct Activation {
  enum class Kind { tanh, relu, relu6, gelu, gelu_by_tanh, quick_gelu, gated_silu };
  Kind kind = Kind::relu;
};
struct Unflatten {
  std::vector<std::int64_t> shape;
};
struct Flatten {};
struct ZeroPad {
  std::int64_t before = 0;  // at the left and at the top
  std::int64_t after = 0;
};
struct PlacesToTokens {};
struct TokensToPlaces {
  std::int64_t side = 0;
};
struct MaxPool {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  bool pools_remainder = false;
};
struct MeanPlaces {};
struct MeanTokens {
  std::int64_t first = 0;
};
// Its inputs are tokens and their ids.
struct MeanUnpadded {
  std::int64_t padding = 0;
};
// Segment numbers of ids: 0 up to and including the first separator, 1 after it.
struct Segments {
  std::int64_t separator = 0;
};
struct MeansOfTokens {
  std::int64_t first = 0;
  std::int64_t count = 1;
  std::int64_t length = 1;
};
struct FirstToken {};
struct Add {
  double scale = 1;  // of the second input
};
struct Concatenate {};

using Layer = std::variant<Linear, Convolution, GroupNorm, LayerNorm, RmsNorm, Embedding, Positions,
                           ClassToken, Scale, QueryValueBias, Attention, Program, Activation, Unflatten,
                           Flatten, ZeroPad, PlacesToTokens, TokensToPlaces, MaxPool, MeanPlaces, MeanTokens,
                           MeanUnpadded, Segments, MeansOfTokens, FirstToken, Add, Concatenate>;

// The shape of what a layer reads or gives for one sample.
using Sizes = std::vector<std::int64_t>;
std::int64_t count_of(const Sizes& sizes);

struct LayerParameter {
  std::string name;  // within the layer
  Sizes shape;
  Initial initial;
};
// The layer's parameters, in the order of its class.
std::vector<LayerParameter> parameters_of(const Layer& layer);
// The sizes of the layer's output for inputs of these sizes. Masks are not among them; ids are [T].
Sizes output_sizes(const Layer& layer, std::span<const Sizes> inputs);

}  // namespace graph
}  // namespace hyfreedp::models
