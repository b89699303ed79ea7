//! The protocol without any input or output: messages go in, messages come out, and time is what a test says that it is.

mod any_format;
mod caching;
mod client_operations;
mod elicitation;
mod fuzz_targets;
mod handshake;
mod json_read;
mod json_traps;
mod json_written;
mod limits;
mod no_server_goes_on_for_ever;
mod official;
mod parameters;
mod received;
mod requests;
mod revisions;
mod round_trips;
mod rounds;
mod sampling;
mod server_features;
mod server_requests;
mod structured;
mod subscriptions;
mod subscriptions_legacy;
mod tasks;
mod tool_search;
