//! Calls and lists of the async client: their deadlines and options, and that each ends, whatever a server does.

use std::time::Duration;

use mcpwire_driver::protocol::{
    CallError, CallTool, CallToolParams, CompleteParams, CompletionReference, Deadline, Json, ListResources,
    RequestOptions,
};
use mcpwire_driver::{ConnectOptions, Error, ErrorKind, McpClient};
use mcpwire_testkit::simulation::{Simulation, script};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, Testkit, VirtualTime};
use serde_json::json;

const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// A server whose list of resources has always one page more, under a cursor that is always new.
fn endless(latency: Duration) -> ScriptedServer {
    let server = ScriptedServer::new().capabilities(json!({"resources": {}})).latency(latency);
    server.on("resources/list", |params: &Json| {
        let page: u64 = params.member::<String>("cursor").and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        ScriptedResponse::new().result(json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "resources": [{"uri": format!("a:{page}"), "name": "a"}], "nextCursor": (page + 1).to_string(),
        }))
    })
}

#[track_caller]
fn assert_timeout<T>(result: &Result<T, Error>, total: Duration) {
    let error = result.as_ref().err().and_then(Error::call_error);
    let Some(CallError::Timeout { after, deadline, .. }) = error else { panic!("it ends in another way: {error:?}") };
    assert_eq!((*after, *deadline), (total, Deadline::Total));
}

#[test]
fn pages_that_are_just_in_time_have_one_deadline() {
    let kit = Testkit::new(endless(secs(29)));
    kit.run(async |client| {
        let begun = kit.time().elapsed();
        assert_timeout(&client.list_resources().await, secs(3600));
        assert_eq!(kit.time().elapsed(), begun + secs(3600));
        let options = RequestOptions::new().total_timeout(secs(100));
        assert_timeout(&client.list_all_with::<ListResources>(&options).await, secs(100));
        assert_eq!(kit.time().elapsed(), begun + secs(3700));
        // The page that was on its way is given up, and the connection is as good as before.
        client.ping().await.expect("it answers");
    });
    assert_eq!(kit.server().cancellations().len(), 2);
    let asked = kit.server().requests().iter().filter(|request| request.method == "resources/list").count();
    assert_eq!(asked, 3600 / 29 + 1 + 100 / 29 + 1);
}

#[test]
fn pages_that_come_at_once_are_a_thousand() {
    let kit = Testkit::new(endless(Duration::ZERO));
    let listed = kit.run(async |client| client.list_resources().await).expect("what there was");
    assert_eq!((listed.items.len(), kit.server().requests().len()), (1_000, 1_001));
}

#[test]
fn the_server_gets_the_reason_of_a_cancelled_request() {
    let kit = Testkit::new(ScriptedServer::new().tool("never", |_| ScriptedResponse::new()));
    kit.run(async |client| {
        let params = CallToolParams { name: "never", arguments: &json!({}) };
        let pending = client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent");
        pending.cancel("the user has changed their mind");
        client.list_tools().await.expect("it answers");
    });
    let cancelled = kit.server().cancellations();
    assert_eq!(cancelled[0].reason.as_deref(), Some("the user has changed their mind"));
}

#[test]
fn requests_of_resources_prompts_and_completions_have_options() {
    let capabilities = json!({"tools": {}, "resources": {}, "prompts": {}, "completions": {}});
    let silent = ["resources/read", "prompts/get", "completion/complete"];
    let server = ScriptedServer::new().capabilities(capabilities);
    let server = silent.into_iter().fold(server, |server, method| server.on(method, |_| ScriptedResponse::new()));
    let kit = Testkit::new(server);
    let options = RequestOptions::new().timeout(Duration::from_secs(1));
    let errors = kit.run(async |client| {
        let params = CompleteParams::new(CompletionReference::Prompt { name: "p" }, "name", "a");
        [
            client.read_resource_with("a:b", &options).await.expect_err("nobody answers"),
            client.get_prompt_with("p", (), &options).await.expect_err("nobody answers"),
            client.complete_with(&params, &options).await.expect_err("nobody answers"),
        ]
    });
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    }
    assert_eq!(kit.time().elapsed().as_secs(), 3);
}

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
