//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its features `http`, `file-store` and `hub`; its API may change in any release.
//!
//! Opens, reads and replaces files safely: a replaced file survives a crash, and secrets stay private to the user.
//!
//! | file | content |
//! |---|---|
//! | `regular` | [`open_regular`], [`read_regular`], ...: files whose paths come from the user or from a configuration |
//! | `output` | [`create_output`]: files that the user names for output |
//! | `error` | `FileError`: names the file, the reason, and what to do |
//! | `fs` | `Fs`: the file operations, which tests replace; `SystemFs`: those of the system, with locks across processes |
//! | `trusted` | `check_trusted`: refuses what others could change or replace; `read_private`: reads what only this user may read |
//! | `replace` | `replace`: replaces a file atomically; `remove_leftovers`: removes the temporary files of killed programs |
//! | `unix`, `windows` | permissions, owners and kinds of files |
//! | `faults` | `FaultyFs`: a file system for tests that fails or loses power |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "replace")]
mod error;
#[cfg(feature = "faults")]
pub mod faults;
#[cfg(feature = "replace")]
#[clippy::msrv = "1.89"]
mod fs;
mod output;
mod regular;
#[cfg(feature = "replace")]
#[clippy::msrv = "1.89"]
mod replace;
#[cfg(feature = "replace")]
mod trusted;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(not(unix))]
use windows as system;

#[cfg(feature = "replace")]
pub use error::FileError;
#[cfg(feature = "replace")]
pub use fs::{Fs, NewFile, SystemFs};
pub use output::create_output;
pub use regular::{Links, open_regular, read_file_or_pipe, read_open_file, read_regular, read_to_end};
#[cfg(feature = "replace")]
pub use replace::{check_replace, remove_leftovers, replace, replace_for_now};
pub use system::{check_link, check_own_file, make_private};
#[cfg(feature = "replace")]
pub use trusted::{check_private_directory, check_private_file, check_trusted, read_private};
