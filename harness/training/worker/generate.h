// `hyfreedp-worker --generate FILE`: reads one GenerationRequest
// (harness/trial/generation.h) as JSON, continues its prompts with the network and the
// tokenizer of its weights folder, and writes one JSON line for each to standard output, in their
// order:
//   {"prompt": "...", "text": "...", "tokens": how many were written, "ended": by the end of text}
// A prompt's tokens are the marks that the tokenizer puts before a text, then those of the prompt,
// as in training (datasets/text_file.h). Bytes of a text that are no UTF-8 become U+FFFD. The exit
// status is 0, 2 for what cannot be continued, or 3 where nobody reads; for 2 the last line of
// standard error is the reason.
#pragma once

#include <string>

namespace hyfreedp::worker {

int run_generate(const std::string& file);

}  // namespace hyfreedp::worker
