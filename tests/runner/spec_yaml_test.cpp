// What is no spec by its bytes or its YAML, and values that look like others.
#include "spec_file.h"

namespace hyfreedp::runner {
namespace spec_yaml_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kSpec = R"(name: small
dataset: {name: synthetic, train: 400}
model: linear
seeds: [0]
epsilon: [3]
train: {sample_rate: 0.2, steps: 2, optimizer: adamw}
rows: [{method: fixed-rate, options: {lr: 0.1}}]
)";

std::string with(const std::string& there, const std::string& written) {
  auto text = kSpec;
  const auto at = text.find(there);
  EXPECT_NE(at, std::string::npos) << there;
  return at == std::string::npos ? text : text.replace(at, there.size(), written);
}

class SpecYaml : public WrittenSpec {};

TEST_F(SpecYaml, ASecondDocumentIsRefused) {
  EXPECT_THAT(
      refusal(kSpec + "---\nepsilon: [8]\n"),
      AllOf(HasSubstr("/spec.yaml:8: a second YAML document begins here"), HasSubstr("remove the '---'")));
  EXPECT_THAT(refusal(kSpec + "\n--- # more\n\n\nepsilon: [8]\n"), HasSubstr("/spec.yaml:9: a second"));
  write("base.yaml", kSpec + "---\nepsilon: [8]\n");
  EXPECT_THAT(refusal("include: base.yaml\n"), HasSubstr("/base.yaml:8: a second"));
  // A marker before the first, or at the end, separates nothing.
  EXPECT_EQ(refusal("# a comment\n---\n" + kSpec + "---\n"), "");
  EXPECT_EQ(refusal(kSpec + "...\n"), "");
}

TEST_F(SpecYaml, AnAliasInsideItselfIsRefused) {
  const auto text = with("rows: [{method: fixed-rate, options: {lr: 0.1}}]", "rows: &a [*a]");
  EXPECT_THAT(refusal(text), HasSubstr("/spec.yaml:7: an alias stands inside the list or map that it names"));
  write("base.yaml", kSpec);
  EXPECT_THAT(refusal("include: base.yaml\nrows: &a [*a]\n"),
              HasSubstr("/spec.yaml:2: an alias stands inside"));
  EXPECT_THAT(refusal("include: base.yaml\nrows: &a [{options: &b {lr: [*b]}}]\n"),
              HasSubstr("an alias stands"));
  write("loop.yaml", "rows: &a [*a]\n");
  EXPECT_THAT(refusal("include: [base.yaml, loop.yaml]\n"), HasSubstr("/loop.yaml:1: an alias"));
  write("spec.yaml", kSpec);
  EXPECT_THAT(load_spec(path(), "", {"rows=&a [*a]"}).error().message, HasSubstr("--set rows: an alias"));
  EXPECT_EQ(refusal(with("rows: [{", "description: &d text\ntitle: *d\nrows: [{")), "");
}

TEST_F(SpecYaml, DeepAndVastNestingIsRefused) {
  for (const std::size_t depth : {80U, 5000U, 100000U}) {
    const auto deep = with("seeds: [0]", "seeds: " + std::string(depth, '[') + std::string(depth, ']'));
    EXPECT_THAT(refusal(deep), HasSubstr("/spec.yaml:4: ")) << depth;
    write("base.yaml", deep);
    EXPECT_THAT(refusal("include: base.yaml\n"), HasSubstr("/base.yaml:4: ")) << depth;
  }
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const auto below = "*a" + std::to_string(i - 1);
    laughs += fmt::format("a{}: &a{} [{}, {}, {}, {}, {}, {}, {}, {}, {}]\n", i, i, below, below, below,
                          below, below, below, below, below, below);
  }
  EXPECT_THAT(refusal(kSpec + laughs), HasSubstr("with its aliases written out"));
}

std::string wide(const std::string& text, bool little, bool mark, int bytes = 2) {
  std::string made;
  const auto put = [&](unsigned code) {
    std::string unit(static_cast<std::size_t>(bytes), '\0');
    const auto low = static_cast<std::size_t>(little ? 0 : bytes - 1), high = little ? low + 1 : low - 1;
    unit[low] = static_cast<char>(code & 0xFF);
    unit[high] = static_cast<char>(code >> 8);
    made += unit;
  };
  if (mark) put(0xFEFF);
  for (const char c : text) put(static_cast<unsigned char>(c));
  return made;
}

TEST_F(SpecYaml, Utf16GetsTheRightAdvice) {
  for (const bool little : {true, false}) {
    EXPECT_THAT(refusal(wide(kSpec, little, true)),
                AllOf(HasSubstr("/spec.yaml: the file is UTF-16, not UTF-8"),
                      HasSubstr("`iconv -f UTF-16 -t utf-8 ")));
    EXPECT_THAT(refusal(wide(kSpec, little, false)),
                HasSubstr(little ? "iconv -f UTF-16LE" : "iconv -f UTF-16BE"));
    EXPECT_THAT(refusal(wide(kSpec, little, true, 4)), HasSubstr("iconv -f UTF-32 "));
    EXPECT_THAT(refusal(wide(kSpec, little, false, 4)),
                HasSubstr(little ? "iconv -f UTF-32LE" : "iconv -f UTF-32BE"));
  }
  EXPECT_THAT(refusal(kSpec + "title: a" + std::string(1, '\0') + "b\n"),
              HasSubstr("/spec.yaml:8:9: the byte 0x00"));
  EXPECT_EQ(refusal("\xEF\xBB\xBF" + kSpec), "");
}

TEST_F(SpecYaml, ANoiseSeedIsNoSwitch) {
  for (const char* word : {"false", "no", "off", "none", "No", "OFF", "true", "\"false\""}) {
    EXPECT_THAT(refusal(kSpec + "noise_seed: " + word + "\n"),
                AllOf(HasSubstr("/spec.yaml:8: noise_seed is "),
                      HasSubstr("leave 'noise_seed' out for private noise")))
        << word;
  }
  EXPECT_EQ(resolved(kSpec + "noise_seed: 0\n").at("noise_seed"), "0");
  write("spec.yaml", kSpec);
  EXPECT_THAT(load_spec(path(), "", {"noise_seed=false"}).error().message, HasSubstr("--set noise_seed: "));
}

// YAML's switches are neither numbers nor text, and numbers are no switches.
TEST_F(SpecYaml, SwitchesNumbersAndTextAreToldApart) {
  for (const auto& [there, written] : std::vector<std::pair<std::string, std::string>>{
           {"epsilon: [3]", "epsilon: [true]"},
           {"epsilon: [3]", "epsilon: true"},
           {"epsilon: [3]", "epsilon: [yes]"},
           {"seeds: [0]", "seeds: [false]"},
           {"seeds: [0]", "seeds: [off]"},
           {"seeds: [0]", "delta: false\nseeds: [0]"},
           {"seeds: [0]", "title: false\nseeds: [0]"},
           {"seeds: [0]", "description: true\nseeds: [0]"},
           {"seeds: [0]", "footnotes: false\nseeds: [0]"},
           {"seeds: [0]", "assumed: false\nseeds: [0]"},
           {"name: small", "name: true"},
           {"steps: 2", "steps: true"},
           {"steps: 2", "steps: 2, microbatch: false"},
           {"steps: 2", "steps: 2, tf32: 1"},
           {"steps: 2", "steps: 2, tf32: yes"},
           {"steps: 2", "steps: 2, average: false"},
           {"steps: 2", "steps: 2, device: no"},
           {"sample_rate: 0.2", "sample_rate: true"},
           {"lr: 0.1", "lr: true"},
           {"model: linear", "model: false"},
           {"train: 400", "train: true"},
           {"method: fixed-rate", "method: fixed-rate, control: false"},
           {"method: fixed-rate", "method: fixed-rate, title: yes, footnote: true"},
           {"method: fixed-rate", "method: fixed-rate, id: false"},
           {"rows: [{", "evaluate: {every: false}\nrows: [{"},
           {"rows: [{", "table: {ranks: 1}\nrows: [{"},
           {"rows: [{", "table: {last_checkpoints: true}\nrows: [{"}}) {
    EXPECT_THAT(refusal(with(there, written)), HasSubstr("/spec.yaml:")) << written;
  }
  EXPECT_EQ(resolved(with("seeds: [0]", "title: \"false\"\nseeds: [0]")).at("title"), "false");
}

TEST_F(SpecYaml, NamesHaveALength) {
  const std::string longest(100, 'a'), longer(101, 'a'), huge(300, 'a');
  EXPECT_EQ(refusal(with("name: small", "name: " + longest)), "");
  for (const auto& name : {longer, huge}) {
    for (const auto& text :
         {with("name: small", "name: " + name), with("method: fixed-rate", "method: fixed-rate, id: " + name),
          with("method: fixed-rate", "method: fixed-rate, group: " + name),
          kSpec + "figures: [{kind: curves, name: " + name + "}]\n",
          kSpec + "presets: {" + name + ": {title: T}}\n"}) {
      EXPECT_THAT(refusal(text),
                  HasSubstr(fmt::format("has {} characters, and a name may have 100", name.size())));
    }
  }
  const auto swept = with("options: {lr: 0.1}", "each: {options.lr: [0.1" + std::string(250, '0') + "]}");
  EXPECT_THAT(refusal(swept), HasSubstr("'each' makes a row's id of 267"));
}

TEST_F(SpecYaml, EpsilonsThatAreHeadedAlikeAreRefused) {
  EXPECT_THAT(refusal(with("epsilon: [3]", "epsilon: [3, 3.0000001]")),
              HasSubstr("epsilon[1] has 3 and 3.0000001, and both columns would be headed 3; leave one out"));
  EXPECT_THAT(refusal(with("epsilon: [3]", "epsilon: [3, 3.0]")), HasSubstr("epsilon[1] repeats an epsilon"));
  EXPECT_THAT(refusal(with("epsilon: [3]", "noise_multiplier: [2, 2.00001]")),
              HasSubstr("both columns would be headed 2"));
  // A row's own beside the panel's.
  EXPECT_THAT(
      refusal(with("rows: [{method: fixed-rate", "rows: [prodigy, {epsilon: 3.0000001, method: fixed-rate")),
      AllOf(HasSubstr("/spec.yaml:7: "), HasSubstr("has 3 and 3.0000001")));
  EXPECT_EQ(refusal(with("epsilon: [3]", "epsilon: [3, 3.01]")), "");
}

}  // namespace spec_yaml_test
}  // namespace hyfreedp::runner
