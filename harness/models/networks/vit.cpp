#include "harness/models/networks/vit.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "harness/models/files/config_keys.h"
#include "harness/models/files/size_lists.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

struct Size {
  const char* prefix;
  VitShape::Family family;
  std::int64_t width, depth, heads;
  double layer_scale = 0;
  double mlp_ratio = 4;
};
constexpr auto kVit = VitShape::Family::vit;
constexpr auto kBeit = VitShape::Family::beit;
constexpr auto kClip = VitShape::Family::clip;
constexpr auto kEva02 = VitShape::Family::eva02;
constexpr double kGated = 4.0 * 2 / 3;
constexpr Size kSizes[] = {{"vit_tiny_patch", kVit, 192, 12, 3},
                           {"vit_small_patch", kVit, 384, 12, 6},
                           {"vit_base_patch", kVit, 768, 12, 12},
                           {"vit_large_patch", kVit, 1024, 24, 16},
                           {"vit_base_patch", kClip, 768, 12, 12},
                           {"vit_large_patch", kClip, 1024, 24, 16},
                           {"vit_huge_patch", kClip, 1280, 32, 16},
                           {"vit_giant_patch", kClip, 1408, 40, 16, 0, 48.0 / 11},
                           {"vit_gigantic_patch", kClip, 1664, 48, 16, 0, 64.0 / 13},
                           {"beit_base_patch", kBeit, 768, 12, 12, 0.1},
                           {"beit_large_patch", kBeit, 1024, 24, 16, 1e-5},
                           {"beitv2_base_patch", kBeit, 768, 12, 12, 1e-5},
                           {"beitv2_large_patch", kBeit, 1024, 24, 16, 1e-5},
                           {"eva02_base_patch", kEva02, 768, 12, 12, 0, kGated},
                           {"eva02_large_patch", kEva02, 1024, 24, 16, 0, kGated}};
using Pool = VitShape::Pool;
constexpr std::pair<const char*, Pool> kPools[] = {{"token", Pool::class_token},
                                                   {"avg", Pool::mean},
                                                   {"block-tokens", Pool::block_tokens},
                                                   {"block-quarters", Pool::block_quarters}};
constexpr double kBeitLayerScale = 0.1;
constexpr std::int64_t kMostLength = 65536;
constexpr std::int64_t kMostBlocks = 1000;

struct Family {
  VitShape::Family family;
  const char* model;
  const char* names;  // of sizes
};
constexpr Family kFamilies[] = {{kVit, "vit", "vit_{tiny|small|base|large}_patch{P}_{image}"},
                                {kBeit, "beit", "{beit|beitv2}_{base|large}_patch{P}_{image}"},
                                {kClip, "clip",
                                 "vit_{base|large|huge|giant|gigantic}_patch{P}_clip_{image}, with "
                                 "clip_quickgelu for OpenAI's activation"},
                                {kEva02, "eva02", "eva02_{base|large}_patch{P}_{image}"}};

const Family& facts_of(VitShape::Family family) {
  return *std::ranges::find(kFamilies, family, &Family::family);
}

bool takes(std::string_view& text, std::string_view begin) {
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  return true;
}

bool takes_number(std::string_view& text, std::int64_t& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return true;
}

// The shape that an architecture's name gives; nothing if the name is not known.
std::optional<VitShape> read_name(const std::string& name) {
  const auto digits = name.find("_patch");
  if (digits == std::string::npos) return {};
  const auto prefix = name.substr(0, digits + 6);
  auto rest = std::string_view(name).substr(prefix.size());
  std::int64_t patch = 0, image = 0;
  if (!takes_number(rest, patch) || !takes(rest, "_")) return {};
  const bool clip = takes(rest, "clip_");
  const bool quick = clip && takes(rest, "quickgelu_");
  if (!takes_number(rest, image) || (!rest.empty() && rest.front() != '.')) return {};
  for (const auto& size : kSizes) {
    if (prefix != size.prefix || clip != (size.family == kClip)) continue;
    auto shape = VitShape::of(size.family);
    shape.patch = patch;
    shape.image = image;
    shape.quick_gelu = quick;
    shape.width = size.width;
    shape.depth = size.depth;
    shape.heads = size.heads;
    shape.layer_scale = size.layer_scale;
    shape.mlp_ratio = size.mlp_ratio;
    return shape;
  }
  return {};
}

// The keys of model_args that all families share. `img_size` and `patch_size` may be pairs.
Keys of_transformer_arguments() {
  return keys::joined(
      {keys::of_every_timm_network(), keys::harmless("img_size patch_size"),
       keys::used(Holds::whole, "embed_dim depth num_heads in_chans"), keys::used(Holds::number, "mlp_ratio"),
       keys::used(Holds::flag, "qkv_bias"), keys::used(Holds::text, "global_pool"),
       keys::harmless("pos_drop_rate patch_drop_rate proj_drop_rate attn_drop_rate weight_init fix_init "
                      "dynamic_img_size head_init_scale"),
       keys::only("[false]", "dynamic_img_pad")});
}

Keys of_vit_or_clip_arguments(const char* pre_norm) {
  return keys::joined(
      {of_transformer_arguments(),
       keys::only("[false]", "qk_norm scale_attn_norm scale_mlp_norm no_embed_class pool_include_prefix"),
       keys::only("[true]", "proj_bias class_token final_norm"), keys::only(R"(["learn"])", "pos_embed"),
       keys::only("[0]", "reg_tokens"), keys::only("[null]", "init_values fc_norm embed_norm_layer"),
       keys::only(pre_norm, "pre_norm")});
}

Keys of_beit_arguments() {
  return keys::joined({of_transformer_arguments(),
                       keys::used(Holds::flag, "use_abs_pos_emb use_rel_pos_bias"),
                       keys::used(Holds::number, "init_values"),
                       keys::only("[false]", "swiglu_mlp scale_mlp use_shared_rel_pos_bias"),
                       keys::only("[null]", "use_fc_norm")});
}

Keys of_eva02_arguments() {
  return keys::joined(
      {of_transformer_arguments(),
       keys::only("[true]", "swiglu_mlp scale_mlp use_rot_pos_emb use_abs_pos_emb class_token"),
       keys::only("[false]",
                  "qkv_fused qk_norm scale_attn_inner attn_only_layer_scale no_embed_class use_post_norm "
                  "use_pre_transformer_norm rope_rotate_half"),
       keys::only("[null]",
                  "num_kv_heads init_values rope_mrope_section use_post_transformer_norm use_fc_norm"),
       keys::only("[0]", "swiglu_align_to num_reg_tokens rope_grid_offset"),
       keys::only(R"(["eva"])", "attn_type"), keys::only(R"(["cat"])", "rope_type"),
       keys::only(R"(["ij"])", "rope_grid_indexing"), keys::only("[10000]", "rope_temperature"),
       keys::only("[16]", "ref_feat_shape"),
       // Random shifts while timm trains; heads that pool by attention, which there are none of.
       keys::harmless("rope_shift_coords rope_jitter_coords rope_rescale_coords attn_pool_num_heads "
                      "attn_pool_mlp_ratio")});
}

// The keys of model_args that a family has.
ConfigKeys keys_of(VitShape::Family family) {
  const std::string model = facts_of(family).model;
  switch (family) {
    case kBeit:
      return keys_of_model(model, of_beit_arguments());
    case kClip:
      return keys_of_model(model, keys::joined({of_vit_or_clip_arguments("[true]"),
                                                keys::only(R"([null, "gelu", "quick_gelu"])", "act_layer")}));
    case kEva02:
      return keys_of_model(model, of_eva02_arguments());
    case kVit:
      break;
  }
  return keys_of_model(
      model, keys::joined({of_vit_or_clip_arguments("[false]"), keys::only(R"([null, "gelu"])", "act_layer"),
                           keys::only(R"([null, "layernorm"])", "norm_layer")}));
}

// Tables of relative biases are of one number of patches, and are not resampled.
Result<void> fits_tables(const VitShape& shape, const std::string& where, const ModelInput& input) {
  if (!shape.relative_bias || input.image[1] == shape.image) return {};
  return error(fmt::format(
      "{}: its biases of attention are of images of {} pixels a side, the dataset's have {}. Give the "
      "dataset 'side: {}', or use weights for {} pixels.",
      where, shape.image, input.image[1], shape.image, input.image[1]));
}

struct VitOptions {
  std::int64_t patch = 4;
  BlockOptions blocks{.depth = 4};
  std::optional<std::string> pool;
  static constexpr std::array kInlined = {"blocks"};
};
BOOST_DESCRIBE_STRUCT(VitOptions, (), (patch, blocks, pool))

Result<VitShape> shape_of_folder(const Request& request, VitShape::Family family) {
  const auto folder = request.folder();
  if (!folder) return folder.error();
  auto shape = VitShape::from_json(folder->config, folder->where, family);
  if (!shape) return shape;
  if (auto fits = fits_tables(*shape, folder->where, request.input); !fits) return fits.error();
  if (shape->channels == request.input.image[0]) return shape;
  return error(fmt::format("{}: the weights take images of {} channel(s), the dataset has {}.", folder->where,
                           shape->channels, request.input.image[0]));
}

Result<VitShape> shape_of(const Request& request, const VitOptions& own, VitShape::Family family) {
  auto once = decided_once(request, {"size", "patch", "width", "depth", "heads"});
  // The folder decides the pool of its own head; only a new head can join blocks.
  if (once && !own.pool.value_or("").starts_with("block-"))
    once = decides_alone(request.where(), request.options, "weights", {"pool"});
  if (!once) return once.error();
  if (given(request.options, "weights")) return shape_of_folder(request, family);
  if (own.blocks.size) return VitShape::named(*own.blocks.size, request.where(), family);
  auto shape = VitShape::of(family);
  shape.patch = own.patch;
  shape.width = own.blocks.width;
  shape.depth = own.blocks.depth;
  shape.heads = own.blocks.heads;
  return shape;
}

template <VitShape::Family family>
Result<Description> describe(const Request& request) {
  if (auto square = need_square_images(request); !square) return square.error();
  const auto own = read_options<VitOptions>(request.options);
  auto shape = shape_of(request, own, family);
  if (!shape) return shape.error();
  const bool known = !own.pool || shape->set_pool(*own.pool);
  HYFREEDP_CHECK(known, "the option 'pool' has a choice that shapes do not know");
  shape->image = request.input.image[1];
  shape->channels = request.input.image[0];
  shape->classes = request.input.classes;
  if (auto checked = shape->check(request.where()); !checked) return checked.error();
  auto description = description_of(*shape);
  // The norm that is before the file's own head.
  if (shape->joins_blocks()) description.ignored = {"norm.", "fc_norm."};
  return description;
}

// `pool` says what is the default.
template <VitShape::Family family>
Facts vision_transformer(const std::string& pool, const std::string& targets = "attn.qkv",
                         const std::string& sizes = facts_of(family).names) {
  auto own = block_table(sizes + "; the image is the dataset's");
  own.insert(own.begin() + 1, count("patch", 1024, "pixels a side of a patch"));
  own.push_back(choice_option("pool", {"token", "mean", "block-tokens", "block-quarters"},
                              "what the head reads: class token, or mean of the patches" + pool +
                                  "; or, joined from every block, its class token or the means of four "
                                  "quarters of its patches"));
  return {.name = facts_of(family).model,
          .options = with_adapters(may_be_absent(options_of<VitOptions>(std::move(own))), targets, true),
          .microbatch = 16,
          .example = {.dataset = "synthetic-images",
                      .dataset_options = small_images(),
                      .options = {{"width", 16}, {"depth", 2}, {"heads", 2}}},
          .adapter_targets = targets,
          .describe = describe<family>};
}

}  // namespace

const char* VitShape::model() const { return facts_of(family).model; }

std::int64_t VitShape::features() const {
  if (!joins_blocks()) return width;
  return depth * width * (pool == Pool::block_quarters ? kQuarters : 1);
}

const char* VitShape::pool_name() const {
  for (const auto& [name, value] : kPools) {
    if (value == pool) return name;
  }
  return kPools[0].first;
}

bool VitShape::set_pool(const std::string& name) {
  for (const auto& [known, value] : kPools) {
    if (name != known && !(value == Pool::mean && name == "mean")) continue;
    pool = value;
    return true;
  }
  return false;
}

VitShape VitShape::of(Family family) {
  VitShape shape;
  shape.family = family;
  if (family == Family::eva02) {
    shape.pool = Pool::mean;
    shape.mlp_ratio = kGated;
  }
  if (family != Family::beit) return shape;
  shape.pool = Pool::mean;
  shape.positions = false;
  shape.relative_bias = true;
  shape.layer_scale = kBeitLayerScale;
  return shape;
}

Result<VitShape> VitShape::named(const std::string& name, const std::string& where, Family family) {
  const auto shape = read_name(name);
  if (!shape) {
    return error(where + ": architecture '" + name + "' is not known. Sizes: " + facts_of(family).names +
                 ".");
  }
  if (shape->family == family) return *shape;
  return error(
      fmt::format("{}: architecture '{}' is one of the model {}, not of {}. Use '{}' as the model "
                  "or network.",
                  where, name, shape->model(), facts_of(family).model, shape->model()));
}

Result<void> VitShape::check(const std::string& where) const {
  const auto bad = [&](const std::string& what) { return error(where + ": " + what + "."); };
  // The bounds of the options: beyond them the number of a tensor's entries would overflow.
  if (std::max({image, patch, width, heads}) > kMostLength || depth > kMostBlocks ||
      mlp_ratio > kMostLength) {
    return bad("image, patch, width, heads and mlp_ratio must be at most " + std::to_string(kMostLength) +
               ", depth at most " + std::to_string(kMostBlocks));
  }
  if (patch < 1 || image < patch || image % patch != 0) {
    return bad("the image's " + std::to_string(image) + " pixels are not a multiple of the patch's " +
               std::to_string(patch));
  }
  if (heads < 1 || width < 1 || width % heads != 0) {
    return bad("the width " + std::to_string(width) + " is not a multiple of " + std::to_string(heads) +
               " heads");
  }
  if (depth < 1 || classes < 1 || channels < 1 || !(mlp_ratio > 0)) {
    return bad("depth, classes, channels and mlp_ratio must be positive");
  }
  if (pool == Pool::block_quarters && patches() < kQuarters) {
    return bad("the image has fewer than four patches, of which block-quarters are made");
  }
  if (is_eva02() && width / heads % 4 != 0) {
    return bad("each head's width must be a multiple of 4, for rotations by row and column");
  }
  if (!(layer_scale >= 0)) return bad("init_values must be null or a positive number");
  return {};
}

Result<VitShape> VitShape::from_json(const json::object& config, const std::string& where, Family family) {
  const auto architecture = timm_architecture(config);
  if (architecture.empty()) {
    return error(where +
                 ": 'architecture' is missing, by which timm names a network. Of networks of images timm's "
                 "folders are read (timm.models.save_for_hf), not those of transformers.");
  }
  auto shape = named(architecture, where, family);
  if (!shape && !read_name(architecture)) {
    return error(
        shape.error().message +
        " A network of other sizes takes one of these names, and says its own in 'model_args': img_size, "
        "patch_size, embed_dim, depth, num_heads (harness/models/README.md).");
  }
  if (!shape) return shape;
  const auto read = timm_arguments(keys_of(family), config, where);
  if (!read) return read.error();
  const auto& args = *read;
  const auto inside = where + ": model_args";
  const auto image = square_side(args, "img_size", shape->image, inside);
  if (!image) return image.error();
  const auto patch = square_side(args, "patch_size", shape->patch, inside);
  if (!patch) return patch.error();
  shape->image = *image;
  shape->patch = *patch;
  shape->width = int_or(args, "embed_dim", shape->width);
  shape->depth = int_or(args, "depth", shape->depth);
  shape->heads = int_or(args, "num_heads", shape->heads);
  shape->mlp_ratio = double_or(args, "mlp_ratio", shape->mlp_ratio);
  shape->channels = int_or(args, "in_chans", shape->channels);
  shape->qkv_bias = bool_or(args, "qkv_bias", shape->qkv_bias);
  shape->positions = bool_or(args, "use_abs_pos_emb", shape->positions);
  shape->relative_bias = bool_or(args, "use_rel_pos_bias", shape->relative_bias);
  if (shape->is_clip()) {
    const auto activation = string_or(args, "act_layer", shape->quick_gelu ? "quick_gelu" : "gelu");
    shape->quick_gelu = activation == "quick_gelu";
  }
  if (const auto* scale = args.if_contains("init_values")) {
    shape->layer_scale = scale->is_null() ? 0 : double_or(args, "init_values", shape->layer_scale);
  }
  // timm's networks without a head have 0 classes.
  const auto classes = int_or(args, "num_classes", int_or(config, "num_classes", 0));
  if (classes != 0) shape->classes = classes;
  const auto pool = string_or(args, "global_pool", string_or(config, "global_pool", shape->pool_name()));
  if (!shape->set_pool(pool)) return error(where + ": global_pool '" + pool + "' is not token or avg");
  if (auto checked = shape->check(where); !checked) return checked.error();
  return shape;
}

json::object model_config(const VitShape& shape) {
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

Facts vit_facts() {
  auto facts = vision_transformer<kVit>("");
  facts.title = "vision transformer";
  facts.source = "Dosovitskiy et al., arXiv:2010.11929; names and weights of timm";
  return facts;
}

Facts beit_facts() {
  auto facts = vision_transformer<kBeit>(" (the default)");
  facts.title = "BEiT and BEiTv2, vision transformers with relative positions";
  facts.source = "Bao et al., arXiv:2106.08254; Peng et al., arXiv:2208.06366; names and weights of timm";
  return facts;
}

Facts clip_facts() {
  auto facts = vision_transformer<kClip>(
      "", "attn.qkv",
      "vit_{base|large|huge|giant|gigantic}_patch{P}_clip_{image}, or with clip_quickgelu_{image} OpenAI's");
  facts.title = "image towers of CLIP, vision transformers with a norm before the blocks";
  facts.source =
      "Radford et al., arXiv:2103.00020; Cherti et al., arXiv:2212.07143; names and weights of timm";
  facts.normalise = "clip";
  return facts;
}

Facts eva02_facts() {
  auto facts = vision_transformer<kEva02>(" (the default)", "attn.q_proj,attn.v_proj");
  facts.title = "EVA-02, vision transformers with rotations by place and gated layers";
  facts.source = "Fang et al., arXiv:2303.11331; names and weights of timm";
  facts.normalise = "clip";
  return facts;
}

}  // namespace hyfreedp::models
