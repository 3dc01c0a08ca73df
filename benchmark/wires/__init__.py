"""Proxies of ours on every connection of a cell: tool wire (stdio, HTTP), provider wire, gate."""
