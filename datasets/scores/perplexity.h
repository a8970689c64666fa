// Perplexity by token: every token has the same weight, whichever text it is of.
#pragma once

#include <span>
#include <vector>

namespace hyfreedp::scores {

// exp of the mean over all tokens of all texts of -ln p(token), in nats. `losses`: of each text, of
// each of its scored tokens; texts may have none. Infinite where no text has one.
double token_perplexity(std::span<const std::vector<double>> losses);

}  // namespace hyfreedp::scores
