"""Makes answers.json, classes.json and stems.json of this folder (README.md). Needs torchmetrics 1.8.2,
scikit-learn 1.9.1 and nltk 3.10.4. Argument: the folder to write to."""
import json
import os
import random
import sys

from nltk.stem.porter import PorterStemmer
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef
from torchmetrics.functional.text.squad import squad

ANSWERS = [
    ("the Norman conquest", ["Norman Conquest!"]), ("in 1066", ["1066", "the year 1066"]), ("", ["nothing"]),
    ("A b c a b", ["a b b d", "c c c"]), ("Denver  Broncos", ["The Denver Broncos", "Broncos"]), ("3.5", ["35", "3,5"]),
    ("Café Rouge", ["CAFÉ rouge."]), ("theatre an", ["theatre"]), ("the–end", ["end"]), ("the-end", ["theend", "end"]),
    ("an_other", ["another", "other"]), ("one\u00a0two\tthree", ["one two three"]), ("no overlap", ["at all"]),
    ("“a” b", ["b", "“” b"]), ("x y y z z z", ["z z y", "x", "x y y z z"]), ("ÜBER a", ["über"])]

STEMS = """a ab abl aut bab c connect ster tr sky mult rel cond rat val hes dig conform rad diff vil analog vietnam pred oper
feud decis hope call form sens tripl electr good rev allow infer airl gyroscop adjust def irrit replac depend adopt homolog commun
activ angular effect bowdler prob cease contr roll prov y yy eye boy say fall hiss fizz tann siz troubl conflat fil geo archaeo mé
naï ph fl d skat rubb generous fam child price café rest moder""".split()
ENDINGS = """'' s ss sses ies es eed ed ied ing ings y ying ational tional enci anci izer bli abli alli entli eli ousli ization ation
ator alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic able ible
ant ement ment ent ion sion tion ou ism ate iti ous ive ize e le l ll ell""".split()
WORDS = """sky skies dying lying tying news innings inning outings outing cannings canning howe proceed exceed succeed dies died spied
spy fly flies try enjoy enjoyment happy is by a yyyy yy by's don't restaurants moderately customers family-friendly rated ratings
located priced expensive cheaper serves serving providing average riverside highly éclairs naïve Übung riviera""".split()


def drawn_classes():
    generator = random.Random(40)
    cases = [([1, 0, 1], [1, 0, 1]), ([0, 0, 0], [0, 1, 0]), ([1, 1], [0, 0]), ([0, 0], [0, 0]), ([1], [1])]
    for count, right in ((50, 0.9), (200, 0.6), (999, 0.3)):
        classes = [int(generator.random() < 0.3) for _ in range(count)]
        cases.append(([c if generator.random() < right else 1 - c for c in classes], classes))
    classes = [generator.randrange(3) for _ in range(300)]
    cases.append(([c if generator.random() < 0.5 else generator.randrange(3) for c in classes], classes))
    return cases


def write(name, content):
    with open(os.path.join(sys.argv[1], name), "w") as stream:
        if isinstance(content, dict):
            json.dump(content, stream, ensure_ascii=False, indent=0)
        else:
            stream.write("[" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in content) + "]")
        stream.write("\n")


answers = []
for text, references in ANSWERS:
    found = squad([{"prediction_text": text, "id": "0"}],
                  [{"answers": {"answer_start": [0] * len(references), "text": references}, "id": "0"}])
    answers.append({"text": text, "references": references, "exact_match": found["exact_match"].item() / 100,
                    "f1": found["f1"].item() / 100})
write("answers.json", answers)
write("classes.json", [{"predicted": p, "classes": c, "accuracy": accuracy_score(c, p),
                        "f1": float(f1_score(c, p, pos_label=1, average="binary", zero_division=0)) if max(p + c) < 2 else None,
                        "matthews_correlation": float(matthews_corrcoef(c, p))} for p, c in drawn_classes()])
stemmer = PorterStemmer()
words = sorted(set(WORDS) | set(sorted(stem + ending.strip("'") for stem in STEMS for ending in ENDINGS)[::2]))
write("stems.json", {word.lower(): stemmer.stem(word) for word in words})
