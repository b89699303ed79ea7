//! Step-up: a login for more scopes, a limited number of times.

use mcpwire_authorization::LoginRequired;
use mcpwire_driver::ErrorKind;
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{Endpoint, ResourceDeviation};
use mcpwire_tests::authorization::{Web, echo};
use serde_json::json;

use crate::grants;

fn scopes(web: &Web) -> Vec<String> {
    let logins = web.logins();
    logins.iter().map(|login| login.parameter("scope").unwrap_or_default()).collect()
}

#[test]
fn o17_u6_missing_scopes_lead_to_a_login_with_all_of_them_and_not_to_a_refresh() {
    for (name, deviation) in [("by 403", None), ("by 401", Some(ResourceDeviation::MissingScopesAs401))] {
        let web = Web::new();
        web.server.require("", "base").require("tools/call echo", "echo:run");
        if let Some(deviation) = deviation {
            web.server.deviate(deviation);
        }
        web.run(web.oauth(), async |client| {
            echo(&client).await.expect("the user agrees to the scope");
            echo(&client).await.expect("the token has the scope");
        });
        assert_eq!(scopes(&web), ["base", "base echo:run"], "{name}");
        assert_eq!(grants(&web.token_requests()), ["authorization_code"; 2], "{name}");
    }
}

#[test]
fn o17_u4_a_server_that_never_has_enough_ends_after_three_logins() {
    for deviations in [
        &[][..],
        &[ResourceDeviation::OmitMissingScopes],
        &[ResourceDeviation::MissingScopesAs401],
        &[ResourceDeviation::MissingScopesAs401, ResourceDeviation::OmitMissingScopes],
    ] {
        let web = Web::new();
        web.server.scopes_supported(["base"]);
        web.run(web.oauth(), async |client| {
            web.server.require("", "base").deviate(ResourceDeviation::WantMoreScopes);
            for deviation in deviations {
                web.server.deviate(deviation.clone());
            }
            // The count goes on from call to call.
            for _ in 0..3 {
                echo(&client).await.expect_err("no token suffices");
            }
        });
        assert!(web.logins().len() <= 4, "{deviations:?}: {:?}", scopes(&web));
    }
}

#[test]
fn u5_each_operation_has_its_own_count() {
    let web = Web::new();
    web.server.require("tools/call echo", "echo:run").require("tools/call other", "other:run");
    web.run(web.oauth(), async |client| {
        echo(&client).await.expect("the user agrees to the first scope");
        client.call_tool("other", ()).await.expect("the user agrees to the second scope");
        echo(&client).await.expect("the token has both");
    });
    assert_eq!(scopes(&web), ["", "echo:run", "echo:run other:run"]);
}

#[test]
fn u1_without_a_user_the_error_names_the_scopes() {
    let web = Web::new();
    web.server.require("tools/call echo", "echo:run");
    web.run(web.oauth_after_login(), async |client| {
        let error = echo(&client).await.expect_err("the scope is missing");
        assert_eq!(error.kind(), ErrorKind::LoginRequired);
        let required = LoginRequired::find(&error).expect("the error says which");
        assert_eq!(required.scopes.as_ref().map(ToString::to_string).as_deref(), Some("echo:run"));
        client.call_tool("other", ()).await.expect("other tools still work");
    });
}

#[test]
fn a_step_up_that_returns_the_same_access_token_ends_what_was_cached() {
    let web = Web::new();
    let authorization = web.authorization.clone();
    let has_stepped_up = move || authorization.requests_to(Endpoint::Token).len() > 1;
    let may_call = has_stepped_up.clone();
    web.server.on_request(move |request| {
        let challenge = r#"Bearer error="insufficient_scope", scope="echo:run""#;
        let is_refused = request.method() == "tools/call" && !may_call();
        is_refused.then(|| HttpAnswer::status(403).header("WWW-Authenticate", challenge))
    });
    web.server.over_http(|http| {
        http.on_request(move |request| {
            let names = if has_stepped_up() { &["echo", "more"][..] } else { &["echo"] };
            let tools: Vec<_> =
                names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect();
            let result = json!({"resultType": "complete", "tools": tools, "ttlMs": 3_600_000, "cacheScope": "private"});
            let answer = json!({"jsonrpc": "2.0", "id": request.message.member::<u64>("id"), "result": result});
            (request.method() == "tools/list").then(|| HttpAnswer::json(200, answer))
        })
    });
    web.run(web.oauth(), async |client| {
        let names = async || {
            let tools = client.list_tools().await.expect("it lists its tools");
            tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!((names().await, names().await), (vec!["echo".into()], vec!["echo".into()]));
        let requests = web.server.requests();
        let header = requests.iter().rev().find_map(|request| request.header("Authorization"));
        let token = header.and_then(|header| header.strip_prefix("Bearer ")).expect("it was sent");
        let answer = json!({"access_token": token, "token_type": "Bearer", "expires_in": 3600, "scope": "echo:run"});
        web.authorization.answer_next(Endpoint::Token, HttpAnswer::json(200, answer));
        echo(&client).await.expect("the user agrees to the scope");
        assert_eq!(names().await, ["echo", "more"]);
        assert_eq!(client.tools().len(), 2);
    });
    assert_eq!(scopes(&web), ["", "echo:run"]);
}
