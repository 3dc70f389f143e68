"""Packets by scapy. Each line of standard input asks for one thing, `N build NAME` or `N read NAME PACKET`, and is answered by a line
`N PACKET`, `N same` or `N refused REASON`. To build is to write the packet of that name; to read is to compare each field of a packet
with that one's.
"""

import logging
import sys

logging.getLogger("scapy").setLevel(logging.ERROR)

from scapy.layers.inet6 import IPv6
from scapy.packet import NoPayload


def compare(ours, theirs):
    while not isinstance(ours, NoPayload) or not isinstance(theirs, NoPayload):
        if type(ours) is not type(theirs) or ours.fields != theirs.fields:
            raise ValueError(f"{ours.command()} is not {theirs.command()}".replace("\n", " "))
        ours, theirs = ours.payload, theirs.payload


def answer(messages, verb, name, packet=None):
    # Built and read again, it has its lengths and its checksum.
    expected = IPv6(bytes(messages[name]))
    if verb == "build":
        return bytes(expected).hex()
    compare(expected, IPv6(bytes.fromhex(packet)))
    return "same"


def serve(messages):
    """Answers what is asked of the packets of these names."""
    print("ready", flush=True)
    for line in sys.stdin:
        identifier, *request = line.split()
        try:
            print(identifier, answer(messages, *request), flush=True)
        except Exception as error:  # whatever the reason, it is told
            print(identifier, "refused", repr(error), flush=True)
