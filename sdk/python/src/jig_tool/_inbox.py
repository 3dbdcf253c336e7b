"""What the host has sent by ``apply`` and the tool has not taken yet.

Answers and input come the same way. Whoever sends input must not be able to answer a question by it
before it is asked, so this is where the two are told apart.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Deque, Mapping, NamedTuple, Optional

from jig_tool._errors import ProtocolError


class Applied(NamedTuple):
    """What the host sends by one ``apply``."""

    input: Any
    question: Optional[str]
    """The id of the question that it answers. Without, it is input, or the host does not say."""


class Inbox:
    """What has come and was not taken, in the order in which it came."""

    def __init__(self, marks_answers: bool) -> None:
        """``marks_answers``: whether the host says of every answer which question it answers.

        All do that let a tool be driven. An ``apply`` that names no question is then input.
        """
        self._marks_answers = marks_answers
        # What came before the last question is not its answer.
        self._before: Deque[Applied] = deque()
        self._since: Deque[Applied] = deque()
        self._open: Optional[str] = None

    def push(self, params: Mapping[str, Any]) -> None:
        """Adds the params of an ``apply``."""
        question = params.get("question")
        if question is not None and not isinstance(question, str):
            raise ProtocolError("`question` of the host's `apply` must be a string")
        self._since.append(Applied(params.get("input"), question))

    def put_question(self, question_id: str) -> None:
        """The question of this id is put now. One that was open before is not any more."""
        self._before += self._since
        self._since.clear()
        self._open = question_id

    def asks(self, question_id: str) -> bool:
        """Whether the question of this id was put and is not answered."""
        return self._open == question_id

    def take_answer(self) -> Optional[Applied]:
        """Takes the answer to the open question."""
        for place, applied in enumerate(self._since):
            if self._is_answer(applied):
                del self._since[place]
                self._open = None
                return applied
        return None

    def take_next(self) -> Optional[Applied]:
        """Takes what the tool is given next.

        While a question is open and answers are told from input, that is the answer, and input waits.
        """
        if self._open is not None and self._marks_answers:
            return self.take_answer()
        if self._before:
            return self._before.popleft()
        if not self._since:
            return None
        applied = self._since.popleft()
        if self._is_answer(applied):
            self._open = None
        return applied

    def _is_answer(self, applied: Applied) -> bool:
        """Whether something that came after the question answers it."""
        if self._open is None:
            return False
        if applied.question is None:
            return not self._marks_answers
        return applied.question == self._open
