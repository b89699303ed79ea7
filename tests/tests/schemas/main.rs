//! The official schemas: what they define is here, and what is sent is what they ask for.

mod coverage;
mod what_is_generated;
mod what_is_sent;
