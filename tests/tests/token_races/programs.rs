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

/// Runs a test on a runtime of one thread and on one of two, at the same time, and checks that the login is alive afterwards.
fn on_each_runtime(test: impl Fn(&Scene, Runtime) + Sync) {
    let builders = [Builder::new_current_thread(), Builder::new_multi_thread()];
    thread::scope(|scope| {
        for mut builder in builders {
            let test = &test;
            scope.spawn(move || {
                let scene = Scene::new();
                test(&scene, builder.worker_threads(1).enable_all().build().unwrap());
                scene.server.delay_tokens(Duration::ZERO);
                scene.check_alive();
                assert_eq!(scene.server.lost_logins(), 0);
            });
        }
    });
}

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

#[test]
fn a_refresh_goes_on_when_its_client_and_its_runtime_are_dropped() {
    on_each_runtime(|scene, runtime| {
        drop(runtime.block_on(refreshing(scene)));
        drop(runtime);
        let start = Instant::now();
        while !scene.has_stored_newest() {
            assert!(start.elapsed() < WATCHDOG, "the new token is lost");
            thread::sleep(Duration::from_millis(5));
        }
    });
}

#[test]
fn the_shutdown_of_a_client_waits_until_the_new_token_is_stored() {
    on_each_runtime(|scene, runtime| {
        runtime.block_on(async {
            let (client, _) = refreshing(scene).await;
            client.shutdown().await.unwrap();
        });
        assert!(scene.has_stored_newest());
    });
}

#[test]
fn a_program_can_wait_until_the_new_token_is_stored() {
    on_each_runtime(|scene, runtime| {
        runtime.block_on(async {
            let (_, oauth) = refreshing(scene).await;
            oauth.settle().await.unwrap();
        });
        assert!(scene.has_stored_newest());
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
