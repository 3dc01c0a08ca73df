"""What a framework told the model is read right, in every form that frameworks have been seen to use."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.model.tellings import Word, understood

FAILURES = [
    '{"error":"Request \'tools/call\' timed out"}',
    "Tool 'charge' failed after 3 attempts with McpError: Connection closed. Please try again.",
    "Error executing tool charge: Operation timed out after 30 seconds",
    "Operation failed after 3 attempts: ",
    "Timed out while waiting for response to ClientRequest. Waited 1.0 seconds.",
    "Error executing tool 'charge' with arguments {'order': '1001', 'amount': 10000}: McpError: x Please try again",
    "Tool was interrupted.",
    "upstream failed",
    "not executed",
    '{"code": "upstream_unknown", "message": "The upstream answer was lost: the effect may have happened."}',
    '{"code": "exists", "message": "There is such an effect already.", "receipt": "ch_9"}',
    "{'code': 'partial', 'message': 'Some effects were made, then one was refused.', 'receipts': ['m_1']}",
    '{"content": [{"type": "text", "text": "{\\"code\\": \\"mismatch\\", \\"message\\": \\"x\\"}"}], "isError": true}',
    '{"content": [{"type": "text", "text": "it went well"}], "isError": true}',
    "meta=None content=[TextContent(type='text', text='all done')] isError=True",
    '{"status": "error", "content": [{"text": "all done"}]}',
    "MCP error -32603: injected",
    "An error occurred while running the tool. Please try again. Error: Connection closed",
    "[{'type': 'text', 'text': 'upstream failed'}]",
]
RECEIPT = '{"receipt": "ch_17"}'
CONTENT = [{"type": "text", "text": RECEIPT}]
SUCCESSES = [
    (RECEIPT, ("ch_17",)),
    ("{'receipt': 'ch_17', 'replayed': True}", ("ch_17",)),
    (json.dumps({"content": CONTENT, "structuredContent": {"receipt": "ch_17"}, "isError": False}), ("ch_17",)),
    (json.dumps(CONTENT), ("ch_17",)),
    (f"[TextContent(type='text', text='{RECEIPT}', annotations=None)]", ("ch_17",)),
    ("meta=None content=[] structuredContent={'receipt': 'ch_17'} isError=False", ("ch_17",)),
    ('{"receipts": ["m_1", "m_2"]}', ("m_1", "m_2")),
    ("Result: receipt: ch_17", ("ch_17",)),
    ('{"found": []}', ()),
    ('{"found": [{"receipt": "ch_3", "reference": null, "arguments": {}}]}', ()),
    ("The call was executed successfully.", ()),
    ('{"content": [{"type": "nonsense"}], "isError": false}', ()),
]


@pytest.mark.parametrize("text", FAILURES)
def test_an_error_is_read_as_one(text: str) -> None:
    assert understood(text).word is Word.ERROR


@pytest.mark.parametrize(("text", "receipts"), SUCCESSES)
def test_a_success_is_read_with_its_receipts(text: str, receipts: tuple[str, ...]) -> None:
    found = understood(text)
    assert (found.word, found.receipts) == (Word.SUCCESS, receipts)


@pytest.mark.parametrize("text", ["", "null", "None", "42", "The weather is nice."])
def test_what_says_neither_is_unclear(text: str) -> None:
    assert understood(text).word is Word.UNCLEAR


def test_a_mark_of_the_dialect_outweighs_the_text() -> None:
    assert understood('{"receipt": "ch_17"}', failed=True).word is Word.ERROR


VALUES = st.recursive(
    st.text() | st.none() | st.booleans(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(st.text() | VALUES.map(json.dumps) | VALUES.map(repr))
def test_whatever_is_told_reading_it_ends_well(text: str) -> None:
    assert understood(text) == understood(text)


def test_an_endless_text_is_read_in_no_time() -> None:
    for text in ("{" * 200_000, "{'" * 100_000, '{"a":' * 50_000, "[" * 100_000 + "{"):
        assert understood(text).word in Word


@given(st.from_regex(r"[a-z]{2}_[0-9a-f]{1,12}", fullmatch=True))
def test_a_receipt_is_found_however_it_is_wrapped(receipt: str) -> None:
    plain = json.dumps({"receipt": receipt})
    wrapped = [
        plain,
        repr({"receipt": receipt}),
        json.dumps({"content": [{"type": "text", "text": plain}], "isError": False}),
        repr([{"type": "text", "text": plain}]),
        f"Observation:\n{plain}\nLast output from code snippet:\nNone",
    ]
    assert {understood(text).receipts for text in wrapped} == {(receipt,)}
    assert {understood(text).word for text in wrapped} == {Word.SUCCESS}
