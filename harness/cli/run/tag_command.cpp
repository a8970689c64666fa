#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/common/study_choice.h"
#include "harness/cli/run/commands.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr std::size_t kMostTag = 40;  // characters

constexpr const char* kUsage =
    "hyfreedp tag SPEC [--add TAG] [--remove TAG] [--only KEY=VALUE,...] [options]\n"
    "Gives tags to studies, or takes them away. `list runs --tag TAG` finds them again; `trace` and the "
    "database's\n"
    "view `study_notes` show them. A run may work in DIR.\n"
    "Example: hyfreedp tag quick --add good --remove draft --only row=prodigy --out out\n\n";

bool is_tag(const std::string& text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= kMostTag && std::ranges::all_of(text, is_plain);
}

}  // namespace

int tag_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  StudyChoice choice;
  runner::StudyRequest request{.kind = runner::StudyRequest::Kind::tag};
  CommandLine line{.command = "tag", .usage = kUsage, .positional = "spec"};
  add_choice_options(line.options, choice, "tag");
  auto add = line.options.add_options();
  add("add", options::value(&request.add)->composing()->value_name("TAG"),
      "a tag to give: letters, digits, '-', '_', '.'; may be repeated");
  add("remove", options::value(&request.remove)->composing()->value_name("TAG"),
      "a tag to take away; may be repeated");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  if (given.count("spec") > 0) choice.spec = given["spec"].as<std::string>();
  if (request.add.empty() && request.remove.empty()) {
    return refused("tag", error("say which tags to --add or to --remove; see hyfreedp tag --help."), err);
  }
  for (const auto* tags : {&request.add, &request.remove}) {
    const auto wrong = std::ranges::find_if_not(*tags, is_tag);
    if (wrong == tags->end()) continue;
    return refused("tag",
                   error(fmt::format("'{}' is no tag: it has letters, digits, '-', '_' and '.', at most {}.",
                                     *wrong, kMostTag)),
                   err);
  }
  const auto studies = hand_in_for(choice, std::move(request));
  if (!studies) return refused("tag", studies.error(), err);
  out << fmt::format("{} tagged.\n", *studies);
  return 0;
}

}  // namespace hyfreedp::cli
