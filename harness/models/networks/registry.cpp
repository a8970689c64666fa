#include "harness/models/networks/registry.h"

#include "harness/base/text.h"
#include "harness/models/networks/bert.h"
#include "harness/models/networks/cnn.h"
#include "harness/models/networks/convnext.h"
#include "harness/models/networks/efficientnet_lite.h"
#include "harness/models/networks/gpt2.h"
#include "harness/models/networks/llama.h"
#include "harness/models/networks/mlp.h"
#include "harness/models/networks/opt.h"
#include "harness/models/networks/resnet.h"
#include "harness/models/networks/resnet_imagenet.h"
#include "harness/models/networks/squeezenet.h"
#include "harness/models/networks/vit.h"

namespace hyfreedp::models {

const std::vector<Facts>& model_facts() {
  static const std::vector<Facts> facts = {linear_facts(),      mlp_facts(),
                                           cnn_facts(),         resnet_facts(),
                                           wide_resnet_facts(), efficientnet_lite_facts(),
                                           squeezenet_facts(),  resnet_imagenet_facts(),
                                           convnext_facts(),    vit_facts(),
                                           beit_facts(),        clip_facts(),
                                           eva02_facts(),       gpt2_facts(),
                                           llama_facts(),       opt_facts(),
                                           bert_facts(),        roberta_facts()};
  return facts;
}

Result<const Facts*> find_model(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& facts : model_facts()) {
    if (facts.name == name) return &facts;
    names.push_back(facts.name);
  }
  return error("unknown model '" + name + "'." + did_you_mean(name, names) +
               " Known models: " + join(names, ", ") + ".");
}

}  // namespace hyfreedp::models
