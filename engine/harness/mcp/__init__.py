"""Tools of MCP servers: what a server lists is read with distrust, approved by a person, and called from any thread.

A server is a program or an address that the user named. Nothing of it runs before a person approved its entry, and
none of its tools is offered before a person approved the list of them; a list that changes waits to be approved again.
The SDK is imported when the first server starts, never before.
"""

from engine.harness.mcp.approvals import ApprovalStore
from engine.harness.mcp.entries import Entry, EntryProblem, HttpEntry, SecretOf, StdioEntry, entries_of
from engine.harness.mcp.listing import Listing
from engine.harness.mcp.toolbox import McpToolbox, ServerStatus
from engine.harness.mcp.values import Health, Limits, ServerFailed

__all__ = [
    "ApprovalStore",
    "Entry",
    "EntryProblem",
    "Health",
    "HttpEntry",
    "Limits",
    "Listing",
    "McpToolbox",
    "SecretOf",
    "ServerFailed",
    "ServerStatus",
    "StdioEntry",
    "entries_of",
]
