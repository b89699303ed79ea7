//! Whatever a server does, each call ends, with a result or an error that says whose fault it is.

use std::time::Duration;

use mcpwire_client::ErrorKind;
use mcpwire_driver::{ConnectOptions, McpClient};
use mcpwire_testkit::VirtualTime;
use mcpwire_testkit::simulation::{Simulation, script};

/// The longest that a call may take.
const TOTAL: Duration = Duration::from_secs(300);

async fn three_calls(client: McpClient<VirtualTime>) -> Result<(), String> {
    for tool in ["a", "b", "a"] {
        match client.call_tool(tool, ()).await {
            Ok(_) => {}
            Err(error) => match error.kind() {
                ErrorKind::Timeout | ErrorKind::Server | ErrorKind::Protocol | ErrorKind::Closed | ErrorKind::Input => {
                }
                kind => return Err(format!("{kind}: {error}")),
            },
        }
    }
    Ok(())
}

#[test]
fn calls_end() {
    let options = || ConnectOptions::default().timeout(Duration::from_secs(60)).total_timeout(TOTAL);
    // Three calls, and the opening of the connection.
    let simulation = Simulation::new().cases(500).client_options(options).time_limit(4 * TOTAL);
    simulation.check_client(script(["a", "b"]), three_calls);
}

/// The property above can fail: calls without timeouts do not end.
#[test]
fn a_call_without_a_timeout_is_found() {
    let options = || ConnectOptions::default().timeout(Duration::MAX).total_timeout(Duration::MAX);
    let simulation = Simulation::new().client_options(options).time_limit(4 * TOTAL);
    let failure = simulation.find_client_fault(script(["a", "b"]), three_calls).expect_err("a server is silent");
    assert_eq!(failure.script.steps.len(), 1, "{failure}");
    assert!(failure.reason.contains("has not ended within"), "{failure}");
}
