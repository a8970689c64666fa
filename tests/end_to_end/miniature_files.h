// Data and weights in the forms in which they are published, made by a test: CIFAR's archives,
// SVHN's MAT files, STL-10's files, GTSRB's and Food-101's folders, those of two classes, NumPy's
// arrays of images, Gisette in LIBSVM's format, and folders of timm's ViTs, BEiTs, CLIP towers,
// EVA-02s and ConvNeXts. Images are of one colour, that of their class (Food-101's: one
// photograph).
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "tests/formats/mat_file.h"
#include "tests/formats/npy_file.h"
#include "tests/formats/tar.h"

namespace hyfreedp::end_to_end {

// `count` records of CIFAR's binary version with the labels 0, 1, ... by turns.
inline std::string cifar_batch(int count, int classes) {
  constexpr std::size_t kPixels = 3072;
  std::string batch;
  batch.reserve(static_cast<std::size_t>(count) * (kPixels + 2));
  for (int i = 0; i < count; ++i) {
    const int label = i % classes;
    if (classes == 100) batch += static_cast<char>(label / 5);  // the coarse label
    batch += static_cast<char>(label);
    batch.append(kPixels, static_cast<char>(label * 2));
  }
  return batch;
}

// CIFAR's archives: all 60,000 images, under 1 MB gzipped, or every `of`-th as an own copy has
// them.
inline void write_cifar10(const std::filesystem::path& path, int of = 1) {
  datasets::TarFile tar(path);
  const auto batch = cifar_batch(10'000 / of, 10);
  for (int i = 1; i <= 5; ++i) tar.add(fmt::format("cifar-10-batches-bin/data_batch_{}.bin", i), batch);
  tar.add("cifar-10-batches-bin/test_batch.bin", batch);
}
inline void write_cifar100(const std::filesystem::path& path, int of = 1) {
  datasets::TarFile tar(path);
  tar.add("cifar-100-binary/train.bin", cifar_batch(50'000 / of, 100));
  tar.add("cifar-100-binary/test.bin", cifar_batch(10'000 / of, 100));
}

// SVHN's two MAT files, with every `of`-th image; the digit 0 has the label 10.
inline void write_svhn(const std::filesystem::path& folder, unsigned of = 1) {
  std::filesystem::create_directories(folder);
  for (const auto& [name, all] : {std::pair{"train_32x32.mat", 73'257U}, {"test_32x32.mat", 26'032U}}) {
    const auto count = all / of;
    const auto label = [](std::uint32_t i) { return static_cast<char>(i % 10 + 1); };
    const auto image = [&](std::uint32_t i) { return std::string(3072, label(i)); };
    const auto digit = [&](std::uint32_t i) { return std::string(1, label(i)); };
    const auto file = datasets::mat_head() + datasets::packed_array('X', {32, 32, 3, count}, count, image) +
                      datasets::packed_array('y', {count, 1}, count, digit);
    write_file_atomically((folder / name).string(), file).value();
  }
}

// STL-10's binary files, with every `of`-th image; the first class has the label 1.
inline void write_stl10(const std::filesystem::path& folder, int of = 1) {
  std::filesystem::create_directories(folder);
  for (const auto& [part, all] : {std::pair{"train", 5'000}, {"test", 8'000}}) {
    constexpr std::size_t kPixels = std::size_t{3} * 96 * 96;
    std::string pixels, labels;
    for (int i = 0; i < all / of; ++i) {
      pixels.append(kPixels, static_cast<char>(i % 10 * 20));
      labels += static_cast<char>(i % 10 + 1);
    }
    write_file_atomically((folder / fmt::format("{}_X.bin", part)).string(), pixels).value();
    write_file_atomically((folder / fmt::format("{}_y.bin", part)).string(), labels).value();
  }
}

// As GTSRB is published: a folder a class of PPM files for training, and a table of the test
// images.
inline void write_gtsrb(const std::filesystem::path& path, int per_class, int test) {
  const auto image = [](int label, int shade) {
    return "P6 24 20 255\n" + std::string(24 * 20 * 3, static_cast<char>(label * 5 + shade));
  };
  datasets::TarFile tar(path);
  for (int label = 0; label < 43; ++label) {
    for (int i = 0; i < per_class; ++i) {
      tar.add(fmt::format("train/{:05}/00000_{:05}.ppm", label, i), image(label, 0));
    }
  }
  std::string table = "Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId\n";
  for (int i = 0; i < test; ++i) {
    tar.add(fmt::format("test/{:05}.ppm", i), image(i % 43, 1));
    table += fmt::format("{:05}.ppm;24;20;5;5;19;15;{}\n", i, i % 43);
  }
  tar.add("test/GT-final_test.csv", table);
}

// As the folders of WILDS are to be laid out: `train` and `test` images of each of the classes 0
// and 1; without training images a set of ood_test.
inline void write_two_classes(const std::filesystem::path& folder, int train, int test) {
  for (const auto& [part, count, first] : {std::tuple{"train", train, 0}, {"test", test, train}}) {
    for (int label = 0; label < 2 && count > 0; ++label) {
      const auto place = folder / part / std::to_string(label);
      std::filesystem::create_directories(place);
      for (int i = 0; i < count; ++i) {
        const auto image = "P6 24 20 255\n" +
                           folder.filename().string().substr(0, 15).append(15, 'x').substr(0, 15) +
                           std::string(24 * 20 * 3 - 15, static_cast<char>(60 + 90 * label + first + i));
        write_file_atomically((place / fmt::format("{}-{}.ppm", label, i)).string(), image).value();
      }
    }
  }
}

// Test sets in NumPy's format, all images black: CIFAR-10.1's 2,000, and one corruption's 50,000.
inline void write_black_images(const std::filesystem::path& pixels, const std::filesystem::path& labels,
                               int count) {
  std::filesystem::create_directories(pixels.parent_path());
  const auto head = datasets::npy_head("|u1", fmt::format("{}, 32, 32, 3", count));
  write_file_atomically(pixels.string(), head).value();
  std::filesystem::resize_file(pixels, head.size() + std::size_t{3072} * static_cast<std::size_t>(count));
  std::string classes = datasets::npy_head("|u1", fmt::format("{},", count));
  for (int i = 0; i < count; ++i) classes += static_cast<char>(i % 10);
  write_file_atomically(labels.string(), classes).value();
}
inline void write_cifar_shifts(const std::filesystem::path& folder) {
  write_black_images(folder / "cifar10-1/cifar10.1_v6_data.npy", folder / "cifar10-1/cifar10.1_v6_labels.npy",
                     2'000);
  write_black_images(folder / "cifar10-c/gaussian_blur.npy", folder / "cifar10-c/labels.npy", 50'000);
}

// As Food-101 and ImageNet are to be laid out: a folder of JPEG files a class, all of them links to
// one copy of `jpeg`.
inline void write_classes(const std::filesystem::path& folder, const std::string& jpeg, int test,
                          int classes) {
  std::filesystem::create_directories(folder.parent_path());
  const auto copy = folder.parent_path() / (folder.filename().string() + ".jpg");
  std::filesystem::copy_file(jpeg, copy);
  for (int label = 0; label < classes; ++label) {
    for (const char* part : {"train", "test"}) {
      if (std::string(part) == "test" && label >= test) continue;
      const auto place = folder / part / fmt::format("class_{:03}", label);
      std::filesystem::create_directories(place);
      std::filesystem::create_hard_link(copy, place / fmt::format("{}.jpg", label * 1000));
    }
  }
}

// As LIBSVM publishes Gisette, which is in two files: classes -1 and 1, and few of 5,000 numbers in
// a row. The first is that of its class.
inline void write_gisette(const std::filesystem::path& folder, int train, int test) {
  std::filesystem::create_directories(folder);
  for (const auto& [name, rows, value] :
       {std::tuple{"train.libsvm", train, 0.5}, {"test.libsvm", test, 0.25}}) {
    std::string text;
    for (int i = 0; i < rows; ++i) {
      const int label = i % 2 == 0 ? -1 : 1;
      text += fmt::format("{} 1:{} {}:{} 5000:-1\n", label, label, 2 + i % 4998, value);
    }
    write_file_atomically((folder / name).string(), text).value();
  }
}

using TensorShapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

// config.json and model.safetensors of timm's network of that name, with 1,000 classes. Values are
// small and of both signs, but variances.
inline void write_weights(const std::filesystem::path& folder, const std::string& architecture,
                          const json::object& model_args, const TensorShapes& tensors) {
  json::object header;
  std::string data;
  std::uint32_t drawn = 1;
  for (const auto& [name, shape] : tensors) {
    std::size_t count = 1;
    for (const auto size : shape) count *= static_cast<std::size_t>(size);
    const auto begin = data.size();
    data.resize(begin + count * sizeof(float));
    for (std::size_t i = 0; i < count; ++i) {
      drawn = drawn * 1664525U + 1013904223U;
      auto value = static_cast<float>(static_cast<std::int32_t>(drawn)) * 0x1p-31F * 0.04F;
      if (name.ends_with(".running_var")) value = 1 + value;
      std::memcpy(data.data() + begin + i * sizeof(float), &value, sizeof value);
    }
    header[name] = {{"dtype", "F32"},
                    {"shape", json::array(shape.begin(), shape.end())},
                    {"data_offsets", {begin, data.size()}}};
  }
  auto text = json::serialize(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  std::filesystem::create_directories(folder);
  write_file_atomically((folder / "model.safetensors").string(), file + text + data).value();
  json::object config = {{"architecture", architecture}, {"num_classes", 1000}};
  if (!model_args.empty()) config["model_args"] = model_args;
  write_file_atomically((folder / "config.json").string(), json::serialize(config)).value();
}

struct Tensors {
  TensorShapes list;
  void add(const std::string& name, const std::vector<std::int64_t>& weight) {
    list.emplace_back(name + ".weight", weight);
    list.emplace_back(name + ".bias", std::vector<std::int64_t>{weight.front()});
  }
};

struct VitSizes {
  std::string architecture;
  std::int64_t width = 0;
  int depth = 0;
  int heads = 0;
};

// A ViT, or by its name a BEiT, a tower of CLIP or an EVA-02, of that name's patches, for images of
// that many pixels and 1,000 classes, under timm's names. MLPs are four times as wide, EVA-02's
// twice.
inline void write_vit(const std::filesystem::path& folder, const VitSizes& sizes, std::int64_t image = 224) {
  const auto width = sizes.width;
  const std::int64_t patch = sizes.architecture.find("patch14") != std::string::npos ? 14 : 16;
  const auto side = image / patch;
  const bool beit = sizes.architecture.starts_with("beit");
  const bool clip = sizes.architecture.find("_clip_") != std::string::npos;
  const bool eva02 = sizes.architecture.starts_with("eva02");
  Tensors tensors{{{"cls_token", {1, 1, width}}, {"patch_embed.proj.weight", {width, 3, patch, patch}}}};
  if (!clip) tensors.list.push_back({"patch_embed.proj.bias", {width}});
  if (clip) tensors.add("norm_pre", {width});
  if (!beit) tensors.list.push_back({"pos_embed", {1, 1 + side * side, width}});
  for (int i = 0; i < sizes.depth; ++i) {
    const auto block = fmt::format("blocks.{}.", i);
    tensors.add(block + "norm1", {width});
    tensors.add(block + "attn.proj", {width, width});
    tensors.add(block + "norm2", {width});
    if (eva02) {
      for (const char* projection : {"q", "v"}) {
        tensors.add(fmt::format("{}attn.{}_proj", block, projection), {width, width});
      }
      tensors.list.push_back({block + "attn.k_proj.weight", {width, width}});
      for (const char* part : {"g", "x"}) {
        tensors.add(fmt::format("{}mlp.fc1_{}", block, part), {2 * width, width});
      }
      tensors.add(block + "mlp.norm", {2 * width});
      tensors.add(block + "mlp.fc2", {width, 2 * width});
      continue;
    }
    tensors.add(block + "mlp.fc1", {4 * width, width});
    tensors.add(block + "mlp.fc2", {width, 4 * width});
    if (!beit) {
      tensors.add(block + "attn.qkv", {3 * width, width});
      continue;
    }
    tensors.list.push_back({block + "attn.qkv.weight", {3 * width, width}});
    for (const char* vector : {"attn.q_bias", "attn.v_bias", "gamma_1", "gamma_2"}) {
      tensors.list.push_back({block + vector, {width}});
    }
    tensors.list.push_back(
        {block + "attn.relative_position_bias_table", {(2 * side - 1) * (2 * side - 1) + 3, sizes.heads}});
  }
  tensors.add(beit || eva02 ? "fc_norm" : "norm", {width});
  tensors.add("head", {1000, width});
  write_weights(folder, sizes.architecture,
                {{"embed_dim", width},
                 {"depth", sizes.depth},
                 {"num_heads", sizes.heads},
                 {"mlp_ratio", eva02 ? 2 : 4}},
                tensors.list);
}

// A ConvNeXt of four stages of one block each and of that many channels, under timm's names.
inline void write_convnext(const std::filesystem::path& folder, std::int64_t width) {
  Tensors tensors;
  tensors.add("stem.0", {width, 3, 4, 4});
  tensors.add("stem.1", {width});
  for (int stage = 0; stage < 4; ++stage) {
    if (stage > 0) {
      tensors.add(fmt::format("stages.{}.downsample.0", stage), {width});
      tensors.add(fmt::format("stages.{}.downsample.1", stage), {width, width, 2, 2});
    }
    const auto block = fmt::format("stages.{}.blocks.0.", stage);
    tensors.add(block + "conv_dw", {width, 1, 7, 7});
    tensors.add(block + "norm", {width});
    tensors.add(block + "mlp.fc1", {4 * width, width});
    tensors.add(block + "mlp.fc2", {width, 4 * width});
    tensors.list.push_back({block + "gamma", {width}});
  }
  tensors.add("head.norm", {width});
  tensors.add("head.fc", {1000, width});
  write_weights(folder, "convnext_xlarge", {{"depths", {1, 1, 1, 1}}, {"dims", {width, width, width, width}}},
                tensors.list);
}

// The ResNet-20 of He et al. for CIFAR-100, with its BatchNorms.
inline void write_resnet20(const std::filesystem::path& folder) {
  Tensors tensors;
  const auto convolution = [&](const std::string& name, const std::string& norm,
                               const std::vector<std::int64_t>& shape) {
    tensors.list.emplace_back(name + ".weight", shape);
    tensors.add(norm, {shape.front()});
    for (const char* statistic : {".running_mean", ".running_var"}) {
      tensors.list.push_back({norm + statistic, {shape.front()}});
    }
  };
  convolution("conv1", "bn1", {16, 3, 3, 3});
  std::int64_t from = 16;
  for (int stage = 0; stage < 3; ++stage) {
    const std::int64_t width = 16 << stage;
    for (int i = 0; i < 3; ++i) {
      const auto block = fmt::format("layer{}.{}.", stage + 1, i);
      convolution(block + "conv1", block + "bn1", {width, from, 3, 3});
      convolution(block + "conv2", block + "bn2", {width, width, 3, 3});
      if (from != width) convolution(block + "downsample.0", block + "downsample.1", {width, from, 1, 1});
      from = width;
    }
  }
  tensors.add("fc", {100, 64});
  write_weights(folder, "resnet20", {}, tensors.list);
}

}  // namespace hyfreedp::end_to_end
