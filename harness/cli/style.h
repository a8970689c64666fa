// How every command reads its options: long names are written out, never guessed from a beginning.
#pragma once

#include <boost/program_options/cmdline.hpp>

namespace hyfreedp::cli {

inline constexpr int kStyle = boost::program_options::command_line_style::unix_style &
                              ~boost::program_options::command_line_style::allow_guessing;

}  // namespace hyfreedp::cli
