// What may go wrong with a method shows in the table, each as what it is, and never as a blank: a
// step-size estimate stuck at its start, a fit never accepted, divergence, an epsilon that cannot
// be met, a grid of nothing. And the arms that tell what clipping and noise cost, side by side.
#include <set>

#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace failures_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFour = R"(
name: four
title: what may go wrong
noise_seed: five-1
defaults:
  dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
  model: {name: mlp, hidden: [64]}
  seeds: [0, 1]
  epsilon: [0.05]
  delta: N^-1.1
  train: {sample_rate: 0.1, steps: 3, optimizer: adamw}
  evaluate: {every: 3}
rows:
  - {id: stuck, method: prodigy, title: stuck}
  - {id: rejected, method: hyfreedp, title: rejected, options: {interval: 3}}
  - {id: diverged, method: fixed-rate, title: diverged row, options: {lr: 1e6}, steps: 12}
  - {id: infeasible, method: linear-scaling, title: infeasible row, epsilon: [0.01]}
  - {id: well, method: fixed-rate, title: well, options: {lr: 1e-2}, epsilon: [8]}
panels:
  - {id: one, title: one}
)";

class Table : public Program {
 protected:
  std::string table(const std::string& name, const std::string& text, int code) {
    const auto ended = run({"run", write(name + ".yaml", text), "--workers", "2"});
    EXPECT_EQ(ended.code, code) << ended.out << ended.err;
    return read_file((folder_ / "out" / name / "table.md").string()).value();
  }
  // The line that begins so.
  static std::string line(const std::string& text, const std::string& begin) {
    const auto at = text.find("\n" + begin);
    return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  }
  // The footnote of the only number in the row, and who it speaks of.
  static std::string note_of(const std::string& text, const std::string& row) {
    const auto found = line(text, "| " + row + " |");
    const auto at = found.find("<sup>");
    if (at == std::string::npos) return "no mark in: " + found;
    return line(text, found.substr(at, found.find("</sup>", at) - at) + "</sup> ");
  }
};

TEST_F(Table, FourFailuresAreFourWords) {
  const auto text = table("four", kFour, 0);
  // Finished, so with a value, and a mark.
  EXPECT_THAT(line(text, "| stuck |"), AllOf(HasSubstr("end-to-end DP"), HasSubstr("ε 0.05, n 2"))) << text;
  EXPECT_THAT(note_of(text, "stuck"), HasSubstr("Seed 0, 1: stuck at d0. The estimate"));
  EXPECT_THAT(line(text, "| rejected |"), HasSubstr("n 2"));
  EXPECT_THAT(note_of(text, "rejected"), HasSubstr("Seed 0, 1: fit rejected throughout. No fit"));
  EXPECT_THAT(line(text, "| well |"), AllOf(HasSubstr("ε 8.00, n 2"), Not(HasSubstr("<sup>"))));
  // Without a value: the kind stands in its place.
  EXPECT_THAT(line(text, "| diverged row |"), HasSubstr("| diverged <sup>"));
  EXPECT_THAT(note_of(text, "diverged row"), HasSubstr("Seed 0, 1 failed: diverged: "));
  EXPECT_THAT(line(text, "| infeasible row |"), HasSubstr("| infeasible-epsilon <sup>"));
  EXPECT_THAT(note_of(text, "infeasible row"), HasSubstr("Seed 0, 1 failed: infeasible-epsilon: "));
  // The same in the rows that are stored.
  const auto stored = rows("four");
  for (const char* part : {R"("notes":["stuck at d0"])", R"("notes":["fit rejected throughout"])",
                           R"("failure_kind":"diverged")", R"("failure_kind":"infeasible-epsilon")"}) {
    EXPECT_THAT(stored, HasSubstr(part));
  }
}

constexpr const char* kArms = R"(
name: arms
title: what privacy costs, and what clipping costs
noise_seed: arms-1
defaults:
  dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
  model: linear
  seeds: [0, 1]
  epsilon: [1, inf]
  delta: N^-1.1
  train: {sample_rate: 0.1, steps: 12, optimizer: adamw}
  evaluate: {every: 12}
rows:
  - {id: clipped, method: fixed-rate, title: clip-only, options: {lr: 1e-2}, control: clip-only}
  - {id: sampled, method: fixed-rate, title: sampling-only, options: {lr: 1e-2}, epsilon: [inf], control: sampling-only}
  - {id: plain, method: fixed-rate, title: none, options: {lr: 1e-2}, epsilon: [inf], control: none}
panels:
  - {id: one, title: one}
)";

TEST_F(Table, ControlArmsOfOneCellStandSideBySide) {
  const auto text = table("arms", kArms, 0);
  // One column, three arms, each with the words that say what it kept; three different runs.
  for (const char* row : {"clip-only", "sampling-only", "none"}) {
    EXPECT_THAT(line(text, std::string("| ") + row + " <sup>"), HasSubstr("n 2")) << text;
  }
  for (const char* words :
       {"Non-private: batches drawn and clipped", "Non-private: batches drawn as in the private",
        "Non-private: shuffled batches"}) {
    EXPECT_THAT(text, HasSubstr(words));
  }
  std::istringstream lines(rows("arms"));
  std::set<std::string> hashes;
  for (std::string row; std::getline(lines, row);) {
    const auto object = parse_json(row, "row").value().as_object();
    if (!object.contains("reported")) continue;
    hashes.insert(string_or(object.at("reported").as_object(), "last_step_hash", ""));
  }
  EXPECT_EQ(hashes.size(), 8u) << "two seeds of one private and three other arms";
}

}  // namespace failures_test
}  // namespace hyfreedp::end_to_end
