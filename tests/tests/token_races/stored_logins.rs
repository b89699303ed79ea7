//! Programs that share a stored login, and change it behind each other's back.

use std::fs;

use mcpwire_authorization::OAuth;
use mcpwire_tokio::http::HttpOptions;
use mcpwire_tokio::protocol::Config;
use mcpwire_tokio::{ConnectOptions, McpClient, McpServerDef};
use serde_json::json;

use crate::{Scene, block_on};

async fn connect(scene: &Scene, oauth: OAuth) -> Result<McpClient, mcpwire_tokio::Error> {
    let options = ConnectOptions::new(Config::new("races", "1")).http(HttpOptions::default().authorizer(oauth));
    let client = McpClient::connect_with(&McpServerDef::http(scene.server.url()), options)?;
    client.initialize().await?;
    Ok(client)
}

#[test]
fn a_running_program_takes_the_login_that_another_one_has_made_after_a_logout() {
    let scene = Scene::new();
    block_on(async {
        let running = connect(&scene, scene.oauth_without_user()).await.unwrap();
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
    let directory = scene.directory.path().join("logins");
    let mut files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let is_login = |name: &str| name.starts_with("token-") && !name.contains('.');
    let file = files.find(|path| is_login(path.file_name().unwrap().to_str().unwrap())).unwrap();
    let whole = fs::read(&file).unwrap();
    let damaged = &whole[..whole.len() / 2];
    fs::write(&file, damaged).unwrap();
    block_on(async {
        let error = connect(&scene, scene.oauth_without_user()).await.unwrap_err().to_string();
        let path = file.display().to_string();
        assert!(error.contains(&path) && error.contains("damaged; log in again"), "{error}");
        assert_eq!(fs::read(&file).unwrap(), damaged, "it is not deleted");

        scene.oauth().login().await.unwrap();
        connect(&scene, scene.oauth_without_user()).await.unwrap();
    });
}
