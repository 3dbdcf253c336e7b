"""Calls `echo` of several servers in turns, by the official client for Python, and prints how long that takes.

python client.py ROUNDS CALLS TARGETS: targets are JSON, [{"tool": …, "command": […]}, …]. What is printed is JSON, too:
the fastest, the median and the 99th percentile for each of them, in microseconds.
"""

import asyncio
import json
import os
import sys
import time
from contextlib import AsyncExitStack

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

MESSAGE = "what was said comes back"


async def call(session, tool):
    begun = time.perf_counter()
    result = await session.call_tool(tool, {"message": MESSAGE})
    took = time.perf_counter() - begun
    assert MESSAGE in result.content[0].text, result
    return took * 1e6


async def main(rounds, calls, targets):
    async with AsyncExitStack() as stack:
        nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
        servers = []
        for target in targets:
            program, *args = target["command"]
            parameters = StdioServerParameters(command=program, args=args, env=dict(os.environ))
            streams = await stack.enter_async_context(stdio_client(parameters, errlog=nowhere))
            session = await stack.enter_async_context(ClientSession(*streams))
            await session.initialize()
            servers.append((session, target["tool"], []))
        for session, tool, _ in servers:
            for _ in range(100):
                await call(session, tool)
        for _ in range(rounds):
            for session, tool, times in servers:
                for _ in range(calls):
                    times.append(await call(session, tool))
        told = []
        for _, _, times in servers:
            times.sort()
            told.append([times[int(len(times) * part)] for part in (0, 0.5, 0.99)])
        print(json.dumps(told))


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])))
