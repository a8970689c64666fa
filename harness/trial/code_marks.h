// Marks of the code that a run and a row are of: a hash of the sources of each part, made when the
// program is built (harness/build/code_marks.py). So a row that was trained before a method, an
// optimizer or the engine was changed can be told from one that today's code would train alike.
//
// The worker writes code_of() into the fingerprint of a run's start line, as "code"; a study has
// the mark of its method.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::trial {

struct CodeMark {
  std::string kind;  // "engine", "models", "datasets", "optimizer", "controller", "method"
  std::string name;  // of the registry's entry; empty for the first three
  std::string hash;  // 16 hexadecimal digits
};

// main() says once what it was built from; nobody does so in tests, where no mark is known.
void set_code_marks(std::vector<CodeMark> marks);
// The hash; empty where it is not known.
std::string code_mark(const std::string& kind, const std::string& name = "");

// {"engine": hash, "models": .., "datasets": .., "optimizer": .., "controller": ..} of this
// program's code for a run with these registered entries; empty where no mark is known.
json::object code_of(const std::string& optimizer, const std::string& controller);

// Returns the parts of this program's code that differ from `then`, which code_of() made for that
// run, in words: "the engine", "the optimizer adamw". Empty if no mark is known.
std::vector<std::string> changed_parts(const json::object& then, const std::string& optimizer,
                                       const std::string& controller);

}  // namespace hyfreedp::trial
