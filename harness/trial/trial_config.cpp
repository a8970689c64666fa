#include "harness/trial/trial_config.h"

#include "harness/base/files.h"

namespace hyfreedp::trial {
namespace {

Result<const json::object*> object_at(const json::object& object, const char* key, const std::string& where) {
  const auto* found = object.if_contains(key);
  if (found == nullptr || !found->is_object()) {
    return error(where + ": '" + key + "' must be an object");
  }
  return &found->get_object();
}

Result<Named> named_at(const json::object& object, const char* key, const std::string& where) {
  const auto inner = object_at(object, key, where);
  if (!inner) return inner.error();
  const std::string inner_where = where + "." + key;
  auto name = get_string(**inner, "name", inner_where);
  if (!name) return name.error();
  auto options = object_at(**inner, "options", inner_where);
  if (!options) return options.error();
  return Named{*name, **options};
}

}  // namespace

json::object to_json(const Named& named) { return {{"name", named.name}, {"options", named.options}}; }

json::object TrialConfig::to_json() const {
  json::object evaluation_json{{"every", evaluation.every},
                               {"oracle_validation", evaluation.oracle_validation},
                               {"score_noise_counts", nullptr}};
  if (evaluation.score) evaluation_json["score_noise_counts"] = evaluation.score->noise_counts;
  if (evaluation.gradient_norms) evaluation_json["gradient_norms"] = true;
  if (evaluation.oracle_train) evaluation_json["oracle_train"] = true;
  if (evaluation.released_norms) evaluation_json["released_norms"] = true;
  if (evaluation.noise_residual) evaluation_json["noise_residual"] = true;
  json::object object{{"dataset", trial::to_json(dataset)},
                      {"model", trial::to_json(model)},
                      {"optimizer", trial::to_json(optimizer)},
                      {"controller", trial::to_json(controller)},
                      {"privacy", privacy.to_json()},
                      {"evaluation", evaluation_json},
                      {"steps", steps},
                      {"seed", seed},
                      {"repetition", repetition},
                      {"noise_seed", noise_seed ? json::value(*noise_seed) : json::value(nullptr)},
                      {"device", device},
                      {"dtype", dtype}};
  if (auto options = training.to_json(); !options.empty()) object["training"] = std::move(options);
  return object;
}

Result<TrialConfig> TrialConfig::from_json(const json::value& value, const std::string& where) {
  if (!value.is_object()) return error(where + ": a trial's config must be an object");
  const auto& object = value.get_object();
  TrialConfig config;
  for (const auto& [key, target] :
       {std::pair{"dataset", &config.dataset}, std::pair{"model", &config.model},
        std::pair{"optimizer", &config.optimizer}, std::pair{"controller", &config.controller}}) {
    auto named = named_at(object, key, where);
    if (!named) return named.error();
    *target = std::move(*named);
  }
  const auto privacy_json = object_at(object, "privacy", where);
  if (!privacy_json) return privacy_json.error();
  auto privacy = PrivacyPlan::from_json(**privacy_json, where + ".privacy");
  if (!privacy) return privacy.error();
  config.privacy = std::move(*privacy);

  const auto evaluation_json = object_at(object, "evaluation", where);
  if (!evaluation_json) return evaluation_json.error();
  const std::string evaluation_where = where + ".evaluation";
  const auto every = get_int(**evaluation_json, "every", evaluation_where);
  if (!every) return every.error();
  const auto oracle = get_bool(**evaluation_json, "oracle_validation", evaluation_where);
  if (!oracle) return oracle.error();
  config.evaluation = {.every = *every, .oracle_validation = *oracle, .score = {}};
  for (const auto& [key, target] : {std::pair{"gradient_norms", &config.evaluation.gradient_norms},
                                    std::pair{"oracle_train", &config.evaluation.oracle_train},
                                    std::pair{"released_norms", &config.evaluation.released_norms},
                                    std::pair{"noise_residual", &config.evaluation.noise_residual}}) {
    if ((**evaluation_json).if_contains(key) == nullptr) continue;
    const auto given = get_bool(**evaluation_json, key, evaluation_where);
    if (!given) return given.error();
    *target = *given;
  }
  if (const auto* counts = (**evaluation_json).if_contains("score_noise_counts");
      counts != nullptr && !counts->is_null()) {
    const auto noise = to_double(*counts, evaluation_where + ".score_noise_counts");
    if (!noise) return noise.error();
    if (!(*noise > 0)) return error(evaluation_where + ".score_noise_counts must be positive");
    config.evaluation.score = ScoreRelease{*noise};
  }

  if (object.contains("training")) {
    const auto given = object_at(object, "training", where);
    if (!given) return given.error();
    auto training = TrainingOptions::from_json(**given, where + ".training");
    if (!training) return training.error();
    config.training = *training;
  }

  const auto steps = get_int(object, "steps", where);
  const auto seed = get_int(object, "seed", where);
  const auto repetition = get_int(object, "repetition", where);
  auto device = get_string(object, "device", where);
  auto dtype = get_string(object, "dtype", where);
  if (!steps) return steps.error();
  if (!seed) return seed.error();
  if (!repetition) return repetition.error();
  if (!device) return device.error();
  if (!dtype) return dtype.error();
  if (*steps < 1) return error(where + ": 'steps' must be at least 1");
  config.steps = *steps;
  config.seed = *seed;
  config.repetition = *repetition;
  config.device = std::move(*device);
  config.dtype = std::move(*dtype);
  if (const auto* noise_seed = object.if_contains("noise_seed");
      noise_seed != nullptr && !noise_seed->is_null()) {
    auto text = get_string(object, "noise_seed", where);
    if (!text) return text.error();
    config.noise_seed = std::move(*text);
  }
  return config;
}

std::string TrialConfig::id() const { return sha256_hex(canonical_json(to_json())).substr(0, 16); }

}  // namespace hyfreedp::trial
