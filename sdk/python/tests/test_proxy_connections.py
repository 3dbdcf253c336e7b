"""The connection of the FS proxy's client: threads, processes, and proxies that misbehave."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import unittest
from typing import Any, List, Optional, Type

from fake_proxy import SDK, JsonObject, Proxy
from test_proxy import BIG, ProxyTest, until

from jig_tool import proxy


class Threads(ProxyTest):
    def test_many_threads_on_one_client(self) -> None:
        failures: List[BaseException] = []

        def work(number: int) -> None:
            try:
                for turn in range(8):
                    data = BIG[number * 1000 : number * 1000 + 50_000 * (turn % 3) + 10]
                    self.client.write_bytes(f"file{number}", data)
                    assert self.client.read_bytes(f"file{number}") == data
                    with self.client.open("text") as file:
                        assert file.readline() == "grün\n"
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            self.assertFalse(thread.is_alive(), "a thread hangs")
        self.assertEqual(failures, [])
        self.assertEqual(self.proxy.open_files, {})

    def test_close_wakes_who_waits(self) -> None:
        began, may_end = threading.Event(), threading.Event()

        def hold(request: JsonObject) -> Optional[JsonObject]:
            began.set()
            may_end.wait(30)
            return None

        self.proxy.on_request = hold
        errors: List[BaseException] = []

        def read() -> None:
            try:
                self.client.read("text")
            except proxy.Disconnected as error:
                errors.append(error)

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        self.assertTrue(began.wait(30))
        self.client.close()
        for thread in threads:
            thread.join(30)
        self.assertEqual(len(errors), 3)
        may_end.set()
        until(self.proxy.ended.is_set, "the proxy still serves")
        # It could not get rid of an answer, which is what this test is about.
        self.proxy.faults.clear()

    @unittest.skipUnless(hasattr(signal, "pthread_kill"), "no signals for threads here")
    def test_an_interrupted_open_leaves_nothing_open(self) -> None:
        """Ctrl-C while an open is under way: its handle is closed when the answer comes."""
        began, may_end = threading.Event(), threading.Event()

        def hold(request: JsonObject) -> Optional[JsonObject]:
            if request["op"] == "open" and not began.is_set():
                began.set()
                may_end.wait(30)
            return None

        self.proxy.on_request = hold
        main = threading.get_ident()

        def interrupt() -> None:
            began.wait(30)
            # The signal may come before the wait: then it is sent once more.
            while not may_end.wait(0.05):
                signal.pthread_kill(main, signal.SIGUSR1)

        def raise_it(number: int, frame: object) -> None:
            raise KeyboardInterrupt

        old = signal.signal(signal.SIGUSR1, raise_it)
        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                self.client.open("text")
        finally:
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            may_end.set()
            thread.join()
            signal.signal(signal.SIGUSR1, old)
        self.assertEqual(self.client.read("empty"), "")
        self.client.read("empty")
        self.assertEqual(self.proxy.open_files, {})


class Processes(unittest.TestCase):
    """A process of its own, with the descriptor as a parent leaves it."""

    def run_child(
        self, body: str, fake: Proxy, number: Optional[int] = 3, variable: bool = True
    ) -> "subprocess.CompletedProcess[str]":
        theirs = fake.connect()
        environment = {**os.environ, "PYTHONPATH": str(SDK), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("JIG_PROXY_FD", None)
        if variable:
            environment["JIG_PROXY_FD"] = str(number)
        source = "from jig_tool import proxy\n" + textwrap.dedent(body)
        line = f'exec "$@" {number}<&{theirs.fileno()} {theirs.fileno()}<&-'
        with theirs:
            result = subprocess.run(
                ["sh", "-c", line, "sh", sys.executable, "-c", source],
                env=environment,
                pass_fds=[theirs.fileno()],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                universal_newlines=True,
                timeout=60,
            )
        until(fake.ended.is_set, "the proxy still has a client")
        return result

    def test_inherited(self) -> None:
        """F-002, X-28: descriptor 3, or the one that the variable names."""
        for number, variable in ((3, True), (3, False), (7, True)):
            with self.subTest(number=number, variable=variable):
                fake = Proxy(text=b"hello")
                body = """
                    import os
                    client = proxy.connect()
                    print(client.read("text"), "JIG_PROXY_FD" in os.environ)
                """
                result = self.run_child(body, fake, number, variable)
                self.assertEqual((result.stdout, result.stderr), ("hello False\n", ""))
                self.assertEqual(fake.faults, [])

    def test_exit_without_close(self) -> None:
        """F-088: what was written is there; nothing stays open. A last line is flushed."""
        fake = Proxy()
        body = """
            client = proxy.connect()
            file = client.open("out", "w")
            file.write("written")
            file.flush()
            client.stdout.write("no end")
            raise SystemExit(1)
        """
        result = self.run_child(body, fake)
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertEqual((fake.files["out"], fake.open_files), (b"written", {}))
        self.assertEqual(fake.streams[1], b"no end")

    def test_children_inherit_nothing(self) -> None:
        """A program that is started from here must not be able to speak in its parent's name."""
        fake = Proxy(text=b"x")
        body = """
            import os, subprocess, sys
            client = proxy.connect()
            client.read("text")
            code = "import os; os.fstat(3)"
            done = subprocess.run([sys.executable, "-c", code], close_fds=False, stderr=-3)
            print(done.returncode)
        """
        self.assertEqual(self.run_child(body, fake).stdout, "1\n")

    def test_a_forked_process_can_not_use_it(self) -> None:
        fake = Proxy(text=b"x")
        body = """
            import os, sys
            client = proxy.connect()
            file = client.open("out", "w")
            file.write("once")
            child = os.fork()
            if not child:
                try:
                    client.read("text")
                except proxy.Disconnected as error:
                    print("child:", error, flush=True)
                client.close()
                sys.exit(0)
            os.waitpid(child, 0)
            print(client.read("text"))
            file.close()
        """
        result = self.run_child(body, fake)
        expected = "child: the connection to the proxy belongs to the process that forked\nx\n"
        self.assertEqual(result.stdout, expected)
        self.assertEqual((fake.files["out"], fake.faults), (b"once", []))

    def test_one_process_after_another(self) -> None:
        """A shell hands its connection on: who comes later is not harmed by who was there."""
        fake = Proxy(text=b"x")
        theirs = fake.connect()
        number = theirs.fileno()
        environment = {**os.environ, "PYTHONPATH": str(SDK), "JIG_PROXY_FD": str(number)}

        def run(body: str) -> str:
            source = "from jig_tool import proxy\n" + textwrap.dedent(body)
            command = [sys.executable, "-c", source]
            pipe = subprocess.PIPE
            done = subprocess.run(
                command, env=environment, pass_fds=[number], stdout=pipe, stderr=pipe, timeout=60
            )
            return (done.stdout + done.stderr).decode()

        closed = "with proxy.connect() as c: f = c.open('text'); print(c.read('text'))"
        self.assertEqual(run(closed), "x\n")
        self.assertEqual(fake.open_files, {})
        killed = """
            import os
            client = proxy.connect()
            file = client.open("text", "rb", 0)
            client._connection.send([("read", b'{"h":%d}' % file.handle)] * 3)
            os._exit(0)
        """
        self.assertEqual(run(killed), "")
        self.assertEqual(run("print(proxy.connect().read('text'))"), "x\n")
        # And who comes while another is there, is told so.
        mine = proxy.connect(theirs)
        fcntl.lockf(number, fcntl.LOCK_EX)
        self.assertIn(f"descriptor {number} is in use by another process", run(closed))
        self.assertEqual(mine.read("text"), "x")
        mine.close()
        until(fake.ended.is_set, "the proxy still has a client")
        self.assertEqual(fake.faults, [])

    def test_own_sockets_are_no_connection(self) -> None:
        """Without a proxy, 3 is the number of whatever this process opens first."""
        body = """
            import os, socket
            mine, other = socket.socketpair()
            print(mine.fileno())
            try:
                proxy.connect()
            except proxy.Disconnected as error:
                print(error)
            # It is left as it was, and nothing was sent.
            mine.send(b"mine")
            print(other.recv(100))
        """
        source = "from jig_tool import proxy\n" + textwrap.dedent(body)
        environment = {**os.environ, "PYTHONPATH": str(SDK), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("JIG_PROXY_FD", None)
        told = subprocess.run(
            [sys.executable, "-c", source],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
            timeout=60,
        ).stdout
        expected = "no proxy: descriptor 3 was opened by this process, not left by a parent"
        self.assertEqual(told, f"3\n{expected}\nb'mine'\n")

    def test_a_connection_in_use_is_left_open(self) -> None:
        theirs, ours = socket.socketpair()
        number = theirs.fileno()
        fcntl.lockf(number, fcntl.LOCK_EX)
        body = """
            import gc, os
            for _ in range(2):
                try:
                    proxy.connect()
                except proxy.Disconnected as error:
                    print(error)
                gc.collect()
        """
        source = "from jig_tool import proxy\n" + textwrap.dedent(body)
        environment = {**os.environ, "PYTHONPATH": str(SDK), "JIG_PROXY_FD": str(number)}
        with theirs, ours:
            told = subprocess.run(
                [sys.executable, "-c", source],
                env=environment,
                pass_fds=[number],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                universal_newlines=True,
                timeout=60,
            ).stdout
        self.assertEqual(told, f"descriptor {number} is in use by another process\n" * 2)

    def test_no_proxy(self) -> None:
        cases = (
            ("x", "JIG_PROXY_FD must be a descriptor, or two as `r,w`; it is 'x'"),
            ("-1", "JIG_PROXY_FD must be a descriptor, or two as `r,w`; it is '-1'"),
            ("1,2,3", "JIG_PROXY_FD must be a descriptor, or two as `r,w`; it is '1,2,3'"),
            ("99", "no proxy: descriptor 99 is not a socket, as `jig proxy` leaves one"),
            ("2", "JIG_PROXY_FD must be a descriptor, or two as `r,w`; it is '2'"),
            ("98,99", "no proxy: descriptor 98 is neither a pipe nor a socket"),
        )
        for value, expected in cases:
            with self.subTest(value=value):
                body = f"""
                    import os
                    os.environ["JIG_PROXY_FD"] = {value!r}
                    try:
                        proxy.connect()
                    except ConnectionError as error:
                        print(error)
                """
                self.assertEqual(self.run_child(body, Proxy()).stdout, expected + "\n")

    def test_twice(self) -> None:
        result = self.run_child("proxy.connect()\nproxy.connect()", Proxy())
        self.assertIn("RuntimeError: this process is already connected", result.stderr)


class Connections(unittest.TestCase):
    def test_pipes(self) -> None:
        """X-28: a pair of descriptors, here with more under way than a pipe holds."""
        fake = Proxy(big=BIG)
        with proxy.connect(fake.pair()) as client:
            self.assertEqual(client.read_bytes("big"), BIG)
            client.write_bytes("copy", BIG)
            self.assertEqual(client.read_bytes("copy"), BIG)
        until(fake.ended.is_set, "the proxy still serves")
        self.assertEqual(fake.faults, [])

    def test_end_of_the_proxy(self) -> None:
        fake = Proxy(text=b"x")
        client = proxy.connect(fake.connect())
        file = client.open("out", "w")
        file.write("never written")

        def end(request: JsonObject) -> Optional[JsonObject]:
            raise OSError("the proxy ends")

        fake.on_request = end
        for _ in range(2):
            with self.assertRaises(ConnectionError) as caught:
                client.read("text")
            self.assertEqual(str(caught.exception), "the proxy has closed the connection")
        with self.assertRaises(proxy.Disconnected):
            file.close()
        client.close()
        with self.assertRaises(proxy.Disconnected):
            client.open("text")

    def check_answer(
        self, text: str, kind: Type[BaseException], message: str, length: Optional[int] = None
    ) -> None:
        """What a proxy that sends this is told to be, for this request and for all later ones.

        `ID` stands for the id of the request.
        """
        fake = Proxy()
        theirs = fake.connect()
        fake._answer = lambda request: request  # type: ignore[method-assign]
        sent: List[bytes] = []

        def send(write_fd: int, data: bytes) -> None:
            if not sent:
                answer = text.replace("ID", json.loads(data[4:])["id"]).encode()
                size = len(answer) if length is None else length
                sent.append(size.to_bytes(4, "big") + answer)
                os.write(write_fd, sent[0])

        fake.send = send  # type: ignore[method-assign]
        with self.subTest(text=text), proxy.connect(theirs) as client:
            for _ in range(2):
                with self.assertRaises(kind) as caught:
                    client.open("text")
                self.assertIn(message, str(caught.exception))

    def test_answers_that_are_none(self) -> None:
        bad = proxy.ProtocolError
        self.check_answer("", bad, "announces 4294967295 bytes", length=0xFFFFFFFF)
        self.check_answer("no", bad, "not JSON")
        self.check_answer("[" * 100_000, bad, "not JSON")
        self.check_answer("[]", bad, "`ok` must be")
        self.check_answer('{"id":"ID"}', bad, "`ok` must be")
        self.check_answer('{"id":"ID9","ok":true}', bad, "9 that nobody sent")
        self.check_answer('{"id":["ID"],"ok":true}', bad, "`id` must be")
        self.check_answer('{"id":"ID","ok":false}', bad, "no `code`")
        text = '{"id":"?","ok":false,"error":{"code":"E_RANGE","message":"too long"}}'
        self.check_answer(text, proxy.LimitExceeded, "too long")

    def test_results_that_are_none(self) -> None:
        fake = Proxy(text=b"x")
        results: List[Any] = [{"handle": "3"}, {"handle": -1}, {"handle": True}, {"x": 1}]
        with proxy.connect(fake.connect()) as client:
            for result in results:
                fake.on_request = lambda _, result=result: result
                with self.subTest(result=result), self.assertRaises(proxy.ProtocolError):
                    client.open("text")
            fake.on_request = None
            for data in ("@@@@", "a", "ä", 5):
                with client.open("text", "rb") as file:
                    fake.on_request = lambda request, data=data: (
                        {"data": data, "eof": False} if request["op"] == "read" else None
                    )
                    with self.subTest(data=data), self.assertRaises(proxy.ProtocolError):
                        file.read()
                    fake.on_request = None

    def test_a_proxy_that_reads_nothing_until_its_answers_are_read(self) -> None:
        """Neither side may wait for the other forever: whoever can't send reads meanwhile."""
        fake = Proxy(big=BIG)
        with proxy.connect(fake.connect()) as client:
            connection = client._connection
            big, out = client.open("big", "rb", 0), client.open("out", "wb", 0)
            assert isinstance(big, proxy.RawFile) and isinstance(out, proxy.RawFile)
            # The answers to the first are more than the socket holds, and so are the others.
            reads = [("read", b'{"h":%d,"max":4096}' % big.handle)] * 200
            text = b"x" * 60_000
            data = base64.b64encode(text)
            writes = [("write", b'{"h":%d,"data":"%s"}' % (out.handle, data))] * 20
            pending = connection.send(reads) + connection.send(writes)
            for one in pending:
                connection.wait(one)
            self.assertEqual(fake.files["out"], text * 20)


if __name__ == "__main__":
    unittest.main()
