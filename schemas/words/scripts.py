"""Characters of the scripts that are written without spaces between words, as ranges for character classes.

One definition for all rules, so that an index, a question and a shingle agree on what a character is. A rule that needs
another set has it here too, and says why.
"""

from __future__ import annotations

from quern.schemas.words.patterns import lazy_pattern

# Unified and compatibility ideographs of all planes, with the iteration mark and the zero, which count as ideographs.
HAN = "々〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
KANA = "\u3040-\u30ff"
HANGUL = "\uac00-\ud7af"
# Han, Hiragana, Katakana and Hangul: the scripts of Lucene's CJK bigrams.
CJK = KANA + HAN + HANGUL
HAN_CHARACTER = lazy_pattern(f"[{HAN}]")
CJK_CHARACTER = lazy_pattern(f"[{CJK}]")
# What tells Japanese and Korean from Chinese.
KANA_OR_HANGUL = lazy_pattern(f"[{KANA}{HANGUL}]")
# Thai, Lao, Burmese and Khmer, which have no spaces between words either.
SOUTH_EAST_ASIAN = "\u0e01-\u0e30\u0e32-\u0e46\u0e81-\u0edf\u1000-\u109f\u1780-\u17b3"
# Ideographs that BERT's pre-tokeniser sets apart from both neighbours; of others it makes runs.
BERT_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df"
# What a sentence ends with in Chinese and Japanese.
CJK_ENDS = "。！？"
