"""The command line as scripts see it: exit codes, one line for every error, JSON, hostile input."""

import json
import shutil

import pytest
from click.testing import CliRunner

from exactchains.enclosure import Enclosure, Result
from exactchains.number import parse
from proofs_check.cli.main import cli
from proofs_check.cli.solve import lines
from proofs_check.verify import stored

POINT = ["code=rpc", "n=100", "m=70", "k=10", "eps=3/10"]


def run(*words):
    return CliRunner().invoke(cli, list(words))


def refused(*words, code=2):
    """Run, expect an error of one line and nothing on standard output; return the line."""
    result = run(*words)
    assert result.exit_code == code, result.output
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and len(lines[0]) < 400 and not result.stdout, result.output
    return lines[0]


def test_each_quantity_without_an_answer_has_its_line():
    starved = ["solve", "jiq", "pools=1/2:3/2,1/2:1/2", "lam=1/2", "n=2", "at=1"]
    both = run(*starved, "--quantity", "blocking,response_ccdf")
    lines = both.stderr.splitlines()
    assert (both.exit_code, both.stdout, len(lines)) == (3, "", 2)
    assert lines[0].startswith("exaq: blocking: blocking needs buffer")
    assert lines[1].startswith("exaq: response_ccdf: undecided: JIQ, n = 2: the uniform fallback starves")
    assert refused(*starved, "--quantity", "response_ccdf", code=3).startswith("exaq: undecided: JIQ, n = 2")


def test_solve_prints_the_json_of_the_interface():
    words = ["solve", "age.feedback", *POINT, "--quantity", "slot_mean,slot_pmf", "--index", "0..2", "--json"]
    rows = json.loads(run(*words).stdout)
    assert [(r["quantity"], r["index"]) for r in rows] == [("slot_mean", None), *(("slot_pmf", i) for i in range(3))]
    for row in rows:
        assert set(row) == {
            "model", "parameters", "quantity", "index", "status", "exact", "lower", "upper", "digits",
            "certain_digits", "method", "certificate", "seconds",
        }  # fmt: skip
        assert row["status"] == "enclosed" and row["certain_digits"] >= 30
        assert parse(row["lower"]) <= parse(row["digits"]) or parse(row["digits"]) <= parse(row["upper"])
        assert parse(row["lower"]) < parse(row["upper"])


def test_text_is_exact():
    lines = [
        run("solve", "age.feedback", f"p={p}", "d=1/10", "--quantity", "slot_mean").stdout
        for p in ("0.5", "5e-1", "1/2")
    ]
    assert len(set(lines)) == 1 and "1/3" in lines[0]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["age.feedback", "p=1.1", "d=0"], "p = 1.1"),
        (["age.feedback", "p=-1/2", "d=0"], "p = -1/2"),
        (["age.feedback", "p=1/2"], "missing: d"),
        (["age.feedback", "p=1/2", "d=0", "code=rpc"], "contradict"),
        (["age.feedback", "p=1/2", "p=1/3", "d=0"], "twice"),
        (["age.feedback", "p=1/2", "d=0", "lam=1/2"], "no parameter 'lam'; it has"),
        (["age.feedback", "code=rpc", "n=10", "m=5", "k=7", "eps=1/2"], "k = 7"),
        (["age.feedback", "code=rpc", "n=-3", "m=1", "k=0", "eps=1/2"], "n = -3"),
        (["age.feedback", "code=rpc", "n=10", "m=20", "k=7", "eps=1/2"], "20"),
        (["age.feedback", "code=rpc", "n=3/2", "m=1", "k=0", "eps=1/2"], "n = 3/2"),
        (["age.feedback", "code=ldpc", "n=3", "m=1", "k=0", "eps=1/2"], "allowed are"),
        (["age.feedback", "p", "d=0"], "NAME=VALUE"),
        (["age.feedbak", "p=1/2", "d=0"], "did you mean age.feedback"),
        (["age.feedback", "p=1", "d=1/10"], "no age law exists"),
        (["age.periodic", "p=1/2", "d=1/10", "q=-1"], "q = -1"),
        (["age.feedback", "p=1e3000000", "d=0"], "exponents"),
        (["age.feedback", "p=1_000", "d=0"], "plain digits"),
        (["age.feedback", "p=１/２", "d=0"], "plain digits"),
        (["age.feedback", "p=nan", "d=0"], "plain digits"),
        (["age.feedback", "p=1/0", "d=0"], "division by zero"),
        (["age.feedback", "p=" + "9" * 300_000, "d=0"], "at most"),
        (["age.feedback", "p=__import__('os')", "d=0"], "no number"),
    ],
)
def test_bad_input_ends_in_one_line(words, says):
    assert says in refused("solve", *words, "--quantity", "slot_mean")


@pytest.mark.parametrize(
    ("words", "quantities", "answered", "said", "code"),
    [
        (
            ["pod.load-dependent", "d=2", "g=2", "eps=1/2", "lam=1/2"],
            "blocking,mean_queue",
            ["mean_queue"],
            "blocking: ",
            2,
        ),
        (
            ["pod.load-independent", "d=2", "eps=3/4", "lam=4/5"],
            "mean_queue,stability_limit",
            ["stability_limit"],
            "mean_queue: load = 4/5: unstable",
            2,
        ),
        (["mm1", "lam=2", "mu=1"], "mean_queue,age_mean", [], "", 2),
        (
            ["jiq", "pools=1/2:3/2,1/2:1/2", "lam=3/5", "n=4"],
            "mean_queue,stability_limit,optimal_response",
            ["optimal_response"],
            "stability_limit: undecided",
            3,
        ),
    ],
)
def test_of_several_quantities_those_with_an_answer_are_printed(words, quantities, answered, said, code):
    found = run("solve", *words, "--quantity", quantities, "--json")
    assert found.exit_code == code
    assert [row["quantity"] for row in json.loads(found.stdout or "[]")] == answered
    assert said in found.stderr
    assert len(found.stderr.splitlines()) == max(1, len(quantities.split(",")) - len(answered)) if answered else 1


def test_unknown_quantities_and_bad_indices_are_named():
    assert "slot_mean" in refused("solve", "age.feedback", "p=1/2", "d=0", "--quantity", "slot_mena")
    for index in ("-1", "3..1", "1..x", "0..99999999", "１"):
        assert "--index" in refused("solve", "age.feedback", "p=1/2", "d=0", "--quantity", "slot_pmf", "--index", index)


def test_a_fraction_of_five_thousand_digits_works():
    p = "1" + "0" * 4998 + "1/" + "3" * 5000
    result = run("solve", "age.feedback", f"p={p}", "d=0.1", "--quantity", "slot_mean")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].split("=")[1].strip().startswith("0.17857142")  # p is close to 3/10


def test_a_thousand_digits_are_printed():
    row = json.loads(
        run(
            "solve", "age.generalised", *POINT, "alpha=9/10", "--quantity", "age_mean", "--digits", "1000", "--json"
        ).stdout
    )[0]
    assert row["certain_digits"] >= 1000 and len(row["digits"].replace(".", "")) >= 1000


def test_an_enclosure_of_width_zero_has_all_digits():
    found = Result(Enclosure(parse("1"), parse("1")), "response_ccdf")
    assert lines([found], 8) == ["response_ccdf = 1.0000000  (enclosed, 8 certain digits)"]


def test_check_accepts_and_rejects(tmp_path):
    good = stored("age.feedback.gain")
    assert run("check", str(good)).exit_code == 0
    copy = tmp_path / "copy.json"
    for spoil, reason in [
        (lambda t: t.replace('"mean_actual - mean_feedback"', '"mean_actual - 2*mean_feedback"'), "conclusion"),
        (lambda t: t.replace("age.feedback.gain", "age.feedback.improves"), "kind|conclusion|problem"),
        (lambda t: t.replace("age.feedback.gain", "age.no.such.claim"), "no claim"),
        (lambda t: t.replace('"ratio_sign": "(p)"', '"ratio_sign": "(-p)"'), "negative"),
        (lambda t: "[" * 10_000, "."),
        (lambda t: t.replace('"format": 1', '"format": 1, "format": 1'), "twice"),
        (lambda t: t.replace('"format": 1', '"format": NaN'), "float"),
    ]:
        copy.write_text(spoil(good.read_text()))
        result = run("check", str(good), str(copy))
        assert result.exit_code == 1
        accepted, rejected = result.stdout.strip().splitlines()
        assert accepted.startswith("ACCEPTED") and rejected.startswith("REJECTED")
        assert any(word in rejected for word in reason.split("|"))


def test_every_flipped_byte_is_harmless_or_rejected(tmp_path):
    """Flip single bytes all over a certificate: what is still accepted says the same (blanks, the finder's name)."""
    from proofs_check.check.document import loads
    from proofs_check.check.exact import Rejected
    from proofs_check.cli.check import _checked

    good = stored("age.feedback.gain").read_text()
    original = loads(good)
    for at in range(0, len(good), 7):
        for flip in (1, 2, 16):
            bad = good[:at] + chr(ord(good[at]) ^ flip) + good[at + 1 :]
            try:
                data = loads(bad)
                _checked(data)
            except Rejected:
                continue
            assert data["conclusion"] == original["conclusion"] and data["problem"] == original["problem"], bad[
                at - 20 : at + 20
            ]


def test_verify_exit_codes_and_files(tmp_path):
    names = [str(tmp_path / name) for name in ("v.json", "v.xml")]
    assert run("verify", "age.feedback", "--json", names[0], "--junit", names[1], "--strict").exit_code == 0
    rows = json.loads((tmp_path / "v.json").read_text())
    assert all(r["status"] == "PROVED" for r in rows) and "age.feedback.gain" in {r["id"] for r in rows}
    assert 'name="gain"' in (tmp_path / "v.xml").read_text()
    assert "did you mean" in refused("verify", "age.feedback.gian")


def test_a_rejected_certificate_fails_the_run(tmp_path, monkeypatch):
    import sys

    module = sys.modules["proofs_check.verify"]  # the package attribute of that name is the function
    shutil.copy(stored("age.feedback.gain"), tmp_path / "age.feedback.improves.json")
    module.verification.cache_clear()
    monkeypatch.setattr(module, "certificate_folder", lambda: tmp_path)
    try:
        result = run("verify", "age.feedback.improves", "age.feedback.gain")
        assert result.exit_code == 1 and "REJECTED" in result.stdout and "another claim" in result.stdout
        assert "OPEN" in result.stdout
        assert run("verify", "age.feedback.gain").exit_code == 0
        assert run("verify", "age.feedback.gain", "--strict").exit_code == 3
    finally:
        module.verification.cache_clear()


def test_models_describe_themselves():
    listed = run("models").stdout.splitlines()
    assert len(listed) >= 12
    for model in json.loads(run("models", "--json").stdout):
        text = run("models", model["model"]).stdout
        assert all(p["name"] in text for p in model["parameters"]) and all(
            q["name"] in text for q in model["quantities"]
        )


def test_best_and_compare_are_certified():
    best = json.loads(
        run(
            "best",
            "age.feedback",
            "code=rpc",
            "m=7",
            "k=2",
            "eps=3/10",
            "--over",
            "n=7..20",
            "--minimise",
            "age_mean",
            "--json",
        ).stdout
    )
    assert best["best"] == [11] and len(best["candidates"]) == 14
    pieces = run(
        "best",
        "age.feedback",
        "code=rpc",
        "m=4",
        "k=1",
        "--over",
        "n=4..6",
        "--minimise",
        "age_mean",
        "--switches",
        "eps=1/10..1/2",
    )
    assert pieces.exit_code == 0 and len(pieces.stdout.splitlines()) >= 2
    sides = ["age.feedback", "p=1/2", "d=1/10", "--", "age.actual", "p=1/2"]
    assert json.loads(run("compare", *sides, "--json").stdout)["sign"] == "<"
    ordered = json.loads(run("compare", *sides, "--order", "stochastic", "--json").stdout)
    assert (ordered["smaller"], ordered["larger"], ordered["reverse_violated_at"]) == (True, False, 0)
    for a, b, says in (
        (
            sides[:3],
            sides[4:],
            "age.feedback <= age.actual stochastically, at every level; not the other way: violated at",
        ),
        (sides[4:], sides[:3], "age.feedback <= age.actual stochastically, at every level; not the other way"),
        (sides[4:], ["age.feedback", "p=1/2", "d=1/2"], "age.actual = age.feedback stochastically: the laws agree"),
        (
            ["age.feedback", "p=2/3", "d=1/100"],
            sides[4:],
            "are not ordered stochastically: age.feedback <= age.actual is",
        ),
    ):
        assert says in run("compare", *a, "--", *b, "--order", "stochastic").stdout
    assert "two models" in refused("compare", "age.feedback", "p=1/2")
    along = run("compare", *sides[4:], "--", "age.feedback", "p=1/2", "--along", "d=0..1").stdout
    assert along == (
        "d from 0 (exact) to 1/2 (exact): age.actual > age.feedback\n"
        "d from 1/2 (exact) to 1 (exact): age.actual < age.feedback\n"
    )
    moved = ["age.actual", "code=rpc", "n=10", "m=6", "--", "age.actual", "code=rpc", "n=7", "m=6", "--along"]
    pieces = json.loads(run("compare", *moved, "eps=1/10..1/2", "--quantity", "age_mean", "--json").stdout)["pieces"]
    assert [piece["sign"] for piece in pieces] == [">", "<"]
    for eps, sign in (("147/1000", ">"), ("148/1000", "<")):
        at = [w for word in moved[:-1] for w in ([word, f"eps={eps}"] if word == "m=6" else [word])]
        assert f"first age.actual {sign} second age.actual" in run("compare", *at, "--quantity", "age_mean").stdout
    assert "no free parameter" in refused("compare", *moved, "q=0..1")
    assert "no real parameter" in refused("compare", *moved[:2], "m=6", "--", *moved[:2], "m=5", "--along", "n=6..9")
    queues = ["md1", "lam=1/2", "mu=1", "--", "mm1", "lam=1/2", "mu=1", "--quantity", "age_mean"]
    assert "md1 < mm1, difference -0.351278729299871 (enclosed)" in run("compare", *queues).stdout
    assert run("compare", *queues[:4], *queues[:3]).exit_code == 2
    assert "LO..HI" in refused("best", "age.feedback", "p=1/2", "--over", "n", "--minimise", "age_mean")


@pytest.mark.parametrize(
    ("words", "quantity"),
    [
        (["age.feedback", "p=1/2", "d=1/10"], "slot_mean"),
        (["age.periodic", "q=2", "code=rpc", "n=20", "m=10", "k=9", "eps=1/2"], "slot_variance"),
        (["age.actual", *POINT], "failure"),
        (["age.markov", "p=1/2", "d=1/10", "source=cyclic-walk:4,1/4,1/4", "window=0..0"], "gap_mean"),
    ],
)
def test_solve_writes_certificates_that_the_checker_accepts(tmp_path, words, quantity):
    path = tmp_path / "c.json"
    assert run("solve", *words, "--quantity", quantity, "--certificate", str(path)).exit_code == 0
    assert run("check", str(path)).exit_code == 0
    data = json.loads(path.read_text())
    claim = data["conclusion"]["statements"][0]["claim"]
    claim[2 if claim[1] == "=" else 0] = "1/7"
    data["conclusion"]["statements"] = [{"claim": claim}]
    path.write_text(json.dumps(data))
    assert run("check", str(path)).exit_code == 1


def test_certificates_that_would_not_fit_are_refused(tmp_path):
    words = ["age.feedback", "code=rpc", "n=10000", "m=7000", "k=10", "eps=3/10", "--quantity", "slot_mean"]
    assert "too long" in refused("solve", *words, "--certificate", str(tmp_path / "c.json"))


@pytest.mark.parametrize(
    "words",
    [
        ["solve"],
        ["solve", "age.feedback", "p=1/2", "d=0"],
        ["solve", "age.feedback", "p=1/2", "d=0", "--quantity", "slot_mean", "--digits", "0"],
        ["solve", "age.feedback", "p=1/2", "d=0", "--quantity", "slot_mean", "--digits", "x" * 500],
        ["nope"],
        ["--nope"],
        ["check"],
        ["check", "no-such-file.json"],
        ["check", "."],
        ["compare", "age.actual", "p=1/2", "--", "age.actual", "p=1/3", "--quantity", "slot_pmf"],
        ["solve", "xyzzy", "--quantity", "slot_mean"],
    ],
)
def test_usage_errors_are_one_line_too(words):
    assert refused(*words).startswith("exaq: ")


def test_two_lengths_of_one_run_contradict(tmp_path):
    words = ["simulate", "age.feedback", "p=1/2", "d=1/10", "--seed", "1", "--out", str(tmp_path / "a.csv")]
    assert "contradict" in refused(*words, "--slots", "5", "--jobs", "6")
    assert run(*words, "--slots", "5").exit_code == 0


def test_a_simulator_file_of_brackets_is_named(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text("[" * 10_000)
    line = refused("validate", "age.feedback", "p=1/2", "d=1/10", "--data", str(path), "--quantity", "slot_mean")
    assert "nested too deeply" in line


def test_indices_start_where_the_quantity_does():
    rows = json.loads(
        run("solve", "age.actual", "p=1/2", "--quantity", "slot_pmf,gap_pmf,slot_moment", "--json").stdout
    )
    asked = [(row["quantity"], row["index"]) for row in rows]
    assert asked == [("slot_pmf", j) for j in range(8)] + [
        (q, i) for q in ("gap_pmf", "slot_moment") for i in range(1, 8)
    ]
    assert rows[8]["exact"] == "1/2"
    assert "index >= 1; index = 0" in refused("solve", "age.actual", "p=1/2", "--quantity", "gap_pmf", "--index", "0")


@pytest.mark.parametrize("entry", ["true", "1979-05-27", "12:00:00"])
def test_a_source_of_no_numbers_is_wrong_input(tmp_path, entry):
    (tmp_path / "s.toml").write_text(f"matrix = [[{entry}]]")
    point = ["p=1/2", "d=1/10", f"source={tmp_path / 's.toml'}", "window=0"]
    assert "is a" in refused("solve", "age.markov", *point, "--quantity", "slot_mean")


def test_refusals_name_what_is_missing():
    last = ["age.last-decoded", "p=1/2", "d=1/10", "source=cyclic8", "window=0", "growth=2"]
    assert "slot_exponential needs a scheme" in refused("solve", *last, "--quantity", "slot_exponential")
    late = ["gm1", "arrivals=erlang:2,1", "mu=1", "at=1"]
    assert "with general arrivals for constant" in refused("solve", *late, "--quantity", "age_ccdf")
