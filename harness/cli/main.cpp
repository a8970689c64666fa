#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

#include "build_commit.h"
#include "code_marks_table.h"
#include "harness/base/version.h"
#include "harness/cli/commands.h"
#include "harness/trial/code_marks.h"

namespace {

// Opens those of the three standard files that the caller closed. Otherwise the next file that is
// opened, such as a journal, would take the number of one and get what is printed.
void occupy_standard_files() {
  for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // The wrong way round, so that its use fails as that of a closed file does.
    static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

// Returns 1 in place of 0 if what was printed did not arrive, as on a full disk. A reader that went
// away, such as `head`, is no error.
int checked_output(int code) {
  const bool arrived = std::cout.flush().good() && std::ferror(stdout) == 0;
  if (arrived) return code;
  errno = 0;
  static_cast<void>(::write(STDOUT_FILENO, "\n", 1) == 1);  // to learn why
  if (errno == EPIPE) return code;
  std::cerr << "hyfreedp: what was printed is not complete: standard output cannot be written"
            << (errno != 0 ? std::string(" (") + std::strerror(errno) + ")" : "") << ".\n";
  return code == 0 ? 1 : code;
}

}  // namespace

int main(int count, char** values) {
  occupy_standard_files();
  hyfreedp::set_build_commit(HYFREEDP_COMMIT);
  hyfreedp::trial::set_code_marks({HYFREEDP_CODE_MARKS, {"all", "", HYFREEDP_CODE_OF_ALL}});
  return checked_output(
      hyfreedp::cli::dispatch(std::vector<std::string>(values + 1, values + count), std::cout, std::cerr));
}
