#include "harness/runner/spec/spec_sources.h"

#include "harness/runner/spec/spec_defaults.h"
#include "harness/runner/spec/spec_document.h"
#include "harness/runner/spec/spec_presets.h"

namespace hyfreedp::runner {
namespace {

// All that a document and its presets have, so that none is a mistake.
std::vector<std::string> keys_there(const Entry& document) {
  auto all = document.keys();
  const auto presets = document.find("presets");
  if (!presets || !presets->is_map()) return all;
  for (const auto& name : presets->keys()) {
    const auto preset = *presets->find(name);
    if (!preset.is_map()) continue;
    const auto keys = preset.keys();
    all.insert(all.end(), keys.begin(), keys.end());
  }
  return all;
}

std::optional<LaidDocument> laid(const SpecSources& sources, const std::vector<std::string>* keys,
                                 Defaults defaults, Problems& problems) {
  const auto before = problems.added();
  const auto read = parse_document(sources.path, sources.text, defaults, problems);
  if (!read) return std::nullopt;
  const auto whole = laid_over_each_other(read->layers);
  if (!whole.check_keys(keys, problems)) return std::nullopt;
  const auto valid = keys != nullptr ? *keys : keys_there(whole);
  const auto chosen = choose_preset(read->layers, sources.preset, valid, problems);
  if (!chosen) return std::nullopt;
  auto document = problems.take(with_settings(chosen->document, sources.settings, defaults));
  if (!document) return std::nullopt;
  if (keys != nullptr && !sources.settings.empty()) document->check_keys(keys, problems);
  if (defaults == Defaults::at_top_level && problems.added() > before) return std::nullopt;
  return LaidDocument{std::move(*document), chosen->preset, text_with(read->text, sources.settings)};
}

}  // namespace

std::optional<LaidDocument> laid_document(const SpecSources& sources, const std::vector<std::string>* keys,
                                          Problems& problems) {
  auto document = laid(sources, keys, Defaults::as_written, problems);
  if (!document || !says_twice(document->document)) return document;
  return laid(sources, keys, Defaults::at_top_level, problems);
}

}  // namespace hyfreedp::runner
