"""A server of aiocoap over tinydtls: `server.py PORT IDENTITY KEY` shows a reading at `/reading`, by coaps at the port behind `PORT`.

It takes keys of at most 16 bytes: tinydtls has room for no more.
"""

import asyncio
import sys

from aiocoap import Context, Message
from aiocoap.resource import Resource, Site

SENML_JSON = 110
READING = b'[{"n":"t","u":"Cel","v":21.5}]'
PORT, IDENTITY, KEY = sys.argv[1:]


class Reading(Resource):
    """The reading; each session that asks for it is told of once."""

    def __init__(self):
        super().__init__()
        self.sessions = []

    async def render_get(self, request):
        if request.remote not in self.sessions:
            self.sessions.append(request.remote)
            print("connected from", request.remote.hostinfo, flush=True)
        return Message(payload=READING, content_format=SENML_JSON)


async def main():
    site = Site()
    site.add_resource(["reading"], Reading())
    context = await Context.create_server_context(
        site, bind=("127.0.0.1", int(PORT)), transports=["tinydtls_server"]
    )
    dtls = {"psk": {"ascii": KEY}, "client-identity": {"ascii": IDENTITY}}
    context.server_credentials.load_from_dict({":cloud": {"dtls": dtls}})
    print("ready", flush=True)
    await asyncio.get_running_loop().create_future()


asyncio.run(main())
