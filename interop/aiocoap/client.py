"""A client of aiocoap: `client.py SERVER CREDENTIALS READINGS` posts a long pack, reads and changes things, and observes."""

import asyncio
import json
import sys

from aiocoap import GET, POST, PUT, Context, Message

SENML_JSON, JSON = 110, 50
SERVER, CREDENTIALS, READINGS = sys.argv[1:]


def uri(path, query=""):
    return f"coap://{SERVER}/{path}?{CREDENTIALS}{query}"


async def ask(context, code, uri, **options):
    response = await context.request(Message(code=code, uri=uri, **options)).response
    if response.opt.echo is not None:
        # The server wants to see that we are where we say.
        print("challenged", flush=True)
        options["echo"] = response.opt.echo
        response = await context.request(Message(code=code, uri=uri, **options)).response
    return response


async def main():
    context = await Context.create_client_context()
    with open(READINGS, "rb") as file:
        readings = file.read()
    links = await ask(context, GET, f"coap://{SERVER}/.well-known/core")
    print("links", links.payload.decode().count("<"), flush=True)
    posted = await ask(context, POST, uri("resources/data"), payload=readings, content_format=SENML_JSON)
    print("posted", posted.code.dotted, flush=True)
    listed = await ask(context, GET, uri("streams"))
    streams = json.loads(listed.payload)
    print("listed", len(streams), flush=True)

    own = await ask(context, GET, uri("resources"))
    same = await ask(context, GET, uri("resources"), etags=[own.opt.etag])
    print("same", same.code.dotted, flush=True)
    new = json.dumps({"description": "new"}).encode()
    for name in ["changed", "stale"]:
        options = {"content_format": JSON, "if_match": [own.opt.etag]}
        put = await ask(context, PUT, uri("resources"), payload=new, **options)
        print(name, put.code.dotted, flush=True)

    target = uri("streams/data", f"&id={streams[0]['id']}&limit=1")
    observed = context.request(Message(code=GET, uri=target, observe=0))
    first = await observed.response
    print("observes", json.loads(first.payload)[0]["value"], flush=True)
    async for notification in observed.observation:
        value = json.loads(notification.payload)[0]["value"]
        print("notified", value, flush=True)
        if value == 99.5:
            break
    observed.observation.cancel()
    await context.shutdown()
    print("done", flush=True)


asyncio.run(main())
