#include <iostream>
#include <string>
#include <vector>

#include "harness/cli/commands.h"

int main(int count, char** values) {
  return hyfreedp::cli::dispatch(std::vector<std::string>(values + 1, values + count), std::cout, std::cerr);
}
