#include <iostream>
#include <string>
#include <vector>

#include "build_commit.h"
#include "code_marks_table.h"
#include "harness/base/version.h"
#include "harness/cli/commands.h"
#include "harness/trial/code_marks.h"

int main(int count, char** values) {
  hyfreedp::set_build_commit(HYFREEDP_COMMIT);
  hyfreedp::trial::set_code_marks({HYFREEDP_CODE_MARKS});
  return hyfreedp::cli::dispatch(std::vector<std::string>(values + 1, values + count), std::cout, std::cerr);
}
