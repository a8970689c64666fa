// The texts from which scores are computed.
#pragma once

#include <string>
#include <vector>

namespace hyfreedp::scores {

using Tokens = std::vector<std::string>;

// A text that a network wrote, and the texts that people wrote for the same input: one at least.
struct Example {
  std::string text;
  std::vector<std::string> references;
};

// The same, cut into tokens. No token is empty or has a blank in it.
struct TokenExample {
  Tokens text;
  std::vector<Tokens> references;
};

}  // namespace hyfreedp::scores
