//! Secrets: in headers and bodies, never in URLs, errors or debug output.

use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{Deviation, Endpoint};
use mcpwire_tests::authorization::{Web, echo};
use mcpwire_tests::watched;
use serde_json::json;

use crate::secs;

#[test]
fn t2_tokens_are_never_in_urls() {
    watched(|| {
        let web = Web::new();
        web.authorization.token_lifetime(secs(100)).deviate(Deviation::RegisterWithSecret);
        web.run(web.oauth(), async |client| {
            web.time.sleep(secs(200)).await;
            echo(&client).await.expect("the token is refreshed");
        });
        let secrets = web.authorization.secrets();
        assert!(secrets.len() >= 6, "{secrets:?}");
        for request in web.authorization.requests().iter().chain(&web.server.requests()) {
            assert!(!secrets.iter().any(|secret| request.url.contains(secret)), "{}", request.url);
        }
    });
}

#[test]
fn t3_a_server_gets_no_token_of_another_authorization_server() {
    watched(|| {
        let (first, second) = (
            mcpwire_testkit::authorization::AuthorizationServer::new(),
            mcpwire_testkit::authorization::AuthorizationServer::at("https://other.test"),
        );
        let web = Web::with(&first);
        web.run(web.oauth(), async |client| {
            web.server.move_to(&second);
            echo(&client).await.expect("the user logs in at the other server");
        });
        let sent = |server: &mcpwire_testkit::authorization::AuthorizationServer| {
            server
                .requests()
                .iter()
                .map(|request| format!("{} {} {:?}", request.url, request.body, request.headers))
                .collect::<Vec<_>>()
                .concat()
        };
        assert!(first.secrets().iter().all(|secret| !sent(&second).contains(secret)));
        assert!(second.secrets().iter().all(|secret| !sent(&first).contains(secret)));
    });
}

#[test]
fn t4_errors_and_debug_output_contain_no_secrets() {
    watched(|| {
        let web = Web::new();
        web.authorization.token_lifetime(secs(100)).deviate(Deviation::RegisterWithSecret);
        let oauth = web.build(web.oauth());
        let mut texts = Vec::new();
        web.time.run(async {
            let client = web.client(&oauth);
            client.initialize().await.expect("the user logs in");
            texts.push(format!("{oauth:?} {client:?} {:?} {:?}", oauth.status().await, web.store));
            web.time.sleep(secs(200)).await;
            // The server repeats what it got.
            let authorization = web.authorization.clone();
            web.authorization.on_request(move |request| {
                let is_refresh = request.url.ends_with("/token");
                // A code is worth nothing once it was used, and the client does not keep it.
                let tokens = authorization.secrets().into_iter().filter(|secret| !secret.starts_with("code-"));
                let told = format!("{} {:?} {:?}", request.body, request.headers, tokens.collect::<Vec<_>>());
                is_refresh
                    .then(|| HttpAnswer::json(400, json!({"error": "invalid_request", "error_description": told})))
            });
            let error = echo(&client).await.expect_err("the refresh is refused");
            texts.push(format!("{error} {error:?}"));
            texts.push(format!("{:?}", oauth.logout(true).await));
        });
        let secrets = web.authorization.secrets();
        let sent = [Endpoint::Authorization].map(|endpoint| web.authorization.requests_to(endpoint)).concat();
        let state = sent[0].parameter("state").expect("a state");
        for text in &texts {
            let leaked: Vec<_> = secrets.iter().chain([&state]).filter(|secret| text.contains(*secret)).collect();
            assert!(leaked.is_empty(), "{leaked:?} in {text}");
        }
    });
}
