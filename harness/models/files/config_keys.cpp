#include "harness/models/files/config_keys.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>
#include <vector>

#include "harness/base/text.h"

namespace hyfreedp::models {
namespace {

enum class Holds { anything, whole, number, flag, text, list, object };

struct KnownKey {
  std::string name;
  Holds holds = Holds::anything;
  json::array only = {};  // empty: every value
  std::string advice = {};
};
using Keys = std::vector<KnownKey>;

struct Table {
  const char* network;  // whose this is, as a message says it
  const char* advice;   // against a value that makes another network
  Keys keys;
};

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text);
  std::vector<std::string> list;
  for (std::string word; stream >> word;) list.push_back(word);
  return list;
}

// `names` are separated by spaces.
Keys used(Holds holds, const char* names) {
  Keys keys;
  for (const auto& name : words(names)) keys.push_back({.name = name, .holds = holds});
  return keys;
}
Keys harmless(const char* names) { return used(Holds::anything, names); }
// `values`: a list in JSON.
Keys only(const char* values, const char* names, const char* advice = "") {
  Keys keys;
  for (const auto& name : words(names)) {
    keys.push_back({.name = name, .only = json::parse(values).as_array(), .advice = advice});
  }
  return keys;
}
Keys joined(const std::vector<Keys>& lists) {
  Keys all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

constexpr const char* kOtherWeights = "Use the weights of another network, or another model.";

// Of every network of transformers.
Keys of_transformers() {
  return joined(
      {harmless("_name_or_path _commit_hash _attn_implementation _attn_implementation_autoset "
                "attn_implementation transformers_version transformers.js_config dtype torch_dtype "
                "torchscript use_bfloat16 tf_legacy_loss use_cache return_dict return_dict_in_generate "
                "output_attentions output_hidden_states output_scores chunk_size_feed_forward is_decoder "
                "finetuning_task id2label label2id num_labels _num_labels problem_type tokenizer_class "
                "prefix bos_token_id eos_token_id pad_token_id sep_token_id unk_token_id "
                "decoder_start_token_id task_specific_params initializer_range gradient_checkpointing "
                "unsloth_fixed unsloth_version"),
       // Of generating text.
       harmless("max_length min_length do_sample early_stopping num_beams num_beam_groups "
                "diversity_penalty temperature top_k top_p typical_p repetition_penalty length_penalty "
                "no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids num_return_sequences "
                "forced_bos_token_id forced_eos_token_id remove_invalid_values "
                "exponential_decay_length_penalty suppress_tokens begin_suppress_tokens"),
       only("[null, false]", "is_encoder_decoder add_cross_attention tie_encoder_decoder"),
       only("[null]", "cross_attention_hidden_size"), only("[null, {}]", "pruned_heads"),
       only("[null]", "auto_map", "It names code of its own, which is not run here."),
       only("[null]", "quantization_config", "Save the weights without quantization.")});
}

Keys of_gpt2() {
  return joined(
      {of_transformers(), used(Holds::whole, "vocab_size n_positions n_embd n_layer n_head n_inner"),
       used(Holds::number, "layer_norm_epsilon"), used(Holds::flag, "tie_word_embeddings"),
       only(R"(["gpt2"])", "model_type"), only(R"(["GPT2LMHeadModel", "GPT2Model"])", "architectures"),
       only(R"([null, "gelu_new"])", "activation_function"), only("[null, true]", "scale_attn_weights"),
       only("[null, false]", "scale_attn_by_inverse_layer_idx"),
       harmless("n_ctx reorder_and_upcast_attn resid_pdrop embd_pdrop attn_pdrop output_past summary_type "
                "summary_use_proj summary_activation summary_proj_to_labels summary_first_dropout")});
}

Keys of_llama() {
  return joined({of_transformers(),
                 used(Holds::whole,
                      "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads "
                      "num_key_value_heads head_dim max_position_embeddings"),
                 used(Holds::number, "rms_norm_eps rope_theta"),
                 used(Holds::flag, "tie_word_embeddings attention_bias mlp_bias"),
                 used(Holds::object, "rope_scaling rope_parameters"), only(R"(["llama"])", "model_type"),
                 only(R"(["LlamaForCausalLM", "LlamaModel"])", "architectures"),
                 only(R"([null, "silu"])", "hidden_act"),
                 only("[null, 1]", "partial_rotary_factor no_rope_layers"), only("[null]", "sliding_window"),
                 only(R"([null, "full_attention"])", "layer_types"),
                 only("[null, false]", "use_sliding_window rope_interleaved use_qk_norm qk_norm"),
                 harmless("attention_dropout pretraining_tp max_sequence_length is_llama_config")});
}

Keys of_llama_rotary() {
  return joined({used(Holds::text, "rope_type type"),
                 used(Holds::number,
                      "rope_theta factor low_freq_factor high_freq_factor original_max_position_embeddings"),
                 only("[null, 1]", "partial_rotary_factor attention_factor")});
}

Keys of_timm() {
  return joined(
      {used(Holds::text, "architecture global_pool"), used(Holds::whole, "num_classes"),
       used(Holds::object, "model_args"),
       harmless("num_features label_names label_descriptions labels id2label label2id pretrained_cfg"),
       // What pretrained_cfg has, which older folders have here.
       harmless("url file hf_hub_id hf_hub_filename source tag custom_load input_size test_input_size "
                "min_input_size fixed_input_size interpolation crop_pct test_crop_pct crop_mode mean std "
                "label_offset pool_size test_pool_size first_conv classifier license description origin_url "
                "paper_name paper_ids notes")});
}

Keys of_every_timm_network() {
  return joined({used(Holds::whole, "num_classes"), harmless("drop_rate drop_path_rate")});
}

// Of the vision transformers' model_args. `img_size` and `patch_size` may be pairs.
Keys of_transformer_arguments() {
  return joined({of_every_timm_network(), harmless("img_size patch_size"),
                 used(Holds::whole, "embed_dim depth num_heads in_chans"), used(Holds::number, "mlp_ratio"),
                 used(Holds::flag, "qkv_bias"), used(Holds::text, "global_pool"),
                 harmless("pos_drop_rate patch_drop_rate proj_drop_rate attn_drop_rate weight_init fix_init "
                          "dynamic_img_size head_init_scale"),
                 only("[false]", "dynamic_img_pad")});
}

Keys of_vit_or_clip_arguments(const char* pre_norm) {
  return joined({of_transformer_arguments(),
                 only("[false]", "qk_norm scale_attn_norm scale_mlp_norm no_embed_class pool_include_prefix"),
                 only("[true]", "proj_bias class_token final_norm"), only(R"(["learn"])", "pos_embed"),
                 only("[0]", "reg_tokens"), only("[null]", "init_values fc_norm embed_norm_layer"),
                 only(pre_norm, "pre_norm")});
}

Keys of_beit_arguments() {
  return joined({of_transformer_arguments(), used(Holds::flag, "use_abs_pos_emb use_rel_pos_bias"),
                 used(Holds::number, "init_values"),
                 only("[false]", "swiglu_mlp scale_mlp use_shared_rel_pos_bias"),
                 only("[null]", "use_fc_norm")});
}

Keys of_eva02_arguments() {
  return joined(
      {of_transformer_arguments(),
       only("[true]", "swiglu_mlp scale_mlp use_rot_pos_emb use_abs_pos_emb class_token"),
       only("[false]",
            "qkv_fused qk_norm scale_attn_inner attn_only_layer_scale no_embed_class use_post_norm "
            "use_pre_transformer_norm rope_rotate_half"),
       only("[null]", "num_kv_heads init_values rope_mrope_section use_post_transformer_norm use_fc_norm"),
       only("[0]", "swiglu_align_to num_reg_tokens rope_grid_offset"), only(R"(["eva"])", "attn_type"),
       only(R"(["cat"])", "rope_type"), only(R"(["ij"])", "rope_grid_indexing"),
       only("[10000]", "rope_temperature"), only("[16]", "ref_feat_shape"),
       // Random shifts while timm trains; heads that pool by attention, which there are none of.
       harmless("rope_shift_coords rope_jitter_coords rope_rescale_coords attn_pool_num_heads "
                "attn_pool_mlp_ratio")});
}

// Of the convolutional networks' model_args.
Keys of_convolutional_arguments() {
  return joined({of_every_timm_network(), only("[3]", "in_chans"), only(R"(["avg"])", "global_pool"),
                 only("[32]", "output_stride")});
}

Keys of_convnext_arguments() {
  return joined({of_convolutional_arguments(), used(Holds::list, "depths dims"),
                 harmless("ls_init_value head_init_scale"), only("[7]", "kernel_sizes"),
                 only(R"(["patch"])", "stem_type"), only("[4]", "patch_size"),
                 only("[false]", "head_norm_first conv_mlp use_grn"), only("[true]", "conv_bias"),
                 only("[null]", "head_hidden_size norm_layer"), only(R"(["gelu"])", "act_layer"),
                 only("[null, 1e-6]", "norm_eps")});
}

Keys of_resnet_arguments() {
  return joined({of_convolutional_arguments(), used(Holds::list, "channels layers"),
                 harmless("drop_block_rate zero_init_last"), only("[64]", "base_width stem_width"),
                 only("[1]", "cardinality block_reduce_first down_kernel_size"), only(R"([""])", "stem_type"),
                 only("[false]", "replace_stem_pool avg_down"), only(R"(["relu"])", "act_layer"),
                 only("[null]", "aa_layer"), only("[null, {}]", "block_args")});
}

Keys of_efficientnet_lite_arguments() {
  return joined({of_convolutional_arguments(), harmless("bn_momentum"), only("[0.001]", "bn_eps"),
                 only(R"(["same"])", "pad_type"), only(R"(["relu6"])", "act_layer")});
}

constexpr const char* kChangedBase =
    "Such an adapter belongs to base weights that were changed when it was made; peft turns it into a plain "
    "one: save_pretrained(..., path_initial_model_for_weight_conversion=...).";

Keys of_adapter() {
  return joined(
      {used(Holds::whole, "r"), used(Holds::number, "lora_alpha"), used(Holds::flag, "use_rslora"),
       used(Holds::list, "target_modules"), only(R"(["LORA"])", "peft_type"),
       only(R"([null, true, false, "gaussian", "eva", "orthogonal", "mica"])", "init_lora_weights",
            kChangedBase),
       only(R"([null, "none"])", "bias"), only("[null, false]", "use_dora use_qalora lora_bias"),
       only("[null, {}]", "rank_pattern alpha_pattern"),
       only("[null, []]",
            "modules_to_save layers_to_transform exclude_modules target_parameters layer_replication "
            "trainable_token_indices alora_invocation_tokens"),
       only("[null]", "use_bdlora arrow_config kasa_config velora_config monteclora_config"),
       // What has no effect without the values refused above, and how peft itself computes.
       harmless("lora_dropout fan_in_fan_out inference_mode base_model_name_or_path revision task_type "
                "auto_mapping peft_version layers_pattern megatron_config megatron_core loftq_config "
                "eva_config corda_config lora_ga_config qalora_group_size runtime_config "
                "ensure_weight_tying")});
}

Keys of_kept(const char* lists) {
  return joined({used(Holds::text, "model_type"), used(Holds::whole, "classes"), used(Holds::list, lists)});
}

Table make_table(ConfigKeys keys) {
  switch (keys) {
    case ConfigKeys::gpt2:
      return {"the network of the model gpt2", kOtherWeights, of_gpt2()};
    case ConfigKeys::llama:
      return {"the network of the model llama", kOtherWeights, of_llama()};
    case ConfigKeys::llama_rotary:
      return {"the network of the model llama", kOtherWeights, of_llama_rotary()};
    case ConfigKeys::timm:
      return {"the network that 'architecture' names", kOtherWeights, of_timm()};
    case ConfigKeys::vit_arguments:
      return {"the network of the model vit", kOtherWeights,
              joined({of_vit_or_clip_arguments("[false]"), only(R"([null, "gelu"])", "act_layer"),
                      only(R"([null, "layernorm"])", "norm_layer")})};
    case ConfigKeys::clip_arguments:
      return {
          "the network of the model clip", kOtherWeights,
          joined({of_vit_or_clip_arguments("[true]"), only(R"([null, "gelu", "quick_gelu"])", "act_layer")})};
    case ConfigKeys::beit_arguments:
      return {"the network of the model beit", kOtherWeights, of_beit_arguments()};
    case ConfigKeys::eva02_arguments:
      return {"the network of the model eva02", kOtherWeights, of_eva02_arguments()};
    case ConfigKeys::convnext_arguments:
      return {"the network of the model convnext", kOtherWeights, of_convnext_arguments()};
    case ConfigKeys::resnet_arguments:
      return {"the network of the model resnet-imagenet", kOtherWeights, of_resnet_arguments()};
    case ConfigKeys::efficientnet_lite_arguments:
      return {"the network of the model efficientnet-lite", kOtherWeights, of_efficientnet_lite_arguments()};
    case ConfigKeys::kept_resnet:
      return {"the network of the model resnet-imagenet", kOtherWeights,
              joined({of_kept("widths blocks"), used(Holds::text, "block"), used(Holds::flag, "for_cifar")})};
    case ConfigKeys::kept_efficientnet_lite:
      return {"the network of the model efficientnet-lite", kOtherWeights, of_kept("widths blocks")};
    case ConfigKeys::kept_squeezenet:
      return {"the network of the model squeezenet", kOtherWeights,
              joined({of_kept("widths squeeze"), used(Holds::text, "head")})};
    case ConfigKeys::adapter:
      return {"a plain LoRA adapter", "Use an adapter without it.", of_adapter()};
  }
  return {};
}

// Numbers are the same whether or not they have a point.
bool is_same(const json::value& left, const json::value& right) {
  if (left.is_number() && right.is_number()) return left.to_number<double>() == right.to_number<double>();
  return left == right;
}

bool is_one_of(const json::value& value, const json::array& known) {
  const auto is_known = [&](const json::value& one) {
    return std::ranges::any_of(known, [&](const json::value& other) { return is_same(one, other); });
  };
  return is_known(value) || (value.is_array() && std::ranges::all_of(value.get_array(), is_known));
}

bool is_of(Holds holds, const json::value& value) {
  if (value.is_null()) return true;
  switch (holds) {
    case Holds::anything:
      return true;
    case Holds::whole:
      return value.is_int64();
    case Holds::number:
      return value.is_number();
    case Holds::flag:
      return value.is_bool();
    case Holds::text:
      return value.is_string();
    case Holds::list:
      return value.is_array();
    case Holds::object:
      return value.is_object();
  }
  return false;
}

const char* name_of(Holds holds) {
  constexpr const char* kNames[] = {"anything", "a whole number", "a number", "true or false",
                                    "a text",   "a list",         "an object"};
  return kNames[static_cast<std::size_t>(holds)];
}

std::string listed_values(const json::array& values) {
  std::vector<std::string> texts;
  for (const auto& value : values) texts.push_back(canonical_json(value));
  return join(texts, " or ");
}

}  // namespace

Result<void> check_keys(ConfigKeys keys, const json::object& config, const std::string& where) {
  const auto table = make_table(keys);
  std::vector<std::string> names, other, unknown;
  for (const auto& key : table.keys) names.push_back(key.name);
  std::string advice = table.advice, meant;
  for (const auto& item : config) {
    const std::string name(item.key());
    const auto known = std::ranges::find(table.keys, name, &KnownKey::name);
    if (known == table.keys.end()) {
      unknown.push_back(fmt::format("'{}' ({})", name, shown(item.value())));
      if (meant.empty()) meant = did_you_mean(name, names);
      continue;
    }
    if (!is_of(known->holds, item.value())) {
      return error(fmt::format("{}: '{}' must be {}, not {}.", where, name, name_of(known->holds),
                               shown(item.value())));
    }
    if (known->only.empty() || is_one_of(item.value(), known->only)) continue;
    if (!known->advice.empty()) advice = known->advice;
    other.push_back(fmt::format("'{}' is {}, where only {} is supported", name, shown(item.value()),
                                listed_values(known->only)));
    // Another architecture, whose further keys say nothing more.
    if (name == "model_type" || name == "peft_type") {
      other = {other.back()};
      break;
    }
  }
  if (!other.empty()) {
    return error(fmt::format("{}: this is not {}: {}. {}", where, table.network, join(other, "; "), advice));
  }
  if (unknown.empty()) return {};
  return error(fmt::format(
      "{}: {} not known here, so this may not be {}.{} What does not change the numbers that come out may "
      "be taken out of the file.",
      where, join(unknown, ", ") + (unknown.size() == 1 ? " is" : " are"), table.network, meant));
}

std::string timm_architecture(const json::object& config) {
  const auto* const name = config.if_contains("architecture");
  return name != nullptr && name->is_string() ? std::string(name->get_string()) : std::string();
}

json::object timm_arguments(const json::object& config) {
  const auto* const arguments = config.if_contains("model_args");
  return arguments != nullptr && arguments->is_object() ? arguments->get_object() : json::object();
}

}  // namespace hyfreedp::models
