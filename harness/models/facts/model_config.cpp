#include "harness/models/facts/model_config.h"

namespace hyfreedp::models {
namespace {

json::array numbers(const std::vector<std::int64_t>& values) {
  return json::array(values.begin(), values.end());
}

struct Writer {
  json::object operator()(const MlpShape& shape) const {
    json::object config{{"model_type", "hyfreedp-mlp"},
                        {"features", shape.features},
                        {"hidden", numbers(shape.hidden)},
                        {"classes", shape.classes},
                        {"activation", shape.relu ? "relu" : "tanh"},
                        {"bias", shape.bias}};
    if (!shape.program.empty()) config["program_sha256"] = shape.program_sha256;
    return config;
  }

  json::object operator()(const CnnShape& shape) const {
    return {{"model_type", "hyfreedp-cnn"}, {"channels", shape.channels},
            {"side", shape.side},           {"filters", json::array{shape.filters1, shape.filters2}},
            {"hidden", shape.hidden},       {"classes", shape.classes}};
  }

  json::object operator()(const ResnetShape& shape) const {
    return {{"model_type", shape.wide ? "hyfreedp-wide-resnet" : "hyfreedp-resnet"},
            {"channels", shape.channels},
            {"side", shape.side},
            {"stem", shape.stem},
            {"widths", numbers(shape.widths)},
            {"blocks", shape.blocks},
            {"groups", shape.groups},
            {"classes", shape.classes}};
  }

  json::object operator()(const EfficientNetLiteShape& shape) const {
    auto widths = numbers({shape.widths.begin(), shape.widths.end()});
    widths.insert(widths.begin(), shape.stem);
    widths.push_back(shape.top);
    return {{"model_type", EfficientNetLiteShape::kOwnType},
            {"widths", widths},
            {"blocks", numbers({shape.blocks.begin(), shape.blocks.end()})},
            {"classes", shape.classes}};
  }

  json::object operator()(const SqueezeNetShape& shape) const {
    auto widths = numbers({shape.branches.begin(), shape.branches.end()});
    widths.insert(widths.begin(), shape.stem);
    const bool is_linear = shape.head == SqueezeNetShape::Head::mean_then_linear;
    return {{"model_type", SqueezeNetShape::kOwnType},
            {"widths", widths},
            {"squeeze", numbers({shape.squeezes.begin(), shape.squeezes.end()})},
            {"head", is_linear ? "linear" : "convolution"},
            {"classes", shape.classes}};
  }

  json::object operator()(const ResnetImagenetShape& shape) const {
    using Shape = ResnetImagenetShape;
    auto widths = numbers({shape.widths.begin(), shape.widths.end()});
    widths.insert(widths.begin(), shape.stem);
    json::object config{{"model_type", Shape::kOwnType},
                        {"widths", widths},
                        {"blocks", numbers({shape.blocks.begin(), shape.blocks.end()})},
                        {"block", shape.kind == Shape::Kind::basic ? Shape::kBasic : Shape::kBottleneck},
                        {"classes", shape.classes}};
    if (shape.for_cifar) config["for_cifar"] = true;
    return config;
  }

  json::object operator()(const ConvnextShape& shape) const {
    return {{"architecture", "convnext_tiny"},
            {"num_classes", shape.classes},
            {"num_features", shape.features()},
            {"model_args", json::object{{"depths", numbers({shape.blocks.begin(), shape.blocks.end()})},
                                        {"dims", numbers({shape.widths.begin(), shape.widths.end()})},
                                        {"num_classes", shape.classes}}},
            {"pretrained_cfg",
             json::object{{"input_size", json::array{ConvnextShape::kChannels, shape.side, shape.side}},
                          {"num_classes", shape.classes},
                          {"first_conv", "stem.0"},
                          {"classifier", "head.fc"}}}};
  }

  json::object operator()(const VitShape& shape) const {
    const char* pool = shape.pool_name();
    const char* architecture = "vit_tiny_patch16_224";
    if (shape.is_beit()) architecture = "beit_base_patch16_224";
    if (shape.is_clip()) architecture = "vit_base_patch16_clip_224";
    if (shape.is_eva02()) architecture = "eva02_base_patch14_224";
    json::object args{
        {"img_size", shape.image},    {"patch_size", shape.patch},  {"embed_dim", shape.width},
        {"depth", shape.depth},       {"num_heads", shape.heads},   {"mlp_ratio", shape.mlp_ratio},
        {"in_chans", shape.channels}, {"qkv_bias", shape.qkv_bias}, {"global_pool", pool}};
    if (shape.is_beit()) {
      args["use_abs_pos_emb"] = shape.positions;
      args["use_rel_pos_bias"] = shape.relative_bias;
      args["init_values"] = shape.layer_scale > 0 ? json::value(shape.layer_scale) : json::value(nullptr);
    }
    if (shape.is_clip()) args["act_layer"] = shape.quick_gelu ? "quick_gelu" : "gelu";
    return {
        {"architecture", architecture},
        {"num_classes", shape.classes},
        {"num_features", shape.features()},
        {"global_pool", pool},
        {"model_args", args},
        {"pretrained_cfg", json::object{{"input_size", json::array{shape.channels, shape.image, shape.image}},
                                        {"fixed_input_size", true},
                                        {"num_classes", shape.classes},
                                        {"first_conv", "patch_embed.proj"},
                                        {"classifier", "head"}}}};
  }

  json::object operator()(const Gpt2Shape& shape) const {
    return {{"model_type", "gpt2"},
            {"architectures", json::array{"GPT2LMHeadModel"}},
            {"vocab_size", shape.vocabulary},
            {"n_positions", shape.positions},
            {"n_embd", shape.width},
            {"n_layer", shape.depth},
            {"n_head", shape.heads},
            {"n_inner", shape.hidden},
            {"activation_function", "gelu_new"},
            {"layer_norm_epsilon", shape.eps},
            {"resid_pdrop", 0.0},
            {"embd_pdrop", 0.0},
            {"attn_pdrop", 0.0},
            {"tie_word_embeddings", shape.tied}};
  }

  json::object operator()(const LlamaShape& shape) const {
    return {{"model_type", "llama"},
            {"architectures", json::array{"LlamaForCausalLM"}},
            {"vocab_size", shape.vocabulary},
            {"hidden_size", shape.width},
            {"intermediate_size", shape.hidden},
            {"num_hidden_layers", shape.depth},
            {"num_attention_heads", shape.heads},
            {"num_key_value_heads", shape.kv_heads},
            {"head_dim", shape.head_width},
            {"hidden_act", "silu"},
            {"max_position_embeddings", shape.positions},
            {"rms_norm_eps", shape.eps},
            {"rope_theta", shape.rope_theta},
            {"rope_scaling", shape.rope_scaling.empty() ? json::value(nullptr) : shape.rope_scaling},
            {"attention_bias", shape.attention_bias},
            {"mlp_bias", shape.mlp_bias},
            {"tie_word_embeddings", shape.tied}};
  }
};

}  // namespace

json::object model_config(const Blueprint::Shape& shape) { return std::visit(Writer{}, shape); }

bool has_sizes_of_folder(const Blueprint::Shape& shape) {
  return !std::holds_alternative<MlpShape>(shape) && !std::holds_alternative<CnnShape>(shape) &&
         !std::holds_alternative<ResnetShape>(shape);
}

}  // namespace hyfreedp::models
