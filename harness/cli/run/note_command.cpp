#include <algorithm>
#include <fmt/format.h>

#include "harness/base/utf8.h"
#include "harness/cli/common/study_choice.h"

namespace hyfreedp::cli {
namespace {

constexpr std::size_t kMostNote = 1000;  // bytes

constexpr std::string_view kText = R"(
Writes a line about studies, in place of what was noted of them before; an empty TEXT removes it.
`list runs`, `trace` and the database's view `study_notes` show it. A run may work in DIR. A study
that `run --replace` leaves as it was keeps its note and tags; the studies of a new release (`run
--fresh`) have none.
Example: hyfreedp note quick 'the wide grid is of May' --only row=nondp-gs-wide --out out)";

struct NoteRequest : StudyChoice {
  std::optional<std::string> text;

  void describe(Options& options) {
    StudyChoice::describe(options, "note");
    options.positional(text, "text", "TEXT");
  }
};

Outcome note(const NoteRequest& choice, std::ostream& out, std::ostream&) {
  if (!choice.text) return unusable("say what: hyfreedp note SPEC TEXT");
  const auto& text = *choice.text;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  if (first_byte_not_utf8(text) || text.size() > kMostNote || std::ranges::any_of(text, is_control)) {
    return error(fmt::format("a note is one line of text, of at most {} bytes.", kMostNote));
  }
  runner::StudyRequest request{.kind = runner::StudyRequest::Kind::note};
  request.note = text;
  const auto studies = hand_in_for(choice, std::move(request));
  if (!studies) return studies.error();
  out << fmt::format("{} {}.\n", *studies, text.empty() ? "without a note" : "noted");
  return 0;
}

}  // namespace

Command note_command() {
  return {"note", kText, action<NoteRequest>(note), "writes a line about studies",
          "hyfreedp note quick 'before the new grid' --only row=prodigy"};
}

}  // namespace hyfreedp::cli
