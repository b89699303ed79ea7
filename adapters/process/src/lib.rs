//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its features `blocking` and `async`; its API may change in any release.
//!
//! Starts and ends the processes of MCP servers, for the adapters of mcpwire.
//!
//! An adapter starts a server from an [`McpServerDef`] with [`RunningServer::start`], converts its [`Pipes`] to streams of its
//! runtime, and ends the process with [`ProcessShutdown`]. Dropping a [`Process`] kills the server and the processes that the
//! server started.
//!
//! # Which processes are ended
//!
//! | process | Linux | other Unix systems | Windows | other systems |
//! |---|---|---|---|---|
//! | the server, even if it has moved to another process group | yes | yes | yes | yes |
//! | a descendant in the server's process group | yes | yes | yes | no |
//! | a descendant that has left the group (`setpgid`, `setsid`), while its parents run | yes | no | yes | no |
//! | a descendant that has left the group, and whose parent has exited before (a daemon) | no | no | yes | no |
//! | all of them, if this program is killed | no | no | yes | no |
//!
//! On Windows, a server and its descendants are in a job object. A process cannot leave the job, and the system kills all
//! processes of the job when its last handle is closed.
//!
//! On Linux, a shutdown lists the children of each process (`/proc/<pid>/task/<tid>/children`) before it closes the server's
//! input and before each signal. When a process exits, its children become children of the init process. Nothing then shows which
//! server has started them. To end these processes too, run the program in a container or control group, and end that.
//!
//! # Programs on Windows
//!
//! A command is found as a shell finds it: in the directories of `PATH`, with the extensions of `PATHEXT` that the system can start
//! (`.com`, `.exe`, `.bat`, `.cmd`). An empty entry of `PATH` does not mean the current directory. A script (`.bat`, `.cmd`) is run
//! by `cmd.exe`, and gets each argument unchanged. An argument that a script may not get unchanged, because it contains `%` or a
//! line break, is an error before the start. A program gets all arguments without a shell.
//!
//! # Terminals
//!
//! Ctrl-C, Ctrl-\\ and Ctrl-Z at the terminal of the program do not reach a server. The server sees the end of its input when
//! the program ends. On Windows, a server has a console of its own, without a window.
//!
//! With the feature `setsid`, each server runs in a new session, without a controlling terminal. It cannot open `/dev/tty`, and
//! it cannot move to another process group. Without the feature, a server can write to the terminal of the program and read the
//! user's input, although it is in a background process group. With the feature, this still applies to a program of a foreign
//! format, such as one for another processor: it runs only in a new process group. The feature is optional because it adds seven
//! crates and 6 KiB.
//!
//! [`McpServerDef`]: mcpwire_client::McpServerDef

#![cfg_attr(docsrs, feature(doc_cfg))]

// | file | content |
// |---|---|
// | `process` | `Process`: a server's process, or what a launcher has started |
// | `local`, `procfs` | starts a process in a new group, session or job; detects its exit, and signals it and its descendants |
// | `spawn`, `program_file`, `pipes` | finds the program of a server and starts it; `check_descriptors` |
// | `end_of_stream` | `EndOfStream`: decides when the connection to a server has ended |
// | `shutdown` | `ProcessShutdown`: ends a server step by step |

mod end_of_stream;
mod local;
mod pipes;
mod process;
#[cfg(target_os = "linux")]
pub mod procfs;
mod program_file;
mod shutdown;
mod spawn;

pub use end_of_stream::{EndOfStream, ExitPolling};
pub use local::{kill_children, kill_tree};
pub use pipes::Pipes;
pub use process::{ExitHandle, Process, RunningServer};
pub use shutdown::{ProcessShutdown, ShutdownAction};
pub use spawn::check_descriptors;
