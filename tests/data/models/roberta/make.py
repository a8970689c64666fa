"""Makes the files of this folder (README.md). Needs PyTorch 2.11.0, transformers, safetensors and numpy.
Argument: the folder to write to."""
import os
import sys

import torch
import transformers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bert_case import write

PAD, SEP, CLS = 1, 2, 0
IDS = torch.tensor([[CLS, 7, 8, 9, 10, 11, 12, SEP],                # a whole row
                    [CLS, 5, 6, SEP, SEP, 21, 22, SEP],             # a pair
                    [CLS, 14, 14, 14, SEP, PAD, PAD, PAD],          # one id repeated, padding
                    [CLS, SEP, PAD, PAD, PAD, PAD, PAD, PAD]])      # empty

write(sys.argv[1], transformers.RobertaForSequenceClassification,
      transformers.RobertaConfig(
          vocab_size=24, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
          max_position_embeddings=10, type_vocab_size=1, pad_token_id=PAD, bos_token_id=CLS, eos_token_id=SEP,
          num_labels=3, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, attn_implementation="eager"),
      IDS, PAD, 1907,
      # What other cases of this set have not.
      ("word_embeddings.weight", "token_type_embeddings.weight", "position_embeddings.weight",
       "embeddings.LayerNorm.weight", "self.key.weight", "classifier.dense.weight", "classifier.out_proj.bias"),
      ["the attention mask is 0 where an id is <pad>"])
