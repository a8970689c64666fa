// The program hyfreedp-worker: it trains, and knows nothing of the database. `hyfreedp run` starts
// it.
#pragma once

#include "harness/training/parts.h"

namespace hyfreedp::worker {

// main() with the program's arguments; returns the exit status. `parts`: tests make a worker with a
// fault from them.
int run_program(int count, char** arguments, const training::Parts& parts = {});

}  // namespace hyfreedp::worker
