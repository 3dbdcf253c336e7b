"""A full session of the official Python client with `jig mcp`, in both eras, over both transports."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

from serving import PATIENCE, processes, wait_until
from session import Person, Session, combinations, text_of

ONCE = {"decision": "allow once"}
TURN = {"decision": "allow for this turn"}
DENY = {"decision": "deny"}


class FullSession:
    """The tests; each runs in every combination."""

    async def test_what_a_client_learns_of_the_server(self: Any) -> None:
        client = await self.connect()
        version = "2026-07-28" if self.is_modern else "2025-11-25"
        self.assertEqual(client.protocol_version, version)
        self.assertEqual(client.server_info.name, "jig")
        self.assertIn("denied", client.instructions.lower())

    async def test_tools_are_listed_in_one_order_and_called(self: Any) -> None:
        client = await self.connect()
        tools = (await client.list_tools()).tools
        again = (await client.list_tools()).tools
        names = [tool.name for tool in tools]
        self.assertEqual(names, [tool.name for tool in again])
        self.assertLessEqual({"fs_read_file", "fs_create_file", "paint", "build"}, set(names))
        by_name = {tool.name: tool for tool in tools}
        self.assertTrue(by_name["fs_read_file"].annotations.read_only_hint)
        self.assertFalse(by_name["fs_read_file"].annotations.open_world_hint)
        self.assertFalse(by_name["fs_delete_file"].annotations.read_only_hint)
        self.assertTrue(by_name["fs_delete_file"].annotations.destructive_hint)

        result = await client.call_tool("fs_read_file", {"path": "notes.txt"})
        self.assertFalse(result.is_error)
        self.assertIn("remember the milk", text_of(result))

    async def test_wrong_arguments_are_named_in_a_result(self: Any) -> None:
        client = await self.connect()
        for arguments in ({}, {"path": 3}, {"path": "notes.txt", "colour": "red"}):
            result = await client.call_tool("fs_read_file", arguments)
            self.assertTrue(result.is_error, arguments)
            self.assertIn("colour" if "colour" in arguments else "path", text_of(result))

    async def test_a_tool_that_does_not_exist_is_an_error_of_the_protocol(self: Any) -> None:
        client = await self.connect()
        with self.assertRaises(MCPError) as raised:
            await client.call_tool("no_such_tool", {})
        self.assertEqual(raised.exception.code, types.INVALID_PARAMS)

    async def test_a_denial_explains_itself(self: Any) -> None:
        client = await self.connect()
        result = await client.call_tool("fs_read_file", {"path": "secret/key"})
        self.assertTrue(result.is_error)
        said = text_of(result)
        self.assertNotIn("hunter2", said)
        for part in ("secret/key", "read", "jig.toml"):
            self.assertIn(part, said)

    async def test_structured_content_stands_beside_the_text(self: Any) -> None:
        client = await self.connect()
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        self.assertEqual(tools["measure"].output_schema["required"], ["size"])
        result = await client.call_tool("measure", {})
        self.assertFalse(result.is_error, text_of(result))
        self.assertEqual(result.structured_content, {"size": 3})
        self.assertIn("3", text_of(result))

    async def test_a_large_output_is_a_link(self: Any) -> None:
        client = await self.connect()
        result = await client.call_tool("flood", {})
        self.assertFalse(result.is_error, text_of(result))
        links = [block for block in result.content if isinstance(block, types.ResourceLink)]
        self.assertEqual(len(links), 1)
        self.assertIn("line 0", text_of(result))
        self.assertNotIn("line 19999", text_of(result))
        whole = await client.read_resource(links[0].uri)
        self.assertIn("line 1", whole.contents[0].text)

    # Approvals

    async def create(self: Any, client: Any, path: str) -> types.CallToolResult:
        return await client.call_tool("fs_create_file", {"path": path, "content": "new\n"})

    async def test_allowed_once_is_asked_again(self: Any) -> None:
        person = Person(ONCE, ONCE)
        client = await self.connect(person)
        for path in ("a.txt", "b.txt"):
            result = await self.create(client, path)
            self.assertFalse(result.is_error, text_of(result))
            self.assertEqual(self.workspace.read(path), "new\n")
        self.assertEqual(len(person.asked), 2)
        self.assertIn("fs_create_file", person.asked[0].message)

    async def test_allowed_for_the_turn_is_not_asked_again(self: Any) -> None:
        person = Person(TURN)
        client = await self.connect(person)
        for path in ("a.txt", "b.txt"):
            result = await self.create(client, path)
            self.assertFalse(result.is_error, text_of(result))
        self.assertEqual(len(person.asked), 1)

    async def test_denied(self: Any) -> None:
        person = Person(DENY, "decline", "cancel")
        client = await self.connect(person)
        result = await self.create(client, "a.txt")
        self.assertTrue(result.is_error)
        self.assertIn("denied in the form of the client", text_of(result))
        for _ in range(2):
            self.assertTrue((await self.create(client, "a.txt")).is_error)
        self.assertEqual(len(person.asked), 3)
        self.assertFalse((self.workspace.root / "a.txt").exists())

    async def test_nobody_to_ask_is_denied_at_once(self: Any) -> None:
        client = await self.connect()
        result = await self.create(client, "a.txt")
        self.assertTrue(result.is_error)
        self.assertIn("jig approve", text_of(result))
        self.assertFalse((self.workspace.root / "a.txt").exists())

    async def test_a_question_of_a_tool(self: Any) -> None:
        person = Person({"answer": "blue"})
        client = await self.connect(person)
        result = await client.call_tool("paint", {})
        self.assertFalse(result.is_error, text_of(result))
        self.assertEqual(text_of(result), "painted blue")
        self.assertIn("Which colour?", person.asked[0].message)
        # It waited for the answer: it was not started again with it.
        self.assertEqual(self.workspace.read("runs"), "ran;")

    # Progress and cancellation

    async def test_progress(self: Any) -> None:
        heard: list[tuple[float, str | None]] = []

        async def progress(done: float, _total: float | None, message: str | None) -> None:
            heard.append((done, message))

        client = await self.connect()
        result = await client.call_tool("steps", {}, progress_callback=progress)
        self.assertEqual(text_of(result), "all steps done")
        values = [done for done, _ in heard]
        self.assertEqual(values, sorted(set(values)), "it only goes up")
        messages = " ".join(message or "" for _, message in heard)
        self.assertIn("step 1 of 3", messages)
        self.assertIn("step 3 of 3", messages)

    async def test_a_cancelled_call_leaves_no_process(self: Any) -> None:
        mark = f"98765.{id(self) % 10**9}"
        client = await self.connect()
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "crawl", {"seconds": mark})
            await asyncio.to_thread(wait_until, "it runs", lambda: bool(processes(mark)))
            group.cancel_scope.cancel()
        await asyncio.to_thread(wait_until, "it is gone", lambda: not processes(mark))
        # The connection has survived.
        result = await client.call_tool("fs_read_file", {"path": "notes.txt"})
        self.assertFalse(result.is_error)

    async def test_a_handle(self: Any) -> None:
        client = await self.connect()
        spawned = await client.call_tool("build", {"action": "spawn"})
        self.assertFalse(spawned.is_error, text_of(spawned))
        handle = spawned.structured_content["id"]
        waited = await client.call_tool("await", {"ids": [handle], "timeout_ms": int(PATIENCE * 1000)})
        self.assertIn("stopped", text_of(waited))
        self.assertIn("built", text_of(waited))

    # Resources, prompts, completions

    async def test_resources(self: Any) -> None:
        client = await self.connect()
        await client.call_tool("fs_read_file", {"path": "notes.txt"})
        listed = {str(one.uri) for one in (await client.list_resources()).resources}
        wanted = {"jig://audit", "jig://config", "jig://knowledge/style", "jig://tool/fs_read_file/policy"}
        self.assertLessEqual(wanted, listed)
        templates = (await client.list_resource_templates()).resource_templates
        self.assertIn("jig://tool/{name}/policy", [one.uri_template for one in templates])
        for uri in sorted(listed):
            contents = (await client.read_resource(uri)).contents
            self.assertTrue(contents and contents[0].text, uri)
        audit = (await client.read_resource("jig://audit")).contents[0].text
        self.assertIn("notes.txt", audit)
        policy = (await client.read_resource("jig://tool/fs_read_file/policy")).contents[0].text
        self.assertIn("secret", policy)

    async def test_a_resource_that_does_not_exist(self: Any) -> None:
        client = await self.connect()
        for uri in ("jig://nothing", "jig://tool/nothing/policy", "jig://output/nothing", "file:///etc/passwd"):
            with self.assertRaises(MCPError) as raised:
                await client.read_resource(uri)
            code = types.INVALID_PARAMS if self.is_modern else -32002
            self.assertEqual(raised.exception.code, code, uri)

    async def test_prompts_and_completions(self: Any) -> None:
        client = await self.connect()
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        self.assertIn("style", prompts)
        got = await client.get_prompt("style", {"subject": "naming"})
        self.assertIn("Names say", got.messages[0].content.text)

        reference = types.PromptReference(type="ref/prompt", name="style")
        completed = await client.complete(reference, {"name": "subject", "value": "na"})
        self.assertEqual(completed.completion.values[0], "naming")
        reference = types.ResourceTemplateReference(type="ref/resource", uri="jig://tool/{name}/policy")
        completed = await client.complete(reference, {"name": "name", "value": "fs_re"})
        self.assertEqual(completed.completion.values[0], "fs_read_file")

    # A configuration that changes

    async def change(self: Any, client: Any, messages: list[Any], old: str, new: str) -> None:
        """Edits the configuration, and waits until the client was told."""
        text = self.workspace.read("jig.toml")
        self.assertIn(old, text)
        with anyio.fail_after(PATIENCE):
            if self.is_modern:
                async with client.listen(tools_list_changed=True) as news:
                    self.workspace.write("jig.toml", text.replace(old, new))
                    await anext(aiter(news))
                return
            self.workspace.write("jig.toml", text.replace(old, new))
            while not any(isinstance(one, types.ToolListChangedNotification) for one in messages):
                await anyio.sleep(0.05)

    async def test_an_edit_of_the_configuration_changes_the_list(self: Any) -> None:
        messages: list[Any] = []
        client = await self.connect(messages=messages)
        await client.list_tools()
        await self.change(client, messages, "Returns a size.", "Returns the size.")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        self.assertIn("Returns the size.", tools["measure"].description)

    async def test_an_edit_that_widens_access_is_held(self: Any) -> None:
        client = await self.connect()
        text = self.workspace.read("jig.toml")
        self.workspace.write("jig.toml", f'{text}\n[tools.fs_delete_file]\nrun = "unattended"\n')
        with anyio.fail_after(PATIENCE):
            while "jig approve" not in (await client.read_resource("jig://config")).contents[0].text:
                await anyio.sleep(0.05)
        result = await client.call_tool("fs_delete_file", {"path": "secret/key"})
        self.assertTrue(result.is_error)
        self.assertTrue((self.workspace.root / "secret/key").exists())


combinations(globals(), FullSession)
