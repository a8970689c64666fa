// Checks that a network can read texts from left to right, a few tokens at a time
// (Network::next_logits): that each place computes a position from that position alone, but for
// causal attention.
#pragma once

#include "harness/base/result.h"
#include "harness/models/graph/graph.h"

namespace hyfreedp::models::graph {

// An error that names the first place that looks elsewhere, or whose table of positions is too
// short for texts of `length` tokens. Each kind of layer that reads by position is listed; of
// another kind nothing is assumed.
Result<void> check_left_to_right(const Graph& graph, std::int64_t length);

}  // namespace hyfreedp::models::graph
