"""IPsec by scapy. Each line of standard input asks for one thing, `N VERB SUITE MODE EXTENDED NUMBER PACKET`, and is
answered by a line `N PACKET` or `N refused REASON`. VERB is `seal` or `open`, NUMBER the packet's sequence number.
"""

import logging
import sys

logging.getLogger("scapy").setLevel(logging.ERROR)

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scapy.layers.inet6 import IPv6
from scapy.layers.ipsec import AH, AUTH_ALGOS, ESP, AuthAlgo, SecurityAssociation


class Xcbc:
    """AES-XCBC-MAC (RFC 3566), which scapy does not have."""

    def __init__(self, key):
        derived = self.cipher(key)
        self.keys = [derived.update(bytes([n]) * 16) for n in (1, 2, 3)]
        self.data = b""

    @staticmethod
    def cipher(key):
        return Cipher(algorithms.AES(key), modes.ECB()).encryptor()

    def update(self, data):
        self.data += data

    def finalize(self):
        key, whole, padded = self.keys
        cipher, chain, data = self.cipher(key), bytes(16), self.data
        add = lambda a, b: bytes(x ^ y for x, y in zip(a, b))
        while len(data) > 16:
            chain, data = cipher.update(add(chain, data[:16])), data[16:]
        mask = whole if len(data) == 16 else padded
        if len(data) < 16:
            data += b"\x80" + bytes(15 - len(data))
        return cipher.update(add(add(chain, data), mask))


class XcbcAlgo(AuthAlgo):
    def new_mac(self, key):
        return Xcbc(key)


AUTH_ALGOS["AES-XCBC-96"] = XcbcAlgo("AES-XCBC-96", Xcbc, None, 12, (16,))

CODES = {
    "xcbc": ("AES-XCBC-96", 16),
    "cmac": ("AES-CMAC-96", 16),
    "hmac-sha1": ("HMAC-SHA1-96", 20),
    "hmac-sha256": ("SHA2-256-128", 32),
}
CIPHERS = {"ctr": ("AES-CTR", 20), "cbc": ("AES-CBC", 16), "null": ("NULL", 0)}
AEADS = {"gcm": ("AES-GCM", 20, 16), "ccm-8": ("AES-CCM", 19, 8), "ccm-12": ("AES-CCM", 19, 12), "ccm-16": ("AES-CCM", 19, 16)}


def key(length, seed):
    return bytes((seed * 31 + n) % 256 for n in range(length))


def association(suite, mode, extended, number, spi, seed, outer):
    protocol, name = suite.split(":")
    arguments = {}
    if protocol == "esp" and name in AEADS:
        cipher, length, icv = AEADS[name]
        arguments.update(crypt_algo=cipher, crypt_key=key(length, seed), crypt_icv_size=icv)
    elif protocol == "esp":
        first, _, name = name.partition("-")
        cipher, length = CIPHERS[first]
        arguments.update(crypt_algo=cipher, crypt_key=key(length, seed) or None)
        seed += 100
    if name in CODES:
        code, length = CODES[name]
        arguments.update(auth_algo=code, auth_key=key(length, seed))
    if mode == "tunnel":
        arguments.update(tunnel_header=IPv6(src=outer[0], dst=outer[1], hlim=64))
    if extended == "extended":
        arguments.update(esn_en=True, esn=number >> 32)
    layer = AH if protocol == "ah" else ESP
    return SecurityAssociation(layer, spi=spi, seq_num=number & 0xFFFFFFFF, **arguments)


def answer(verb, suite, mode, extended, number, packet):
    number = int(number)
    alice, bob = "fd00::a", "fd00::b"
    packet = IPv6(bytes.fromhex(packet))
    if verb == "open":
        opened = association(suite, mode, extended, number, 0x2002, 2, (alice, bob)).decrypt(packet)
        return bytes(opened).hex()
    sealed = association(suite, mode, extended, number, 0x1001, 1, (bob, alice)).encrypt(packet)
    return bytes(sealed).hex()


print("ready", flush=True)
for line in sys.stdin:
    identifier, *request = line.split()
    try:
        print(identifier, answer(*request), flush=True)
    except Exception as error:  # whatever the reason, it is told
        print(identifier, "refused", repr(error), flush=True)
