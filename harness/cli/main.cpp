#include <iostream>
#include <string>
#include <vector>

#include "build_commit.h"
#include "harness/base/version.h"
#include "harness/cli/commands.h"

int main(int count, char** values) {
  hyfreedp::set_build_commit(HYFREEDP_COMMIT);
  return hyfreedp::cli::dispatch(std::vector<std::string>(values + 1, values + count), std::cout, std::cerr);
}
