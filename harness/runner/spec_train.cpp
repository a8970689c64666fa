#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "harness/runner/spec.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::runner {
namespace {

constexpr double kCountShare = 0.05;  // of the batch: Andrew et al. take sigma_b = m / 20

double default_constant(const std::string& clipping) {
  if (clipping == "abadi") return 1;
  return clipping == "adaptive" ? 0.1 : 0.01;
}

// An option that says nothing where another has the value it has is a mistake of the spec, not to be passed over.
Result<void> only_where(const Layers& train, const char* option, bool applies, const std::string& condition) {
  const auto given = train.find(option);
  if (applies || !given) return {};
  return given->wrong("is for " + condition);
}

// Fills in what depends on the clipping's name; `count_noise` becomes the noise multiplier.
Result<void> resolve_clipping(const Layers& train, json::object& options) {
  const std::string clipping(options.at("clipping").as_string());
  const bool adaptive = clipping == "adaptive";
  const bool per_layer = options.at("clipping_groups").as_string() == "per-layer";
  const bool groups_apply = clipping != "none" && !adaptive;
  for (const char* option : {"clipping_quantile", "clipping_rate", "count_noise"}) {
    if (auto ok = only_where(train, option, adaptive, "clipping adaptive"); !ok) return ok;
  }
  if (auto ok = only_where(train, "clipping_constant", clipping != "auto-v",
                           "clippings with a constant, and auto-v has none");
      !ok) {
    return ok;
  }
  if (per_layer && !groups_apply) {
    return train.find("clipping_groups")->wrong("per-layer is for clipping auto-s, auto-v and abadi");
  }
  if (auto ok = only_where(train, "clipping_shares", per_layer, "clipping_groups: per-layer"); !ok) return ok;
  if (options.at("control").as_string() == "clip-only" && clipping == "none") {
    return train.find("control")->wrong("clip-only needs a clipping other than none");
  }
  options["clipping_constant"] = double_or(options, "clipping_constant", default_constant(clipping));
  if (!adaptive) return {};
  options["clipping_quantile"] = double_or(options, "clipping_quantile", 0.5);
  options["clipping_rate"] = double_or(options, "clipping_rate", 0.2);
  const double deviation =
      double_or(options, "count_noise", kCountShare * double_or(options, "batch_size", 0));
  options["count_noise"] = deviation / trial::kCountSensitivity;
  return {};
}

}  // namespace

const std::vector<OptionSpec>& train_options() {
  static const std::vector<OptionSpec> table = {
      {.name = "sampler",
       .type = OptionType::choice,
       .default_value = "poisson",
       .help = "how batches are drawn; shuffle for non-private rows only",
       .choices = {"poisson", "full-batch", "shuffle"}},
      {.name = "sample_rate",
       .type = OptionType::real,
       .default_value = nullptr,
       .help = "q: probability that an example is in a batch",
       .min = 1e-9,
       .max = 1},
      {.name = "batch_size",
       .type = OptionType::real,
       .default_value = nullptr,
       .help = "B = q N, instead of sample_rate",
       .min = 1,
       .max = 1e12},
      {.name = "steps",
       .type = OptionType::integer,
       .default_value = nullptr,
       .help = "T",
       .min = 1,
       .max = 1e9},
      {.name = "clipping",
       .type = OptionType::choice,
       .default_value = "auto-s",
       .help = "of per-sample gradients in private rows",
       .choices = {"auto-s", "auto-v", "abadi", "adaptive", "none"}},
      {.name = "clipping_constant",
       .type = OptionType::real,
       .default_value = nullptr,
       .help =
           "auto-s: the stability constant (default 0.01); abadi: C (default 1); adaptive: C at the first "
           "step (default 0.1)",
       .min = 1e-12,
       .max = 1e12},
      {.name = "clipping_groups",
       .type = OptionType::choice,
       .default_value = "all",
       .help = "what is clipped together: the whole gradient, or each layer to its share of the threshold",
       .choices = {"all", "per-layer"}},
      {.name = "clipping_shares",
       .type = OptionType::choice,
       .default_value = "uniform",
       .help = "a layer's share: 1 / sqrt(L), or sqrt(d_l / d)",
       .choices = {"uniform", "size"}},
      {.name = "clipping_quantile",
       .type = OptionType::real,
       .default_value = nullptr,
       .help = "adaptive: the fraction of samples to leave unclipped (default 0.5)",
       .min = 0,
       .max = 1},
      {.name = "clipping_rate",
       .type = OptionType::real,
       .default_value = nullptr,
       .help = "adaptive: rate of the threshold's geometric update (default 0.2)",
       .min = 1e-6,
       .max = 100},
      {.name = "count_noise",
       .type = OptionType::real,
       .default_value = nullptr,
       .help = "adaptive: sd of the noised count of unclipped samples (default batch_size / 20)",
       .unit = "samples",
       .min = 1e-6,
       .max = 1e8},
      {.name = "feature_mean_noise",
       .type = OptionType::real,
       .default_value = nullptr,
       .help = "releases the mean of the training features before step 0 and takes it off all features: sd "
               "of its noise",
       .unit = "feature_mean_norm",
       .min = 1e-3,
       .max = 1e8},
      {.name = "feature_mean_norm",
       .type = OptionType::real,
       .default_value = nullptr,
       .help = "to which each feature vector is clipped for that mean",
       .min = 1e-12,
       .max = 1e12},
      control_option(),
      {.name = "device",
       .type = OptionType::choice,
       .default_value = "cpu",
       .help = "where trials run",
       .choices = {"cpu", "cuda"}},
  };
  return table;
}

OptionSpec control_option() {
  return {.name = "control",
          .type = OptionType::choice,
          .default_value = "sampling-only",
          .help =
              "what cells of epsilon inf keep of private training: its batches, its batches and clipping, or "
              "nothing (shuffled batches)",
          .choices = {"sampling-only", "clip-only", "none"}};
}

std::vector<std::string> train_option_names() {
  std::vector<std::string> names{"optimizer"};
  for (const auto& option : train_options()) names.push_back(option.name);
  return names;
}

Result<json::object> read_train(const Layers& train, std::int64_t population) {
  auto beside = training_option_names();
  beside.emplace_back("optimizer");
  auto options = options_from(train_options(), train, beside);
  if (!options) return options.error();
  if (options->at("steps").is_null()) return train.wrong("needs 'steps'");
  const bool full = options->at("sampler").as_string() == "full-batch";
  const bool has_rate = !options->at("sample_rate").is_null();
  const bool has_batch = !options->at("batch_size").is_null();
  if (has_rate && has_batch)
    return train.find("batch_size")->wrong("and 'sample_rate' say the same; keep one");
  if (!full && !has_rate && !has_batch) return train.wrong("needs 'sample_rate' (or 'batch_size')");
  const auto size = static_cast<double>(population);
  const double rate = full       ? 1.0
                      : has_rate ? double_or(*options, "sample_rate", 0)
                                 : double_or(*options, "batch_size", 0) / size;
  if (full && (has_rate || has_batch) && double_or(*options, "sample_rate", 1) != 1) {
    return train.find("sample_rate")->wrong("must be 1 (or left out) with sampler full-batch");
  }
  if (rate > 1) {
    return train.find("batch_size")->wrong(fmt::format("exceeds the {} training examples", population));
  }
  (*options)["sample_rate"] = rate;
  (*options)["batch_size"] = rate * size;
  if (auto resolved = resolve_clipping(train, *options); !resolved) return resolved.error();
  for (const auto& [one, other] : {std::pair{"feature_mean_noise", "feature_mean_norm"},
                                   std::pair{"feature_mean_norm", "feature_mean_noise"}}) {
    if (const auto given = train.find(one); given && options->at(other).is_null()) {
      return given->wrong(fmt::format("needs '{}' beside it", other));
    }
  }
  return *options;
}

Result<void> check_private_training(const json::array& epsilons, const json::object& train,
                                    const Layers& layers) {
  const bool any_private = std::any_of(epsilons.begin(), epsilons.end(),
                                       [](const json::value& epsilon) { return !epsilon.is_string(); });
  if (!any_private) return {};
  if (train.at("sampler").as_string() == "shuffle") {
    return layers.find("sampler")->wrong("shuffle cannot be priced; use poisson, or epsilon: [inf]");
  }
  if (train.at("clipping").as_string() == "none") {
    return layers.find("clipping")
        ->wrong("none is not private; use auto-s, auto-v, abadi or adaptive, or epsilon: [inf]");
  }
  return {};
}

json::object privacy_extras(const json::object& train) {
  json::object extras;
  for (const auto& [key, default_value] :
       {std::pair{"clipping_groups", "all"}, std::pair{"clipping_shares", "uniform"}}) {
    if (train.at(key).as_string() != default_value) extras[key] = train.at(key);
  }
  if (!train.at("feature_mean_noise").is_null()) {
    extras["feature_mean"] = json::object{{"norm", double_or(train, "feature_mean_norm", 0)},
                                          {"noise", double_or(train, "feature_mean_noise", 0)}};
  }
  if (train.at("clipping").as_string() == "adaptive") {
    extras["adaptive"] = json::object{{"quantile", train.at("clipping_quantile")},
                                      {"rate", train.at("clipping_rate")},
                                      {"count_noise", train.at("count_noise")}};
  }
  return extras;
}

}  // namespace hyfreedp::runner
