"""Neighbour discovery by scapy: messages.py says what is asked and answered."""

from messages import serve

from scapy.layers.inet6 import (
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6ND_RA,
    ICMPv6ND_RS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptMTU,
    ICMPv6NDOptPrefixInfo,
    ICMPv6NDOptSrcLLAddr,
    ICMPv6NDOptUnknown,
    ICMPv6Unknown,
    IPv6,
)
from scapy.utils6 import inet_pton
from socket import AF_INET6

HOST, ROUTER = "fe80::12:7400:0:5", "fe80::12:7400:0:6"
GLOBAL = "2001:db8::12:7400:0:5"
EUI = bytes.fromhex("0212740000000005")
OCTETS = inet_pton(AF_INET6, GLOBAL)


def option(kind, text, *more):
    """One that scapy does not have: what is in it, by hand."""
    data = bytes.fromhex(text) + b"".join(more)
    return ICMPv6NDOptUnknown(type=kind, len=(len(data) + 2) // 8, data=data)


def prefix(**flags):
    return ICMPv6NDOptPrefixInfo(
        prefixlen=64, validlifetime=0x01020304, preferredlifetime=0x05060708, prefix="2001:db8::", **flags
    )


def to(message, source=HOST, destination=ROUTER, hops=255):
    return IPv6(src=source, dst=destination, hlim=hops) / message


def advertisement(*options):
    message = ICMPv6ND_RA(chlim=64, M=1, O=1, prf=0, routerlifetime=0x0102, reachabletime=0x03040506, retranstimer=0x0708090A)
    for each in options:
        message = message / each
    return to(message, ROUTER, "ff02::1")


def solicitation(*options):
    message = ICMPv6ND_NS(tgt=GLOBAL)
    for each in options:
        message = message / each
    return to(message)


def answer_to(*options, **flags):
    message = ICMPv6ND_NA(tgt=GLOBAL, **flags)
    for each in options:
        message = message / each
    return to(message, ROUTER, HOST)


def duplicate(kind, code, text):
    body = bytes.fromhex(text) + EUI + OCTETS
    return to(ICMPv6Unknown(type=kind, code=code, msgbody=body), GLOBAL, "2001:db8::1", 64)


EXTENDED = b"\0" * 6
MESSAGES = {
    "rs": to(ICMPv6ND_RS() / ICMPv6NDOptSrcLLAddr(lladdr="01:02:00:00:00:00"), HOST, "ff02::2"),
    "rs-extended": to(ICMPv6ND_RS() / option(1, "", EUI, EXTENDED), HOST, "ff02::2"),
    "rs-from-nowhere": to(ICMPv6ND_RS(), "::", "ff02::2"),
    "ra": advertisement(),
    "ra-options": advertisement(
        prefix(L=0, A=1), ICMPv6NDOptMTU(mtu=1280), ICMPv6NDOptSrcLLAddr(lladdr="01:02:00:00:00:00")
    ),
    "ra-on-link": advertisement(prefix(L=1, A=0)),
    "ra-6lowpan": advertisement(
        option(34, "40150000 0203", OCTETS[:8]),
        option(34, "80050000 0203", OCTETS),
        option(35, "03040102 0506", OCTETS),
        option(36, "003f 00000000"),
    ),
    "ns": solicitation(ICMPv6NDOptSrcLLAddr(lladdr="01:02:00:00:00:00")),
    "ns-aro": solicitation(option(33, "00000000 0102", EUI)),
    "ns-earo": solicitation(option(33, "000703f1 0102", EUI)),
    "na": answer_to(ICMPv6NDOptDstLLAddr(lladdr="01:02:00:00:00:00"), R=1, S=1, O=0),
    "na-overrides": answer_to(R=0, S=0, O=1),
    "na-earo": answer_to(option(33, "02000100 0102", EUI), R=1, S=1, O=0),
    "dar": duplicate(157, 0, "00000102"),
    "edar": duplicate(157, 1, "00f10102"),
    "edac": duplicate(158, 1, "01f10102"),
}

serve(MESSAGES)
