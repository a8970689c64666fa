"""The texts of the tokenizers' cases (gpt2/make.py, roberta/make.py)."""
TEXTS = ["", " ", "hello world", " hello world", "Hello, World!", "unaffable  unaffable", "it's 3.50$ + 7=~x^2` they'll",
         "naïve café", "na\u0308ive cafe\u0301", "中文字", "a中b", "한국어", "İstanbul ΣΑΣ straße", "x" * 100,
         "hello\u200bworld", "hello\u00a0world\u2003again", "tabs\tand\n\nlines  \n end", "\U0001f600 smile", "(hello)[world]{!}",
         "¿qué? «oui» „ja“ – — …", "1,234,567.89", "one-two_three/four\\five", "Ａｂｃ ｆｕｌｌ", "the the the", "hello" * 30]
