// How the commands of README.md and of the rooms' manuals are tried that cannot be run as they
// stand: what takes minutes, installs, needs a name that only a run gives, or is a mention.
// Everything else there is run as it is written, in a folder whose out/ has the smoke spec under
// the name quick. A command that is neither, and an entry that no document has any more, fails the
// test.
#pragma once

#include <string>
#include <vector>

namespace hyfreedp::end_to_end {

struct ReadmeEntry {
  std::string command;  // as readme_text.h reads it
  std::string instead;  // a shell line; @STUDY@ and @TRIAL@ are ids of the database
  std::string reason;
  int code = 0;
  // Of the output that README.md shows, whose lines must be among those printed, in order.
  enum class Output { same, same_but_digits, unchecked } output = Output::same;
};

inline const std::vector<ReadmeEntry>& readme_entries() {
  using Output = ReadmeEntry::Output;
  static const std::vector<ReadmeEntry> entries = {
      // Two commands that install, build and run for minutes: scripts that read, and what they hand
      // to the program.
      {"experiments/run",
       "bash -n experiments/run && experiments/run --help && hyfreedp run experiments/quick.yaml --dry-run",
       "installs, builds, trains for minutes"},
      {"tests/run", "bash -n tests/run && tests/run --help", "it is what runs this test"},
      {"experiments/run --cpu", "grep -q -- --cpu experiments/run", "installs, builds, trains for minutes"},
      {"experiments/run SPEC", "hyfreedp run experiments/smoke.yaml --out smoke --quiet",
       "the script installs and builds first"},
      {"hyfreedp run experiments/papers/hyfreedp/table-2.yaml",
       "hyfreedp run experiments/papers/hyfreedp/table-2.yaml --preset smoke --quiet", "minutes of training"},
      {"hyfreedp table hyfreedp-table-2-small --paper", "hyfreedp table hyfreedp-table-2-smoke --paper",
       "of the preset that this test ran"},
      {"hyfreedp run experiments/nightly.yaml --out out/tonight",
       "sed 's/seeds: .*/seeds: [0, 1]/' experiments/nightly.yaml > nightly.yaml && hyfreedp run "
       "nightly.yaml --out out/tonight --quiet",
       "half a minute of training; fewer seeds"},
      {"hyfreedp regress --keep --commit \"$(git rev-parse HEAD)\" --tag good --out out/tonight --references "
       "out/references",
       "hyfreedp regress --keep --commit 0123abc --tag good --out out/tonight --references out/references",
       "a commit is needed, and this folder is no checkout"},
      // Names that stand for others.
      {"hyfreedp epsilon --db FILE --study ID", "hyfreedp epsilon --db out/hyfreedp.sqlite --study @STUDY@",
       "FILE is a database, ID is a study's"},
      {"hyfreedp epsilon --db out/hyfreedp.sqlite --study ID",
       "hyfreedp epsilon --db out/hyfreedp.sqlite --study @STUDY@", "ID is a study's"},
      {"hyfreedp epsilon --events FILE --delta 1e-5", "hyfreedp epsilon --events events.json --delta 1e-5",
       "FILE is the block of JSON beneath it"},
      {"hyfreedp run --cap E", "hyfreedp run private.yaml --cap 50 --out capped --quiet",
       "E is a number, and a spec is needed"},
      {"hyfreedp merge machine-2/out --out out",
       "mkdir machine-2 && cp -r out machine-2/out && hyfreedp merge machine-2/out --out out",
       "another machine's folder is needed"},
      {"cmake --install build/release --prefix DIR",
       "cmake --install @BUILD@ --prefix installed && installed/bin/hyfreedp --version && "
       "test -e installed/lib/cmake/hyfreedp/hyfreedp-config.cmake",
       "DIR stands for a folder, and the build is elsewhere"},
      {"hyfreedp data fetch efficientnet-lite0", "hyfreedp data info efficientnet-lite0", "needs a network"},
      {"hyfreedp generate smollm2-135m --prompts prompts.txt --top-p 0.9 --seed 1",
       "hyfreedp generate --help",
       "needs fetched weights; tests/end_to_end/generate_test.cpp writes with small ones"},
      {"hyfreedp score written.jsonl references.txt",
       "printf '{\"text\": \"a b\"}\\n' > written.jsonl && printf 'a c\\n' > references.txt && hyfreedp "
       "score "
       "written.jsonl references.txt",
       "files are needed"},
      // Mentions of a command, not calls.
      {"hyfreedp", "hyfreedp --help", "the name of the program"},
      {"hyfreedp trace", "hyfreedp trace --help", "names the command"},
      {"hyfreedp export values NAME", "hyfreedp export values quick", "NAME is a spec's"},
      {"hyfreedp epsilon", "hyfreedp epsilon --help", "names the command"},
      {"hyfreedp calibrate", "hyfreedp calibrate --help", "names the command"},
      {"hyfreedp archive", "hyfreedp archive --help", "names the command"},
      {"hyfreedp verify", "hyfreedp verify --help", "names the command"},
      {"hyfreedp regress", "hyfreedp regress --help", "names the command"},
      {"hyfreedp calibrate ... --hyfreedp MODE --accountant rdp", "hyfreedp calibrate --help",
       "names an option"},
      // Too long, or writes into a checkout.
      {"hyfreedp audit", "hyfreedp audit --runs 8 --seed readme", "half a minute; fewer runs", 0,
       Output::same_but_digits},
      {"hyfreedp audit --hyfreedp paper --epsilon 8",
       "hyfreedp audit --hyfreedp paper --epsilon 8 --runs 8 --seed readme", "half a minute; fewer runs", 1,
       Output::unchecked},
      {"hyfreedp new baseline my-method", "hyfreedp new baseline my-method --source checkout",
       "writes into the checkout; tests/cli/new_command_test.cpp builds on it"},
  };
  return entries;
}

}  // namespace hyfreedp::end_to_end
