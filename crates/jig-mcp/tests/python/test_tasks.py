"""The tasks extension, by the official Python client, which knows it as any extension of others."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Literal

import anyio
import mcp_types as types
from mcp.client import ClientExtension
from mcp.client.extension import ClaimContext, ResultClaim, advertise
from mcp.shared.exceptions import MCPError

from serving import PATIENCE, processes, wait_until
from session import Person, Session, combinations, text_of

TASKS = "io.modelcontextprotocol/tasks"


class Created(types.Result):
    """What a call returns that became a task."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: str
    ttl_ms: int | None
    poll_interval_ms: int | None = None


class Detailed(types.Result):
    """What `tasks/get` returns."""

    task_id: str
    status: str
    result: dict[str, Any] | None = None
    input_requests: dict[str, Any] | None = None


class TaskParams(types.RequestParams):
    task_id: str


class UpdateParams(TaskParams):
    input_responses: dict[str, Any]


class Get(types.Request[TaskParams, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: TaskParams
    name_param: ClassVar[str | None] = "taskId"


class Update(types.Request[UpdateParams, Literal["tasks/update"]]):
    method: Literal["tasks/update"] = "tasks/update"
    params: UpdateParams
    name_param: ClassVar[str | None] = "taskId"


class Cancel(types.Request[TaskParams, Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: TaskParams
    name_param: ClassVar[str | None] = "taskId"


class Tasks(ClientExtension):
    """Waits for a task as a client does: polls, and hands questions to the person."""

    identifier = TASKS

    def __init__(self, person: Person | None = None) -> None:
        self.person = person
        self.seen: list[str] = []
        self.created: list[Created] = []

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=Created, resolve=self.resolve)]

    async def resolve(self, task: Created, context: ClaimContext) -> types.CallToolResult:
        self.created.append(task)
        with anyio.fail_after(PATIENCE):
            while True:
                now = await get(context.session, task.task_id)
                self.seen.append(now.status)
                if now.status == "input_required" and self.person is not None:
                    await self.answer(task, now, context)
                elif now.status != "working":
                    return types.CallToolResult.model_validate(now.result or {"content": []})
                await anyio.sleep(0.05)

    async def answer(self, task: Created, now: Detailed, context: ClaimContext) -> None:
        assert self.person is not None
        responses = {}
        for key, request in (now.input_requests or {}).items():
            params = types.ElicitRequestFormParams.model_validate(request["params"])
            said = await self.person(None, params)
            responses[key] = said.model_dump(by_alias=True, mode="json", exclude_none=True)
        params = UpdateParams(task_id=task.task_id, input_responses=responses)
        await context.session.send_request(Update(params=params), types.EmptyResult)


async def get(session: Any, task_id: str) -> Detailed:
    return await session.send_request(Get(params=TaskParams(task_id=task_id)), Detailed)


class TaskCases:
    """The tests; each runs over every transport, in the era that has the extension."""

    async def test_a_stateful_tool_is_a_task(self: Any) -> None:
        tasks = Tasks()
        client = await self.connect(extensions=[tasks])
        result = await client.call_tool("build", {})
        self.assertFalse(result.is_error, text_of(result))
        self.assertIn("built", text_of(result))
        self.assertEqual(len(tasks.created), 1)
        self.assertEqual(tasks.seen[0], "working")
        self.assertEqual(tasks.seen[-1], "completed")

    async def test_without_the_extension_it_is_an_ordinary_call(self: Any) -> None:
        client = await self.connect()
        result = await client.call_tool("build", {})
        self.assertIn("built", text_of(result))

    async def test_a_cancelled_task_leaves_no_process(self: Any) -> None:
        mark = f"87654.{id(self) % 10**9}"
        config = self.workspace.read("jig.toml").replace("sleep 1; echo built", f"exec sleep {mark}")
        self.workspace.write("jig.toml", config)
        client = await self.connect(extensions=[Tasks()])
        created = await client.session.call_tool("build", {}, allow_claimed=True)
        self.assertIsInstance(created, Created)
        await asyncio.to_thread(wait_until, "it runs", lambda: bool(processes(mark)))
        request = Cancel(params=TaskParams(task_id=created.task_id))
        await client.session.send_request(request, types.EmptyResult)
        await asyncio.to_thread(wait_until, "it is gone", lambda: not processes(mark))
        with anyio.fail_after(PATIENCE):
            while (await get(client.session, created.task_id)).status != "cancelled":
                await anyio.sleep(0.05)

    async def test_a_task_that_asks(self: Any) -> None:
        config = self.workspace.read("jig.toml")
        self.workspace.write("jig.toml", config.replace('"sh paint.sh"', '"sh paint.sh"\nstateful = true'))
        person = Person({"answer": "red"})
        tasks = Tasks(person)
        client = await self.connect(person, extensions=[tasks])
        result = await client.call_tool("paint", {})
        self.assertEqual(text_of(result), "painted red")
        self.assertIn("input_required", tasks.seen)
        self.assertEqual(self.workspace.read("runs"), "ran;")

    async def test_a_task_that_does_not_exist(self: Any) -> None:
        client = await self.connect(extensions=[Tasks()])
        with self.assertRaises(MCPError) as raised:
            await get(client.session, "no-such-task")
        self.assertEqual(raised.exception.code, types.INVALID_PARAMS)


class LegacyTaskCases:
    """The same for the era that does not have it."""

    async def test_a_client_that_claims_the_extension_too_early_gets_a_result(self: Any) -> None:
        """The Inspector does: it names the extension in `initialize`, and cannot read a task there."""
        client = await self.connect(extensions=[advertise(TASKS)])
        result = await client.call_tool("build", {})
        self.assertFalse(result.is_error, text_of(result))
        self.assertIn("built", text_of(result))


combinations(globals(), TaskCases, eras=["modern"])
combinations(globals(), LegacyTaskCases, eras=["legacy"])
