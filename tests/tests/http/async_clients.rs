//! What async clients have beside that which all have in common, over HTTP: clones of a client, and calls that are dropped.

use std::sync::Arc;

use mcpwire_driver::http::HttpOptions;
use mcpwire_driver::protocol::SendError;
use mcpwire_driver::{ConnectOptions, McpClient};
use mcpwire_http::{Client, ClientOptions};
use mcpwire_tests::asynchronous::{Host, Threads, begun, eventually};
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{on_every_async_adapter, watched};

async fn open<H: Host>(web: &Web) -> McpClient<H::Runtime> {
    McpClient::connect_and_initialize(&web.def()).await.expect("it opens")
}

fn who_drops_a_call_closes_its_stream<H: Host>() {
    let web = Web::modern(|_, reply| {
        reply.stream();
        reply.until_closed();
    });
    H::start().block_on(async {
        let client = open::<H>(&web).await;
        let mut given_up = Box::pin(client.call_tool("echo", ()).send());
        assert!(begun(&mut given_up).await.is_none());
        eventually::<H>(|| web.count("tools/call") == 1).await;
        drop(given_up);
        eventually::<H>(|| web.left() == 1).await;
        // The last client takes all with it.
        let clone = client.clone();
        let mut waiting = Box::pin(async move { clone.call_tool("echo", ()).await });
        assert!(begun(&mut waiting).await.is_none());
        eventually::<H>(|| web.count("tools/call") == 2).await;
        drop((waiting, client));
        eventually::<H>(|| web.left() == 2).await;
    });
}

fn nothing_is_sent_after_the_end<H: Host>() {
    let web = Web::legacy(|request, reply| reply.json(200, &request.answer(said("old"))));
    H::start().block_on(async {
        let client = open::<H>(&web).await;
        client.shutdown().await.unwrap();
        let refused = client.call_tool("echo", ()).await;
        assert_eq!(refused.expect_err("it is closed").send_error(), Some(&SendError::Closed));
    });
    // The server may come to look at what opened its own stream, on another connection, later than that.
    let sent: Vec<String> =
        web.requests().into_iter().map(|request| request.verb).filter(|verb| verb != "GET").collect();
    assert_eq!(sent.last().map(String::as_str), Some("DELETE"));
}

on_every_async_adapter!(who_drops_a_call_closes_its_stream, nothing_is_sent_after_the_end);

#[test]
fn a_runtime_that_is_written_by_hand_is_enough() {
    watched(|| {
        let web = Web::modern(|request, reply| reply.json(200, &request.answer(said("fine"))));
        let http = Client::new(Arc::new(Threads), ClientOptions::default()).expect("there is a client");
        let options = ConnectOptions::default().http(HttpOptions::default().client(http));
        let client = McpClient::<()>::connect_on(Arc::new(Threads), &web.def(), options).expect("it is made");
        let result = ::smol::block_on(async {
            client.initialize().await?;
            client.call_tool("echo", ()).await
        });
        assert_eq!(result.expect("it is answered").text().into_string(), "fine");
    });
}
