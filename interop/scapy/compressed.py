"""6LoWPAN by scapy. Each line of standard input, `N FRAME SOURCE DESTINATION`, is a compressed packet and the EUI-64s of its frame, and is answered
by a line `N PACKET` with the packet that it stands for, or `N refused REASON`.
Its hop limit is not 255: a first byte of 0x7f, which it then has, scapy takes for the ESC of RFC 4944.
"""

import logging
import sys

logging.getLogger("scapy").setLevel(logging.ERROR)

from scapy.config import conf
from scapy.layers.dot15d4 import Dot15d4, Dot15d4Data
from scapy.layers.inet6 import IPv6
from scapy.layers.sixlowpan import SixLoWPAN

conf.dot15d4_protocol = "sixlowpan"


def answer(frame, source, destination):
    # The addresses that the headers elide follow from those of the frame.
    header = Dot15d4(fcf_frametype=1, fcf_destaddrmode=3, fcf_srcaddrmode=3, fcf_panidcompress=1)
    data = Dot15d4Data(dest_panid=0xABCD, dest_addr=int(destination, 16), src_addr=int(source, 16))
    packet = Dot15d4(bytes(header / data) + bytes.fromhex(frame))
    return bytes(packet[IPv6]).hex()


print("ready", flush=True)
for line in sys.stdin:
    identifier, *request = line.split()
    try:
        print(identifier, answer(*request), flush=True)
    except Exception as error:  # whatever the reason, it is told
        print(identifier, "refused", repr(error), flush=True)
