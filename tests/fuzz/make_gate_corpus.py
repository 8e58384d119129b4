"""Writes the corpus gate_file: a plan, what tc prints, and a file for each reason for refusing one. usage:
make_gate_corpus.py CORPUS-FOLDER"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[2]
LINK = {"between": ["a", "b"], "speed": "1G"}
ENTRIES = [{"cmd": "S", "gatemask": "0x1", "interval": 500000}, {"cmd": "S", "gatemask": 2, "interval": "500us"}]
TAPRIO = {"kind": "taprio", "handle": "100:", "root": True, "options": {
    "tc": 2, "map": [0, 1] * 8, "queues": [{"offset": 0, "count": 1}, {"offset": 1, "count": 1}], "clockid": "TAI",
    "base_time": 0, "cycle_time": 1000000, "cycle_time_extension": 0, "schedule": ENTRIES, "max-sdu": [0, 500]}}


def plan(**parts):
    return {"links": [LINK], **parts}


def qdiscs(**options):
    return [{**TAPRIO, "options": {**TAPRIO["options"], **options}}]


def stream(**keys):
    return plan(streams=[{"from": "a", "to": "b", **keys}])


def traffic(**keys):
    return plan(traffic=[{"from": "a", "to": "b", **keys}])


GATES = {"from": "a", "to": "b", "qdiscs": [TAPRIO]}
FILES = {
    "tc": [TAPRIO, {"kind": "cbs", "parent": "100:1", "options": {"idleslope": 20000, "sendslope": -80000, "hicredit": 30,
                                                                 "locredit": -1470, "offload": 0}},
           {"kind": "etf", "parent": "100:2", "options": {"clockid": "TAI", "delta": 300000, "offload": "off"}}],
    "mqprio": [{"kind": "mqprio", "root": True, "options": {"tc": 2, "map": [0, 1], "queues": [[0, 0], [1, 1]]}}],
    "single": plan(gates=[GATES], streams=[{"from": "a", "to": "b", "class": "B"}], traffic=[{"from": "b", "to": "a"}]),
    "key": plan(strems=[]),
    "no-object": plan(streams=[7]),
    "no-links": {},
    "between": {"links": [{"between": ["a"], "speed": "1G"}]},
    "name": {"links": [{"between": ["", "b"], "speed": "1G"}]},
    "no-speed": {"links": [{"between": ["a", "b"]}]},
    "speed": {"links": [{"between": ["a", "b"], "speed": "fast"}]},
    "self": {"links": [{"between": ["a", "a"], "speed": "1G"}]},
    "device": plan(streams=[{"from": "a", "to": "c"}]),
    "gates-twice": plan(gates=[GATES, GATES]),
    "gates-nowhere": {"links": [LINK, {"between": ["b", "c"], "speed": "1G"}], "gates": [{**GATES, "to": "c"}]},
    "before": plan(gates=[{**GATES, "before": [TAPRIO]}]),
    "before-bad": plan(gates=[{**GATES, "before": {}}]),
    "limits": plan(limits={"reserve_percent": 50, "cycle": "5ms", "best_effort": 900, "margin": 100}),
    "limits-cycle": plan(limits={"cycle": 5}),
    "limits-margin": plan(limits={"margin": "1s"}),
    "no-end": plan(streams=[{"from": "a", "to": []}]),
    "list": plan(streams={}),
    "number": stream(channels="two"),
    "range": stream(channels=2000),
    "time": traffic(every="1h"),
    "bool": plan(devices={"a": {"bridge": 1}}),
    "text": plan(devices={"a": {"driver": ""}}),
    "kernel": plan(devices={"a": {"kernel": "new"}}),
    "mode": plan(devices={"a": {"gates": "wood"}}),
    "mask": qdiscs(schedule=[{"gatemask": "1x", "interval": 1}]),
    "entry": qdiscs(schedule=[{"gatemask": 1}]),
    "command": qdiscs(schedule=[{"cmd": "X", "gatemask": 1, "interval": 1}]),
    "queues": qdiscs(queues=[7]),
    "map": qdiscs(map=[17]),
    "max-sdu": qdiscs(**{"max-sdu": ["x"]}),
    "kind": [{}],
    "interval": qdiscs(schedule=[{"gatemask": 1, "interval": 0}]),
    "class": stream(**{"class": "C"}),
    "bits": stream(bits=20),
    "large": stream(channels=100),
    "no-way": {"links": [LINK, {"between": ["c", "d"], "speed": "1G"}], "streams": [{"from": "a", "to": "c"}]},
    "traffic-kind": traffic(kind="fax"),
    "every": traffic(kind="udp", every=0),
    "control": stream(name="a\x1b[2J"),
    "control-key": plan(devices={"a\u009b": {}}),
    "control-dev": [{**TAPRIO, "dev": "\x07"}],
    "dev": [{**TAPRIO, "dev": "eth 0"}],
    "interfaces": {"links": [{**LINK, "interfaces": ["eth/0", "eth1"]}]},
    "name-number": stream(name="n" * 40, count=2),
    "too-many": plan(streams=[{"from": "a", "to": "b", "count": 20000}, {"from": "a", "to": "b"}]),
}


def main(folder):
    folder = pathlib.Path(folder) / "gate_file"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in FILES.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    (folder / "syntax").write_text('{"links": [', encoding="utf-8")
    (folder / "bytes").write_bytes(b"\x03\"\x8a")
    (folder / "pending").write_text('[{"options": {{"base_time": 1}}}]', encoding="utf-8")
    for example in sorted((ROOT / "doc/examples").glob("gate-*.json")):
        (folder / example.stem).write_text(example.read_text(encoding="utf-8"), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
