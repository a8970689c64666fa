#include "harness/models/facts/misfits.h"

#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp::models {
namespace {

constexpr std::size_t kNamedInErrors = 12;

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const auto& name : names) {
    if (parts.size() == kNamedInErrors) {
      parts.push_back(std::to_string(names.size() - kNamedInErrors) + " more");
      break;
    }
    parts.push_back(name);
  }
  return join(parts, ", ");
}

void Misfits::add_misshaped(const std::string& name, const std::vector<std::int64_t>& found,
                            const std::vector<std::int64_t>& wanted) {
  misshaped.push_back(name + " " + shape_text(found) + " for " + shape_text(wanted));
}

void Misfits::compare(const TensorShapes& file, const TensorShapes& wanted,
                      const std::function<bool(const std::string&)>& ignored) {
  for (const auto& [name, sizes] : wanted) {
    const auto found = file.find(name);
    if (found == file.end()) {
      missing.push_back(name);
    } else if (found->second != sizes) {
      add_misshaped(name, found->second, sizes);
    }
  }
  for (const auto& [name, value] : file) {
    if (!ignored(name) && !wanted.contains(name)) unexpected.push_back(name);
  }
}

Result<void> Misfits::result() const {
  std::vector<std::string> problems;
  if (!missing.empty()) problems.push_back("missing: " + listed(missing));
  if (!unexpected.empty()) problems.push_back("unexpected: " + listed(unexpected));
  if (!misshaped.empty()) problems.push_back("with another shape: " + listed(misshaped));
  if (problems.empty()) return {};
  return error("The weights do not fit the model; " + join(problems, "; ") + ".");
}

}  // namespace hyfreedp::models
