//! Reacts to errors by their kind.

use std::time::Duration;

use mcpwire::blocking::open;
use mcpwire::{Error, ErrorKind, McpServerDef};

pub(crate) fn run(def: &McpServerDef) -> Result<(), Error> {
    let mut client = open(def).wait()?;
    let unknown = client.call_tool("no-such-tool", ()).send();
    let late = client.call_tool("slow", [("seconds", 60)]).timeout(Duration::from_millis(100)).send();
    for error in [unknown, late].into_iter().filter_map(Result::err) {
        println!("{error}");
        println!("  {}", advice(&error));
    }
    client.shutdown()?;
    Ok(())
}

fn advice(error: &Error) -> String {
    match error.kind() {
        ErrorKind::ToolNotFound => "list the tools again".into(),
        ErrorKind::Timeout => "allow more time; the tool may have run".into(),
        ErrorKind::Unauthorized => "log in, and connect again".into(),
        ErrorKind::Server => "correct the arguments".into(),
        ErrorKind::Start | ErrorKind::Connect | ErrorKind::Closed => {
            "read the server's stderr, and connect again".into()
        }
        _ if error.is_retryable() => {
            format!("try again in {:?}", error.retry_after().unwrap_or(Duration::from_secs(1)))
        }
        kind => format!("report this error ({kind})"),
    }
}
