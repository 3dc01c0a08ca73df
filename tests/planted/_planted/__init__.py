"""What the planted runtimes share: an honest walk over the intents, into which each of them plants one fault."""
