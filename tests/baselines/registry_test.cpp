// Every registered method, and its variants, over a simulated world: what the contract in
// baselines/baseline.h says.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "fake_world.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "tests/optimizers/registry_variants.h"

namespace hyfreedp::baselines {
namespace {

using fake::Study;

struct Variant {
  std::string method;
  json::object options;
  double epsilon = 3;
  double count_noise = 0;           // above 0: adaptive clipping, whose count is paid too
  std::optional<Label> label = {};  // where an option changes the method's
  double mean_noise = 0;            // above 0: each run releases a feature mean first
};

// Its defaults, but for how many runs there are where they are dozens.
json::object quick(const std::string& method) {
  const std::set<std::string> long_ones = {"dpsgd", "dpmomentum", "dp-zo"};
  return long_ones.contains(method) ? json::object{{"mean_runs", 5}} : json::object{};
}

// Each method as it comes, and the options that change what it runs.
std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const auto& baseline : registry()) all.push_back({baseline.name, quick(baseline.name), 3});
  // A count dear enough to show: linear scaling's full batches have ten times the noise.
  for (const auto& baseline : registry()) {
    all.push_back({baseline.name, quick(baseline.name), 3, baseline.name == "linear-scaling" ? 30.0 : 2.5});
  }
  // A mean that alone costs about a third of epsilon 3; less where a method releases one in each of
  // seven or eight runs.
  for (const auto& baseline : registry()) {
    const bool many = baseline.name == "linear-scaling" || baseline.name == "subset-tuning";
    all.push_back({baseline.name, quick(baseline.name), 3, 0, {}, many ? 20.0 : 4.0});
  }
  all.push_back({"random-search", {{"runs", 6}}, 3, 2.5, {}, 20});
  all.push_back({"hyfreedp", {{"accounting", "separate-batch"}}, 3, 2.5, {}, 4.0});
  for (const char* runs : {"geometric", "logarithmic", "poisson"}) {
    all.push_back({"dp-hyper", {{"runs", runs}, {"mean_runs", 6}, {"grid", {1e-3, 1e-2}}}, 1});
  }
  for (const char* accounting : {"separate-batch", "paper", "paper-appendix"}) {
    all.push_back({"hyfreedp", {{"accounting", accounting}, {"interval", 4}}, 3});
  }
  all.push_back({"hyfreedp", {{"accounting", "separate-batch"}, {"probe_sample_rate", 0.3}}, 3});
  for (const char* accounting : {"folded", "separate-batch", "paper"}) {
    all.push_back({"hyfreedp", {{"accounting", accounting}, {"pairs", 2}}, 3});
  }
  all.push_back({"hyfreedp-plus", {{"accounting", "folded"}}, 1});
  all.push_back({"linear-scaling", {{"range", "full"}, {"r_sampling", "log-uniform"}}, 1});
  all.push_back({"linear-scaling", {{"decompose", "rejection"}, {"max_tries", 3}}, 3});
  all.push_back({"linear-scaling", {{"axis", "mu"}, {"runs_per_sweep", 1}}, 8});
  for (const char* fit : {"line-3", "quadratic"}) all.push_back({"linear-scaling", {{"fit", fit}}, 3});
  for (const char* split : {"uniform-both", "fixed-t", "fixed-eta"}) {
    all.push_back({"linear-scaling", {{"decompose", split}, {"eta_max", 0.5}}, 3});
  }
  const json::object sampled{{"batch", "sampled"}, {"decompose", "fixed-t"}, {"t_max", 20}};
  all.push_back({"linear-scaling", sampled, 3});
  all.push_back({"linear-scaling", sampled, 3, 30});
  all.push_back({"linear-scaling", sampled, 3, 0, {}, 20});
  auto product = sampled;
  product["product"] = "eta-t-b-c";
  product["batch_sizes"] = {100, 300};
  all.push_back({"linear-scaling", product, 1});
  all.push_back({"linear-scaling", {{"score", "train-unpriced"}}, 3, 0, Label::oracle});
  all.push_back({"nondp-gs", {{"grid", {1e-3, 100.0, 1e-2}}}, 3});
  all.push_back({"nondp-gs", {{"schedule", "linear"}, {"warmup", 2}}, 3});
  all.push_back({"nondp-gs", {{"grid", {1e-2}}, {"thresholds", {0.1, 1.0}}, {"lengths", {6, 24}}}, 3});
  all.push_back({"dp-hyper", {{"runs", "liu-talwar"}}, 3});
  all.push_back({"dpsgd", {{"tuning", "composed"}}, 8});
  all.push_back({"dpsgd", {{"tuning", "composed"}, {"candidates", 4}}, 1});
  all.push_back({"dpsgd", {{"tuning", "oracle"}, {"rates", {0.01, 0.1}}}, 3});
  all.push_back({"dpsgd", {{"runs", "liu-talwar"}, {"mean_runs", 3}}, 8});
  all.push_back({"dpmomentum", {{"runs", "poisson"}, {"mean_runs", 6}, {"momenta", {0.8, 0.9}}}, 3});
  all.push_back({"dpadam", {{"tuning", "selection"}}, 3});
  all.push_back({"adadp", {{"tuning", "oracle"}}, 3});
  all.push_back({"dp-zo", {{"tuning", "composed"}, {"candidates", 3}, {"direction", "sphere"}}, 3});
  all.push_back({"dp-zo", {{"tuning", "oracle"}, {"scale", 0.01}}, 3});
  all.push_back({"random-search", {{"runs", 6}}, 3});
  all.push_back({"subset-tuning", {{"share", 0.5}, {"grid", {1e-3, 1e-2}}}, 1});
  all.push_back({"subset-tuning", {{"grid", {1e-2}}}, 3});
  all.push_back({"random-search", {{"runs", 3}, {"t_min", 4}, {"t_max", 20}, {"threshold_max", 2.0}}, 1});
  for (const char* tuning : {"composed", "selection", "oracle"}) {
    all.push_back({"single-step", {{"tuning", tuning}, {"rates", {0.1, 1.0}}, {"optimizer", "adam"}}, 3});
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Variant>& info) {
  std::string name = fmt::format("{}_{}", info.param.method, info.index);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

json::object as_json(const Conclusion& conclusion) {
  json::object object{{"reported", conclusion.reported_trial},
                      {"composition", conclusion.composition.to_json()},
                      {"label", to_string(conclusion.label)},
                      {"flags", json::value_from(conclusion.flags)},
                      {"footnotes", json::value_from(conclusion.footnotes)},
                      {"failure", conclusion.failure ? conclusion.failure->kind : ""}};
  if (conclusion.claimed_epsilon) object["claimed"] = *conclusion.claimed_epsilon;
  return object;
}

// Those that clip in their own way, whatever the panel's is.
bool clips_by_itself(const Baseline& baseline, const json::object& options) {
  const std::set<std::string> own = {"dpadamwosm", "dpsgd", "dpmomentum", "dpadam", "adadp", "dp-zo"};
  return own.contains(baseline.name) || options.contains("thresholds") || options.contains("threshold_max");
}

// What a row costs, from its runs and its rule alone: one run, all runs in sequence, or a selection
// over runs like the one shown, priced on each split.
double priced_by_hand(const Study& study) {
  const auto& composition = study.conclusion.composition;
  accounting::Events events;
  std::map<std::string, std::vector<accounting::Event>> selected;
  for (const auto& trial : study.finished) {
    const bool is_shown = trial.id == study.conclusion.reported_trial;
    if (composition.rule != Composition::Rule::sum && !is_shown) continue;
    // A run on a part of the data touched no other.
    const auto part = string_or(trial.config.dataset.options, "part", "");
    for (auto event : fake::intended_events(trial.config)) {
      if (event.split != "private_validation") event.split += part;
      if (composition.rule == Composition::Rule::selection)
        selected[event.split].push_back(event);
      else
        events.events.push_back(event);
    }
  }
  double largest = 0;
  for (auto& [split, base] : selected) {
    auto selection = *composition.selection;
    selection.base = base;
    const auto epsilon = accounting::epsilon_rdp({.events = {{selection, split}}}, 1e-5);
    largest = std::max(largest, epsilon.value().epsilon);
  }
  if (!selected.empty()) return largest;
  return accounting::report_epsilon(events, 1e-5).value().epsilon;
}

class Method : public testing::TestWithParam<Variant> {
 protected:
  const Baseline& baseline() const {
    const auto& entry = *find_baseline(GetParam().method).value();
    return reading_of(entry, resolve_options(entry.options, GetParam().options, entry.name).value());
  }
  Cell cell(std::optional<double> epsilon) const {
    auto cell = fake::cell_of(baseline(), epsilon, GetParam().options);
    if (epsilon && GetParam().count_noise > 0) {
      cell.base.privacy.clipping.rule = trial::ClippingRule::adaptive;
      cell.base.privacy.clipping.adaptive = trial::AdaptiveThreshold{.count_noise = GetParam().count_noise};
    }
    if (GetParam().mean_noise > 0) {
      cell.base.privacy.asked.feature_mean =
          trial::FeatureMean{.norm = 2, .noise = epsilon ? GetParam().mean_noise : 0};
    }
    return cell;
  }
};

TEST_P(Method, SaysWhatItIs) {
  EXPECT_FALSE(baseline().title.empty());
  EXPECT_FALSE(baseline().source.empty());
  EXPECT_FALSE(baseline().summary.empty());
  EXPECT_TRUE(resolve_options(baseline().options, {}, "defaults")) << "a default breaks its own range";
  for (const auto& option : baseline().options) EXPECT_FALSE(option.help.empty()) << option.name;
}

TEST_P(Method, EndsWithTheSameConclusionInAnyOrder) {
  const auto one = fake::run_study(baseline(), cell(GetParam().epsilon), fake::ordinary_world, fake::first);
  const auto other = fake::run_study(baseline(), cell(GetParam().epsilon), fake::ordinary_world, fake::last);
  EXPECT_EQ(canonical_json(as_json(one.conclusion)), canonical_json(as_json(other.conclusion)));
  ASSERT_FALSE(one.conclusion.failure) << one.conclusion.failure->message;
  EXPECT_TRUE(std::any_of(one.finished.begin(), one.finished.end(),
                          [&](const auto& trial) { return trial.id == one.conclusion.reported_trial; }));
}

// A comparison's seed that is not trained is charged its first round alone where a method says that
// there is no other, whatever its runs end with.
TEST_P(Method, AsksForAllRunsAtOnceWhereItSaysSo) {
  EXPECT_EQ(baseline().single_round, find_baseline(GetParam().method).value()->single_round)
      << "the runner reads it by the method's name";
  if (!baseline().single_round) return;
  const auto of = cell(GetParam().epsilon);
  const auto wanted = baseline().next(of, {}).value();
  for (const auto& world : {fake::ordinary_world, fake::broken_world}) {
    std::vector<FinishedTrial> finished;
    for (const auto& config : wanted) finished.push_back(world(config));
    EXPECT_TRUE(baseline().next(of, finished).value().empty());
    if (baseline().confidential_runs) continue;
    EXPECT_TRUE(baseline().conclude(of, finished).value().composition.not_begun.empty());
  }
}

// The planned privacy plan of every private run is one that the worker accepts.
TEST_P(Method, AsksForRunsWithSoundPrivacyPlans) {
  const auto study = fake::run_study(baseline(), cell(GetParam().epsilon), fake::ordinary_world);
  for (const auto& trial : study.finished) {
    const auto checked = trial.config.privacy.check();
    EXPECT_TRUE(checked) << checked.error().message;
    EXPECT_TRUE(trial.config.privacy.is_private);
    const auto again = trial::TrialConfig::from_json(trial.config.to_json(), "config");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->id(), trial.id);
  }
}

TEST_P(Method, CostsNoMoreThanItsTarget) {
  const double target = GetParam().epsilon;
  const auto study = fake::run_study(baseline(), cell(target), fake::ordinary_world);
  const auto events = fake::cost(study);
  ASSERT_TRUE(events) << events.error().message;
  const auto spent = accounting::report_epsilon(*events, 1e-5);
  ASSERT_TRUE(spent) << spent.error().message;
  const auto pricing = string_or(GetParam().options, "accounting", "");
  if (pricing == "paper" || pricing == "paper-appendix") {
    EXPECT_EQ(study.conclusion.claimed_epsilon, target);
    EXPECT_EQ(study.conclusion.flags.size(), 1u);
    // Same batch, priced apart: the paper's composition understates at epsilon 3.
    if (pricing == "paper") {
      EXPECT_GT(spent->epsilon, target);
    }
    return;
  }
  const double share = baseline().label == Label::simulated ? 0.85 : 1.0;
  EXPECT_LE(spent->epsilon, share * target * (1 + 1e-9)) << spent->accountant;
  EXPECT_GE(spent->epsilon, share * target * 0.8) << "the budget is not used: " << spent->accountant;
  if (baseline().label == Label::simulated) {
    EXPECT_EQ(study.conclusion.claimed_epsilon, target);
  }
}

// An end-to-end row's price is that of every run it asked for; an oracle's and a simulated row's is
// the reported run's.
TEST_P(Method, ItsEpsilonIsTheAccountantsAnswerOnItsEvents) {
  const auto study = fake::run_study(baseline(), cell(GetParam().epsilon), fake::ordinary_world);
  const auto& composition = study.conclusion.composition;
  const auto label = GetParam().label.value_or(baseline().label);
  if (label == Label::end_to_end && composition.rule == Composition::Rule::trial) {
    EXPECT_EQ(study.finished.size(), 1u) << "more runs than are priced";
  }
  EXPECT_EQ(composition.rule == Composition::Rule::selection, baseline().confidential_runs);
  const auto events = fake::cost(study);
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_NEAR(accounting::report_epsilon(*events, 1e-5).value().epsilon, priced_by_hand(study), 1e-9);
}

// With adaptive clipping every gradient batch books its count; a method with a clipping of its own
// counts nothing.
TEST_P(Method, BooksTheCountsOfAdaptiveClipping) {
  const auto study = fake::run_study(baseline(), cell(GetParam().epsilon), fake::ordinary_world);
  for (const auto& trial : study.finished) {
    const bool adaptive = trial.config.privacy.clipping.rule == trial::ClippingRule::adaptive;
    EXPECT_EQ(adaptive, GetParam().count_noise > 0 && !clips_by_itself(baseline(), GetParam().options));
    std::int64_t counts = 0;
    for (const auto& event : mechanism::events(trial.config.privacy, 0, trial.config.steps)) {
      const auto& batch = std::get<accounting::Batch>(event.what);
      for (const auto& release : batch.releases) {
        if (release.purpose == "clip-count") counts += batch.count * release.count;
      }
    }
    EXPECT_EQ(counts, adaptive ? trial.config.steps : 0);
  }
}

TEST_P(Method, LabelsItself) {
  const auto study = fake::run_study(baseline(), cell(GetParam().epsilon), fake::ordinary_world);
  const auto label = GetParam().label.value_or(baseline().label);
  EXPECT_EQ(study.conclusion.label, label);
  const auto peeks = [](const FinishedTrial& trial) {
    return trial.config.evaluation.oracle_validation || trial.config.evaluation.oracle_train;
  };
  EXPECT_EQ(std::any_of(study.finished.begin(), study.finished.end(), peeks), label != Label::end_to_end)
      << "an end-to-end row must not ask for un-noised accuracy";
  if (!GetParam().label) {
    EXPECT_TRUE(label == Label::end_to_end ||
                std::all_of(study.finished.begin(), study.finished.end(), peeks));
  }
}

TEST_P(Method, HasANonPrivateArmWithoutNoise) {
  if (!baseline().has_non_private_arm) return;
  const auto study = fake::run_study(baseline(), cell({}), fake::ordinary_world);
  ASSERT_FALSE(study.conclusion.failure);
  EXPECT_EQ(study.conclusion.label, Label::non_private);
  EXPECT_EQ(study.conclusion.composition.rule, Composition::Rule::none);
  for (const auto& trial : study.finished) {
    const auto checked = trial.config.privacy.check();
    EXPECT_TRUE(checked) << checked.error().message;
    EXPECT_FALSE(trial.config.privacy.is_private);
    EXPECT_EQ(trial.config.privacy.gradient_noise, 0);
    EXPECT_EQ(trial.config.privacy.clipping.rule, trial::ClippingRule::none);
  }
}

TEST_P(Method, TurnsABrokenWorldIntoATypedFailure) {
  const auto study = fake::run_study(baseline(), cell(GetParam().epsilon), fake::broken_world);
  ASSERT_TRUE(study.conclusion.failure);
  EXPECT_FALSE(study.conclusion.failure->kind.empty());
  EXPECT_TRUE(study.conclusion.failure->message.ends_with("."));
  EXPECT_EQ(study.conclusion.reported_trial, "");
  // What was run is still paid for.
  EXPECT_NE(study.conclusion.composition.rule, Composition::Rule::none);
  EXPECT_TRUE(fake::cost(study));
}

TEST_P(Method, TurnsAnInfeasibleEpsilonIntoATypedFailure) {
  auto impossible = cell(GetParam().epsilon);
  impossible.delta = 0;
  const auto wanted = baseline().next(impossible, {});
  ASSERT_TRUE(wanted);
  EXPECT_TRUE(wanted->empty());
  const auto conclusion = baseline().conclude(impossible, {});
  ASSERT_TRUE(conclusion);
  ASSERT_TRUE(conclusion->failure);
  EXPECT_EQ(conclusion->failure->kind, "infeasible-epsilon");
  EXPECT_FALSE(conclusion->failure->message.empty());
}

// Other values of an option: all choices of one; numbers near its default and far from it.
std::vector<json::value> others(const OptionSpec& option) {
  std::vector<json::value> values;
  if (option.type == OptionType::choice) {
    for (const auto& choice : option.choices)
      if (option.default_value != json::value(choice)) values.emplace_back(choice);
    return values;
  }
  values.push_back(optimizers::changed(option));
  if (option.type == OptionType::real_list) values.push_back(json::array{0.2, 0.6});
  if (!option.default_value.is_number()) return values;
  const auto now = option.default_value.to_number<double>();
  for (const double factor : {0.05, 0.25, 3.0, 20.0}) {
    const double other = std::clamp(now == 0 ? factor : factor * now, option.min, option.max);
    const bool is_whole = option.type == OptionType::integer;
    values.push_back(is_whole ? json::value(std::llround(other)) : json::value(other));
  }
  std::erase(values, option.default_value);
  return values;
}

// Of one method beside options of its: what another value of one does.
class Passing {
 public:
  Passing(const Variant& variant, json::object beside)
      : entry_(**find_baseline(variant.method)),
        variant_(variant),
        beside_(std::move(beside)),
        plain_(outcome(beside_).value()) {}

  bool refuses(const std::string& name, const json::value& value) const { return !with(name, value); }
  bool is_read(const std::string& name, const json::value& value) const {
    const auto other = with(name, value);
    return other && *other != plain_;
  }

 private:
  std::optional<std::string> with(const std::string& name, const json::value& value) const {
    auto options = beside_;
    options[name] = value;
    return outcome(options);
  }
  // The runs and the conclusion; nothing where the method refuses the options.
  std::optional<std::string> outcome(const json::object& options) const {
    const auto resolved = resolve_options(entry_.options, options, entry_.name);
    if (!resolved || (entry_.check && !entry_.check(*resolved))) return std::nullopt;
    if (!noise_accountant(entry_, *resolved, "")) return std::nullopt;
    const auto cell = fake::cell_of(entry_, variant_.epsilon, options);
    const auto study = fake::run_study(reading_of(entry_, *resolved), cell, fake::ordinary_world);
    std::vector<std::string> ids;
    for (const auto& trial : study.finished) ids.push_back(trial.id);
    std::ranges::sort(ids);
    return canonical_json(as_json(study.conclusion)) + "\n" + join(ids, " ");
  }

  const Baseline& entry_;
  Variant variant_;
  json::object beside_;
  std::string plain_;
};

TEST_P(Method, ReadsEachOptionOrRefusesIt) {
  if (GetParam().count_noise > 0 || GetParam().mean_noise > 0) return;
  const auto& given = GetParam().options;
  const Passing passing(GetParam(), given);
  for (const auto& option : (*find_baseline(GetParam().method))->options) {
    if (given.contains(option.name)) continue;
    // In this world the fitted r lies beyond its range on either axis; elsewhere it is read.
    if (option.name == "axis" && !given.empty()) continue;
    // One range serves rows of several decompositions, so its end that one does not read stands.
    const auto decompose = string_or(given, "decompose", "");
    if (option.name == (decompose == "fixed-t" ? "t_min" : decompose == "fixed-eta" ? "eta_min" : ""))
      continue;
    const auto is_known = [&](const json::value& value) {
      return passing.refuses(option.name, value) || passing.is_read(option.name, value);
    };
    EXPECT_TRUE(std::ranges::any_of(others(option), is_known))
        << option.name << " is passed over beside " << json::serialize(given);
  }
}

// What makes an option of `method` one that is read, beyond what it says itself.
json::object beside(const Baseline& method, const OptionSpec& option) {
  auto options = option.name == "tuning" ? json::object{} : quick(method.name);
  for (const auto& [name, value] : optimizers::needed_by(method.options, option)) options[name] = value;
  const auto& name = option.name;
  if (name == "share3") options["fit"] = "line-3";
  if (name == "batch_sizes")
    options = {{"batch", "sampled"}, {"decompose", "fixed-t"}, {"t_max", 20}, {"product", "eta-t-b-c"}};
  if (name.starts_with("score_") && method.name == "single-step") options["rates"] = {0.1, 1.0};
  const auto has_momentum = std::ranges::count(method.options, "momentum", &OptionSpec::name) > 0;
  if ((name == "nesterov" || name == "free_step") && has_momentum) options["momentum"] = 0.9;
  return options;
}

TEST(Registry, EachOptionCanBeRead) {
  for (const auto& method : registry()) {
    for (const auto& option : method.options) {
      const Passing passing({.method = method.name, .options = {}}, beside(method, option));
      const auto is_read = [&](const json::value& value) { return passing.is_read(option.name, value); };
      EXPECT_TRUE(std::ranges::any_of(others(option), is_read)) << method.name << ": " << option.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Method, testing::ValuesIn(variants()), name_of);

TEST(Registry, NamesAreDistinctAndAnUnknownOneNamesTheNearest) {
  std::set<std::string> names;
  for (const auto& baseline : registry()) EXPECT_TRUE(names.insert(baseline.name).second) << baseline.name;
  for (const char* name :
       {"nondp-gs", "dp-hyper", "dp-hyper-simulated", "d-adaptation", "prodigy", "hyfreedp", "hyfreedp-plus",
        "linear-scaling", "dpadamwosm", "dog", "dowg", "dpsgd", "dpmomentum", "dpadam", "adadp",
        "random-search", "single-step", "subset-tuning"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
  const auto unknown = find_baseline("prodgy");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("'prodigy'"), std::string::npos);
}

}  // namespace
}  // namespace hyfreedp::baselines
