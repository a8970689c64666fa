// Weights that do not fit their model are a mistake of the spec, which no run has to find.
#include "datasets/notes/weights_notes.h"
#include "datasets/table_columns.h"
#include "datasets/table_file.h"
#include "spec_file.h"
#include "tests/datasets/scratch.h"
#include "tests/runner/zero_weights.h"

namespace hyfreedp::runner {
namespace weights_spec_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class WeightsSpec : public WrittenSpec {
 protected:
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::string spec_of(const std::string& model,
                      const std::string& dataset = "{name: synthetic, train: 1000}") const {
    return "name: s\ndataset: " + dataset + "\nmodel: " + model +
           "\nseeds: [0]\nepsilon: 3\ntrain: {sample_rate: 0.05, steps: 10, optimizer: adamw}\n"
           "rows: [{method: fixed-rate, options: {lr: 0.1}}]\n";
  }
};

TEST_F(WeightsSpec, OfAnotherNetworkAreAMistakeOfTheSpec) {
  const auto weights = at("vit");
  const models::ModelInput images{.features = 3 * 32 * 32, .classes = 10, .image = {3, 32, 32}};
  write_zero_weights(weights, "vit", {{"width", 8}, {"depth", 1}, {"heads", 2}}, images);
  const auto yaml =
      spec_of("{name: vit, weights: " + weights + "}", "{name: synthetic-images, channels: 3, side: 32}");
  EXPECT_EQ(refusal(yaml), "");
  auto config = read_json_file(weights + "/config.json").value().as_object();
  config["model_args"].as_object()["depth"] = 2;
  write_file_atomically(weights + "/config.json", canonical_json(config)).value();
  EXPECT_THAT(refusal(yaml), AllOf(HasSubstr("spec.yaml:3: model: " + weights),
                                   HasSubstr("missing: blocks.1.norm1.weight"), Not(HasSubstr("Example"))));
  config["model_args"].as_object()["reg_tokens"] = 4;
  write_file_atomically(weights + "/config.json", canonical_json(config)).value();
  EXPECT_THAT(refusal(yaml), AllOf(HasSubstr("'reg_tokens' is 4"), Not(HasSubstr("Example"))));
  // Those that make the features, too.
  EXPECT_THAT(
      refusal(spec_of("linear", "{name: fashion-mnist, features: network, network: vit, side: 32, weights: " +
                                    weights + "}")),
      AllOf(HasSubstr("spec.yaml:2: dataset: "), HasSubstr("'reg_tokens' is 4")));
}

// What a folder says of the images that its network was trained on, and what is usual of its kind.
class ScaleOfImages : public WeightsSpec {
 protected:
  ScaleOfImages() {
    const models::ModelInput images{.features = 3 * 32 * 32, .classes = 10, .image = {3, 32, 32}};
    write_zero_weights(at("vit"), "vit", {{"width", 8}, {"depth", 1}, {"heads", 2}}, images);
  }
  void set(const std::string& folder, const std::string& key, const json::value& value) const {
    const auto path = at(folder) + "/config.json";
    auto config = read_json_file(path).value().as_object();
    config[key] = value;
    if (value.is_null()) config.erase(key);
    write_file_atomically(path, canonical_json(config)).value();
  }
  std::vector<std::string> warnings(const std::string& dataset, const std::string& model) const {
    const auto spec = load(spec_of(model, dataset));
    EXPECT_TRUE(spec) << spec.error().message;
    return spec ? spec->warnings : std::vector<std::string>();
  }
  std::string images(const std::string& more = "") const { return "{name: cifar10, side: 32" + more + "}"; }
  std::string vit(const std::string& more = "") const {
    return "{name: vit, weights: " + at("vit") + more + "}";
  }
};

const json::object kOfImageNet = {{"mean", {0.485, 0.456, 0.406}}, {"std", {0.229, 0.224, 0.225}}};

TEST_F(ScaleOfImages, OfWhichTheFolderSaysAnotherIsWarnedOf) {
  EXPECT_THAT(warnings(images(), vit()), IsEmpty()) << "nothing is said";
  set("vit", "pretrained_cfg", kOfImageNet);
  EXPECT_THAT(
      warnings(images(), vit()),
      ElementsAre(AllOf(
          HasSubstr("spec.yaml:2: The weights '"),
          HasSubstr(
              "vit' were trained on images with normalise: imagenet (config.json: mean 0.485, 0.456, "
              "0.406, deviation 0.229, 0.224, 0.225); the dataset gives them with normalise: half (mean "
              "0.5, 0.5, 0.5, deviation 0.5, 0.5, 0.5)."))));
  EXPECT_THAT(warnings(images(", normalise: imagenet"), vit()), IsEmpty());
  EXPECT_THAT(warnings(images(", normalise: clip"), vit()),
              ElementsAre(HasSubstr("gives them with normalise: clip (mean 0.48145466,")));
  // Those that make the features, too.
  const auto features = [&](const std::string& more) {
    return "{name: fashion-mnist, features: network, network: vit, side: 32, weights: " + at("vit") + more +
           "}";
  };
  EXPECT_THAT(warnings(features(""), "linear"), ElementsAre(HasSubstr("with normalise: imagenet (config")));
  EXPECT_THAT(warnings(features(", normalise: imagenet"), "linear"), IsEmpty());
  // Older folders have it outside.
  set("vit", "pretrained_cfg", nullptr);
  set("vit", "mean", {0.1, 0.2, 0.3});
  set("vit", "std", {0.5, 0.5, 0.5});
  EXPECT_THAT(
      warnings(images(), vit()),
      ElementsAre(HasSubstr("with mean 0.1, 0.2, 0.3 and deviation 0.5, 0.5, 0.5 (config.json), which "
                            "no 'normalise' gives")));
}

TEST_F(ScaleOfImages, ByAnotherInterpolationAreWarnedOf) {
  const auto& facts = *datasets::find_dataset("cifar10").value();
  EXPECT_EQ(datasets::interpolation_note(facts, {}, at("vit")), "");
  set("vit", "pretrained_cfg", {{"interpolation", "bilinear"}});
  EXPECT_THAT(datasets::interpolation_note(facts, {}, at("vit")),
              HasSubstr("with interpolation: bilinear (config.json); the dataset has bicubic."));
  EXPECT_EQ(datasets::interpolation_note(facts, {{"interpolation", "bilinear"}}, at("vit")), "");
  EXPECT_EQ(datasets::interpolation_note(datasets::TableFile::facts(), {}, at("vit")), "");
}

TEST_F(ScaleOfImages, ThatIsUnusualOfTheNetworkIsWarnedOf) {
  std::filesystem::copy(HYFREEDP_TEST_DATA "/published_folders/convnext", at("convnext"));
  set("convnext", "pretrained_cfg", nullptr);
  const auto model = "{name: convnext, weights: " + at("convnext") + "}";
  EXPECT_THAT(warnings(images(), model),
              ElementsAre(HasSubstr("Weights of convnext were usually trained on images with normalise: "
                                    "imagenet; the dataset gives them with normalise: half.")));
  EXPECT_THAT(warnings(images(", normalise: imagenet"), model), IsEmpty());
  const auto of_features =
      "{name: cifar10, side: 32, features: network, network: convnext, weights: " + at("convnext") + "}";
  EXPECT_THAT(warnings(of_features, "linear"), ElementsAre(HasSubstr("Weights of convnext were usually")));
  // What this program kept was trained on what its spec said.
  const auto& facts = *datasets::find_dataset("cifar10").value();
  EXPECT_THAT(datasets::scale_note(facts, {}, "convnext", at("convnext")), HasSubstr("usually"));
  // The usual is left out there.
  write_file_atomically(at("convnext") + "/trial.json", R"({"dataset":{"name":"cifar10","options":{}}})")
      .value();
  EXPECT_EQ(datasets::scale_note(facts, {{"normalise", "half"}}, "convnext", at("convnext")), "");
  EXPECT_THAT(datasets::scale_note(facts, {{"normalise", "imagenet"}}, "convnext", at("convnext")),
              HasSubstr("with normalise: half (trial.json); this one has normalise: imagenet."));
}

TEST_F(ScaleOfImages, PositionsOfAnotherImageThanTheConfigsAreWarnedOf) {
  EXPECT_THAT(warnings(images(), vit()), IsEmpty());
  auto config = read_json_file(at("vit") + "/config.json").value().as_object();
  auto arguments = config.at("model_args").as_object();
  arguments["img_size"] = 2 * arguments.at("img_size").to_number<int>();
  set("vit", "model_args", arguments);
  EXPECT_THAT(
      warnings(images(), vit()),
      ElementsAre(HasSubstr("config.json says images of 64 pixels, but the position embedding is of images "
                            "of 32.")));
}

TEST_F(ScaleOfImages, ANewHeadThatDoesNotTrainIsWarnedOf) {
  for (const char* frozen : {"lora", "bitfit"}) {
    EXPECT_THAT(
        warnings(images(), vit(std::string(", trainable: ") + frozen)),
        testing::Contains(HasSubstr(fmt::format(
            "The last layer, head, is drawn anew, and 'trainable: {0}' does not train its weight. Use "
            "'trainable: {0}-head', or 'head: file'",
            frozen))));
    EXPECT_THAT(warnings(images(), vit(std::string(", head: file, trainable: ") + frozen)), IsEmpty());
    EXPECT_THAT(warnings(images(), vit(fmt::format(", trainable: {}-head", frozen))), IsEmpty());
  }
}

// The rows of a head that the weights bring, beside the folders of the user's images.
class ClassesOfAHead : public WeightsSpec {
 protected:
  ClassesOfAHead() {
    const models::ModelInput images{.features = 3 * 32 * 32, .classes = 3, .image = {3, 32, 32}};
    write_zero_weights(at("vit"), "vit", {{"width", 8}, {"depth", 1}, {"heads", 2}}, images);
    config_ = read_json_file(at("vit/config.json")).value().as_object();
    for (const char* name : {"cherry 10", "apple", "Banana"}) {
      for (int i = 0; i < 30; ++i) {
        write_file_atomically(at(fmt::format("fruit/{}/{}.ppm", name, i)), "P6 1 1 255\nabc").value();
      }
    }
  }
  // "" where the spec is planned without a word; else its error or its warnings.
  std::string said(const json::object& more, const std::string& head = "file") const {
    auto config = config_;
    for (const auto& item : more) config[item.key()] = item.value();
    write_file_atomically(at("vit/config.json"), canonical_json(config)).value();
    const auto spec = load(spec_of("{name: vit, weights: " + at("vit") + ", head: " + head + "}",
                                   "{name: image-folder, side: 32, path: " + at("fruit") + "}") +
                           "delta: 1e-4\n");
    return spec ? fmt::format("{}", fmt::join(spec->warnings, "\n")) : "refused: " + spec.error().message;
  }
  json::object config_;
  const datasets::ScopedVariable state_{"XDG_STATE_HOME", at("state")};  // not this user's key
};

TEST_F(ClassesOfAHead, InAnotherOrderThanTheDatasetsAreRefused) {
  const json::array mixed = {"cherry 10", "apple", "Banana"};
  const json::object by_row = {{"0", "cherry 10"}, {"1", "apple"}, {"2", "Banana"}};
  const json::object by_name = {{"apple", 1}, {"Banana", 2}, {"cherry 10", 0}};
  auto inside = config_.at("pretrained_cfg").as_object();
  inside["label_names"] = mixed;
  for (const json::object& more :
       {json::object{{"label_names", mixed}}, json::object{{"labels", mixed}},
        json::object{{"label_names", by_row}}, json::object{{"pretrained_cfg", inside}},
        json::object{{"id2label", by_row}}, json::object{{"label2id", by_name}},
        // What people write of one name in two ways.
        json::object{{"label_names", {"Cherry_10", "apple", "banana"}}}}) {
    EXPECT_THAT(said(more), AllOf(HasSubstr("refused: "), HasSubstr("spec.yaml:3: model: The model takes"),
                                  testing::ContainsRegex("[Cc]herry.10, apple, [Bb]anana"),
                                  HasSubstr("another order, Banana, apple, cherry 10: row 0 of the head, '"),
                                  HasSubstr("would be taken for 'Banana'"), HasSubstr("`head: new`")))
        << canonical_json(more);
    EXPECT_THAT(said(more, "new"), Not(HasSubstr("cherry")));
  }
}

// Of a table, such as of texts, the classes stand in its options.
TEST_F(ClassesOfAHead, OfATableAreCompared) {
  auto config = config_;
  config["id2label"] = json::object{{"0", "pos"}, {"1", "neg"}};
  write_file_atomically(at("vit/config.json"), canonical_json(config)).value();
  const json::object model{{"weights", at("vit")}, {"head", "file"}};
  const auto note = [&](const char* labels) {
    return datasets::head_names_note(datasets::TableFile::facts(), {{"labels", labels}}, "vit", model);
  };
  const auto swapped = note("neg, pos");
  ASSERT_FALSE(swapped);
  EXPECT_THAT(swapped.error().message, AllOf(HasSubstr("row 0 of the head, 'pos', would be taken for 'neg'"),
                                             HasSubstr("Write 'labels' in the order of the head")));
  EXPECT_EQ(note("pos, neg").value(), "");
  EXPECT_THAT(note("0, 1").value(), HasSubstr("the classes of the dataset are 0, 1."));
}

// Weights that a run kept say it in trial.json, since config.json has no place for it.
TEST_F(ClassesOfAHead, OfKeptWeightsAreCompared) {
  write_file_atomically(at("vit/trial.json"),
                        R"({"dataset":{"name":"image-folder","class_names":["pos","neg"]}})")
      .value();
  const json::object model{{"weights", at("vit")}, {"head", "file"}};
  const auto note = [&](const datasets::Facts& facts, const json::object& options) {
    return datasets::head_names_note(facts, options, "vit", model);
  };
  const auto swapped = note(datasets::TableFile::facts(), {{"labels", "neg, pos"}});
  ASSERT_FALSE(swapped);
  EXPECT_THAT(swapped.error().message, HasSubstr("the classes pos, neg (trial.json), in this order."));
  EXPECT_EQ(note(datasets::TableFile::facts(), {{"labels", "pos, neg"}}).value(), "");
  const auto& digits = *datasets::find_dataset("mnist").value();
  EXPECT_THAT(note(digits, {}).value(),
              HasSubstr("are of the classes of the dataset image-folder (trial.json)"));
  write_file_atomically(at("vit/trial.json"), R"({"dataset":{"name":"mnist"}})").value();
  EXPECT_EQ(note(digits, {}).value(), "");
}

// A network without the option `head` takes the file's, if it is of as many classes.
TEST_F(ClassesOfAHead, OfANetworkThatAlwaysTakesItAreCompared) {
  write_zero_weights(at("mlp"), "mlp", {{"hidden", json::array{5}}}, {.features = 20, .classes = 2});
  const auto& facts = datasets::TableFile::facts();
  const json::object options{{"labels", "neg, pos"}, {"classes", 2}, {"features", 20}};
  const auto note = [&](const char* metadata) {
    write_file_atomically(at("mlp/trial.json"), metadata).value();
    return datasets::head_names_note(facts, options, "mlp", {{"weights", at("mlp")}});
  };
  const auto swapped = note(R"({"dataset":{"name":"table-file","class_names":["pos","neg"]}})");
  ASSERT_FALSE(swapped);
  EXPECT_THAT(swapped.error().message, Not(HasSubstr("head: new")));
  EXPECT_EQ(note(R"({"dataset":{"name":"table-file","class_names":["neg","pos"]}})").value(), "");
  EXPECT_EQ(note(R"({"dataset":{"name":"table-file","class_names":["a","b","c"]}})").value(), "")
      << "it is drawn anew";
  EXPECT_THAT(note(R"({"dataset":{"name":"mnist","classes":2}})").value(), HasSubstr("of the dataset mnist"));
}

TEST_F(WeightsSpec, WhatLiesBesideKeptWeightsIsTold) {
  write_zero_weights(at("kept"), "mlp", {{"hidden", json::array{5}}}, {.features = 20, .classes = 2});
  EXPECT_EQ(datasets::centred_note(at("kept")), "");
  write_file_atomically(at("kept/features.safetensors"), "").value();
  EXPECT_THAT(datasets::centred_note(at("kept")), HasSubstr("less their mean, which lies beside them"));
  const std::string tokens = HYFREEDP_TEST_DATA "/text/word_pieces/";
  std::filesystem::copy(at("kept"), at("cased"));
  std::filesystem::copy(tokens + "cased", at("cased"));
  const json::object cased{{"tokenizer", at("cased")}};
  EXPECT_EQ(datasets::tokenizer_note(cased, at("kept")), "") << "it has none";
  EXPECT_EQ(datasets::tokenizer_note(cased, at("cased")), "");
  std::filesystem::copy(tokens + "uncased", at("kept"));
  EXPECT_THAT(datasets::tokenizer_note(cased, at("kept")), HasSubstr("have a tokenizer of their own"));
}

TEST_F(WeightsSpec, ColumnsOfAnotherOrderAreRefused) {
  write("people.csv", "age,income,label\n1,2,0\n3,4,1\n5,6,0\n");
  write("turned.csv", "income,age,label\n2,1,0\n4,3,1\n6,5,0\n");
  write_zero_weights(at("kept"), "linear", {}, {.features = 2, .classes = 2});
  const auto& facts = datasets::TableFile::facts();
  const auto check = [&](const char* file) {
    const json::object options{{"path", at(file)}, {"labels", "0, 1"}};
    const auto same = datasets::check_columns_of_weights(facts, options, at("kept"));
    return same ? std::string() : same.error().message;
  };
  EXPECT_EQ(check("turned.csv"), "") << "no run kept them";
  const auto mark = datasets::columns_sha256({{"path", at("people.csv")}, {"labels", "0, 1"}}).value();
  write_file_atomically(at("kept/trial.json"),
                        R"({"dataset":{"name":"table-file","columns_sha256":")" + mark + "\"}}")
      .value();
  EXPECT_EQ(check("people.csv"), "");
  EXPECT_THAT(check("turned.csv"), HasSubstr("features have other names or another order (trial.json)"));
}

TEST_F(WeightsSpec, AnotherPoolThanThatOfTheHeadIsTold) {
  write_zero_weights(at("kept"), "mlp", {{"hidden", json::array{5}}}, {.features = 20, .classes = 2});
  const auto note = [&](const char* pool, const char* head) {
    return datasets::pool_note({{"weights", at("kept")}, {"pool", pool}, {"head", head}});
  };
  EXPECT_EQ(note("first", "file"), "");
  EXPECT_EQ(note("mean", "new"), "");
  EXPECT_THAT(note("mean", "file"), HasSubstr("trained on what `pool: first` gives, and has `pool: mean`"));
  write_file_atomically(at("kept/trial.json"), R"({"config":{"model":{"options":{"pool":"mean"}}}})").value();
  EXPECT_EQ(note("mean", "file"), "");
  EXPECT_THAT(note("first", "file"), HasSubstr("trained on what `pool: mean` gives"));
}

TEST_F(ClassesOfAHead, OfOtherNamesAreWarnedOf) {
  for (const json::array& names : {json::array{"Banana", "pomme", "cherry 10"}, json::array{"n1", "n2", "n3"},
                                   json::array{"Banana", "apple"}, json::array{"LABEL_1", "LABEL_0"}}) {
    EXPECT_THAT(said({{"label_names", names}}),
                AllOf(Not(HasSubstr("refused")), HasSubstr("spec.yaml:3: The model takes the head"),
                      HasSubstr(std::string(names[0].as_string()) + ", "),
                      HasSubstr("the classes of the dataset are Banana, apple, cherry 10.")))
        << canonical_json(names);
    EXPECT_THAT(said({{"label_names", names}}, "new"), IsEmpty());
  }
}

TEST_F(ClassesOfAHead, InTheDatasetsOrderAreFine) {
  EXPECT_THAT(said({}), IsEmpty());
  for (const json::value& names :
       {json::value{"Banana", "apple", "cherry 10"}, json::value{"banana", "Apple", "cherry-10"},
        json::value{"LABEL_0", "LABEL_1", "LABEL_2"}, json::value(nullptr), json::value(7),
        json::value(json::object{{"2", "cherry 10"}, {"1", "apple"}, {"0", "Banana"}})}) {
    EXPECT_THAT(said({{"label_names", names}}), IsEmpty()) << canonical_json(names);
  }
}

TEST_F(WeightsSpec, ANewHeadForOtherClassesIsSaid) {
  write_zero_weights(at("mlp"), "mlp", {{"hidden", json::array{5}}}, {.features = 20, .classes = 7});
  const auto spec = load(spec_of("{name: mlp, hidden: [5], weights: " + at("mlp") + "}",
                                 "{name: synthetic, train: 1000, features: 20, classes: 4}"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_THAT(spec->warnings, testing::Contains(AllOf(HasSubstr("of 7 classes and the dataset has 4"),
                                                      HasSubstr("fc2, is drawn anew"))));
}

TEST_F(WeightsSpec, MistakesInAModelsOptionsHaveExamplesOfThatModelOrNone) {
  EXPECT_THAT(refusal(spec_of("{name: llama, width: 8}")),
              AllOf(HasSubstr("the dataset has no sequences of tokens"), Not(HasSubstr("Example"))));
  EXPECT_THAT(refusal(spec_of("{name: vit, width: wide}")), HasSubstr("Example: `width: "));
  EXPECT_THAT(refusal(spec_of("lama")), AllOf(HasSubstr("Did you mean 'llama'?"), Not(HasSubstr("Example"))));
  EXPECT_THAT(refusal(spec_of("{name: mlp, trainable: bitfit, trainable_pattern: x}")),
              AllOf(HasSubstr("trainable_pattern"), Not(HasSubstr("linear"))));
}

}  // namespace weights_spec_test
}  // namespace hyfreedp::runner
