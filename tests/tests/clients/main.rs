//! Clients on servers with one habit each, good or bad; nearly all of it on every adapter.
//!
//! All are one program, which is linked once. What measures the process that it runs in has a program of its own beside this.

mod callbacks;
mod contract;
mod few_functions_to_a_write;
mod handlers;
mod listings;
mod many_callers;
mod matrix;
mod notifications;
mod observers;
mod opening;
mod panics;
mod requests_in_the_background;
mod results_match_their_schemas;
mod shutdown;
mod streams;
mod ten_programs;
mod tool_clients;
mod traces;
mod vocabulary;
