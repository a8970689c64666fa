// The commands of this room; each is a function in a file of its own, NAME_command.cpp. `arguments`
// are those after the command's name; harness/cli/commands.h says what a command returns.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

// `hyfreedp run SPEC.yaml`: the whole path of a comparison.
int run_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp status`: what an output folder holds, and what is missing.
int status_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp cancel`: ends studies that are not over, also while a run works there.
int cancel_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp retry`: opens cancelled and lost studies again.
int retry_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp note`, `hyfreedp tag`: what the user writes about studies.
int note_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);
int tag_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp watch`: how a run in an output folder stands, drawn again until it is over.
int watch_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp replay`: methods over a stored pool of runs, thousands of times, without training.
int replay_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
