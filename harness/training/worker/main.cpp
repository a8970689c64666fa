#include "code_marks_table.h"
#include "harness/training/worker/program.h"
#include "harness/trial/code_marks.h"

namespace {

// hyfreedp looks for it in this program's file (harness/runner/execute/other_code.h).
[[gnu::used]] const char kCodeOfAll[] = "hyfreedp code marks: " HYFREEDP_CODE_OF_ALL;

}  // namespace

int main(int count, char** arguments) {
  hyfreedp::trial::set_code_marks({HYFREEDP_CODE_MARKS});
  return hyfreedp::worker::run_program(count, arguments);
}
