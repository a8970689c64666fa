"""Makes the files of this folder (README.md). Needs PyTorch 2.11.0, transformers, safetensors and numpy.
Argument: the folder to write to."""
import os
import sys

import torch
import transformers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bert_case import write

PAD, SEP, CLS = 0, 3, 2
IDS = torch.tensor([[CLS, 7, 8, 9, 10, 11, 12, SEP],      # a whole row
                    [CLS, 5, 6, SEP, 20, 21, 22, SEP],    # a pair
                    [CLS, 14, 14, 14, SEP, 0, 0, 0],      # one id repeated, padding
                    [CLS, SEP, 0, 0, 0, 0, 0, 0]])        # empty


def segments(ids):
    separators = (ids == SEP).long()
    return (separators.cumsum(1) - separators).clamp(max=1)


write(sys.argv[1], transformers.BertForSequenceClassification,
      transformers.BertConfig(
          vocab_size=24, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
          max_position_embeddings=10, pad_token_id=PAD, sep_token_id=SEP, num_labels=3, hidden_dropout_prob=0.0,
          attention_probs_dropout_prob=0.0, attn_implementation="eager"),
      IDS, PAD, 1810,
      # What other cases of this set have not.
      ("word_embeddings.weight", "token_type_embeddings.weight", "position_embeddings.weight",
       "embeddings.LayerNorm.weight", "self.key.weight", "pooler.dense.weight", "classifier.bias"),
      ["the attention mask is 0 where an id is [PAD]; the token types of a pair are 1 after its first [SEP]",
       "a padding position's type is 1 here, whatever it is: nothing attends to it"], segments)
