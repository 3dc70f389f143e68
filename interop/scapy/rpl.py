"""RPL by scapy: messages.py says what is asked and answered."""

from messages import serve

from scapy.contrib.rpl import (
    RPLDAO,
    RPLDAOACK,
    RPLDCO,
    RPLDCOACK,
    RPLDIO,
    RPLDIS,
    RPLOptDODAGConfig,
    RPLOptPadN,
    RPLOptPad1,
    RPLOptPIO,
    RPLOptRIO,
    RPLOptSolInfo,
    RPLOptTgt,
    RPLOptTgtDesc,
    RPLOptTIO,
)
from scapy.contrib.rpl_metrics import RPLDAGMCHopCount, RPLDAGMCLinkETX, RPLOptDAGMC
from scapy.layers.inet import UDP
from scapy.layers.inet6 import (
    ICMPv6RPL,
    IPv6,
    IPv6ExtHdrHopByHop,
    RplOption,
)
from scapy.packet import Raw

NODE, PARENT = "fe80::12:7400:0:5", "fe80::12:7400:0:6"
GLOBAL, UPPER, ROOT = "fd00::12:7400:0:5", "fd00::12:7400:0:6", "fd00::12:7400:0:0"

# scapy reads the lengths of these as if they were those of neighbour discovery's options.
for option, field, fixed in [(RPLOptRIO, "prefix", 6), (RPLOptTgt, "prefix", 2), (RPLOptTIO, "parentaddr", 4)]:
    for each in option.fields_desc:
        if each.name == field:
            each.length_from = lambda packet, fixed=fixed: packet.len - fixed


def to(message, *options, source=NODE, destination=PARENT):
    packet = IPv6(src=source, dst=destination, hlim=255) / ICMPv6RPL() / message
    for option in options:
        packet = packet / option
    return packet


CONFIGURATION = RPLOptDODAGConfig(
    flags=1, A=0, PCS=5, DIOIntDoubl=8, DIOIntMin=12, DIORedun=10, MaxRankIncrease=1792, MinRankIncrease=256, OCP=1,
    DefLifetime=30, LifetimeUnit=60,
)
PREFIX = RPLOptPIO(plen=64, L=0, A=1, R=1, validlifetime=0x01020304, preflifetime=0x05060708, prefix=UPPER)
DIO = dict(RPLInstanceID=0x1E, ver=0xF1, rank=0x0203, mop=1, prf=3, dtsn=0xF2, dodagid=ROOT)
TARGET = RPLOptTgt(flags=0x80, plen=128, prefix=GLOBAL)


def to_all(message, *options):
    return to(message, *options, destination="ff02::1a")


def data(*headers):
    packet = IPv6(src=ROOT, dst=UPPER, hlim=64)
    for header in headers:
        packet = packet / header
    return packet / UDP(sport=1000, dport=7) / Raw(b"data")


MESSAGES = {
    "dis": to_all(RPLDIS()),
    "dis-solicited": to_all(RPLDIS(), RPLOptSolInfo(RPLInstanceID=0x1E, V=1, I=1, D=1, dodagid=ROOT, ver=0xF1)),
    "dio": to_all(RPLDIO(G=1, **DIO)),
    "dio-floating": to(RPLDIO(G=0, **{**DIO, "mop": 2, "rank": 0xFFFF})),
    "dio-options": to_all(RPLDIO(G=1, **DIO), CONFIGURATION, PREFIX, RPLOptPad1(), RPLOptPadN(optdata=b"\0\0")),
    "dio-route": to_all(RPLDIO(G=1, **DIO), RPLOptRIO(plen=128, prf=1, rtlifetime=0x01020304, prefix=GLOBAL)),
    "dio-metrics": to_all(
        RPLDIO(G=1, **DIO),
        RPLOptDAGMC(options=[RPLDAGMCLinkETX(A=0, prec=2, ETX=0x0180), RPLDAGMCHopCount(C=1, HopCount=9)]),
    ),
    "dao": to(RPLDAO(RPLInstanceID=0x1E, K=1, D=0, daoseq=0xF3), TARGET, RPLOptTIO(E=0, flags=0, pathseq=7, pathlifetime=30)),
    "dao-root": to(
        RPLDAO(RPLInstanceID=0x1E, K=0, D=1, daoseq=0xF3, dodagid=ROOT),
        TARGET,
        RPLOptTgtDesc(descriptor=0x01020304),
        RPLOptTIO(E=1, flags=0x40, pathcontrol=0x80, pathseq=7, pathlifetime=0, parentaddr=UPPER),
        source=GLOBAL,
        destination=ROOT,
    ),
    "dao-ack": to(RPLDAOACK(RPLInstanceID=0x1E, D=0, daoseq=0xF3, status=0), source=PARENT, destination=NODE),
    "dao-ack-refused": to(
        RPLDAOACK(RPLInstanceID=0x1E, D=1, daoseq=0xF3, status=0x80, dodagid=ROOT), source=ROOT, destination=GLOBAL
    ),
    "dco": to(RPLDCO(RPLInstanceID=0x1E, K=1, D=0, status=0, dcoseq=5), TARGET, RPLOptTIO(pathseq=7, pathlifetime=0)),
    "dco-root": to(RPLDCO(RPLInstanceID=0x1E, K=0, D=1, status=0x80, dcoseq=5, dodagid=ROOT), TARGET),
    "dco-ack": to(RPLDCOACK(RPLInstanceID=0x1E, D=0, dcoseq=5, status=1)),
    "dco-ack-root": to(RPLDCOACK(RPLInstanceID=0x1E, D=1, dcoseq=5, status=0, dodagid=ROOT)),
    "data": data(IPv6ExtHdrHopByHop(options=[RplOption(otype=0x23, Down=1, RankError=0, ForwardError=1, RplInstanceId=0x1E, SenderRank=0x0203)])),
}

serve(MESSAGES)
