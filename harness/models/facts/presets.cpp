#include "harness/models/facts/presets.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/facts/weights_source.h"

namespace hyfreedp::models {
namespace {

bool given(const json::object& options, const char* key) {
  const auto* value = options.if_contains(key);
  return value != nullptr && !value->is_null();
}

// A size by name, or a folder, leaves no room for explicit sizes.
Result<void> only(const std::string& model, const json::object& options, const char* decides,
                  const std::vector<const char*>& others) {
  for (const char* other : others) {
    if (!given(options, other)) continue;
    return error(fmt::format("model {}: '{}' decides this; leave '{}' out.", model, decides, other));
  }
  return {};
}

Result<void> need_sequence(const std::string& model, const ModelInput& input) {
  if (input.is_sequence()) return {};
  return error(fmt::format("model {}: the dataset has no sequences of tokens. Use one that has.", model));
}

Result<void> fits_sequence(const std::string& model, std::int64_t vocabulary, std::int64_t positions,
                           const ModelInput& input) {
  if (vocabulary < input.vocabulary) {
    return error(fmt::format("model {}: its vocabulary of {} is smaller than the dataset's {}.", model,
                             vocabulary, input.vocabulary));
  }
  if (positions < input.length) {
    return error(fmt::format("model {}: its {} positions are fewer than the dataset's {} tokens.", model,
                             positions, input.length));
  }
  return {};
}

// The weights folder's config.json; its path goes to `where`. Of known weights that are not here
// yet what the network is called.
Result<json::object> config_of(const json::object& options, std::string& where) {
  const auto name = string_or(options, "weights", "");
  const auto folder = locate_weights(name);
  if (!folder) {
    const auto* known = find_pretrained(name);
    if (known == nullptr) return folder.error();
    where = "weights " + name;
    return json::object{{"architecture", known->architecture}};
  }
  where = *folder + "/config.json";
  return weights_config(*folder);
}

// Tables of relative biases are of one number of patches, and are not resampled.
Result<void> fits_tables(const VitShape& shape, const std::string& where, const ModelInput& input) {
  if (!shape.relative_bias || input.image[1] == shape.image) return {};
  return error(fmt::format(
      "{}: its biases of attention are of images of {} pixels a side, the dataset's have {}. Give the "
      "dataset 'side: {}', or use weights for {} pixels.",
      where, shape.image, input.image[1], shape.image, input.image[1]));
}

Result<Blueprint::Shape> vit(const json::object& options, const ModelInput& input, VitShape shape) {
  const auto family = shape.family;
  const std::string model = shape.model();
  auto where = "model " + model;
  if (!input.is_image() || input.image[1] != input.image[2]) {
    return error(where + ": the dataset has no square images. Use one that has, or its pixels.");
  }
  const auto pool = string_or(options, "pool", "");
  if (given(options, "weights")) {
    std::vector<const char*> decided = {"size", "patch", "width", "depth", "heads"};
    // What the file's own head reads; blocks are joined for a new one.
    if (!pool.starts_with("block-")) decided.push_back("pool");
    if (auto alone = only(model, options, "weights", decided); !alone) return alone.error();
    const auto config = config_of(options, where);
    if (!config) return config.error();
    const auto read = VitShape::from_json(*config, where, family);
    if (!read) return read.error();
    shape = *read;
    if (auto fits = fits_tables(shape, where, input); !fits) return fits.error();
    if (shape.channels != input.image[0]) {
      return error(fmt::format("{}: the weights take images of {} channel(s), the dataset has {}.", where,
                               shape.channels, input.image[0]));
    }
  } else if (given(options, "size")) {
    if (auto alone = only(model, options, "size", {"patch", "width", "depth", "heads"}); !alone)
      return alone.error();
    const auto named = VitShape::named(string_or(options, "size", ""), where, family);
    if (!named) return named.error();
    shape = *named;
  } else {
    shape.patch = int_or(options, "patch", 4);
    shape.width = int_or(options, "width", 64);
    shape.depth = int_or(options, "depth", 4);
    shape.heads = int_or(options, "heads", 4);
  }
  if (!pool.empty()) {
    const bool known = shape.set_pool(pool);
    HYFREEDP_CHECK(known, "the option 'pool' has a choice that shapes do not know");
  }
  shape.image = input.image[1];
  shape.channels = input.image[0];
  shape.classes = input.classes;
  if (auto checked = shape.check("model " + model); !checked) return checked.error();
  return Blueprint::Shape(shape);
}

// Of a network that was trained on colour images: square ones of kChannels and kLeastSide.
template <class Shape>
Result<void> fits_images(const ModelInput& input, const std::string& where) {
  if (!input.is_image() || input.image[1] != input.image[2]) {
    return error(where + ": the dataset has no square images. Use one that has, or its pixels.");
  }
  if (input.image[0] == Shape::kChannels && input.image[1] >= Shape::kLeastSide) return {};
  return error(
      fmt::format("{}: it takes images of {} channels and at least {} pixels a side, the dataset "
                  "has {} channel(s) and {} pixels. Use the dataset's 'side', or another model.",
                  where, Shape::kChannels, Shape::kLeastSide, input.image[0], input.image[1]));
}

// An option that is a list of sizes, and the shape's function that takes it.
template <class Shape>
using SizeList = std::pair<const char*, Result<void> (Shape::*)(const json::array&, const std::string&)>;

// Such a network with the sizes of its weights folder, of the option `size`, or of its lists.
template <class Shape>
Result<Shape> sized(const std::string& model, const json::object& options, const ModelInput& input,
                    const std::vector<SizeList<Shape>>& lists) {
  std::string where = "model " + model;
  if (auto fits = fits_images<Shape>(input, where); !fits) return fits.error();
  Shape shape;
  std::vector<const char*> others;
  others.reserve(lists.size() + 1);
  for (const auto& [name, set] : lists) others.push_back(name);
  if (given(options, "weights")) {
    others.push_back("size");
    if (auto alone = only(model, options, "weights", others); !alone) return alone.error();
    const auto config = config_of(options, where);
    if (!config) return config.error();
    const auto read = Shape::from_json(*config, where);
    if (!read) return read.error();
    shape = *read;
  } else if (given(options, "size")) {
    if (auto alone = only(model, options, "size", others); !alone) return alone.error();
    const auto named = Shape::named(string_or(options, "size", ""), where);
    if (!named) return named.error();
    shape = *named;
  }
  for (const auto& [name, set] : lists) {
    if (!given(options, name)) continue;
    if (auto done = (shape.*set)(options.at(name).as_array(), where); !done) return done.error();
  }
  shape.side = input.image[1];
  shape.classes = input.classes;
  return shape;
}

Result<Blueprint::Shape> squeezenet(const json::object& options, const ModelInput& input) {
  using Shape = SqueezeNetShape;
  auto shape = sized<Shape>("squeezenet", options, input,
                            {{"widths", &Shape::set_widths}, {"squeeze", &Shape::set_squeezes}});
  if (!shape) return shape.error();
  if (string_or(options, "head", "new") == "new") shape->head = Shape::Head::mean_then_linear;
  return Blueprint::Shape(*shape);
}

Result<Blueprint::Shape> efficientnet_lite(const json::object& options, const ModelInput& input) {
  using Shape = EfficientNetLiteShape;
  const auto shape = sized<Shape>("efficientnet-lite", options, input,
                                  {{"widths", &Shape::set_widths}, {"blocks", &Shape::set_blocks}});
  if (!shape) return shape.error();
  return Blueprint::Shape(*shape);
}

Result<Blueprint::Shape> resnet_imagenet(const json::object& options, const ModelInput& input) {
  using Shape = ResnetImagenetShape;
  const std::string model = "resnet-imagenet";
  for (const char* decides : {"weights", "size"}) {
    if (!given(options, decides)) continue;
    if (auto alone = only(model, options, decides, {"block"}); !alone) return alone.error();
  }
  auto shape =
      sized<Shape>(model, options, input, {{"widths", &Shape::set_widths}, {"blocks", &Shape::set_blocks}});
  if (!shape) return shape.error();
  if (given(options, "block")) {
    if (auto set = shape->set_kind(string_or(options, "block", ""), "model " + model); !set)
      return set.error();
  }
  return Blueprint::Shape(*shape);
}

Result<Blueprint::Shape> convnext(const json::object& options, const ModelInput& input) {
  using Shape = ConvnextShape;
  const auto shape = sized<Shape>("convnext", options, input,
                                  {{"widths", &Shape::set_widths}, {"blocks", &Shape::set_blocks}});
  if (!shape) return shape.error();
  return Blueprint::Shape(*shape);
}

Result<Blueprint::Shape> gpt2(const json::object& options, const ModelInput& input) {
  if (auto sequence = need_sequence("gpt2", input); !sequence) return sequence.error();
  Gpt2Shape shape;
  if (given(options, "weights")) {
    if (auto alone = only("gpt2", options, "weights", {"size", "width", "depth", "heads"}); !alone)
      return alone.error();
    std::string where;
    const auto config = config_of(options, where);
    if (!config) return config.error();
    const auto read = Gpt2Shape::from_json(*config, where);
    if (!read) return read.error();
    shape = *read;
  } else if (given(options, "size")) {
    if (auto alone = only("gpt2", options, "size", {"width", "depth", "heads"}); !alone) return alone.error();
    const auto named = Gpt2Shape::named(string_or(options, "size", ""), "model gpt2");
    if (!named) return named.error();
    shape = *named;
  } else {
    shape.vocabulary = input.vocabulary;
    shape.positions = input.length;
    shape.width = int_or(options, "width", 64);
    shape.depth = int_or(options, "depth", 2);
    shape.heads = int_or(options, "heads", 4);
    shape.hidden = 4 * shape.width;
  }
  // Padding lies to the right of the tokens, where a causal network does not look.
  shape.masked = false;
  if (shape.width % shape.heads != 0) return error("model gpt2: 'width' is not a multiple of 'heads'.");
  if (auto fits = fits_sequence("gpt2", shape.vocabulary, shape.positions, input); !fits) return fits.error();
  return Blueprint::Shape(shape);
}

Result<Blueprint::Shape> llama(const json::object& options, const ModelInput& input) {
  if (auto sequence = need_sequence("llama", input); !sequence) return sequence.error();
  const std::vector<const char*> sizes = {"width", "depth", "heads", "kv_heads", "hidden"};
  json::object config;
  std::string where = "model llama";
  if (given(options, "weights")) {
    if (auto alone = only("llama", options, "weights", {"size"}); !alone) return alone.error();
    if (auto alone = only("llama", options, "weights", sizes); !alone) return alone.error();
    auto read = config_of(options, where);
    if (!read) return read.error();
    config = std::move(*read);
  } else if (given(options, "size")) {
    if (auto alone = only("llama", options, "size", sizes); !alone) return alone.error();
    auto named = LlamaShape::named_config(string_or(options, "size", ""), where);
    if (!named) return named.error();
    config = std::move(*named);
  } else {
    const auto width = int_or(options, "width", 64);
    const auto heads = int_or(options, "heads", 4);
    config = {{"vocab_size", input.vocabulary},
              {"hidden_size", width},
              {"intermediate_size", int_or(options, "hidden", 3 * width)},
              {"num_hidden_layers", int_or(options, "depth", 2)},
              {"num_attention_heads", heads},
              {"num_key_value_heads", int_or(options, "kv_heads", heads)}};
  }
  auto shape = LlamaShape::from_json(config, where);
  if (!shape) return shape.error();
  shape->masked = false;  // as for GPT-2
  if (auto fits = fits_sequence("llama", shape->vocabulary, input.length, input); !fits) return fits.error();
  return Blueprint::Shape(std::move(*shape));
}

// Networks of the same name in other programs are another model here.
Result<void> not_for_imagenet(const json::object& options) {
  if (!given(options, "weights")) return {};
  std::string where;
  const auto config = config_of(options, where);
  if (!config || !ResnetImagenetShape::from_json(*config, where)) return {};
  return error(where +
               ": these are weights of the model resnet-imagenet. The model resnet has GroupNorms, and takes "
               "only weights that this program kept.");
}

Result<void> need_vectors(const std::string& model, const ModelInput& input) {
  if (!input.is_sequence()) return {};
  return error(fmt::format(
      "model {}: it takes vectors of numbers, but the dataset has sequences of tokens. Use gpt2 or llama.",
      model));
}

Result<void> read_program(const json::object& options, const std::string& model, const ModelInput& input,
                          MlpShape& shape) {
  const bool has_width = given(options, "program_features");
  if (given(options, "program") != has_width) {
    return error(fmt::format(
        "model {}: 'program' and 'program_features', the numbers that it gives of a sample, need each other.",
        model));
  }
  if (!has_width) return {};
  shape.program = string_or(options, "program", "");
  shape.program_sha256 = string_or(options, "program_sha256", "");
  shape.image = input.image;
  shape.inputs = input.features;
  shape.features = int_or(options, "program_features", 0);
  return {};
}

std::string default_targets(const std::string& name) {
  if (name == "vit" || name == "beit" || name == "clip") return "attn.qkv";
  if (name == "eva02") return "attn.q_proj,attn.v_proj";
  if (name == "convnext") return "mlp.fc1,mlp.fc2";
  return name == "gpt2" ? "attn.c_attn" : "self_attn.q_proj,self_attn.v_proj";
}

std::vector<std::string> comma_separated(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : text + ",") {
    if (c == ' ') continue;
    if (c != ',') {
      part.push_back(c);
      continue;
    }
    if (!part.empty()) parts.push_back(part);
    part.clear();
  }
  return parts;
}

using FromFolder = Result<std::string> (*)(const std::string&);

// Fills in KEY_sha256 of the folder that option KEY names, or compares with what the options say.
Result<void> complete_checksum(json::object& options, const std::string& key, FromFolder locate,
                               FromFolder checksum_of) {
  const auto name = key + "_sha256";
  const bool has_checksum = given(options, name.c_str());
  if (!given(options, key.c_str())) {
    if (has_checksum)
      return error(fmt::format("'{}' has no effect without '{}'; give both or neither.", name, key));
    return {};
  }
  const auto value = string_or(options, key, "");
  const auto folder = locate(value);
  if (!folder) return key == "weights" && find_pretrained(value) != nullptr ? Result<void>() : folder.error();
  const auto checksum = checksum_of(*folder);
  if (!checksum) return checksum.error();
  if (has_checksum && string_or(options, name, "") != *checksum) {
    return error(fmt::format("{}: the checksum of the {} is {}, but '{}' is {}.", *folder, key, *checksum,
                             name, string_or(options, name, "")));
  }
  options[name] = *checksum;
  return {};
}

}  // namespace

Result<Blueprint::Shape> shape_of(const std::string& name, const json::object& options,
                                  const ModelInput& input) {
  for (const auto family :
       {VitShape::Family::vit, VitShape::Family::beit, VitShape::Family::clip, VitShape::Family::eva02}) {
    const auto shape = VitShape::of(family);
    if (name == shape.model()) return vit(options, input, shape);
  }
  if (name == "efficientnet-lite") return efficientnet_lite(options, input);
  if (name == "squeezenet") return squeezenet(options, input);
  if (name == "resnet-imagenet") return resnet_imagenet(options, input);
  if (name == "convnext") return convnext(options, input);
  if (name == "gpt2") return gpt2(options, input);
  if (name == "llama") return llama(options, input);
  if (name == "resnet" || name == "wrn-16-4") {
    if (auto suits = not_for_imagenet(options); !suits) return suits.error();
    auto shape = name == "resnet" ? resnet_shape(options, input) : wide_resnet_shape(options, input);
    if (!shape) return shape.error();
    return Blueprint::Shape(std::move(*shape));
  }
  if (name == "cnn") {
    const auto shape = cnn_shape(options, input);
    if (!shape) return shape.error();
    return Blueprint::Shape(*shape);
  }
  if (auto vectors = need_vectors(name, input); !vectors) return vectors.error();
  MlpShape shape{.features = input.features, .hidden = {}, .classes = input.classes};
  if (name == "linear") shape.bias = bool_or(options, "bias", true);
  if (name == "mlp") {
    shape.relu = string_or(options, "activation", "tanh") == "relu";
    for (const auto& width : options.at("hidden").as_array())
      shape.hidden.push_back(width.to_number<std::int64_t>());
  }
  if (auto read = read_program(options, name, input, shape); !read) return read.error();
  return Blueprint::Shape(std::move(shape));
}

Result<std::optional<Lora>> lora_of(const std::string& name, const json::object& options) {
  const auto trainable = string_or(options, "trainable", "full");
  const bool adapts = trainable == "lora" || trainable == "lora-head";
  if (given(options, "adapter")) {
    if (!adapts) {
      return error(
          fmt::format("model {}: 'adapter' needs 'trainable: lora' or lora-head, not {}.", name, trainable));
    }
    if (auto alone = only(name, options, "adapter", {"lora_alpha", "lora_targets"}); !alone)
      return alone.error();
    const auto folder = locate_adapter(string_or(options, "adapter", ""));
    if (!folder) return folder.error();
    auto read = read_adapter_config(*folder);
    if (!read) return read.error();
    return std::optional<Lora>(std::move(*read));
  }
  if (!adapts) return std::optional<Lora>();
  Lora lora;
  lora.rank = int_or(options, "lora_rank", 8);
  lora.alpha = double_or(options, "lora_alpha", static_cast<double>(lora.rank));
  lora.targets = comma_separated(given(options, "lora_targets") ? string_or(options, "lora_targets", "")
                                                                : default_targets(name));
  if (lora.targets.empty()) return error("model " + name + ": 'lora_targets' names no layer.");
  return std::optional<Lora>(std::move(lora));
}

Result<json::object> complete_options(json::object options) {
  if (auto weights = complete_checksum(options, "weights", locate_weights, weights_checksum); !weights) {
    return weights.error();
  }
  if (auto adapter = complete_checksum(options, "adapter", locate_adapter, adapter_checksum); !adapter) {
    return adapter.error();
  }
  if (auto program = complete_checksum(options, "program", locate_program, program_checksum); !program) {
    return program.error();
  }
  return options;
}

}  // namespace hyfreedp::models
