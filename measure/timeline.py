#!/usr/bin/env python3
"""Reckons times and energy of each node anew from a timeline alone, and compares them with what the timeline's last line says.

Usage: measure/timeline.py TIMELINE [REPORT]

TIMELINE is what `sixlock sim --timeline` has written as JSON lines, REPORT what `--json` has printed of the same run; - is standard input.
All is done with whole numbers: microseconds, nanoamperes and millivolts. Prints a line for each node that has a platform, and fails if
anything differs, by however little.
"""

import json
import sys
from collections import defaultdict

# In a report, what the states of components are called.
PARTS = {
    ("cpu", "active"): "cpu",
    ("cpu", "lpm"): "lpm",
    ("radio", "off"): "off",
    ("radio", "listen"): "listen",
    ("radio", "rx"): "rx",
    ("radio", "tx"): "tx",
    ("radio", "ack"): "tx",
    ("engine", "work"): "engine",
    ("storage", "write"): "storage",
}
# What Contiki's Energest takes them for.
TICKS = {
    ("cpu", "active"): "cpu",
    ("cpu", "lpm"): "lpm",
    ("radio", "listen"): "rx",
    ("radio", "rx"): "rx",
    ("radio", "ack"): "rx",
    ("radio", "tx"): "tx",
}


class Wrong(Exception):
    pass


def expect(found, expected, what):
    if found != expected:
        raise Wrong(f"{what}: the timeline comes to {found}, and {expected} is said")


class Node:
    """What the changes of one station come to."""

    def __init__(self, station, figures):
        self.components = station["components"]
        self.figures = figures
        self.state = {}
        self.since = {}
        self.times = defaultdict(int)
        self.in_handshakes = defaultdict(int)
        self.ticks = defaultdict(int)

    def enter(self, now, component, state):
        """A component enters a state; the time in the one before is split where a handshake begins or ends."""
        if component == "handshake":
            for other in self.components:
                if other in self.state:
                    self.pass_time(now, other)
        elif component in self.state:
            self.pass_time(now, component)
        elif now != 0:
            raise Wrong(f"the first state of {component} begins at {now}")
        if self.state.get(component) == state:
            raise Wrong(f"at {now}, {component} changes from {state} to {state}")
        self.state[component] = state
        self.since[component] = now

    def pass_time(self, now, component):
        state, since = self.state[component], self.since[component]
        if now < since:
            raise Wrong(f"time goes back from {since} to {now}")
        self.times[component, state] += now - since
        if self.state.get("handshake") == "under-way":
            self.in_handshakes[component, state] += now - since
        ticks = TICKS.get((component, state))
        if self.figures and ticks:
            hz = self.figures["energest_hz"]
            self.ticks[ticks] += now * hz // 1_000_000 - since * hz // 1_000_000
        self.since[component] = now

    def nanojoules(self, times):
        """State × current × voltage, rounded down once for each part of a report."""
        attojoules = {}
        for (component, state), part in PARTS.items():
            current = self.figures["nanoamperes"][component][state]
            if current is not None:
                time = times[component, state]
                attojoules[part] = attojoules.get(part, 0) + time * current * self.figures["millivolts"]
        return {part: sum // 1_000_000_000 for part, sum in attojoules.items()}


def read(lines):
    """The nodes, by number, and the last line."""
    begin = json.loads(next(lines))
    expect(begin.get("timeline"), 1, "the version of the first line")
    nodes = {}
    for station in begin["nodes"]:
        platform = station["platform"]
        nodes[station["node"]] = Node(station, platform and begin["platforms"][platform])
    now, end = 0, None
    for line in lines:
        if end is not None:
            raise Wrong("there are lines behind the last")
        event = json.loads(line)
        if event["us"] < now:
            raise Wrong(f"lines go back in time from {now} to {event['us']}")
        now = event["us"]
        if event.get("end"):
            end = event
        else:
            nodes[event["node"]].enter(now, event["component"], event["state"])
    if end is None:
        raise Wrong("the timeline has no last line: the run has not ended")
    for node in nodes.values():
        for component in node.components:
            node.pass_time(now, component)
    return nodes, end


def check(node, said, now):
    for component in node.components:
        sum_of_states = sum(time for (of, _), time in node.times.items() if of == component)
        expect(sum_of_states, now, f"all states of {component}")
    for component, states in said["times_us"].items():
        for state, time in states.items():
            found = node.times[component, state]
            if state == "tx":
                found += node.times[component, "ack"]
            expect(found, time, f"{component}, {state}, in microseconds")
    if not node.figures:
        return None
    energy, handshakes = node.nanojoules(node.times), node.nanojoules(node.in_handshakes)
    steady = {part: energy[part] - handshakes[part] for part in energy}
    expect(energy, said["nanojoules"], "energy in nanojoules")
    expect(handshakes, said["handshake_nanojoules"], "energy of handshakes in nanojoules")
    expect(steady, said["steady_nanojoules"], "energy outside of handshakes in nanojoules")
    expect({name: node.ticks[name] for name in said["energest"]}, said["energest"], "ticks of Energest")
    return energy, handshakes, steady


def compare(report, number, node, reckoned):
    """What a report in JSON says of a node."""
    energy, handshakes, steady = ({part: nj / 1e6 for part, nj in parts.items()} for parts in reckoned)
    said = next(node for node in report["nodes"] if node["id"] == number)
    expect(energy, said["energy_mj"], "energy_mj")
    if "handshake" in said:
        expect(handshakes, said["handshake"]["energy_mj"], "handshake.energy_mj")
        expect(steady, said["steady"]["energy_mj"], "steady.energy_mj")
    expect(dict(node.ticks), {name: ticks for name, ticks in said["energest"]["ticks"].items() if ticks}, "energest.ticks")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    files = [sys.stdin if name == "-" else open(name, encoding="utf-8") for name in sys.argv[1:]]
    try:
        nodes, end = read(iter(files[0]))
        report = json.load(files[1]) if files[1:] else None
        for said in end["nodes"]:
            number = said["node"]
            try:
                reckoned = check(nodes[number], said, end["us"])
                if reckoned:
                    if report:
                        compare(report, number, nodes[number], reckoned)
                    parts = ", ".join(f"{part} {nj / 1e6}" for part, nj in reckoned[0].items())
                    print(f"node {number}: {sum(reckoned[0].values()) / 1e6} mJ: {parts}")
            except Wrong as wrong:
                raise Wrong(f"node {number}: {wrong}") from None
    except Wrong as wrong:
        sys.exit(str(wrong))
    print(f"{len(nodes)} stations over {end['us']} µs: all times and energies are as said")


main()
