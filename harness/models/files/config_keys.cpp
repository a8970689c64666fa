#include "harness/models/files/config_keys.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>

#include "harness/base/text.h"

namespace hyfreedp::models {
namespace {

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text);
  std::vector<std::string> list;
  for (std::string word; stream >> word;) list.push_back(word);
  return list;
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

namespace keys {

Keys used(Holds holds, const char* names) {
  Keys keys;
  for (const auto& name : words(names)) keys.push_back({.name = name, .holds = holds});
  return keys;
}
Keys harmless(const char* names) { return used(Holds::anything, names); }
Keys only(const char* values, const char* names, const char* advice) {
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

Keys of_transformers() {
  return joined(
      {harmless(
           "_name_or_path _commit_hash _attn_implementation _attn_implementation_autoset attn_implementation "
           "transformers_version transformers.js_config dtype torch_dtype torchscript use_bfloat16 "
           "tf_legacy_loss use_cache return_dict return_dict_in_generate output_attentions "
           "output_hidden_states output_scores chunk_size_feed_forward is_decoder finetuning_task id2label "
           "label2id num_labels _num_labels problem_type tokenizer_class prefix bos_token_id eos_token_id "
           "pad_token_id sep_token_id unk_token_id decoder_start_token_id task_specific_params "
           "initializer_range gradient_checkpointing unsloth_fixed unsloth_version"),
       // Settings for generating text.
       harmless("max_length min_length do_sample early_stopping num_beams num_beam_groups diversity_penalty "
                "temperature top_k top_p typical_p repetition_penalty length_penalty no_repeat_ngram_size "
                "encoder_no_repeat_ngram_size bad_words_ids num_return_sequences forced_bos_token_id "
                "forced_eos_token_id remove_invalid_values exponential_decay_length_penalty suppress_tokens "
                "begin_suppress_tokens"),
       only("[null, false]", "is_encoder_decoder add_cross_attention tie_encoder_decoder"),
       only("[null]", "cross_attention_hidden_size"), only("[null, {}]", "pruned_heads"),
       only("[null]", "auto_map", "It names code of its own, which is not run here."),
       only("[null]", "quantization_config", "Save the weights without quantization.")});
}

Keys of_every_timm_network() {
  return joined({used(Holds::whole, "num_classes"), harmless("drop_rate drop_path_rate")});
}

Keys of_convolutional_arguments() {
  return joined({of_every_timm_network(), only("[3]", "in_chans"), only(R"(["avg"])", "global_pool"),
                 only("[32]", "output_stride")});
}

Keys of_kept(const char* lists) {
  return joined({used(Holds::text, "model_type"), used(Holds::whole, "classes"), used(Holds::list, lists)});
}

}  // namespace keys

ConfigKeys keys_of_model(const std::string& model, Keys keys) {
  return {.network = "the network of the model " + model, .keys = std::move(keys)};
}

Result<void> check_keys(const ConfigKeys& table, const json::object& config, const std::string& where) {
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
  return error(
      fmt::format("{}: {} not known here, so this may not be {}.{} What does not change the numbers that "
                  "come out may be taken out of the file.",
                  where, join(unknown, ", ") + (unknown.size() == 1 ? " is" : " are"), table.network, meant));
}

std::string timm_architecture(const json::object& config) {
  const auto* const name = config.if_contains("architecture");
  return name != nullptr && name->is_string() ? std::string(name->get_string()) : std::string();
}

Result<void> check_timm_keys(const json::object& config, const std::string& where) {
  const auto known = keys::joined(
      {keys::used(Holds::text, "architecture global_pool"), keys::used(Holds::whole, "num_classes"),
       keys::used(Holds::object, "model_args"),
       keys::harmless("num_features label_names label_descriptions labels id2label label2id pretrained_cfg"),
       // The keys of pretrained_cfg, which older folders have here.
       keys::harmless("url file hf_hub_id hf_hub_filename source tag custom_load input_size test_input_size "
                      "min_input_size fixed_input_size interpolation crop_pct test_crop_pct crop_mode mean "
                      "std label_offset pool_size test_pool_size first_conv classifier license description "
                      "origin_url paper_name paper_ids notes")});
  return check_keys({.network = "the network that 'architecture' names", .keys = known}, config, where);
}

Result<json::object> timm_arguments(const ConfigKeys& known, const json::object& config,
                                    const std::string& where) {
  if (auto around = check_timm_keys(config, where); !around) return around.error();
  const auto* const given = config.if_contains("model_args");
  const auto arguments = given != nullptr && given->is_object() ? given->get_object() : json::object();
  if (auto inside = check_keys(known, arguments, where + ": model_args"); !inside) return inside.error();
  return arguments;
}

}  // namespace hyfreedp::models
