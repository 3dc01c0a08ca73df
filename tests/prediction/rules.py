"""The rules of the paper model: each is one named statement that can be flipped alone.

A prediction is made under a set of rules in force; ``ALL`` is the model. Flipping any one changes at least one prediction
(``test_prediction_rules.py``), so that no rule stands here for decoration.
"""

from __future__ import annotations

from enum import Enum


class Rule(Enum):
    """Name → what is claimed. The README's table explains each, with what would be seen if it were false."""

    # what the faults do
    DISPATCH_FAULT_STOPS_THE_CALL = "boundary 1: the tool server never gets the call"
    FRONT_DOOR_FAULT_STOPS_THE_REQUEST = (
        "boundary 2: the provider never gets the struck request, not even at the end of the run"
    )
    LOST_ANSWER_IS_IS_ERROR = "an upstream answer lost by reset or error reaches the runtime as isError upstream_unknown"
    LOST_ANSWER_ENDS_THE_CALL = "after a lost upstream answer the call sends nothing more"
    REFUSAL_IS_PROOF = "refused: the answer says not_executed"
    PARTIAL_IS_NO_PROOF = "a refusal after earlier effects of the same call is answered partial, not not_executed"
    CRASH_ENDS_THE_CALL = "a crashed tool server sends no later request of the call"
    EVERY_STRIKES_REPEATS = "strike every: each further attempt of the declared call is struck as the first was"
    STRIKE_NEEDS_COMMIT = "boundaries 3, 4, 7-10 strike a first attempt only if it committed: else not-applicable"
    HELD_REQUEST_COMMITS = "boundaries 5 and 6: the held request is let through, late"
    CANCELLED_HANDLER_FINISHES = "a cancelled call of several effects goes on to its end"
    RETRY_WAITS_FOR_HELD = "5 and 6 before-retry: the next mutating call is forwarded after the held call has finished"
    AFTER_RETRY_LETS_GO_AFTER_COMMIT = (
        "6 after-retry: the held request follows the first later commit, and its call then finishes"
    )
    LOST_REPLY_STAYS_LOST = "3 silence: the answer never reaches the tool server, at the end neither: it sends nothing more"
    TWINS_ARE_STRUCK_ALIKE = (
        "strike every: until one of the twins has succeeded, a call for either is an attempt at the first"
    )
    DRIFT_LOSES_REPLY = "10 over HTTP: the held reply is lost to the tool server too, once the runtime is dead"
    HELD_REQUEST_CONTINUES_OVER_HTTP = "6 released at the end: the call then sends its remaining requests (HTTP)"
    STDIO_SERVER_ENDS_WITH_RUNTIME = "over stdio a blocked tool server does not outlive its runtime: no remaining requests"
    KILL_RELEASES_REPLY = "7, 9 over HTTP: the held reply reaches the tool server once the runtime is dead"
    KILL_TAKES_STDIO_SERVER = "7, 9, 10 over stdio: the next incarnation has a tool server of its own"
    DEADLINE_BINDS_CONDUCTOR = "6 with a look-up that settles: order not come within settles_s is not-applicable: contract"
    GATE_DIES_WITH_SERVER = (
        "6 released at the end, at a gate over stdio: the server that was to write is dead: not-applicable"
    )
    STDIO_CLOSE_WAITS = "closing stdio waits up to 2 s for a tool server that is blocked, longer than a look-up settles"
    SILENT_CLOSE_2026_HTTP = "delivered over HTTP 2026-07-28: a client with nothing more to say is finished first"
    RETENTION_ENDS = "a key is forgotten when its retention is over"
    PROVIDER_KEEPS_ITS_STATE = "provider-crash: effects, keys and references survive the death of the provider's process"
    LOOKUP_FAILS_ONCE = "lookup-failure: the next look-up fails, whatever the manifestation, and no later one"
    SECOND_LIVES_WHILE_FIRST_STANDS = "double-resume: the second life runs from start to end before the first goes on"
    FIRST_GOES_ON_TIMED_OUT = "double-resume: the first goes on with a time-out; the held answer is lost for good"
    FIRST_HAS_THE_LAST_WORD = "double-resume: the outcome that counts is the one written last, the first life's"
    STREAM_IS_RESUMED = "4 resumable: the SDK resumes the broken stream by itself, and its caller is given the answer"
    STATE_IS_ANSWERED = "15 with-state: the call that brings the state back is answered with the result that was kept"
    INPUT_MAKES_IT_AGAIN = (
        "15 without-state: the client sends the call with the input by itself, unchanged, and the tool server makes it again"
    )
    LOST_SESSION_FAILS_NEXT = (
        "8 session-lost: the next message of the old session fails with 404, and is not repeated by itself"
    )
    # what tools and providers do
    KEY_REPLAYS = "same live key, same binding arguments: the first receipt again, no effect"
    KEY_CONFLICTS = "same live key, other binding arguments: mismatch, no effect"
    FREE_ARGUMENTS_DO_NOT_BIND = "a changed free argument is the same request"
    KEY_PER_EFFECT = "a call of several effects carries KEY/i for the i-th"
    TOGETHER_IS_ONE_REQUEST = "one-transaction: both legs are one upstream request, so that none stands alone"
    UNIQUE_REFERENCE_REFUSES = "unique-key: a taken reference is answered isError exists"
    CONDITIONAL_PUT_REFUSES = "conditional-put: an existing path is answered isError exists (or mismatch)"
    SAME_CONTENT_IS_NO_EFFECT = "a put of the same content changes nothing"
    OVERWRITTEN_IS_GONE = "files: an overwritten object is seen only as it finally is"
    IN_PROGRESS_ANSWER = (
        "param-key: a repeat while the first call still runs in the same instance is answered in_progress; "
        "meta-key: in any instance, and after a crash too, until the lease is over"
    )
    STOPPED_ATTEMPT_STALLS = "meta-key: after an attempt whose answer was lost, a repeat is told that it stalled, no effect"
    PAID_IS_UNIQUE = "meta-key: a charge is unique beyond the replay window; a message is not"
    INSTANCE_MEMORY_FORGETS = "instance-memory: a key is remembered by the instance that saw the call succeed, by no other"
    ARGUMENT_HASH_DEDUPLICATES = "argument-hash: equal binding arguments are one effect, whatever the key"
    ARGUMENT_HASH_EXPIRES = "argument-hash: the content is forgotten with the retention, like a key"
    DELETED_IS_NOT_FOUND = "what is deleted cannot be deleted again: not_found, no effect"
    TAKEN_HANDLE_IS_TAKEN = "job-by-handle, hint-honest, calendar: a handle or slot in use gets no second effect"
    KEY_DROPPER_DROPS = "key-dropper: the key never reaches the provider"
    SERVER_REPEATS = "retrying-server: a lost upstream answer is followed by one more upstream request"
    DROPPED_HOLD_IS_REPEATED = (
        "retrying-server over HTTP: a request dropped at the end (2 silence) is repeated then, and commits"
    )
    # what policies do
    BLIND_RETRIES_IS_ERROR = "blind-retry and keyed-blind-retry re-send once on isError"
    BLIND_RETRIES_EXCEPTION = "blind-retry, keyed-blind-retry and mcp-python-retry re-send once on an exception"
    PYTHON_RETRY_IGNORES_IS_ERROR = "mcp-python-retry does not re-send on isError"
    BLIND_READS_NO_ANSWERS = "a refusal that names the existing receipt is an error to those who read no answers"
    KEYED_SENDS_KEY = "keyed-blind-retry carries a key where the contract has one"
    MEMORYLESS_START_OVER = "a policy without memory sends everything again in the next incarnation"
    REST_OF_INTENT_STOPS = "after a call not known committed the rest of its intent is not sent"
    LATER_INTENTS_GO_ON = "later intents are sent all the same"
    TOKEN_RESENDS_WITH_KEY = "token-or-stop re-sends once where the contract has a key"
    TOKEN_MARK_IS_DURABLE = "token-or-stop does not re-send a dispatched tokenless call after a restart"
    TOKEN_IGNORES_DEADLINE = "token-or-stop re-sends with a key whose retention is over"
    LOOKUP_LOOKS = "lookup-or-stop looks up an ambiguous call where the contract has a look-up"
    LOOKUP_AMBIGUOUS_AFTER_RESTART = "lookup-or-stop looks before it sends anything after a restart"
    LEDGER_REMEMBERS_COMMITTED = "reference-ledger never sends again what its record says is committed"
    LEDGER_HEEDS_DEADLINE = "reference-ledger does not re-send with a key whose retention is over"
    LEDGER_SEES_DRIFT = "reference-ledger settles the recorded call, never a changed binding argument"
    LEDGER_LOOKS = "reference-ledger reconciles by look-up where no key protects"
    LEDGER_LOOKS_AGAIN = "reference-ledger repeats a look-up that failed, once"
    LEDGER_CHECKS_OWNER = "reference-ledger does not take a receipt that another of its effects has"
    LEDGER_SENDS_AFTER_SETTLED_NEGATIVE = "reference-ledger sends again what a settled look-up proved absent"
    # how the figures are counted
    STRAY_BEFORE_DUPLICATE = "an effect that matches no slot is a stray, one more than a slot allows a duplicate"
    TORN_IS_NOT_MISSING = "a part of an atomic outcome is torn, its absent part is not missing as well"
    ONE_RECEIPT_TWO_CLAIMS = "twins that claim one receipt: the absent effect is falsely deduplicated, not missing"
    FALSE_COMMITTED_IS_MISREPORTED = "committed, with something absent, is misreported (once it is not false_dedup)"
    READ_NEEDS_COMMITTED = "a read not claimed committed is incomplete"
    LIVE_KEY_IS_AVOIDABLE = "unresolved with a live key is avoidable"
    NATURAL_KEY_IS_AVOIDABLE = "unresolved with a natural key is avoidable"
    SETTLING_LOOKUP_IS_AVOIDABLE = "unresolved with a look-up that settles, or that would find all, is avoidable"
    DELIVERED_IS_AVOIDABLE = "unresolved although the answer had been delivered is avoidable"


Rules = frozenset[Rule]
ALL: Rules = frozenset(Rule)


def flipped(rule: Rule) -> Rules:
    """The model with one rule false."""
    return ALL - {rule}
