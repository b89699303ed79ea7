//! What the tests of the engine are made of: servers in simulated time ([`sim`]), the bodies of the fuzz targets ([`fuzz`]), the
//! official schemas ([`spec`]), an allocator that counts, and a watchdog for tests that could hang.

mod canned;
mod counting;
pub mod fuzz;
pub mod sim;
pub mod spec;
mod watchdog;

pub use canned::{Canned, KeyOrder};
pub use counting::{Allocated, Counting, allocated, given_back, watch};
pub use watchdog::{WATCHDOG, timed, watched};
