//! The blocking client on servers in this process: over pipes, over whole messages, and with a list that does not end.

mod streams;
mod whole_messages;
