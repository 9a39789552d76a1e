"""Laws of the rule generator: answers are quotations, pairs cover the chunk, questions read as questions."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.queries.doc2query import Doc2Query
from quern.jobs.queries.rules import chinese_sentences, english
from quern.jobs.queries.rules.antecedents import resolved
from quern.jobs.queries.rules.pronouns import kind_of, resolve
from quern.jobs.queries.rules.rule import written_pairs
from quern.jobs.queries.rules.running import running_text
from quern.jobs.queries.rules.units import WORD, dialogue_speakers, read_units
from quern.jobs.queries.task import ChunkContext, doc2query
from quern.jobs.text.search_form import SearchForm
from quern.schemas.settings import Doc2QuerySettings
from quern.schemas.tables import TIMESTAMP
from quern.schemas.words.spaces import squeeze

CHAT = """Time: 20260227_18:30
AdamSmith: Hi Li Hua, a quick reminder that the rent is due on Friday. Do you have any questions?
LiHua: Thanks for the reminder, Adam! I'll transfer the rent tomorrow because I get my salary then.
AdamSmith: Great! How about we fix the basement door next week?
LiHua: Perfect!"""
PROSE = """Glisson was born in Jackson County, Florida. He was elected to the State Senate in 1973 because he promised \
lower taxes. The old law was repealed by Governor Reubin Askew. He has three grown daughters."""
CHINESE = "李时珍是明朝的医学家。他于1578年写成《本草纲目》。全书收录了1892种药物。由于战乱，全书直到1596年才出版。"

LINES = st.lists(
    st.sampled_from(
        [
            "Anna: I like tea!",
            "Bob: Why?",
            "Time: 10:00",
            "Price: 5 euros",
            "a | b | c",
            "The cat sat on the mat. It was happy in 1990.",
            "- Buy milk",
            "Steps:",
            "他说好。",
            "Où est la gare du Nord ? Je ne sais pas.",
            "...",
            "",
            "In 1990, it was built by John Smith.",
            "You can win because you try.",
            "🎉🎉",
            "No",
            "x" * 50,
        ]
    ),
    max_size=30,
).map("\n".join)


def pairs(
    text: str, title: str | None = None, most: int = 20, published_at: datetime | None = None
) -> list[tuple[str, str]]:
    made = doc2query(most).rule(ChunkContext(text, title, published_at))
    return [(p.question, p.answer) for p in made.pairs]


def questions(text: str, title: str | None = None) -> list[str]:
    return [q for q, _ in pairs(text, title)]


@given(st.one_of(LINES, st.text(max_size=300)), st.sampled_from([None, "", "Tea (drink)", "茶"]), st.integers(1, 20))
def test_answers_are_quotations_and_questions_are_distinct_questions(text: str, title: str | None, most: int) -> None:
    made = [(p.question, p.answer, p.searched) for p in doc2query(most).rule(ChunkContext(text, title, None)).pairs]
    assert [(question, answer) for question, answer, _ in made] == pairs(text, title, most)
    assert len(made) <= most
    assert len(set(made)) == len(made)
    told = SearchForm()(f"{title or ''} the {text}").lower()
    asked: dict[str, list[str]] = {}
    for question, answer, _ in made:
        assert answer
        assert answer in squeeze(text)
        assert "\n" not in question
        # Where no question can be worded, words of the chunk stand for it.
        assert question.endswith(("?", "？")) or all(w in told for w in re.findall(r"\w+", question.lower()))
        assert question.strip()
        asked.setdefault(answer, []).append(question)
    # An answer is asked for in the same words again once it was in all others.
    assert all(q == of[n % len(set(of))] for of in asked.values() for n, q in enumerate(of))
    assert bool(made) == any(c.isalnum() for c in text)


@given(st.integers(1, 60), st.integers(1, 20))
def test_every_sentence_stands_in_an_answer_however_many_there_are(count: int, most: int) -> None:
    said = [f"Town number {n} was founded by settler {chr(65 + n % 26)}{n} on river {n * 7}." for n in range(count)]
    answers = " ".join(a for _, a in pairs(" ".join(said), None, most))
    assert all(s in answers for s in said)


def test_repeated_lines_are_asked_about_once() -> None:
    text = "\n".join(["The bakery on the corner opens at seven in the morning."] * 5)
    assert len({a for _, a in pairs(text)}) == 1


def test_a_dialogue_is_asked_with_the_names_of_who_speaks_and_who_is_spoken_to() -> None:
    assert dialogue_speakers(CHAT) == {"AdamSmith", "LiHua"}
    asked = questions(CHAT)
    assert "When do Adam Smith and Li Hua talk about the rent?" in asked
    assert "Does Li Hua have any questions?" in asked  # What he was asked, answered by his turn.
    assert "Why will Li Hua transfer the rent tomorrow?" in asked
    assert "What does Adam Smith suggest to Li Hua about the basement door?" in asked
    assert ("What does Li Hua answer Adam Smith about the basement door?", "Perfect!") in pairs(CHAT)


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("I'm hosting a small lecture this Saturday at 7 PM.", "When is Ann Lee hosting a small lecture?"),
        ("I bought a red kayak at Central Pier last week.", "Where did Ann Lee buy a red kayak?"),
        ("We will paint the old fence tomorrow.", "When will Ann Lee and Bob paint the old fence?"),
        ("I'm looking forward to our next hike!", "What is Ann Lee looking forward to?"),
    ],
)
def test_i_and_we_become_names(said: str, question: str) -> None:
    chat = f"Bob: Hello, all well?\nAnnLee: {said}\nBob: I see! Thank you for telling us."
    asked = questions(chat)
    assert question in asked
    assert not any(" I " in f" {q} " or " you" in q for q in asked)


def test_prose_is_asked_for_its_constituents_and_pronouns_are_resolved() -> None:
    asked = questions(PROSE, "James Glisson")
    assert "Where was James Glisson born?" in asked
    assert "Why was James Glisson elected to the State Senate in 1973?" in asked
    assert "When was James Glisson elected to the State Senate?" in asked
    assert "Who repealed the old law?" in asked
    assert "How many grown daughters does James Glisson have?" in asked


def test_no_question_begins_with_the_title_that_its_vector_is_made_with() -> None:
    schema = pa.schema(
        [("chunk_id", pa.string()), ("text", pa.string()), ("title", pa.string()), ("published_at", TIMESTAMP)]
    )
    text = f"{PROSE} The ferry was sold in 1990."
    row = {"chunk_id": "a-0", "text": text, "title": "James Glisson", "published_at": None}
    made = Doc2Query(Doc2QuerySettings()).apply(pa.RecordBatch.from_pylist([row], schema=schema)).rows.to_pylist()
    assert not any(r["question"].startswith(("About", "What is said about")) for r in made)
    searched = {r["question"]: r["searched"] for r in made}
    assert "James Glisson" in searched["When was the ferry sold?"]
    assert len({r["searched"] for r in made}) == len(made)


def test_what_cannot_be_asked_about_stands_in_the_answer_before() -> None:
    made = dict(pairs("The tower was built in 1890. Nothing of note. It leans.", "A long headline about some tower"))
    assert made["When was the tower built?"] == "The tower was built in 1890. Nothing of note. It leans."


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("The Bubye River is a river in Zimbabwe.", "What is the Bubye River?"),
        (
            "Norway is more expensive than Sweden in most respects.",
            "How does Norway compare with Sweden in most respects?",
        ),
        ("If the oil is cold, the engine stops at once.", "What happens if the oil is cold?"),
        ("Ibsen was a Norwegian playwright of the century.", "Who was Ibsen?"),
        (
            "About 6,000 people walked across in the first two hours.",
            "How many people walked across in the first two hours?",
        ),
        ("The tower is 61 metres high.", "How high is the tower?"),
        ("The work costs about 31 crowns a book.", "How much does the work cost?"),
        ("On 6 August 1990 the night crew planted an oak.", "When did the night crew plant an oak?"),
        ("The ship is owned by Skarrow Line.", "Who owns the ship?"),
        ("The council decided to close the bridge at night.", "What did the council decide to do?"),
        ("Dr Tarnow said that she had read the notes.", "What did Dr Tarnow say about the notes?"),
        ("The mill was built by Tobias Renn to grind barley.", "Who built the mill?"),
        ("The play was written by Shakespeare.", "Who was the play written by?"),
        ("The harbour was ruined by Hurricane Ann.", "What ruined the harbour?"),
        ("On Mondays the bakery is closed because the ovens are cleaned.", "Why is the bakery closed?"),
        ("In winter the ferry is moored at Skarrow.", "Where is the ferry moored?"),
        ("Thus the British Navy captured New Amsterdam in 1664.", "When did the British Navy capture New Amsterdam?"),
        (
            "Howard's buildings have a value of 3 million crowns.",
            "Do Howard's buildings have a value of 3 million crowns?",
        ),
    ],
)
def test_forms_of_english_questions(sentence: str, question: str) -> None:
    assert question in questions(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "It is pale and quick.",
        "Nothing of note.",
        '"It is a real effect," says Dr Okoye.',
        "The ship has not yet been named.",
        "Growth, perhaps because of salt, poor.",
    ],
)
def test_a_sentence_that_states_too_little_alone_has_no_question(sentence: str) -> None:
    assert not list(english.questions(sentence, ""))


def test_chinese_sentences_get_chinese_questions() -> None:
    asked = questions(CHINESE, "李时珍")
    assert "李时珍是什么？" in asked or "李时珍是谁？" in asked
    assert "李时珍于什么时候写成本草纲目？" in asked
    assert "全书收录了多少种药物？" in asked
    assert any("为什么" in q for q in asked)
    assert all(q.endswith("？") for q in asked)


def test_a_chinese_numeral_is_asked_about_as_a_number_and_quoted_as_it_stands() -> None:
    text = "本草纲目在一五九六年出版。全书收录了一千八百九十二种药物。"
    made = dict(pairs(text, "本草纲目"))
    assert made["本草纲目在什么时候出版？"] == "本草纲目在一五九六年出版。"
    assert "1892种" in " ".join(made)
    assert all(answer in text for answer in made.values())


def test_other_languages_get_the_words_that_a_sentence_begins_with() -> None:
    assert questions("Der Zug nach München fährt um acht Uhr vom Gleis drei ab.", "Fahrplan") == [
        "Der Zug nach München fährt um acht Uhr"
    ]


def test_rows_and_tables_are_asked_about_by_their_labels() -> None:
    assert questions("Population: 35,918,900 (2020)", "Uganda") == ["What is the population of Uganda?"]
    table = "Country | Capital | Area\nNorway | Oslo | 385,207 km\nSweden | Stockholm | 450,295 km"
    asked = questions(table, "Europe")
    assert "What is the area of Norway?" in asked or "What is the capital of Norway?" in asked
    box = "Formed | 1 October 2024\nHead office | Port Averil\nChief executive | Rafe Okonjo\nEmployees | 1,344"
    assert questions(box, "Fenharrow") == [
        "When was Fenharrow formed?",
        "What is the head office of Fenharrow?",
        "Who is the chief executive of Fenharrow?",
        "How many employees does Fenharrow have?",
    ]
    entry = (
        "Entry 8. Mill Road, opposite number 97: holm oak, planted 26 January 1990, adopted by Rhoda Hurst. "
        "It is tall and has been watered."
    )
    assert list(dict.fromkeys(questions(entry, "Register of trees"))) == [
        "Who adopted the holm oak at Mill Road?",
        "When was the holm oak at Mill Road planted?",
    ]


def test_the_job_makes_queries_with_their_chunk_and_rejects_what_has_no_words() -> None:
    schema = pa.schema(
        [("chunk_id", pa.string()), ("text", pa.string()), ("title", pa.string()), ("published_at", TIMESTAMP)]
    )
    rows = [["a-0", PROSE, "James Glisson", None], ["b-0", "... !!", None, None], ["c-0", CHAT, None, None]]
    batch = pa.RecordBatch.from_pylist([dict(zip(schema.names, r, strict=True)) for r in rows], schema=schema)
    job = Doc2Query(Doc2QuerySettings(pairs=5))
    made = job.apply(batch)
    assert made.rows.schema.names == ["query_id", "chunk_id", "question", "answer", "searched"]
    assert [r.reason for r in made.rejects] == ["no_pairs"]
    assert made.rejects[0].row == 1
    assert set(made.parents.tolist()) == {0, 2}
    ids = made.rows.column("query_id").to_pylist()
    assert [i for i in ids if i.startswith("a")] == [f"a-0-{m}" for m in range(5)]
    assert job.fingerprint() != Doc2Query(Doc2QuerySettings(pairs=6)).fingerprint()


def test_pronouns_at_the_head_of_a_sentence_become_the_subject_before_or_the_topic() -> None:
    first = "Ada Byron was a mathematician."
    assert resolve("She wrote notes.", first, "Ada Byron", "person") == "Ada Byron wrote notes."
    assert resolve("In 1843, her notes were printed.", first, "Ada Byron", "person") == (
        "In 1843, Ada Byron's notes were printed."
    )
    assert resolve("As of May 1, 1843 she was at home.", first, "Ada Byron", "person") == (
        "As of May 1, 1843 Ada Byron was at home."
    )
    met = "Charles Babbage built an engine."
    assert resolve("He died poor.", met, "Ada Byron", "person") == "Charles Babbage died poor."
    assert resolve("Byron died young.", met, "Ada Byron", "person") == "Ada Byron died young."


@pytest.mark.parametrize(
    ("sentence", "before", "topic", "kind"),
    [
        ("It was sold.", "Ada Byron was a mathematician.", "Ada Byron", "person"),
        ("He was late.", "The Tay Bridge is a bridge.", "Tay Bridge", "thing"),
        ("They were late.", "Charles Babbage built an engine.", "Ada Byron", ""),
        ("This bridge fell.", "", "Tay Bridge", "thing"),
        ("Charles saw that she wrote.", "", "Ada Byron", "person"),
        ("She wrote.", "", "", ""),
    ],
)
def test_a_pronoun_that_may_stand_for_another_is_left(sentence: str, before: str, topic: str, kind: str) -> None:
    assert resolve(sentence, before, topic, kind) == sentence


@pytest.mark.parametrize(
    ("topic", "said", "kind"),
    [
        ("Ada Byron", ["Ada Byron was a mathematician."], "person"),
        ("Jan Vole", ["Jan Vole (born 9 May 1964) is a retired pole vaulter."], "person"),
        ("Jan Vole", ["Jan Vole is a pole vaulter.", "His best jump was high."], "person"),
        ("Tay Bridge", ["The Tay Bridge is a bridge."], "thing"),
        ("Tay Bridge", ["A storm came up."], ""),
        ("", ["A storm was a surprise."], ""),
    ],
)
def test_what_a_document_is_about_is_known_from_its_definition_and_pronouns(
    topic: str, said: list[str], kind: str
) -> None:
    assert kind_of(topic, said) == kind


def test_chinese_pronouns_and_forms() -> None:
    assert chinese_sentences.kind_of("张明", ["张明是一位工程师。"]) == "person"
    assert chinese_sentences.kind_of("青桥", ["青桥是一座石桥。"]) == "thing"
    assert chinese_sentences.resolve("他设计了青桥。", "张明是工程师。", "青桥", "thing") == "张明设计了青桥。"
    assert chinese_sentences.resolve("后来，它被拆了。", "", "青桥", "thing") == "后来，青桥被拆了。"
    assert chinese_sentences.resolve("它被拆了。", "", "张明", "person") == "它被拆了。"
    assert chinese_sentences.resolve("他们走了。", "张明是工程师。", "青桥", "thing") == "他们走了。"
    text = (
        "张明是一位工程师。由于洪水，旧桥倒了。新桥由王强设计。新桥比旧桥高。如果下大雨，桥会关闭。请走南门进入桥面。"
    )
    asked = questions(text, "张明")
    for part in ("张明是谁", "为什么旧桥倒了", "新桥由谁设计", "如果下大雨，会怎样"):
        assert any(part in q for q in asked), part


def test_chinese_dialogues_are_asked_with_speaker_and_date() -> None:
    chat = "王芳：你好，明天几点见面？\n李强：三点吧。如果下雨，我们去图书馆。"
    asked = [q for q, _ in pairs(chat, published_at=datetime(2026, 1, 5, tzinfo=UTC))]
    assert "2026年1月5日王芳对李强说了什么？" in asked
    assert any(q.startswith("王芳问“你好，明天几点见面？”，李强怎么回答") for q in asked)


def test_a_dialogue_has_one_question_about_the_whole_with_speakers_and_date() -> None:
    chat = "Ann: The boat leaks again!\nBob: My boat never leaks.\nAnn: Then sell me your boat."
    asked = [q for q, _ in pairs(chat, published_at=datetime(2026, 2, 27, tzinfo=UTC))]
    assert asked.count("What do Ann and Bob say about the boat leaks on 27 February 2026?") == 1


@given(st.one_of(LINES, st.text(max_size=200)), st.floats(0.3, 1.0))
def test_no_two_pairs_are_found_by_texts_that_are_near_identical(text: str, near: float) -> None:
    made = [set(WORD.findall(w.searched.lower())) for w in written_pairs(text, "Tea", None, 20, near)]
    for n, one in enumerate(made):
        assert all(len(one & other) < near * len(one | other) for other in made[:n])


def test_the_prompt_asks_for_as_many_pairs() -> None:
    assert "up to 7 pairs" in doc2query(7).render(ChunkContext("A passage.", None, None))


@pytest.mark.parametrize(
    "part", ["A b. ", "x: y\n", "Anna: I go!\n", "is ", "in the ", "A a ", ", ", "| a ", "他", "A" * 30]
)
def test_hostile_chunks_do_not_stall(part: str) -> None:
    started = time.process_time()
    pairs(part * (4000 // len(part)))
    assert time.process_time() - started < 5


def test_a_column_or_a_title_without_a_word_asks_for_nothing() -> None:
    table = "Name | : | :: | Area\nNorway | Oslo | west | 385,207 km\nSweden | Stockholm | east | 450,295 km"
    assert "What is the area of Norway?" in questions(table, "Europe")
    assert questions("Number | 5\nLength | 7", ":")


def test_a_line_in_chinese_is_asked_for_by_its_first_cell_that_is_not_empty() -> None:
    asked = questions("| | 北京 | 两千万人 |\n| | 上海 | 两千五百万人 |\n| | 广州 | 一千八百万人 |", "城市")
    assert not any("的是什么" in question for question in asked)
    assert "城市的上海是什么？" in asked


@pytest.mark.parametrize(
    ("sentence", "half"),
    [
        ("The script called for a soaring, original anthem.", "soaring?"),
        ("The group owns the long - term lease on the hall .", "the long?"),
        ("A little later the troll with six heads came home.", "a little later"),
        ("Below are all the teams that qualified.", "Are Below"),
        ("The children danced and danced on the lawn.", "dance and danced"),
        ("Mill Lane, opposite the inn: oak, planted in 1990.", "did Mill Lane"),
        ("The town's first mayor, a baker, and his wife, who sang, left.", "baker and"),
    ],
)
def test_no_question_is_cut_before_a_noun_or_made_of_half_a_clause(sentence: str, half: str) -> None:
    assert not any(half in question for question in questions(sentence, "Mill Town"))


def test_a_quotation_is_asked_for_by_who_says_it() -> None:
    text = '"I can\'t carry this great lump," said Hans, "for the golden lump is heavy." He fell.'
    assert "What did Hans say about the golden lump?" in questions(text, "Hans in Luck")


def test_what_gives_no_question_is_asked_about_by_its_phrases_and_the_title() -> None:
    text = "Often seen near the old harbour wall, at noon; nobody knows."
    asked = questions(text, "A Ferry and its Friends")
    assert "What does “A Ferry and its Friends” say about the old harbour wall?" in asked


def test_a_share_is_asked_about_in_other_words_before_it_is_asked_the_same_again() -> None:
    made = pairs("The old mill was built in 1890 by Tobias Renn. Nothing of note there.", "Mills")
    assert len({question for question, _ in made}) == len(made) > 1


@pytest.mark.parametrize(
    ("sentence", "before", "topic"),
    [
        ("It is possible to swim there.", "The lake is deep.", "Blue Lake"),
        ("They are exposed in places.", "The rocks are old.", "Joshua Park"),
        ("He was easy to find.", "The tailor ran away.", "Happy Prince Tales"),
        ("He loves Rosaline.", "", "Rosaline"),
    ],
)
def test_a_question_names_nobody_that_a_reader_would_not_be_sure_of(sentence: str, before: str, topic: str) -> None:
    assert resolved(sentence, before, topic, "") == sentence


def test_a_tokenised_text_is_asked_about_as_it_would_be_printed() -> None:
    assert running_text("the mother - city 's `` old '' law , ( 1890 )") == "the mother-city's “old” law, (1890)"
    assert running_text("A dash - as here - stays.") == "A dash - as here - stays."


@pytest.mark.parametrize("text", ["由于洪水，加上大火，旧城毁了。", "除额外注明外，纪录由该站开始。"])
def test_half_a_chinese_sentence_is_no_question(text: str) -> None:
    assert not any(q.startswith(("由于", "除", "为什么加上")) and q.endswith("？") for q in questions(text))


def test_a_chinese_text_without_a_title_is_about_what_it_defines() -> None:
    asked = questions("羊角哀，春秋时期雍州人。出生于雍州。少年好学，眼大口小。")
    assert "羊角哀出生于哪里？" in asked


def test_a_table_of_thousands_of_rows_is_read_in_a_time_of_its_rows() -> None:
    text = "".join(f"| Barge {n} | {n % 90} tonnes | {1900 + n % 120} |\n" for n in range(20_000))
    started = time.process_time()
    units = read_units(text, 10)
    assert time.process_time() - started < 5.0
    assert len(units) == 10
    assert " ".join(text[unit.start : unit.end] for unit in units).split() == text.split()
