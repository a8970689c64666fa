#include "datasets/notes/weights_notes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "datasets/image_folder_files.h"
#include "datasets/image_options.h"
#include "datasets/table_columns.h"
#include "datasets/table_file.h"
#include "datasets/text/tokenizer.h"
#include "harness/base/text.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/networks/options.h"
#include "harness/models/networks/registry.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::size_t kColours = 3;

// `consequence`: what follows where the weights have seen the records.
std::string note_of_overlap(const Facts& facts, const std::string& weights, const char* consequence) {
  const auto* const known = models::find_pretrained(weights);
  if (known == nullptr) return {};
  if (facts.title == known->trained_on) {
    return fmt::format("The weights '{}' were trained on the records of {}: {}.", weights, facts.title,
                       consequence);
  }
  if (facts.part_of.empty() || facts.part_of != known->trained_on) return {};
  return fmt::format("Records of {} are part of {}, on which the weights '{}' were trained: {}.", facts.title,
                     facts.part_of, weights, consequence);
}

PixelScale scale_named(const std::string& normalise) {
  const auto known = enum_from<Normalise>(normalise, "normalise");
  return pixel_scale(known ? *known : Normalise::half);
}

// The choice that a dataset's options have or leave out as the default; empty where the dataset has
// no such option.
std::string choice_of(const Facts& facts, const json::object& options, const char* name) {
  const auto option = std::ranges::find(facts.options, name, &OptionSpec::name);
  if (option == facts.options.end()) return {};
  return string_or(options, name, std::string(option->default_value.as_string()));
}

bool is_same(const PixelScale& one, const PixelScale& other) {
  constexpr double kRounded = 1e-3;  // folders write three or four digits
  const auto near = [](double a, double b) { return std::abs(a - b) <= kRounded; };
  return std::ranges::equal(one.mean, other.mean, near) &&
         std::ranges::equal(one.deviation, other.deviation, near);
}

std::string shown(const PixelScale& scale, const char* between) {
  return fmt::format("mean {}{}deviation {}", fmt::join(scale.mean, ", "), between,
                     fmt::join(scale.deviation, ", "));
}

// Reads what timm's config.json says of the images, in pretrained_cfg or, in older folders, beside
// it.
std::optional<PixelScale> scale_of_folder(const std::string& folder) {
  const auto config = models::weights_config(folder);
  if (!config) return std::nullopt;
  const auto* const inside = config->if_contains("pretrained_cfg");
  const auto& said = inside != nullptr && inside->is_object() ? inside->get_object() : *config;
  PixelScale scale;
  for (const auto& [key, values] : {std::pair{"mean", &scale.mean}, std::pair{"std", &scale.deviation}}) {
    const auto* const list = said.if_contains(key);
    if (list == nullptr || !list->is_array() || list->get_array().size() != kColours) return std::nullopt;
    for (const auto& one : list->get_array()) {
      if (!one.is_number()) return std::nullopt;
      values->push_back(one.to_number<double>());
    }
  }
  return scale;
}

// Nothing where there are no weights, or they are not here.
std::optional<std::string> folder_of(const std::string& weights) {
  auto folder = weights.empty() ? Result<std::string>(error("none")) : models::locate_weights(weights);
  return folder ? std::optional(std::move(*folder)) : std::nullopt;
}

// The object under a key of a file that anybody may have written; empty where there is none.
json::object member(const json::object& object, const char* key) {
  const auto* const found = object.if_contains(key);
  return found != nullptr && found->is_object() ? found->get_object() : json::object();
}

// trial.json of weights or of an adapter that a run kept (runner/execute/weights_metadata.h). Empty
// of others.
json::object kept_by_a_run(const std::string& folder) {
  const auto metadata = read_json_file((std::filesystem::path(folder) / models::kTrialMetadata).string());
  return metadata && metadata->is_object() ? metadata->get_object() : json::object();
}
// The dataset that such weights were trained on.
json::object trained_on(const std::string& folder) { return member(kept_by_a_run(folder), "dataset"); }

// `dataset`: as trial.json has it.
std::string normalise_of(const json::object& dataset) {
  const auto facts = find_dataset(string_or(dataset, "name", ""));
  return facts ? choice_of(**facts, member(dataset, "options"), "normalise") : "";
}

using Names = std::vector<std::string>;

bool is_row(std::string_view text, std::int64_t& row) {
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, row);
  return read.ec == std::errc() && read.ptr == end;
}

// A list, or an object from a row of the head to its class, or from a class to its row.
Names names_in(const json::value& said) {
  std::map<std::int64_t, std::string> by_row;
  if (said.is_array()) {
    for (const auto& name : said.get_array()) {
      by_row[static_cast<std::int64_t>(by_row.size())] =
          name.is_string() ? std::string(name.get_string()) : canonical_json(name);
    }
  } else if (said.is_object()) {
    for (const auto& [key, value] : said.get_object()) {
      std::int64_t row = 0;
      if (value.is_int64()) {
        by_row[value.get_int64()] = key;
      } else if (value.is_string() && is_row(key, row)) {
        by_row[row] = value.get_string();
      }
    }
  }
  Names names;
  for (const auto& [row, name] : by_row) names.push_back(name);
  return names;
}

// timm's names, which older folders call otherwise, beside pretrained_cfg or in it, or those of
// transformers; empty where there are none.
Names names_of_head(const json::object& config) {
  const auto* const inside = config.if_contains("pretrained_cfg");
  for (const auto* part : {&config, inside == nullptr ? nullptr : inside->if_object()}) {
    if (part == nullptr) continue;
    for (const char* key : {"label_names", "labels", "id2label", "label2id"}) {
      const auto* const said = part->if_contains(key);
      if (auto names = said == nullptr ? Names() : names_in(*said); !names.empty()) return names;
    }
  }
  return {};
}

bool are_default(const Names& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != fmt::format("LABEL_{}", i)) return false;
  }
  return true;
}

std::string as_written(const std::string& name) { return composed(name); }
// Without the differences that people make in writing a name.
std::string simplified(const std::string& name) {
  auto simple = composed(name);
  for (char& c : simple) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_' || c == '-') c = ' ';
  }
  return simple;
}

std::string first_names(const Names& names) { return first_of(names, 10); }

}  // namespace

Result<Names> own_class_names(const std::string& dataset, const json::object& options) {
  if (dataset == TableFile::kName) return labels_of(options);
  if (dataset == "image-folder") return class_names(options);
  return Names();
}

Result<std::string> head_names_note(const Facts& facts, const json::object& options,
                                    const std::string& network, const json::object& model) {
  const auto weights = models::weights_named(model);
  if (weights.empty() || sizes(facts, options).labels != LabelKind::classes) return "";
  // A network without that option takes the head of the file if it is of as many classes.
  const auto known = models::find_model(network);
  const bool may_choose =
      known && std::ranges::find((**known).options, "head", &OptionSpec::name) != (**known).options.end();
  if (may_choose && string_or(model, "head", "new") != "file") return "";
  const auto folder = models::locate_weights(weights);
  const auto config = folder ? models::weights_config(*folder) : Result<json::object>(folder.error());
  if (!config) return "";
  const auto before = trained_on(*folder);
  const auto kept = names_in(before.contains("class_names") ? before.at("class_names") : json::value());
  const auto rows = kept.empty() ? names_of_head(*config) : kept;
  const char* const file = kept.empty() ? "config.json" : models::kTrialMetadata;
  const auto count = rows.empty() ? int_or(before, "classes", 0) : std::ssize(rows);
  // Then the head is drawn anew.
  if (!may_choose && count > 0 && count != sizes(facts, options).classes) return "";
  const auto classes = own_class_names(facts.name, options);
  if (!classes) return classes.error();
  if (rows.empty() || classes->empty()) {
    const auto other = string_or(before, "name", facts.name);
    if (other == facts.name) return "";
    return fmt::format(
        "The model takes the head of the weights '{}', whose rows are of the classes of the dataset {} "
        "({}). Row 0 is taken for the first class of this dataset, and so on: look whether they mean the "
        "same, in the same order.",
        weights, other, models::kTrialMetadata);
  }
  for (const auto form : {as_written, simplified}) {
    Names there, here;
    std::ranges::transform(rows, std::back_inserter(there), form);
    std::ranges::transform(*classes, std::back_inserter(here), form);
    if (there == here) return "";
    const auto differs = std::ranges::mismatch(there, here).in1 - there.begin();
    std::ranges::sort(there);
    std::ranges::sort(here);
    if (there != here) continue;
    return error(fmt::format(
        "The model takes the head of the weights '{}', whose rows are of the classes {} ({}), in "
        "this order. The dataset has these classes in another order, {}: row {} of the head, '{}', would be "
        "taken for '{}'. {}{}.",
        weights, first_names(rows), file, first_names(*classes), differs,
        rows[static_cast<std::size_t>(differs)], (*classes)[static_cast<std::size_t>(differs)],
        facts.name == TableFile::kName ? "Write 'labels' in the order of the head"
                                       : "Put the rows of the head and their names into the dataset's order",
        may_choose ? ", or give the model `head: new`" : ""));
  }
  if (are_default(rows)) return "";
  return fmt::format(
      "The model takes the head of the weights '{}', whose rows are of the classes {} ({}); the "
      "classes of the dataset are {}. Row 0 is taken for the first of these, and so on: look whether they "
      "mean the same, in the same order.",
      weights, first_names(rows), file, first_names(*classes));
}

std::string centred_note(const std::string& weights) {
  const auto folder = folder_of(weights);
  if (!folder || !std::filesystem::exists(*folder + "/" + models::kFeatureMean)) return {};
  return fmt::format(
      "The weights '{}' were trained on features less their mean, which lies beside them ({}); this run does "
      "not take that mean off, so the features are others.",
      weights, models::kFeatureMean);
}

std::string tokenizer_note(const json::object& options, const std::string& weights) {
  const auto name = read_options<TokenizerOptions>(options).tokenizer.value_or("");
  if (name.empty() || weights.empty() || name == weights) return {};
  const auto here = models::locate_weights(name), theirs = models::locate_weights(weights);
  if (!here || !theirs || !load_tokenizer(*theirs)) return {};
  const auto one = tokenizer_checksum(*here), other = tokenizer_checksum(*theirs);
  if (!one || !other || *one == *other) return {};
  return fmt::format(
      "The weights '{}' have a tokenizer of their own, and the dataset has that of '{}', which is another: "
      "an "
      "id may stand for other words. `tokenizer: {}` takes the weights' own.",
      weights, name, weights);
}

std::string interpolation_note(const Facts& facts, const json::object& options, const std::string& weights) {
  const auto here = choice_of(facts, options, "interpolation");
  const auto folder = folder_of(weights);
  if (here.empty() || !folder) return {};
  const auto config = models::weights_config(*folder);
  if (!config) return {};
  const auto inside = member(*config, "pretrained_cfg");
  const auto theirs = string_or(inside.empty() ? *config : inside, "interpolation", "");
  if (theirs.empty() || theirs == here) return {};
  return fmt::format(
      "The weights '{}' were trained on images resized with interpolation: {} (config.json); the dataset has "
      "{}.",
      weights, theirs, here);
}

Result<void> check_columns_of_weights(const Facts& facts, const json::object& options,
                                      const std::string& weights) {
  const auto folder = folder_of(weights);
  if (!folder || facts.name != TableFile::kName) return {};
  const auto theirs = string_or(trained_on(*folder), "columns_sha256", "");
  if (theirs.empty()) return {};
  const auto here = columns_sha256(options);
  if (!here) return here.error();
  if (here->empty() || theirs == *here) return {};
  return error(fmt::format(
      "The weights '{}' were trained on a table whose features have other names or another order ({}). A "
      "network knows features by their place: put the columns into the order of that table.",
      weights, models::kTrialMetadata));
}

std::string pool_note(const json::object& model) {
  const auto here = read_options<models::PoolOption>(model).pool.value_or("");
  const auto shared = read_options<models::SharedOptions>(model);
  const auto weights = shared.weights.value_or("");
  const auto folder = folder_of(weights);
  if (here.empty() || !folder || shared.head != "file") return {};
  // Transformers' files have this one, and so has a run whose config leaves it out.
  constexpr const char* kUsual = "first";
  const auto before = member(member(member(kept_by_a_run(*folder), "config"), "model"), "options");
  const auto theirs = string_or(before, "pool", kUsual);
  // Joined blocks have heads of other shapes.
  if (theirs == here || here.starts_with("block-")) return {};
  return fmt::format(
      "The model takes the head of the weights '{}', which was trained on what `pool: {}` gives, and has "
      "`pool: {}`.",
      weights, theirs, here);
}

std::string base_note(const json::object& model) {
  const auto shared = read_options<models::SharedOptions>(model);
  const auto adapter = shared.adapter.value_or("");
  const auto folder = adapter.empty() ? Result<std::string>(error("none")) : models::locate_adapter(adapter);
  if (!folder) return {};
  const auto base = member(member(member(kept_by_a_run(*folder), "config"), "model"), "options");
  const auto theirs = string_or(base, "weights_sha256", ""), here = shared.weights_sha256.value_or("");
  if (theirs.empty() || theirs == here) return {};
  return fmt::format(
      "The adapter '{}' was trained on other weights than '{}' (trial.json: weights_sha256 {}...).", adapter,
      shared.weights.value_or(""), theirs.substr(0, 12));
}

std::string overlap_note(const Facts& facts, const std::string& weights) {
  return note_of_overlap(facts, weights, "ε does not cover what the weights had seen of them");
}

std::string seen_test_note(const Facts& facts, const std::string& weights) {
  return note_of_overlap(facts, weights, "the accuracy on them is not that on images new to the weights");
}

std::string scale_note(const Facts& facts, const json::object& options, const std::string& network,
                       const std::string& weights) {
  const auto option = std::ranges::find(facts.options, "normalise", &OptionSpec::name);
  if (weights.empty() || option == facts.options.end()) return {};
  const auto given = choice_of(facts, options, "normalise");
  // Never a default: whoever writes it wants the plain pixels, as some papers do.
  if (given == "none") return {};
  const auto folder = models::locate_weights(weights);
  if (const auto before = folder ? trained_on(*folder) : json::object(); !before.empty()) {
    const auto theirs = normalise_of(before);
    if (theirs.empty() || theirs == given) return {};
    return fmt::format(
        "The weights '{}' were trained on a dataset with normalise: {} ({}); this one has normalise: {}.",
        weights, theirs, models::kTrialMetadata, given);
  }
  if (const auto said = folder ? scale_of_folder(*folder) : std::nullopt) {
    const auto here = scale_named(given);
    if (is_same(*said, here)) return {};
    const auto name = std::ranges::find_if(
        option->choices, [&](const std::string& choice) { return is_same(scale_named(choice), *said); });
    const auto constants =
        name == option->choices.end()
            ? fmt::format("{} (config.json), which no 'normalise' gives", shown(*said, " and "))
            : fmt::format("normalise: {} (config.json: {})", *name, shown(*said, ", "));
    return fmt::format(
        "The weights '{}' were trained on images with {}; the dataset gives them with normalise: {} ({}).",
        weights, constants, given, shown(here, ", "));
  }
  if (const auto* const known = models::find_pretrained(weights)) {
    if (given == known->normalise) return {};
    return fmt::format(
        "The weights '{}' were trained on images with normalise: {}; the dataset gives them with normalise: "
        "{}.",
        weights, known->normalise, given);
  }
  const auto model = models::find_model(network);
  const auto usual = model ? (**model).normalise : std::string();
  if (usual.empty() || usual == given) return {};
  return fmt::format(
      "Weights of {} were usually trained on images with normalise: {}; the dataset gives them with "
      "normalise: {}. Look what those of '{}' need.",
      network, usual, given, weights);
}

}  // namespace hyfreedp::datasets
