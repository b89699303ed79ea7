//! An MCP server that wants a login, and its authorization server, over real HTTP on this machine.

fn main() {}
