#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/command.h"
#include "harness/cli/create/new_entry.h"
#include "harness/cli/create/new_spec.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
hyfreedp new spec NAME [--folder DIR]
Writes NAME.yaml: the least spec that runs, with comments that say what to change.
Example: hyfreedp new spec my-first && hyfreedp run my-first.yaml

hyfreedp new KIND NAME [--source DIR]
Begins a method, rule or dataset of your own in a checkout: copies the template's header, source and
test, and adds its lines to the tables. KIND: baseline, optimizer, controller (of the learning rate)
or dataset. It builds and passes its tests at once; then make it yours: baselines/TEMPLATE.md,
optimizers/TEMPLATE.md and datasets/README.md say how.
Example: hyfreedp new baseline my-method)";

// The texts that the command prints about an entry that it has written.
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

struct EntryRequest {
  std::optional<std::string> name;
  std::string source = ".";

  void describe(Options& options) {
    options.positional(name, "name", "NAME");
    options.value(source, "source", "DIR", "the checkout, or a folder in it");
  }
};

Outcome new_entry(const std::string& kind, const EntryRequest& request, std::ostream& out) {
  if (!request.name) return error(fmt::format("the name is missing: hyfreedp new {0} my-{0}.", kind));
  const auto checkout = find_checkout(request.source);
  if (!checkout) return checkout.error();
  const auto entry = plan_entry(*checkout, kind, *request.name);
  if (!entry) return entry.error();
  if (auto written = write_entry(*checkout, *entry); !written) return written.error();
  for (const auto& file : entry->files) {
    out << fmt::format("{:<8} {} ({} lines)\n", file.is_new ? "new" : "changed", file.path, file.lines);
  }
  print_next(*entry, out);
  return 0;
}

struct NewSpecRequest {
  std::optional<std::string> name;
  std::string folder = ".";

  void describe(Options& options) {
    options.positional(name, "name", "NAME");
    options.value(folder, "folder", "DIR", "where to write it");
  }
};

Outcome new_spec(const NewSpecRequest& request, std::ostream& out, std::ostream&) {
  if (!request.name) return error("say its name: hyfreedp new spec my-first.");
  const auto path = write_spec(request.folder, *request.name);
  if (!path) return path.error();
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

Command new_command() {
  Command command{"new",
                  kText,
                  {},
                  "begins a spec, or a method, optimizer or controller of your own in a checkout",
                  "hyfreedp new baseline my-method",
                  {{"new spec", kText, action<NewSpecRequest>(new_spec)}}};
  for (const auto& kind : new_kinds()) {
    const auto begin = [kind](const EntryRequest& request, std::ostream& out, std::ostream&) {
      return new_entry(kind, request, out);
    };
    command.parts.push_back({"new " + kind, kText, action<EntryRequest>(begin)});
  }
  return command;
}

}  // namespace hyfreedp::cli
