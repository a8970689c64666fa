// How a network continues texts, and what `hyfreedp generate` asks of the worker, as structs that
// are described once. No LibTorch.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/options.h"

namespace hyfreedp::trial {

//   greedy   the likeliest token, each time
//   beam     of `beams` texts that are looked at together the one with the largest ln p(text) /
//            tokens^length_penalty, as transformers' generate(num_beams) finds it with
//            early_stopping=False
//   nucleus  a token drawn from the fewest that have the probability `top_p` together, at a
//            temperature (Holtzman et al., arXiv:1904.09751)
enum class Decoding { greedy, beam, nucleus };
BOOST_DESCRIBE_ENUM(Decoding, greedy, beam, nucleus)

struct GenerationOptions {
  Decoding decoding = Decoding::greedy;
  std::int64_t tokens = 64;
  std::int64_t beams = 4;
  double length_penalty = 1;
  double top_p = 0.9;
  double temperature = 1;
  std::int64_t seed = 0;
  std::int64_t batch = 16;

  bool operator==(const GenerationOptions&) const = default;
};
BOOST_DESCRIBE_STRUCT(GenerationOptions, (),
                      (decoding, tokens, beams, length_penalty, top_p, temperature, seed, batch))

// The options with their ranges and help.
std::vector<OptionSpec> generation_options();

// `hyfreedp-worker --generate` reads one of these as JSON.
struct GenerationRequest {
  std::string weights;  // a weights folder, or the name of fetched weights
  std::string adapter;  // a folder of peft's; empty: none
  std::vector<std::string> prompts;
  GenerationOptions options;
  std::int64_t threads = 1;
};
BOOST_DESCRIBE_STRUCT(GenerationRequest, (), (weights, adapter, prompts, options, threads))

}  // namespace hyfreedp::trial
