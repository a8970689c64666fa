#include "harness/runner/spec/spec_needs.h"

#include "harness/runner/spec/spec_file.h"
#include "harness/runner/spec/spec_sources.h"

namespace hyfreedp::runner {
namespace {

// A text, or the texts of a list.
void add_texts(const Entry& entry, std::set<std::string>& names) {
  if (entry.is_text()) {
    names.insert(entry.text().value());
  } else if (entry.is_list()) {
    const auto entries = entry.list();
    for (const auto& one : *entries) add_texts(one, names);
  }
}

// True if the key is `name`, or a path that ends with it, as those of `each` are.
bool names_it(const std::string& key, const std::string& name) {
  return key == name || key.ends_with("." + name);
}

void add_needs(const Entry& entry, SpecNeeds& needs) {
  if (entry.is_list()) {
    const auto entries = entry.list();
    for (const auto& one : *entries) add_needs(one, needs);
  }
  if (!entry.is_map()) return;
  for (const auto& key : entry.keys()) {
    const auto value = *entry.find(key);
    if (names_it(key, "weights") || names_it(key, "tokenizer")) {
      add_texts(value, needs.weights);
    } else if (names_it(key, "adapter")) {
      add_texts(value, needs.adapters);
    } else if (names_it(key, "dataset")) {
      add_texts(value, needs.datasets);
      const auto name = value.find("name"), path = value.find("path");
      if (path && (path->is_text() || path->is_list())) {
        add_texts(*path, needs.images);
      } else if (name) {
        add_texts(*name, needs.datasets);
      }
    }
    add_needs(value, needs);
  }
}

}  // namespace

Result<SpecNeeds> spec_needs(const std::string& path, const std::string& preset,
                             const std::vector<std::string>& settings) {
  const auto text = read_spec_file(path);
  if (!text) return text.error();
  Problems problems(path);
  const auto laid = laid_document({path, *text, preset, settings}, nullptr, problems);
  if (!laid) return problems.error();
  SpecNeeds needs;
  if (laid->document.find("not_runnable")) return needs;
  add_needs(laid->document.without("reproduces"), needs);
  return needs;
}

}  // namespace hyfreedp::runner
