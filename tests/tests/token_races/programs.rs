//! Programs that share a stored login: they change it behind each other's back, and end while a token is refreshed.

use std::time::{Duration, Instant};
use std::{fs, thread};

use mcpwire_authorization::OAuth;
use mcpwire_tokio::McpClient;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::{Scene, block_on, connect};

/// Time for which the authorization server holds its responses back.
const SLOW: Duration = Duration::from_secs(2);

/// Time after which a test fails.
const WATCHDOG: Duration = Duration::from_secs(300);

/// Connects, and calls a tool until the refresh token is used up. The response to the refresh is on its way.
async fn refreshing(scene: &Scene) -> (McpClient, OAuth) {
    let oauth = scene.oauth_without_user();
    let client = connect(&scene.server.url(), oauth.clone()).await.unwrap();
    let refreshes = scene.server.refreshes();
    scene.server.refuse_access_tokens();
    scene.server.delay_tokens(SLOW);
    let sent = async {
        while !scene.server.has_used_up_refresh_token(refreshes) {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        result = client.call_tool("echo", json!({})) => panic!("too early: {result:?}"),
        () = sent => {}
    }
    assert!(!scene.has_stored_newest());
    (client, oauth)
}

/// How a program ends or waits while the response to its refresh is on its way.
type End = fn(&Scene, Runtime);

const ENDS: [(&str, End); 3] = [
    ("its client and its runtime are dropped", |scene, runtime| {
        drop(runtime.block_on(refreshing(scene)));
        drop(runtime);
        let start = Instant::now();
        while !scene.has_stored_newest() {
            assert!(start.elapsed() < WATCHDOG, "the new token is lost");
            thread::sleep(Duration::from_millis(5));
        }
    }),
    ("its client is shut down", |scene, runtime| {
        runtime.block_on(async {
            let (client, _) = refreshing(scene).await;
            client.shutdown().await.unwrap();
        });
    }),
    ("the program waits for it", |scene, runtime| {
        runtime.block_on(async {
            let (_, oauth) = refreshing(scene).await;
            oauth.settle().await.unwrap();
        });
    }),
];

#[test]
fn the_token_of_a_refresh_is_stored_when_the_client_is_dropped_or_shut_down_or_the_program_waits() {
    // All cases run at the same time, because they wait for slow responses. A thread has the name of its case.
    thread::scope(|scope| {
        for (name, end) in ENDS {
            for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
                let case = move || {
                    let (scene, runtime) = (Scene::new(), builder.worker_threads(1).enable_all().build().unwrap());
                    end(&scene, runtime);
                    assert!(scene.has_stored_newest());
                    scene.server.delay_tokens(Duration::ZERO);
                    scene.check_alive();
                    assert_eq!(scene.server.lost_logins(), 0);
                };
                thread::Builder::new().name(name.into()).spawn_scoped(scope, case).unwrap();
            }
        }
    });
}

#[test]
fn a_running_program_takes_the_login_that_another_one_has_made_after_a_logout() {
    let scene = Scene::new();
    block_on(async {
        let running = connect(&scene.server.url(), scene.oauth_without_user()).await.unwrap();
        for _ in 0..3 {
            scene.server.refuse_access_tokens();
            running.call_tool("echo", json!({})).await.unwrap();
        }
        let other = scene.oauth();
        other.logout(true).await.unwrap();
        let error = running.call_tool("echo", json!({})).await.unwrap_err();
        assert!(error.to_string().contains("wants a login"), "{error}");
        other.login().await.unwrap();
        running.call_tool("echo", json!({})).await.unwrap();
    });
    assert_eq!(scene.server.lost_logins(), 0);
}

#[test]
fn a_damaged_login_is_an_error_that_names_the_file_until_the_user_logs_in_again() {
    let scene = Scene::new();
    let file = scene.file();
    let whole = fs::read(&file).unwrap();
    let damaged = &whole[..whole.len() / 2];
    fs::write(&file, damaged).unwrap();
    block_on(async {
        let error = connect(&scene.server.url(), scene.oauth_without_user()).await.unwrap_err().to_string();
        let path = file.display().to_string();
        assert!(error.contains(&path) && error.contains("damaged; log in again"), "{error}");
        assert_eq!(fs::read(&file).unwrap(), damaged, "it is not deleted");

        scene.oauth().login().await.unwrap();
        connect(&scene.server.url(), scene.oauth_without_user()).await.unwrap();
    });
}
