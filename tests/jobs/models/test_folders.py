"""Finding and describing embedding models."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from quern.jobs.models.folders import (
    DEFAULT_MODEL,
    ModelError,
    find_folder,
    known_scripts,
    load_tokenizer,
    model_fingerprint,
    read_model,
    readable,
    tokenizer_digest,
)


@pytest.fixture
def folder(tmp_path):
    """The default model's configuration with other weights of a few bytes."""
    source = find_folder(DEFAULT_MODEL)
    copy = tmp_path / "model"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("*.safetensors"))
    (copy / "model.safetensors").write_bytes(b"weights")
    return copy


def write(path, **changes):
    tree = json.loads(path.read_text())
    path.write_text(json.dumps({**tree, **changes}))


def test_the_packaged_model_is_described_by_its_files():
    model = read_model(DEFAULT_MODEL)
    assert (model.pooling, model.dimension, model.positions) == ("mean", 384, 512)
    assert read_model(f"sentence-transformers/{DEFAULT_MODEL}") == model


def test_the_tokenizer_neither_cuts_nor_pads():
    tokenizer = load_tokenizer(read_model(DEFAULT_MODEL))
    assert [len(e) for e in tokenizer.encode_batch(["word", "word " * 900])] == [3, 902]


def test_a_copy_elsewhere_has_the_same_fingerprint_until_any_of_its_files_changes(folder, tmp_path):
    first = model_fingerprint(read_model(str(folder)))
    moved = folder.rename(tmp_path / "moved")
    assert model_fingerprint(read_model(str(moved))) == first
    for name in ("model.safetensors", "config.json", "tokenizer.json", "1_Pooling/config.json"):
        with (moved / name).open("a") as file:
            file.write(" ")
        assert model_fingerprint(read_model(str(moved))) != first
        first = model_fingerprint(read_model(str(moved)))


def test_only_the_tokenizer_changes_its_digest(folder):
    before = tokenizer_digest(read_model(str(folder)))
    (folder / "model.safetensors").write_bytes(b"other")
    assert tokenizer_digest(read_model(str(folder))) == before
    write(folder / "sentence_bert_config.json", do_lower_case=True)
    assert tokenizer_digest(read_model(str(folder))) != before


def test_both_formats_of_the_pooling_file_are_read(folder):
    for dimension, mode in (
        ("embedding", '"pooling_mode": "cls"'),
        ("word_embedding", '"pooling_mode_cls_token": true'),
    ):
        (folder / "1_Pooling/config.json").write_text(f'{{"{dimension}_dimension": 384, {mode}}}')
        assert read_model(str(folder)).pooling == "cls"


def test_positions_after_the_padding_id_are_not_counted(folder):
    write(folder / "config.json", model_type="mpnet", pad_token_id=1, max_position_embeddings=514)
    assert read_model(str(folder)).positions == 512


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}, "pools by cls_token \\+ mean_tokens"),
        ("1_Pooling/config.json", {"pooling_mode": "lasttoken"}, "pools by lasttoken"),
        ("config_sentence_transformers.json", {"default_prompt_name": "q", "prompts": {"q": "query: "}}, "prompt"),
        ("modules.json", [{"path": "3_Dense", "type": "models.Dense"}], "Dense"),
    ],
)
def test_what_is_not_supported_is_refused(folder, name, changes, message):
    tree = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps({**tree, **changes} if isinstance(tree, dict) else [*tree, *changes]))
    with pytest.raises(ModelError, match=message):
        read_model(str(folder))


@pytest.mark.parametrize("name", ["config.json", "1_Pooling/config.json"])
def test_a_missing_or_broken_file_is_named(folder, name):
    (folder / name).write_text("{")
    with pytest.raises(ModelError, match=name):
        read_model(str(folder))
    (folder / name).unlink()
    with pytest.raises(ModelError, match=name):
        read_model(str(folder))


def test_a_model_that_is_not_here_is_refused_with_what_to_do():
    with pytest.raises(ModelError, match="hf download sentence-transformers/no-such-model"):
        read_model("no-such-model")
    with pytest.raises(ModelError, match="no such folder"):
        read_model("./no/such/folder")


def test_a_model_in_the_local_cache_is_found_by_name(folder, tmp_path):
    cache = tmp_path / "hub/models--some--model"
    (cache / "refs").mkdir(parents=True)
    (cache / "refs/main").write_text("c0ffee")
    (cache / "snapshots").mkdir()
    folder.rename(cache / "snapshots/c0ffee")
    code = "from quern.jobs.models.folders import read_model; print(read_model('some/model').folder.name)"
    env = {"HF_HUB_CACHE": str(tmp_path / "hub"), "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True).stdout == "c0ffee\n"


def test_a_script_is_known_by_its_entries_in_the_vocabulary() -> None:
    assert known_scripts(load_tokenizer(read_model(DEFAULT_MODEL))) == {"LATIN"}
    han = {chr(0x4E00 + n): n for n in range(1000)}
    assert known_scripts(Tokenizer(WordLevel(han | {"a": 1000}, unk_token="a"))) == {"CJK"}


def test_a_text_is_readable_by_the_share_of_its_letters() -> None:
    shares = readable(["Who was Zoë?", "谁是 Bo", "战国无双3", "1984?", ""], frozenset({"LATIN"}))
    assert shares.tolist() == pytest.approx([1.0, 0.5, 0.0, 1.0, 1.0])


@pytest.mark.parametrize("owner", ["sentence-transformers/", ""])
def test_a_name_without_an_owner_is_looked_up_by_the_owner_of_the_setting(owner: str) -> None:
    with pytest.raises(ModelError, match=f"hf download {owner}no-such-model`"):
        find_folder("no-such-model", owner=owner)
