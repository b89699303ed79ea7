//! The life of many servers, without any process: what the supervisor decides, in simulated time.

mod classify;
mod life;
mod service;
mod tools;
mod upkeep;
