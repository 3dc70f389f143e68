"""A client of aiocoap: `observe.py URI COUNT` observes a node's readings until it was told COUNT, and says so no more."""

import asyncio
import json
import sys

from aiocoap import GET, Context, Message

URI, COUNT = sys.argv[1], int(sys.argv[2])


async def main():
    context = await Context.create_client_context()
    observed = context.request(Message(code=GET, uri=URI, observe=0))
    first = await observed.response
    print("observes", json.loads(first.payload)[0]["bn"], flush=True)
    told = 0
    async for notification in observed.observation:
        told += 1
        print("notified", told, json.loads(notification.payload)[0]["n"], flush=True)
        if told == COUNT:
            break
    observed.observation.cancel()
    await context.shutdown()
    print("done", flush=True)


asyncio.run(main())
