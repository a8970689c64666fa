// Settings for bringing files: patience, the token of a hub, and who is told of progress.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hyfreedp::datasets {

// A bearer token for hubs. It is sent to these hosts alone, over https alone, and only where the
// declared address is theirs; never after a redirect to another host or port. It is never stored or
// printed.
struct Token {
  std::string value;
  std::vector<std::string> hosts = {"huggingface.co"};
  bool over_http = false;  // for tests, whose server has no certificate
};

// The token in HF_TOKEN; empty if that is not set.
Token token_of_environment();

struct Transport {
  long connect_seconds = 30;
  long stall_seconds = 60;  // without a single byte. A slow connection may take as long as it likes
  // Attempts at one address, each going on where the last one ended. The pause before the next is
  // `pause_seconds` times the number of the attempt.
  int attempts = 4;
  double pause_seconds = 1;
  Token token = {};
  // Bytes of the file that are here, and all of it (0: unknown).
  std::function<void(const std::string& name, std::uint64_t done, std::uint64_t total)> progress = {};
  // A sentence on what is done now, such as "continues at 12.3 MB".
  std::function<void(const std::string& sentence)> say = {};
};

}  // namespace hyfreedp::datasets
