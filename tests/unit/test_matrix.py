import json

import pytest

from trysquare.errors import ArchiveError
from trysquare.frozen import decode, encode
from trysquare.matrix import (
    Agent,
    Blob,
    CellPlan,
    Experiment,
    Extension,
    Matrix,
    Protocol,
    Rehearsal,
    RunPlan,
    Source,
    Task,
    ValidatorPlan,
    VerdictPlan,
)


def matrix() -> Matrix:
    cell = CellPlan(
        "rule / off",
        "f" * 24,
        {"prompt": "a"},
        "off",
        "p" * 24,
        context="c" * 24,
        setup=Blob("s" * 24, True),
        files={"a/b.py": Blob("b" * 24)},
        extensions=(Extension("x", "index.ts", {"index.ts": Blob("e" * 24)}),),
    )
    return Matrix(
        "demo_v1_p_m_n1",
        Experiment("demo", "Demo", "demo.toml"),
        Source("r", "/r", "/r", "v1", "0" * 40),
        Task("pytest", ("make",), ("*.pyc",)),
        Agent("pi", "p", "m"),
        Protocol(1, 2, 900.0, 3, 50_000_000),
        {"rule / off": cell},
        {"0123abcd": RunPlan("0123abcd", "rule / off", 0, "rule_off/0123abcd")},
        {
            "script": ValidatorPlan(
                "script", "script", ("ok",), "d" * 24, "v.py", {"v.py": Blob("v" * 24)}, settings={"k": [1]}
            )
        },
        VerdictPlan("ok", "rule / off", (), 10_000, 1),
        "/w",
        rehearsal=Rehearsal("r" * 24),
    )


def test_a_plan_saved_and_loaded_is_the_same(tmp_path):
    path = tmp_path / "plan.json"
    assert matrix().save(path) is True
    assert Matrix.load(path) == matrix()
    assert matrix().save(path) is False


def test_a_plan_survives_a_trip_through_json():
    assert decode(Matrix, json.loads(json.dumps(encode(matrix())))) == matrix()


def test_no_plan_is_one_sentence(tmp_path):
    with pytest.raises(ArchiveError, match=r"plan\.json does not exist: name a matrix directory"):
        Matrix.load(tmp_path / "plan.json")


@pytest.mark.parametrize("text", ["[]", '{"format": 0}', "{}"])
def test_a_plan_of_another_version_is_refused(tmp_path, text):
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(ArchiveError, match="was not written by this version"):
        Matrix.load(tmp_path / "plan.json")


def test_a_damaged_plan_is_refused(tmp_path):
    data = encode(matrix())
    del data["source"]
    (tmp_path / "plan.json").write_text(json.dumps(data))
    with pytest.raises(ArchiveError, match="is damaged"):
        Matrix.load(tmp_path / "plan.json")
