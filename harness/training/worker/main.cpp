#include "code_marks_table.h"
#include "harness/training/worker/program.h"
#include "harness/trial/code_marks.h"

int main(int count, char** arguments) {
  hyfreedp::trial::set_code_marks({HYFREEDP_CODE_MARKS});
  return hyfreedp::worker::run_program(count, arguments);
}
