// `hyfreedp generate` with the real worker: networks of folders, and those that a run kept.
#include <algorithm>
#include <fmt/format.h>

#include "harness/base/split.h"
#include "tests/end_to_end/miniature_texts.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace {

using ::testing::HasSubstr;

class Generate : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    draw_no_pictures();
    fs::create_directories(folder_ / "net");
    write_gpt2(folder_ / "net");
    write("prompts.txt", "one\n\xc3\xa9t\xc3\xa9 two three\nfour\n");
  }

  // The folder of the weights that a run of the spec kept.
  std::string kept_weights(const std::string& spec) const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "out" / spec)) {
      if (entry.path().filename() == "model.safetensors") return entry.path().parent_path().string();
    }
    ADD_FAILURE() << "no weights were kept";
    return "";
  }

  // The objects that it prints.
  std::vector<json::object> written(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"generate", "net", "--prompts", "prompts.txt", "--tokens", "6"});
    const auto ended = run(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.err, "");
    std::vector<json::object> found;
    for (const auto& line : split(ended.out, '\n')) {
      if (!line.empty()) found.push_back(parse_json(line, "line").value().as_object());
    }
    return found;
  }
};

TEST_F(Generate, ContinuesEachPromptInItsPlace) {
  const auto texts = written({});
  ASSERT_EQ(texts.size(), 3U);
  EXPECT_EQ(texts[0].at("prompt").as_string(), "one");
  EXPECT_EQ(texts[1].at("prompt").as_string(), "\xc3\xa9t\xc3\xa9 two three");
  for (const auto& one : texts) {
    const auto tokens = one.at("tokens").to_number<int>();
    EXPECT_TRUE(tokens == 6 || one.at("ended").as_bool()) << canonical_json(one);
    EXPECT_LE(tokens, 6);
  }
  EXPECT_EQ(written({"--batch", "1", "--threads", "1"}), texts);
  // Of one token, the likeliest, is drawn always.
  EXPECT_EQ(written({"--top-p", "1e-6", "--seed", "3"}), texts);
  write("prompts.jsonl", "{\"text\": \"no\", \"prompt\": \"one\"}\n");
  const auto from_lines = run({"generate", "net", "--prompts", "prompts.jsonl", "--tokens", "6"});
  EXPECT_EQ(from_lines.out, canonical_json(texts[0]) + "\n");
}

TEST_F(Generate, EqualSeedsGiveEqualTexts) {
  const auto texts = written({"--temperature", "2", "--seed", "5"});
  EXPECT_EQ(written({"--temperature", "2", "--seed", "5", "--batch", "2"}), texts);
  EXPECT_NE(written({"--temperature", "2", "--seed", "6"}), texts);
}

// A Llama whose folder has SentencePiece's tokenizer.model.
TEST_F(Generate, WritesTextsOfSentencePieces) {
  const auto tokenizer = fs::path(HYFREEDP_TEST_DATA) / "text" / "sentence_pieces" / "llama";
  fs::copy(tokenizer, folder_ / "pieces");
  for (const char* file : {"config.json", "model.safetensors"}) write(std::string("pieces/") + file, "{}");
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += fmt::format("hello world {}\n", i % 7);
  write("own.txt", lines);
  const auto spec =
      write("own.yaml",
            "name: own\ndataset: {name: text-file, path: own.txt, tokenizer: pieces, length: 16}\n"
            "model: {name: llama, width: 16, depth: 1, heads: 2}\nepsilon: [8]\nseeds: [0]\n"
            "train: {batch_size: 50, steps: 2, optimizer: adamw}\ntable: {metric: loss}\n"
            "rows: [{method: fixed-rate, options: {lr: 1e-2}}]\n");
  const auto trained = run({"run", spec, "--quiet", "--keep-weights"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  const auto kept = kept_weights("own");
  for (const char* file : {"tokenizer.model", "tokenizer_config.json"})
    fs::copy_file(tokenizer / file, fs::path(kept) / file, fs::copy_options::overwrite_existing);
  const auto ended = run({"generate", kept, "--prompts", "prompts.txt", "--tokens", "4"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(split(ended.out, '\n'), ::testing::SizeIs(4));
}

TEST_F(Generate, WritesWithWhatARunKept) {
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += fmt::format("hello {}\n", i % 7);
  write("own.txt", lines);
  const auto spec = write("own.yaml",
                          "name: own\ndataset: {name: text-file, path: own.txt, tokenizer: net, length: "
                          "16}\nmodel: {name: gpt2, weights: net}\nepsilon: [8]\nseeds: [0]\n"
                          "train: {batch_size: 50, steps: 3, optimizer: adamw}\ntable: {metric: loss}\n"
                          "rows: [{method: fixed-rate, options: {lr: 1e-2}}]\n");
  const auto trained = run({"run", spec, "--quiet", "--keep-weights"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  const auto kept = kept_weights("own");
  const auto ended = run({"generate", kept, "--prompts", "prompts.txt", "--tokens", "4"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(std::ranges::count(ended.out, '\n'), 3);
  write("written.jsonl", ended.out);
  write("references.txt", "a\nb\nc\n");
  const auto scored = run({"score", "written.jsonl", "references.txt"});
  EXPECT_EQ(scored.code, 0) << scored.err;
  EXPECT_THAT(scored.out, HasSubstr("bleu_mteval13a"));
}

TEST_F(Generate, WritesWithAnAdapterThatARunKept) {
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += fmt::format("hello {}\n", i % 7);
  write("own.txt", lines);
  const auto spec =
      write("own.yaml",
            "name: own\ndataset: {name: text-file, path: own.txt, tokenizer: net, length: 16}\n"
            "model: {name: gpt2, weights: net, trainable: lora, lora_rank: 2}\nepsilon: [8]\nseeds: [0]\n"
            "train: {batch_size: 50, steps: 5, optimizer: adamw}\ntable: {metric: loss}\n"
            "rows: [{method: fixed-rate, options: {lr: 0.3}}]\n");
  const auto trained = run({"run", spec, "--quiet", "--keep-weights"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  const auto kept = folder_ / "out/own/weights/main/fixed-rate.eps-8.seed-0";
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--temperature", "2", "--seed", "5"});
    return written(more);
  };
  const auto texts = with({"--adapter", kept.string()});
  EXPECT_EQ(texts.size(), 3U);
  EXPECT_TRUE(texts != with({})) << "the adapter changes nothing";
  EXPECT_TRUE(texts == with({"--adapter", kept.string(), "--batch", "1"}));
  const auto none = run({"generate", "net", "--adapter", "net", "--prompts", "prompts.txt"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("adapter_config.json"));
}

// A run's scores of what it writes are those of the two commands on the weights that it kept.
TEST_F(Generate, ARunRecordsTheScoresOfWhatItWrites) {
  const auto record = [](int i, const std::string& reference) {
    return fmt::format("{{\"question\": \"say {}:\", \"answer\": \"{}\"}}\n", i, reference);
  };
  std::string train, test, prompts, references;
  for (int i = 0; i < 150; ++i) train += record(i % 10, fmt::format(" hello {}", i % 10));
  for (int i = 0; i < 6; ++i) {
    const auto first = fmt::format(" hello {}", i), second = fmt::format(" good day {}", i);
    test += record(i, first) + record(i, second);
    prompts += fmt::format("say {}:\n", i);
    references += first + "\n" + second + "\n\n";
  }
  fs::create_directories(folder_ / "chats");
  write("chats/train.jsonl", train);
  write("chats/test.jsonl", test);
  write("asked.txt", prompts);
  write("wanted.txt", references);
  const auto spec = [&](const std::string& length, const std::string& written) {
    return fmt::format(
        "name: written\ndataset: {{name: text-file, path: chats, text: answer, prompt: question, tokenizer: "
        "net, length: {}, other_people: true}}\nmodel: {{name: gpt2, weights: net}}\nepsilon: [500]\nseeds: "
        "[0]\ntrain: {{batch_size: 50, steps: 60, optimizer: adamw}}\nevaluate: {{written: {}}}\ntable: "
        "{{metric: bleu-mteval13a}}\nrows: [{{method: fixed-rate, options: {{lr: 3e-2}}}}]\n",
        length, written);
  };
  const auto path = write("written.yaml", spec("32", "{decoding: beam, beams: 3, tokens: 8}"));
  const auto trained = run({"run", path, "--quiet", "--keep-weights"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  EXPECT_THAT(run({"table", "written"}).out, HasSubstr("BLEU"));
  const auto kept = kept_weights("written");
  const auto ended =
      run({"generate", kept, "--prompts", "asked.txt", "--tokens", "8", "--beam", "3", "--threads", "1"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  write("written.jsonl", ended.out);
  const auto scored = run({"score", "written.jsonl", "wanted.txt", "--json"});
  ASSERT_EQ(scored.code, 0) << scored.err;
  // What a text counts by its length decides between short and long ones.
  const auto by_length = [&](const std::string& penalty) {
    return run({"generate", kept, "--prompts", "asked.txt", "--tokens", "12", "--beam", "8",
                "--length-penalty", penalty})
        .out;
  };
  EXPECT_LT(by_length("-10").size(), by_length("10").size());
  const auto metadata = read_json_file(kept + "/trial.json").value();
  const auto& recorded = metadata.at("test").as_object();
  const auto values = parse_json(scored.out, "scores").value();
  EXPECT_GT(recorded.at("rouge-l-coco-13a").to_number<double>(), 0) << "nothing was learned";
  for (const auto& item : values.as_object()) {
    if (item.key() == "texts") continue;
    auto name = std::string(item.key());
    std::ranges::replace(name, '_', '-');
    ASSERT_TRUE(recorded.contains(name)) << name << canonical_json(metadata);
    EXPECT_NEAR(recorded.at(name).to_number<double>(), item.value().to_number<double>(), 1e-12) << name;
  }
  // What is refused, and where.
  const auto refused = run({"run", write("short.yaml", spec("12", "{}")), "--quiet", "--out", "short"});
  EXPECT_THAT(refused.out + refused.err, HasSubstr("cut at 'length' 12"));
  const auto wide = run(
      {"run", write("wide.yaml", spec("32", "{decoding: beam, beams: 200}")), "--quiet", "--out", "wide"});
  EXPECT_THAT(wide.out + wide.err, HasSubstr("200 beams need a vocabulary of 400"));
  const auto unknown = run({"run", write("odd.yaml", spec("32", "{beam: 3}")), "--quiet"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("evaluate.written"));
}

TEST_F(Generate, WhatTheWorkerCannotDoIsOneLine) {
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const auto ended = run(arguments);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    return ended.err;
  };
  EXPECT_THAT(refused({"generate", "net", "--prompts", "prompts.txt", "--tokens", "2000"}),
              HasSubstr("1024 positions are fewer"));
  EXPECT_THAT(refused({"generate", "net", "--prompts", "prompts.txt", "--beam", "200"}),
              HasSubstr("200 beams need a vocabulary of 400"));
  write("empty.txt", "one\n\n");
  EXPECT_THAT(refused({"generate", "net", "--prompts", "empty.txt"}), HasSubstr("Prompt 2 is empty"));
  fs::create_directories(folder_ / "roberta");
  write_roberta(folder_ / "roberta");
  EXPECT_THAT(refused({"generate", "roberta", "--prompts", "prompts.txt"}), HasSubstr("model roberta"));
}

}  // namespace
}  // namespace hyfreedp::end_to_end
