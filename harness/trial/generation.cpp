#include "harness/trial/generation.h"

#include "harness/base/describe.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::trial {

std::vector<OptionSpec> generation_options() {
  const auto with = [](const char* decoding, OptionSpec option) {
    return only_with("decoding", decoding, std::move(option));
  };
  return options_of<GenerationOptions>(
      {plain_option("decoding",
                    "greedy: the likeliest token each time; beam: the best of several texts; "
                    "nucleus: drawn from the likeliest tokens"),
       ranged_option("tokens", 1, 65536, "most tokens that are written"),
       with("beam", ranged_option("beams", 2, 256, "texts that are looked at together")),
       with("beam",
            ranged_option("length_penalty", -10, 10,
                          "a text counts by its logarithmic probability over its tokens to this power")),
       with("nucleus", ranged_option("top_p", 1e-6, 1,
                                     "the tokens drawn from are the fewest with this probability together")),
       with("nucleus", ranged_option("temperature", 1e-3, 1e3,
                                     "logits are divided by it: below 1 likely tokens become likelier")),
       with("nucleus", ranged_option("seed", 0, 9e15, "of the draws")),
       ranged_option("batch", 1, 65536, "prompts at once; another number may round logits otherwise")});
}

}  // namespace hyfreedp::trial
