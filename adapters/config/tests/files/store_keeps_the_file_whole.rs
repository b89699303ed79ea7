//! Changes of `servers.json`: invalid files, comments that stay, and several writers at the same time.

use std::fs;
use std::path::Path;
use std::process::Command;

use mcpwire_config::config::{EnvVarConfig, McpConfig};
use mcpwire_config::store::Store;
use mcpwire_config::{ErrorCode, HubError, Uuid};
use tempfile::TempDir;

/// A store whose file does not exist yet.
fn store() -> (TempDir, Store) {
    let directory = TempDir::new().unwrap();
    let store = Store::new(directory.path().join("mcp").join("servers.json"));
    (directory, store)
}

/// A store whose file has this text.
fn with_text(text: impl AsRef<[u8]>) -> (TempDir, Store) {
    let (directory, store) = store();
    fs::create_dir_all(store.path().parent().unwrap()).unwrap();
    fs::write(store.path(), text).unwrap();
    (directory, store)
}

#[track_caller]
fn assert_error<T>(result: Result<T, HubError>, code: ErrorCode, field: &str) -> String {
    let Err(error) = result else { panic!("it worked") };
    assert_eq!((error.code(), error.field()), (code, field), "{error}");
    error.message().to_owned()
}

#[test]
fn a_server_is_created_updated_and_deleted() {
    let (_directory, store) = store();
    assert_eq!(store.load().unwrap().configs, []);
    assert_error(store.update(&McpConfig::binary("a", "a")), ErrorCode::NotFound, "mcp_id");
    assert_error(store.delete(Uuid::new_v4()), ErrorCode::NotFound, "mcp_id");
    assert!(!store.path().exists(), "reading makes no file, and there is nothing to update or delete");

    let mut config = McpConfig::npm("files", "@scope/files@1.2.3").args(["/tmp"]).env(EnvVarConfig::value("A", "b"));
    let loaded = store.create(&config).unwrap();
    assert_eq!(loaded.configs, [config.clone()]);
    assert_eq!(store.load().unwrap().configs, [config.clone()]);

    config.enabled = false;
    config.tools.deny = vec!["rm".into()];
    let loaded = store.update(&config).unwrap();
    assert_eq!(loaded.get(config.id), Some(&config));
    assert_eq!(store.load().unwrap().revision, loaded.revision);

    assert_eq!(store.delete(config.id).unwrap().configs, []);
    let again = fs::read(store.path()).unwrap();
    assert_error(store.delete(config.id), ErrorCode::NotFound, "mcp_id");
    assert_eq!(fs::read(store.path()).unwrap(), again);
}

#[test]
fn the_same_id_or_name_again_is_a_conflict_and_the_file_stays() {
    let (_directory, store) = store();
    let first = McpConfig::binary("Straße Ö", "a");
    store.create(&first).unwrap();
    let mut second = McpConfig::binary("other", "b");
    store.create(&second).unwrap();
    let before = fs::read(store.path()).unwrap();
    let mut same_id = McpConfig::binary("b", "b");
    same_id.id = first.id;
    assert_error(store.create(&same_id), ErrorCode::Conflict, "id");
    assert_error(store.create(&McpConfig::binary("  straße ö\u{a0}", "b")), ErrorCode::Conflict, "name");
    second.name = "STRAßE ö".into();
    assert_error(store.update(&second), ErrorCode::Conflict, "name");
    assert_eq!(fs::read(store.path()).unwrap(), before);
    let mut same = first;
    same.name = "straße Ö".into();
    store.update(&same).expect("its own name is free");
}

#[test]
fn mc_nt3_create_without_a_name_saves_nothing() {
    let (_directory, store) = store();
    let message = assert_error(store.create(&McpConfig::binary(" ", "a")), ErrorCode::ValidationError, "name");
    assert_eq!(message, "Name is required");
    assert!(!store.path().exists());
}

#[test]
fn a_file_that_is_not_one_is_an_error_and_is_left_alone() {
    for wrong in [
        "",
        "  \n",
        "[]",
        "{}",
        "null",
        "{\"version\":1,\"servers\":[",
        "{\"version\":1,\"servers\":{}}",
        "\u{feff}{\"version\":1,\"servers\":[]}",
        "{\"version\":2,\"servers\":[]}",
        "{\"version\":\"1\",\"servers\":[]}",
        "{\"version\":1,\"servers\":[]} trailing",
        "{\"servers\":[] \"version\":1}",
    ] {
        let (_directory, store) = store();
        let config = McpConfig::binary("a", "a");
        store.create(&config).unwrap();
        store.create(&McpConfig::binary("b", "b")).unwrap();
        let backup = fs::read(store.backup_path()).unwrap();
        fs::write(store.path(), wrong).unwrap();
        let message = assert_error(store.load(), ErrorCode::ValidationError, "servers");
        assert!(message.contains("servers.json.bak"), "{message}");
        assert_error(store.create(&McpConfig::binary("c", "c")), ErrorCode::ValidationError, "servers");
        assert_error(store.update(&config), ErrorCode::ValidationError, "servers");
        assert_error(store.delete(config.id), ErrorCode::ValidationError, "servers");
        assert_eq!(fs::read_to_string(store.path()).unwrap(), wrong);
        assert_eq!(fs::read(store.backup_path()).unwrap(), backup, "the good version is not overwritten");

        assert_eq!(store.restore().unwrap().configs, [config]);
        assert_eq!(fs::read(store.path()).unwrap(), backup);
        assert_eq!(fs::read_to_string(store.path().with_extension("json.broken")).unwrap(), wrong);
        assert_error(store.restore(), ErrorCode::Conflict, "servers");
        fs::write(store.path(), wrong).unwrap();
        fs::write(store.backup_path(), wrong).unwrap();
        assert_error(store.restore(), ErrorCode::NotFound, "servers");
    }
    for wrong in [vec![b'{', 0xff, b'}'], vec![b'['; 100_000]] {
        assert_error(with_text(wrong).1.load(), ErrorCode::ValidationError, "servers");
    }
}

#[test]
fn what_a_change_is_not_about_stays_as_it_is() {
    let (one, two) = (Uuid::new_v4(), Uuid::new_v4());
    let text = format!(
        r#"// mine
{{
  "version": 1,
  "x-editor": {{"theme": "dark"}},
  "servers": [
    {{
      "id": "{one}", // the first
      "name": "one",
      "package": {{"package_type": "binary", "identifier": "a", "x-note": [1, 2]}},
      "transport": {{"type": "stdio"}},
      "env_vars": {{"A": "1", /* why */ "B": {{"value": "2", "x": null}}}},
      "x-later": 1.50,
    }},
    {{ "id" : "{two}" , "name":"two", "package": {{"package_type":"binary","identifier":"b"}},"transport":{{"type":"stdio"}} }},
    {{"name": "from the future", "package": {{"package_type": "wasm", "identifier": "c"}}, "transport": {{"type": "quic"}}}},
  ],
}}
"#
    );
    let (_directory, store) = with_text(&text);
    let loaded = store.load().unwrap();
    assert_eq!(loaded.configs.len(), 2);
    assert_eq!(loaded.broken.len(), 1, "one entry that cannot be read spoils only itself");
    assert_eq!(loaded.broken[0].name.as_deref(), Some("from the future"));
    assert_eq!(loaded.broken[0].error.field(), "package");

    let mut second = loaded.get(two).unwrap().clone();
    second.enabled = false;
    store.update(&second).unwrap();
    let now = fs::read_to_string(store.path()).unwrap();
    // Of the entry that was changed, the members that were not are written as they were.
    let (before, _) = text.split_once(&format!("{{ \"id\" : \"{two}\"")).unwrap();
    let (_, after) = text.split_once("\"name\": \"from the future\"").unwrap();
    assert!(now.starts_with(before) && now.ends_with(after), "{now}");
    assert!(now.contains(&format!("\"id\" : \"{two}\"")), "{now}");

    let mut first = loaded.get(one).unwrap().clone();
    first.args = vec!["x".into()];
    first.env_vars.get_mut("A").unwrap().value = Some("changed".into());
    store.update(&first).unwrap();
    let now = fs::read_to_string(store.path()).unwrap();
    for kept in [
        "// mine",
        "// the first",
        "/* why */",
        "\"x-note\": [1, 2]",
        "\"x-later\": 1.50",
        "\"x\": null",
        "\"x-editor\"",
    ] {
        assert!(now.contains(kept), "{kept} is gone from {now}");
    }
    let loaded = store.load().unwrap();
    assert_eq!(loaded.get(one), Some(&first));
    assert_eq!(loaded.get(two), Some(&second));

    let before = fs::read(store.path()).unwrap();
    store.update(&first).unwrap();
    assert_eq!(fs::read(store.path()).unwrap(), before, "no change, no other bytes");
    store.delete(two).unwrap();
    assert!(fs::read_to_string(store.path()).unwrap().contains("// the first"));
}

#[test]
fn an_update_from_what_is_no_longer_there_is_a_conflict() {
    let (_directory, store) = store();
    let first = McpConfig::binary("a", "a");
    store.create(&first).unwrap();
    let mut by_another = first.clone();
    by_another.args = vec!["theirs".into()];
    store.update(&by_another).unwrap();
    let mut ours = first.clone();
    ours.enabled = false;
    assert_error(store.update_from(&first, &ours), ErrorCode::Conflict, "revision");
    assert_eq!(store.load().unwrap().configs, [by_another.clone()]);
    store.update_from(&by_another, &ours).unwrap();
    store.delete(first.id).unwrap();
    assert_error(store.update_from(&ours, &first), ErrorCode::NotFound, "mcp_id");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (directory, store) = store();
    store.create(&McpConfig::binary("a", "a")).unwrap();
    assert_eq!(mode(store.path()), 0o600);
    assert_eq!(mode(store.path().parent().unwrap()), 0o700);
    store.create(&McpConfig::binary("b", "b")).unwrap();
    assert_eq!(mode(&store.backup_path()), 0o600);
    assert_eq!(mode(&store.path().with_extension("lock")), 0o600);

    let real = directory.path().join("dotfiles.json");
    fs::rename(store.path(), &real).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../dotfiles.json", store.path()).unwrap();
    store.create(&McpConfig::binary("c", "c")).unwrap();
    assert!(fs::symlink_metadata(store.path()).unwrap().is_symlink());
    assert!(!fs::symlink_metadata(&real).unwrap().is_symlink());
    assert_eq!(mode(&real), 0o640);
    assert_eq!(store.load().unwrap().configs.len(), 3);
}

/// A writer, which the test below runs as a separate program.
#[test]
fn a_writer_of_many_updates() {
    let Some(path) = std::env::var_os("STORE_OF_WRITER") else { return };
    let (store, who) = (Store::new(path), std::env::var("NAME_OF_WRITER").unwrap());
    let shared = store.load().unwrap().configs[0].id;
    for number in 0..200 {
        let counted = store.modify(|draft| {
            let mut config = draft.get(shared).unwrap().clone();
            let count = config.config.as_u64().unwrap();
            config.config = (count + 1).into();
            draft.update(&config)?;
            let mut own = draft.configs().find(|config| config.name == who).unwrap().clone();
            own.args.push(number.to_string());
            draft.update(&own)
        });
        counted.unwrap();
    }
}

#[test]
fn two_programs_with_200_updates_each_lose_none() {
    // Each update is synced to its disk, which takes long, and has no part in this. Linux has a disk in memory.
    let memory = Some(Path::new("/dev/shm")).filter(|path| path.is_dir());
    let directory = TempDir::new_in(memory.unwrap_or(&std::env::temp_dir())).unwrap();
    let store = Store::new(directory.path().join("mcp").join("servers.json"));
    let mut shared = McpConfig::binary("shared", "a");
    shared.config = 0.into();
    store.create(&shared).unwrap();
    store.create(&McpConfig::binary("one", "a")).unwrap();
    store.create(&McpConfig::binary("two", "a")).unwrap();
    let start = |name: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "store_keeps_the_file_whole::a_writer_of_many_updates"])
            .env("STORE_OF_WRITER", store.path());
        command.env("NAME_OF_WRITER", name).spawn().unwrap()
    };
    let mut writers = [start("one"), start("two")];
    for writer in &mut writers {
        assert!(writer.wait().unwrap().success());
    }
    let loaded = store.load().unwrap();
    let numbers: Vec<String> = (0..200).map(|number: u32| number.to_string()).collect();
    assert!(loaded.configs[1..].iter().all(|own| own.args == numbers));
    assert_eq!(loaded.get(shared.id).unwrap().config, 400);
}

#[test]
fn servers_that_are_added_together_are_written_as_one_by_one() {
    let known = McpConfig::npm("known", "one");
    let entry = known.to_json().to_string();
    let mut configs: Vec<McpConfig> =
        (0..5).map(|at| McpConfig::binary(format!("server {at}"), "program").args(["a\nb\t]", ","])).collect();
    configs[2] = McpConfig::http("plain", "https://localhost/");
    for text in [
        String::new(),
        "{\n    \"servers\": [\n        // none\n    ]\n}\n".to_owned(),
        "{\n\t\"servers\": [\n\t]\n}\n".to_owned(),
        "{\r\n  \"servers\": [\r\n  ]\r\n}\r\n".to_owned(),
        "{\"servers\":[]}".to_owned(),
        format!("{{\"servers\":[{entry}], \"version\": 1}}"),
        format!("{{\n  \"servers\": [\n    {entry}, // the first\n  ],\n}}\n"),
        format!("{{\n  \"servers\": [\n    {entry} // the first\n  ]\n}}\n"),
        format!("/* all */ {{\n\t\t\"servers\": [ {entry},\n{entry} ]\n}}\n").replacen(&known.id.to_string(), "x", 1),
    ] {
        let open = || if text.is_empty() { store() } else { with_text(&text) };
        let ((_one, together), (_other, singly)) = (open(), open());
        assert!(together.create_all(&configs).unwrap().iter().all(Result::is_ok), "{text}");
        for config in &configs {
            singly.create(config).unwrap();
        }
        let [together, singly] = [together, singly].map(|store| fs::read_to_string(store.path()).unwrap());
        assert_eq!(together, singly, "{text}");
    }
}

#[test]
fn additions_can_be_mixed_with_other_changes() {
    let (_directory, store) = store();
    let [first, second, third] = ["first", "second", "third"].map(|name| McpConfig::npm(name, "package"));
    let ((), loaded) = store
        .modify(|draft| {
            draft.create(&first)?;
            draft.create(&second)?;
            let mut renamed = first.clone();
            renamed.name = "fourth".to_owned();
            draft.update(&renamed)?;
            assert_error(draft.create(&McpConfig::npm(" FOURTH", "package")), ErrorCode::Conflict, "name");
            draft.delete(second.id)?;
            let mut again = third.clone();
            again.name = "second".to_owned();
            draft.create(&again)?;
            assert_error(draft.create(&again), ErrorCode::Conflict, "id");
            draft.create(&McpConfig::npm("first", "package"))
        })
        .unwrap();
    let names: Vec<&str> = loaded.configs.iter().map(|config| config.name.as_str()).collect();
    assert_eq!(names, ["fourth", "second", "first"]);
}
