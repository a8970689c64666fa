#include <algorithm>
#include <fmt/format.h>

#include "harness/base/utf8.h"
#include "harness/cli/common/study_choice.h"
#include "harness/cli/run/commands.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr std::size_t kMostNote = 1000;  // bytes

constexpr const char* kUsage =
    "hyfreedp note SPEC TEXT [--only KEY=VALUE,...] [options]\n"
    "Writes a line about studies, in place of what was noted of them before; an empty TEXT removes it. "
    "`list runs`,\n"
    "`trace` and the database's view `study_notes` show it. A run may work in DIR. A study that "
    "`run --replace` leaves as it was\n"
    "keeps its note and tags; the studies of a new release (`run --fresh`) have none.\n"
    "Example: hyfreedp note quick 'the wide grid is of May' --only row=nondp-gs-wide --out out\n\n";

}  // namespace

int note_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  StudyChoice choice;
  CommandLine line{.command = "note", .usage = kUsage, .positional = "spec", .more_positional = {"text"}};
  add_choice_options(line.options, choice, "note");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  if (given.count("spec") > 0) choice.spec = given["spec"].as<std::string>();
  if (given.count("text") == 0) {
    return refused("note", error("say what: hyfreedp note SPEC TEXT; see hyfreedp note --help."), err);
  }
  const auto text = given["text"].as<std::string>();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  if (first_byte_not_utf8(text) || text.size() > kMostNote || std::ranges::any_of(text, is_control)) {
    return refused("note", error(fmt::format("a note is one line of text, of at most {} bytes.", kMostNote)),
                   err);
  }
  runner::StudyRequest request{.kind = runner::StudyRequest::Kind::note};
  request.note = text;
  const auto studies = hand_in_for(choice, std::move(request));
  if (!studies) return refused("note", studies.error(), err);
  out << fmt::format("{} {}.\n", *studies, text.empty() ? "without a note" : "noted");
  return 0;
}

}  // namespace hyfreedp::cli
