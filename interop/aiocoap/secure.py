"""A client of aiocoap over tinydtls: `secure.py SERVER IDENTITY KEY` posts a reading, and reads whose it is.

It takes keys of at most 16 bytes: tinydtls has room for no more.
"""

import asyncio
import sys

from aiocoap import GET, POST, Context, Message

SENML_JSON = 110
READING = b'[{"n":"temperature","u":"Cel","v":21.5}]'
SERVER, IDENTITY, KEY = sys.argv[1:]


async def main():
    context = await Context.create_client_context()
    dtls = {"psk": {"ascii": KEY}, "client-identity": {"ascii": IDENTITY}}
    context.client_credentials.load_from_dict({f"coaps://{SERVER}/*": {"dtls": dtls}})

    async def ask(code, path, **options):
        return await context.request(Message(code=code, uri=f"coaps://{SERVER}/{path}", **options)).response

    posted = await ask(POST, "resources/data", payload=READING, content_format=SENML_JSON)
    print("posted", posted.code.dotted, flush=True)
    own = await ask(GET, "resources")
    print("own", own.payload.decode(), flush=True)
    await context.shutdown()
    print("done", flush=True)


asyncio.run(main())
