#include "harness/training/worker/program.h"

int main(int count, char** arguments) { return hyfreedp::worker::run_program(count, arguments); }
