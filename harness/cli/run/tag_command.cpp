#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/common/study_choice.h"

namespace hyfreedp::cli {
namespace {

constexpr std::size_t kMostTag = 40;  // characters

constexpr std::string_view kText = R"(
hyfreedp tag SPEC [--add TAG] [--remove TAG] [--only KEY=VALUE,...] [options]
Gives tags to studies, or takes them away. `list runs --tag TAG` finds them again; `trace` and the
database's view `study_notes` show them. A run may work in DIR.
Example: hyfreedp tag quick --add good --remove draft --only row=prodigy --out out)";

bool is_tag(const std::string& text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= kMostTag && std::ranges::all_of(text, is_plain);
}

struct TagRequest : StudyChoice {
  std::vector<std::string> add, remove;

  void describe(Options& options) {
    StudyChoice::describe(options, "tag");
    options.value(add, "add", "TAG", "a tag to give: letters, digits, '-', '_', '.'; may be repeated");
    options.value(remove, "remove", "TAG", "a tag to take away; may be repeated");
  }
};

Outcome tag(const TagRequest& request, std::ostream& out, std::ostream&) {
  if (request.add.empty() && request.remove.empty()) {
    return unusable("say which tags to --add or to --remove");
  }
  for (const auto* tags : {&request.add, &request.remove}) {
    const auto wrong = std::ranges::find_if_not(*tags, is_tag);
    if (wrong == tags->end()) continue;
    return error(fmt::format("'{}' is no tag: it has letters, digits, '-', '_' and '.', at most {}.", *wrong,
                             kMostTag));
  }
  runner::StudyRequest handed{.kind = runner::StudyRequest::Kind::tag};
  handed.add = request.add;
  handed.remove = request.remove;
  const auto studies = hand_in_for(request, std::move(handed));
  if (!studies) return studies.error();
  out << fmt::format("{} tagged.\n", *studies);
  return 0;
}

}  // namespace

Command tag_command() {
  return {"tag", kText, action<TagRequest>(tag), "gives tags to studies, or takes them away",
          "hyfreedp tag quick --add good --only row=prodigy"};
}

}  // namespace hyfreedp::cli
