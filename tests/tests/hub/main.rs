//! Hubs on each runtime that they run on.
#![cfg(target_os = "linux")]

mod logins;
mod on_another_runtime;
mod readme_example;
