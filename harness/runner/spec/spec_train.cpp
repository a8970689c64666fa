#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "harness/runner/spec/spec.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::runner {
namespace {

constexpr double kCountShare = 0.05;  // of the batch: Andrew et al. take sigma_b = m / 20

double default_constant(const std::string& clipping) {
  if (clipping == "abadi") return 1;
  return clipping == "adaptive" ? 0.1 : 0.01;
}

// An option that says nothing where another has the value it has is a mistake of the spec, not to
// be passed over.
void only_where(const Layers& train, const char* option, bool applies, const std::string& condition,
                Problems& problems) {
  const auto given = train.find(option);
  if (!applies && given) problems.add(given->wrong("is for " + condition, ""));
}

// Fills in what depends on the clipping's name; `count_noise` becomes the noise multiplier.
void resolve_clipping(const Layers& train, json::object& options, Problems& problems) {
  const std::string clipping(options.at("clipping").as_string());
  const bool adaptive = clipping == "adaptive";
  const bool per_layer = options.at("clipping_groups").as_string() == "per-layer";
  const bool groups_apply = clipping != "none" && !adaptive;
  for (const char* option : {"clipping_quantile", "clipping_rate", "count_noise"}) {
    only_where(train, option, adaptive, "clipping adaptive", problems);
  }
  only_where(train, "clipping_constant", clipping != "auto-v",
             "clippings with a constant, and auto-v has none", problems);
  if (per_layer && !groups_apply) {
    problems.add(
        train.find("clipping_groups")->wrong("per-layer is for clipping auto-s, auto-v and abadi", ""));
  }
  only_where(train, "clipping_shares", per_layer, "clipping_groups: per-layer", problems);
  if (options.at("control").as_string() == "clip-only" && clipping == "none") {
    problems.add(train.find("control")->wrong("clip-only needs a clipping other than none", ""));
  }
  options["clipping_constant"] = double_or(options, "clipping_constant", default_constant(clipping));
  if (!adaptive) return;
  options["clipping_quantile"] = double_or(options, "clipping_quantile", 0.5);
  options["clipping_rate"] = double_or(options, "clipping_rate", 0.2);
  const double deviation =
      double_or(options, "count_noise", kCountShare * double_or(options, "batch_size", 0));
  options["count_noise"] = deviation / trial::kCountSensitivity;
}

bool gives(const Layers& train, const char* key) {
  const auto given = train.find(key);
  return given && !given->is_null();
}

// What must be there, and what must not be there twice, whatever else is wrong.
void check_sizes(const Layers& train, Problems& problems) {
  if (!gives(train, "steps")) train.need("steps", problems);
  const bool has_rate = gives(train, "sample_rate");
  const bool has_batch = gives(train, "batch_size");
  if (has_rate && has_batch) {
    problems.add(train.find("batch_size")->wrong("and 'sample_rate' say the same; keep one", ""));
  }
  const auto sampler = train.find("sampler");
  const bool draws = !sampler || sampler->shown() == "'poisson'" || sampler->shown() == "'shuffle'";
  if (draws && !has_rate && !has_batch) train.need("sample_rate", problems);
}

// The sampling rate, from what was given instead, and the batch size that it is.
void resolve_rate(const Layers& train, std::int64_t population, json::object& options, Problems& problems) {
  const bool full = options.at("sampler").as_string() == "full-batch";
  const bool has_rate = !options.at("sample_rate").is_null();
  const auto size = static_cast<double>(population);
  const double rate = full       ? 1.0
                      : has_rate ? double_or(options, "sample_rate", 0)
                                 : double_or(options, "batch_size", 0) / size;
  if (full && double_or(options, "sample_rate", 1) != 1) {
    problems.add(train.find("sample_rate")->wrong("must be 1 (or left out) with sampler full-batch", ""));
  }
  if (rate > 1) {
    problems.add(
        train.find("batch_size")->wrong(fmt::format("exceeds the {} training examples", population)));
  }
  options["sample_rate"] = rate;
  options["batch_size"] = rate * size;
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

std::optional<json::object> read_train(const Layers& train, std::optional<std::int64_t> population,
                                       Problems& problems) {
  const auto before = problems.added();
  auto beside = training_option_names();
  beside.emplace_back("optimizer");
  auto options = options_from(train_options(), train, problems, beside);
  check_sizes(train, problems);
  for (const auto& [one, other] : {std::pair{"feature_mean_noise", "feature_mean_norm"},
                                   std::pair{"feature_mean_norm", "feature_mean_noise"}}) {
    if (gives(train, one) && !gives(train, other)) {
      problems.add(train.find(one)->wrong(fmt::format("needs '{}' beside it", other), ""));
    }
  }
  if (!options || problems.added() > before) return std::nullopt;
  if (population) resolve_rate(train, *population, *options, problems);
  resolve_clipping(train, *options, problems);
  if (!population || problems.added() > before) return std::nullopt;
  return options;
}

void check_private_training(const json::array& epsilons, const json::object& train, const Layers& layers,
                            Problems& problems) {
  const bool any_private = std::any_of(epsilons.begin(), epsilons.end(),
                                       [](const json::value& epsilon) { return !epsilon.is_string(); });
  if (!any_private) return;
  if (train.at("sampler").as_string() == "shuffle") {
    problems.add(layers.find("sampler")->wrong("shuffle cannot be priced; use poisson, or epsilon: [inf]"));
  }
  if (train.at("clipping").as_string() == "none") {
    problems.add(
        layers.find("clipping")
            ->wrong("none is not private; use auto-s, auto-v, abadi or adaptive, or epsilon: [inf]"));
  }
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
