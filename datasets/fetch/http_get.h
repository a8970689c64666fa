// One GET by libcurl: redirects, patience, the token, and what the answer means. What is done with
// the bytes is the receiver's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "datasets/fetch/transport.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct GetRequest {
  std::string url;
  std::uint64_t from = 0;  // the first byte that is wanted
  std::string if_range;    // of the version wanted; empty: whichever there is
};

struct Begin {
  bool continued = false;   // bytes from `from` on follow; else the whole file
  std::uint64_t total = 0;  // of the whole file; 0: unknown
  std::string etag;
  std::string last_modified;
};

class Receiver {
 public:
  virtual ~Receiver() = default;
  // Once, before any bytes; not called for an answer without the file. An error ends the transfer.
  virtual Result<void> begin(const Begin& begin) = 0;
  virtual Result<void> take(std::string_view bytes) = 0;
};

struct Got {
  enum class Ending {
    complete,
    broken,    // it may do better next time
    no_range,  // the part that was asked for cannot be had; ask for the whole file
    refused,   // this address does not give the file
    stopped    // the receiver returned an error, which is `why`
  };
  Ending ending = Ending::complete;
  std::string why;  // a clause without its full stop: "the server has no such file (404)"
};

Got http_get(const GetRequest& request, const Transport& transport, Receiver& receiver);

}  // namespace hyfreedp::datasets
