#include "harness/cli/create/new_command.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/command_line.h"
#include "harness/cli/create/new_entry.h"
#include "harness/cli/create/new_spec.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp new spec NAME [--folder DIR]\n"
    "Writes NAME.yaml: the least spec that runs, with comments that say what to change.\n"
    "Example: hyfreedp new spec my-first && hyfreedp run my-first.yaml\n\n"
    "hyfreedp new KIND NAME [--source DIR]\n"
    "Begins a method, rule or dataset of your own in a checkout: copies the template's header, source and "
    "test, "
    "and adds its lines to\n"
    "the tables. KIND: baseline, optimizer, controller (of the learning rate) or dataset. It builds and "
    "passes "
    "its tests at once;\n"
    "then make it yours: baselines/TEMPLATE.md, optimizers/TEMPLATE.md and datasets/README.md say how.\n"
    "Example: hyfreedp new baseline my-method\n\n";

// What the command says of an entry that it has written.
struct Next {
  std::string room, listed, use, guide;
};

Next next_of(const NewEntry& entry) {
  if (entry.kind == "baseline") {
    return {"baselines", "methods",
            fmt::format("a row in a spec:  - {{method: {}, options: {{lr: 1e-2}}}}", entry.name),
            "baselines/TEMPLATE.md"};
  }
  if (entry.kind == "dataset") {
    return {"datasets", "datasets", fmt::format("a spec's data:  dataset: {{name: {}}}", entry.name),
            "datasets/README.md"};
  }
  return {"optimizers", entry.kind + "s",
          entry.kind == "optimizer"
              ? fmt::format("a spec's rows trained by it:  train: {{optimizer: {}}}", entry.name)
              : "a method names its controller: hyfreedp new baseline begins one",
          "optimizers/TEMPLATE.md"};
}

void print_next(const NewEntry& entry, std::ostream& out) {
  std::vector<std::string> paths;
  for (const auto& file : entry.files) paths.push_back(file.path);
  const auto next = next_of(entry);
  out << fmt::format(
      "\nNext:\n"
      "  ninja -C build/release hyfreedp hyfreedp-worker test_{0}\n"
      "  build/release/bin/test_{0} --gtest_brief=1\n"
      "  build/release/bin/hyfreedp list {1}\n"
      "  clang-format -i {2}   (where it is installed)\n"
      "  {3}\n"
      "Then make it yours: {4}.\n"
      "After a change of its code, rows that are finished keep their numbers: hyfreedp run SPEC --retrain "
      "ROW.\n",
      next.room, next.listed, join(paths, " "), next.use, next.guide);
}

int new_entry_command(const std::string& kind, const std::vector<std::string>& arguments, std::ostream& out,
                      std::ostream& err) {
  const auto command = fmt::format("new {}", kind);
  std::string source;
  CommandLine line{.command = command, .usage = kUsage, .positional = "name"};
  line.options.add_options()("help,h", "this text")(
      "source", options::value(&source)->default_value(".")->value_name("DIR"),
      "the checkout, or a folder in it");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  if (given.count("name") == 0) {
    return refused(command, error(fmt::format("the name is missing: hyfreedp {} my-{}.", command, kind)),
                   err);
  }
  const auto checkout = find_checkout(source);
  if (!checkout) return refused(command, checkout.error(), err);
  const auto entry = plan_entry(*checkout, kind, given["name"].as<std::string>());
  if (!entry) return refused(command, entry.error(), err);
  if (auto written = write_entry(*checkout, *entry); !written) return refused(command, written.error(), err);
  for (const auto& file : entry->files) {
    out << fmt::format("{:<8} {} ({} lines)\n", file.is_new ? "new" : "changed", file.path, file.lines);
  }
  print_next(*entry, out);
  return 0;
}

int new_spec_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  std::string folder;
  CommandLine line{.command = "new spec", .usage = kUsage, .positional = "name"};
  line.options.add_options()("help,h", "this text")(
      "folder", options::value(&folder)->default_value(".")->value_name("DIR"), "where to write it");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  if (given.count("name") == 0)
    return refused("new spec", error("say its name: hyfreedp new spec my-first."), err);
  const auto path = write_spec(folder, given["name"].as<std::string>());
  if (!path) return refused("new spec", path.error(), err);
  out << fmt::format("new      {}\n\nTo change:\n", *path);
  for (const auto& one : what_to_change()) out << "  " << one << '\n';
  out << fmt::format(
      "\nNext:\n"
      "  hyfreedp run {} --dry-run   (what would run, its noise and its price)\n"
      "  hyfreedp run {}\n",
      *path, *path);
  return 0;
}

}  // namespace

int new_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  std::vector<Part> parts = {{"spec", new_spec_command}};
  for (const auto& kind : new_kinds()) {
    parts.push_back({kind, [kind](const auto& rest, std::ostream& o, std::ostream& e) {
                       return new_entry_command(kind, rest, o, e);
                     }});
  }
  return run_part("new", kUsage, parts, arguments, out, err);
}

}  // namespace hyfreedp::cli
