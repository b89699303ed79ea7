//! Processes by their ids, on Windows: the programs of the system say what takes unsafe code to ask.

use std::process::{Command, Stdio};

/// Whether there is a process with this id.
pub fn process_exists(pid: u32) -> bool {
    let id = pid.to_string();
    let mut list = output("tasklist", &["/NH", "/FO", "CSV"]);
    if list.is_empty() {
        // Wine's `tasklist` lists nothing, and new versions of Windows have no `wmic`.
        list = output("wmic", &["process", "get", "processid"]);
    }
    list.split(|byte: char| !byte.is_ascii_digit()).any(|word| word == id)
}

/// What a program writes, without the zeros of UTF-16.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let bytes = output.expect("the program is part of Windows").stdout;
    bytes.into_iter().filter(|byte| *byte != 0).map(char::from).collect()
}

/// Kills a process, and none of its children.
pub(crate) fn kill(pid: u32) {
    let mut command = Command::new("taskkill");
    command.args(["/F", "/PID", &pid.to_string()]).stdin(Stdio::null()).stdout(Stdio::null());
    assert!(command.status().expect("Windows has taskkill").success(), "the process is ours");
}
