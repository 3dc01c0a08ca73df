"""The scripted model: a deterministic function of the conversation that it is sent, in the dialects that runtimes speak.

``conversation`` is what every dialect is read into; ``script`` decides; ``tellings`` understands what a framework tells the
model about a call; ``chat``, ``responses`` and ``messages`` read and write one dialect each. Pure: it survives restarts
because it remembers nothing.
"""
