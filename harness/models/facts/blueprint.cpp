#include "harness/models/facts/blueprint.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <regex>

#include "harness/models/facts/named_files.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/registry.h"

namespace hyfreedp::models {
namespace {

using Chosen = std::function<bool(const std::string&)>;

// "q_bias" and "v_bias" are BEiT's.
bool is_bias(const std::string& name) { return name.ends_with(".bias") || name.ends_with("_bias"); }

// Index of the first parameter of a block.
std::size_t begin_of(const Blueprint& plan, const std::string& block) {
  const auto found = std::find_if(plan.parameters.begin(), plan.parameters.end(),
                                  [&](const auto& one) { return one.name.starts_with(block); });
  return static_cast<std::size_t>(found - plan.parameters.begin());
}

Result<Chosen> by_pattern(const std::string& pattern) {
  try {
    const std::regex expression(pattern);
    return Chosen([expression](const std::string& name) { return std::regex_search(name, expression); });
  } catch (const std::regex_error& caught) {
    return error(fmt::format("'trainable_pattern' is not a valid regular expression: {} ({}).", pattern,
                             caught.what()));
  }
}

Result<Chosen> chosen_by(const Blueprint& plan, const std::string& part) {
  const auto head = [prefix = plan.graph.task](const std::string& name) {
    return !prefix.empty() && name.starts_with(prefix);
  };
  const bool wants_head = part == "head" || part.ends_with("-head");
  if (wants_head && plan.graph.head.empty()) {
    return error(fmt::format(
        "trainable: {} needs a head, but the output projection is tied to the token embedding.", part));
  }
  if (part == "full") return Chosen([](const std::string&) { return true; });
  if (part == "head") return Chosen(head);
  if (part == "bitfit") return Chosen(is_bias);
  if (part == "bitfit-head") return Chosen([head](const auto& name) { return is_bias(name) || head(name); });
  if (part == "lora") return Chosen(is_adapter);
  if (part == "lora-head") return Chosen([head](const auto& name) { return is_adapter(name) || head(name); });
  HYFREEDP_CHECK(part == "last-block" || part == "first-last-block", "an unknown part to train");
  if (plan.graph.blocks.empty())
    return error(fmt::format("trainable: {} needs a network with blocks.", part));
  std::vector<std::string> names;
  for (auto at = begin_of(plan, plan.graph.blocks.back()); at < plan.parameters.size(); ++at)
    names.push_back(plan.parameters[at].name);
  const auto first = part == "first-last-block" ? plan.graph.blocks.front() : std::string();
  return Chosen([names, first](const std::string& name) {
    return (!first.empty() && name.starts_with(first)) ||
           std::find(names.begin(), names.end(), name) != names.end();
  });
}

Result<void> choose_trainable(Blueprint& plan, const SharedOptions& options) {
  const auto& part = options.trainable;
  const auto& pattern = options.trainable_pattern;
  if (pattern && part != "full" && part != "lora") {
    return error(fmt::format(
        "'trainable_pattern' cannot be combined with 'trainable: {}'; leave one of them out.", part));
  }
  const auto chosen = pattern ? by_pattern(*pattern) : chosen_by(plan, part);
  if (!chosen) return chosen.error();
  plan.trainable.clear();
  for (const auto& parameter : plan.parameters) plan.trainable.push_back((*chosen)(parameter.name));
  if (plan.trainable_count() > 0) return {};
  const auto what =
      pattern ? fmt::format("the pattern '{}'", *pattern) : fmt::format("'trainable: {}'", part);
  return error(fmt::format("{} leaves nothing to train; the parameters are called {}, ..., {}.", what,
                           plan.parameters.front().name, plan.parameters.back().name));
}

void set_initial(Blueprint& plan, const SharedOptions& options) {
  if (options.init != Start::he && options.last_layer != Start::he) return;
  for (auto& parameter : plan.parameters) {
    if (parameter.name != plan.graph.head + "weight") continue;
    parameter.initial = {Initial::Kind::normal, std::sqrt(2.0 / static_cast<double>(parameter.shape.at(1)))};
  }
}

// Options that the others leave unread: whoever gives them expects more than they would get.
Result<void> check_unread(const std::string& where, const SharedOptions& options) {
  const bool has_rank = options.lora_rank != kDefaultRank;
  for (const auto& [name, is_given] :
       {std::pair{"lora_rank", has_rank}, std::pair{"lora_alpha", options.lora_alpha.has_value()},
        std::pair{"lora_targets", options.lora_targets.has_value()}}) {
    if (!is_given || options.has_adapters()) continue;
    return error(fmt::format("{}: '{}' is read only with 'trainable: lora' or lora-head, not {}.", where,
                             name, options.trainable));
  }
  if (has_rank && options.adapter)
    return error(where + ": 'adapter' decides the rank; leave 'lora_rank' out.");
  if (options.head == "file" && !options.weights)
    return error(where + ": 'head: file' is read only with 'weights', the folder that has the head.");
  return {};
}

// Each of the layers that the option names must be one.
Result<void> check_targets(const Blueprint& plan, const SharedOptions& options) {
  if (!plan.lora || !options.lora_targets) return {};
  for (const auto& target : plan.lora->targets) {
    const Lora alone{.targets = {target}};
    const bool is_there = std::ranges::any_of(plan.graph.places, [&](const graph::Place& place) {
      return std::holds_alternative<graph::Linear>(place.layer) && alone.adapts(place.name);
    });
    if (!is_there)
      return error(fmt::format("'lora_targets' has '{}', and no linear layer is called so.", target));
  }
  return {};
}

}  // namespace

bool Blueprint::trains(const std::string& name) const {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) return trainable[i];
  }
  return false;
}

std::int64_t Blueprint::trainable_count() const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (trainable[i]) count += parameters[i].size();
  }
  return count;
}

Result<Blueprint> blueprint(const std::string& name, const json::object& options, const ModelInput& input) {
  const auto facts = find_model(name);
  if (!facts) return facts.error();
  const auto shared = read_options<SharedOptions>(options);
  if (auto read = check_unread("model " + name, shared); !read) return read.error();
  const auto folder = [&options] { return folder_config(options); };
  auto described = (**facts).describe({name, options, input, folder});
  if (!described) return described.error();
  auto lora = lora_of(**facts, options);
  if (!lora) return lora.error();
  auto graph = described->graph(*lora);
  if (!graph) return graph.error();
  Blueprint plan;
  plan.description = std::move(*described);
  plan.lora = std::move(*lora);
  plan.graph = std::move(*graph);
  if (auto named = check_targets(plan, shared); !named) return in_context("model " + name, named.error());
  plan.parameters = graph::parameters_of(plan.graph);
  set_initial(plan, shared);
  if (auto chosen = choose_trainable(plan, shared); !chosen)
    return in_context("model " + name, chosen.error());
  return plan;
}

}  // namespace hyfreedp::models
