#include "harness/trial/code_marks.h"

#include <algorithm>
#include <utility>

namespace hyfreedp::trial {
namespace {

std::vector<CodeMark>& known_marks() {
  static std::vector<CodeMark> marks;
  return marks;
}

struct Part {
  const char* kind;
  std::string name;
  std::string text;
};

std::vector<Part> parts_of(const std::string& optimizer, const std::string& controller) {
  return {{"engine", "", "the engine"},
          {"models", "", "the models' code"},
          {"datasets", "", "the datasets' code"},
          {"optimizer", optimizer, "the optimizer " + optimizer},
          {"controller", controller, "the learning-rate controller " + controller}};
}

}  // namespace

void set_code_marks(std::vector<CodeMark> marks) { known_marks() = std::move(marks); }

std::string code_mark(const std::string& kind, const std::string& name) {
  const auto& marks = known_marks();
  const auto found = std::ranges::find_if(
      marks, [&](const CodeMark& mark) { return mark.kind == kind && mark.name == name; });
  return found == marks.end() ? "" : found->hash;
}

json::object code_of(const std::string& optimizer, const std::string& controller) {
  json::object code;
  for (const auto& part : parts_of(optimizer, controller)) {
    if (auto hash = code_mark(part.kind, part.name); !hash.empty()) code[part.kind] = std::move(hash);
  }
  return code;
}

std::vector<std::string> changed_parts(const json::object& then, const std::string& optimizer,
                                       const std::string& controller) {
  std::vector<std::string> changed;
  if (known_marks().empty()) return changed;
  for (const auto& part : parts_of(optimizer, controller)) {
    if (string_or(then, part.kind, "") != code_mark(part.kind, part.name)) changed.push_back(part.text);
  }
  return changed;
}

}  // namespace hyfreedp::trial
