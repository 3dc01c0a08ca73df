"""A kit for authors of tool adapters: an MCP server whose configuration is the published contract.

An adapter's ``server.py`` calls ``serve(__file__)``; the ``tool.toml`` beside it says which tools there are, what
they declare, and (in ``[tools.X.serving]``, see ``Serving``) which upstream request each makes. Both revisions of MCP
are served, over stdio and Streamable HTTP.

All servers behave alike: a call runs in a thread and finishes even if it is cancelled (unless ``on_cancel =
"abort"``); each effect takes one upstream request, never repeated, without a time limit; keys are optional and never
filled in; a lost upstream answer becomes ``isError`` with code ``upstream_unknown``, after which the call sends
nothing more.

What an adapter may add, as keywords of ``serve``:

- ``around(step, send)`` stands around each upstream request and answers with its ``Reply`` (default: ``send(step)``);
- ``prepare(root, fields)``, for a provider without a network: checks the fields (raises ``Invalid``, or ``Taken`` where a
  key is in use with others) and returns the mutation, a function without arguments that makes the effect and returns what it
  ``Made``. It runs between the two brackets of the gate;
- ``guard(assignment)`` makes what stands around every call that carries a key, see ``Guard``.
"""

from benchmark.toolserver import icalendar
from benchmark.toolserver.answers import Result
from benchmark.toolserver.arguments import Invalid, Taken, relative
from benchmark.toolserver.assignment import Assignment
from benchmark.toolserver.calls import Guard
from benchmark.toolserver.program import serve
from benchmark.toolserver.steps import Around, Lost, Made, Prepare, Reply, Send, Serving, Step

__all__ = [
    "Around",
    "Assignment",
    "Guard",
    "Invalid",
    "Lost",
    "Made",
    "Prepare",
    "Reply",
    "Result",
    "Send",
    "Serving",
    "Step",
    "Taken",
    "icalendar",
    "relative",
    "serve",
]
