//! Secrets in files: permissions, refused files, and errors without values.

use std::fs;

use mcpwire_config::secrets::{FileSecrets, Secret, SecretRef, SecretStore, Secrets};
use mcpwire_config::{ErrorCode, Uuid};
use tempfile::TempDir;

fn stored(id: Uuid, name: &str) -> SecretRef {
    SecretRef::stored(id, name).unwrap()
}

#[test]
fn mc_t7_a_secret_is_kept_found_and_forgotten() {
    let directory = TempDir::new().unwrap();
    let secrets = FileSecrets::new(directory.path().join("a").join("secrets"));
    let (id, other) = (Uuid::new_v4(), Uuid::new_v4());
    assert_eq!(secrets.get(&stored(id, "A")).unwrap(), None);
    assert!(!directory.path().join("a").exists(), "reading makes no directory");
    secrets.set(&stored(id, "A"), &"one".into()).unwrap();
    secrets.set(&stored(id, "B"), &"two\n\"ü\"".into()).unwrap();
    secrets.set(&stored(other, "A"), &"three".into()).unwrap();
    secrets.set(&stored(id, "A"), &"four".into()).unwrap();
    let again = FileSecrets::new(directory.path().join("a").join("secrets"));
    assert_eq!(again.get(&stored(id, "A")).unwrap().unwrap().expose(), "four");
    assert_eq!(again.get(&stored(id, "B")).unwrap().unwrap().expose(), "two\n\"ü\"");
    assert_eq!(again.names(id).unwrap(), ["A", "B"]);
    let text = fs::read_to_string(again.path(id)).unwrap();
    assert!(again.path(id).ends_with(format!("mcp_{id}.key")));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["v"], 1);

    assert!(secrets.remove(&stored(id, "A")).unwrap());
    assert!(!secrets.remove(&stored(id, "A")).unwrap());
    fs::write(secrets.oauth_path(id), "{}").unwrap();
    assert_eq!(secrets.remove_all(id).unwrap(), ["B"]);
    assert!(!secrets.oauth_path(id).exists());
    assert!(!secrets.path(id).exists() && secrets.path(other).exists());
    assert_eq!(secrets.remove_all(id).unwrap(), Vec::<String>::new());
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone_and_its_values_are_not_shown() {
    for wrong in [
        "",
        "hunter22",
        r#"{"v":1,"values":{"A":"hunter22"}"#,
        r#"{"v":2,"values":{"A":"hunter22"}}"#,
        r#"{"v":1,"values":{"A":["hunter22"]}}"#,
    ] {
        let directory = TempDir::new().unwrap();
        let secrets = FileSecrets::new(directory.path().join("secrets"));
        let id = Uuid::new_v4();
        secrets.set(&stored(id, "A"), &"x".into()).unwrap();
        fs::write(secrets.path(id), wrong).unwrap();
        for error in [
            secrets.get(&stored(id, "A")).unwrap_err(),
            secrets.set(&stored(id, "B"), &"hunter33".into()).unwrap_err(),
            secrets.remove_all(id).unwrap_err(),
        ] {
            assert_eq!((error.code(), error.field()), (ErrorCode::ServiceUnavailable, "secrets"));
            assert!(!error.message().contains("hunter"), "{error}");
        }
        assert_eq!(fs::read_to_string(secrets.path(id)).unwrap(), wrong);
    }
}

#[test]
fn secrets_that_are_too_large_are_refused_and_the_others_stay_usable() {
    let directory = TempDir::new().unwrap();
    let secrets = FileSecrets::new(directory.path().join("secrets"));
    let id = Uuid::new_v4();
    let refused = |name: &str, value: &str| {
        let error = secrets.set(&stored(id, name), &value.into()).unwrap_err();
        assert_eq!((error.code(), error.field()), (ErrorCode::ValidationError, "secrets"));
        assert!(error.message().contains("at most 1 MiB") && error.message().len() < 300, "{error}");
    };
    refused("A", &"x".repeat(1 << 20));
    assert_eq!(secrets.names(id).unwrap(), Vec::<String>::new());
    secrets.set(&stored(id, "A"), &"one".into()).unwrap();
    // Each of these newlines takes two bytes in the file.
    refused("A", &"\n".repeat(600_000));
    secrets.set(&stored(id, "B"), &"x".repeat(1_000_000).into()).unwrap();
    refused("C", &"y".repeat(100_000));
    assert_eq!(secrets.names(id).unwrap(), ["A", "B"]);
    assert_eq!(secrets.get(&stored(id, "A")).unwrap().unwrap().expose(), "one");
    assert!(secrets.remove(&stored(id, "B")).unwrap());
    secrets.set(&stored(id, "C"), &"three".into()).unwrap();
    assert_eq!(secrets.names(id).unwrap(), ["A", "C"]);
}

#[test]
fn a_reference_of_another_kind_is_not_tried_elsewhere() {
    let directory = TempDir::new().unwrap();
    let secrets = Secrets::in_directory(directory.path().join("secrets"));
    let error = secrets.get(&"keyring:service/me".parse().unwrap()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable, "case 26: there is no falling back");
    let error = secrets.set(&"env:HOME".parse().unwrap(), &"x".into()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ValidationError);
    let files = FileSecrets::new(directory.path().join("secrets"));
    assert_eq!(files.get(&"env:HOME".parse().unwrap()).unwrap_err().code(), ErrorCode::ValidationError);
    assert!(secrets.get(&"env:PATH".parse().unwrap()).unwrap().is_some());
}

#[test]
fn a_secret_shows_nowhere() {
    let secret = Secret::new("hunter22");
    assert_eq!(format!("{secret:?}"), "[secret]");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_others_can_read_is_refused_and_reported() {
        let directory = TempDir::new().unwrap();
        let at = directory.path().join("secrets");
        let secrets = FileSecrets::new(&at);
        let id = Uuid::new_v4();
        secrets.set(&stored(id, "A"), &"hunter22".into()).unwrap();
        assert_eq!((mode(&at), mode(&secrets.path(id))), (0o700, 0o600));
        assert_eq!(secrets.audit(), []);

        set_mode(&secrets.path(id), 0o644);
        let error = secrets.get(&stored(id, "A")).unwrap_err();
        assert!(error.message().contains("chmod 600"), "{error}");
        assert_eq!(secrets.audit(), [error]);
        secrets.set(&stored(id, "B"), &"x".into()).unwrap_err();

        set_mode(&secrets.path(id), 0o600);
        set_mode(&at, 0o750);
        let error = secrets.get(&stored(id, "A")).unwrap_err();
        assert!(error.message().contains("chmod 700"), "{error}");
        assert_eq!(secrets.audit(), [error]);
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        let directory = TempDir::new().unwrap();
        let at = directory.path().join("secrets");
        let secrets = FileSecrets::new(&at);
        let id = Uuid::new_v4();
        secrets.set(&stored(id, "A"), &"hunter22".into()).unwrap();
        // Only the superuser can give a file away.
        if std::os::unix::fs::chown(secrets.path(id), Some(1), None).is_ok() {
            assert!(secrets.get(&stored(id, "A")).unwrap_err().message().contains("another user"));
        }
    }

    #[test]
    fn links_are_refused() {
        let directory = TempDir::new().unwrap();
        let (at, real) = (directory.path().join("secrets"), directory.path().join("real"));
        let id = Uuid::new_v4();
        FileSecrets::new(&real).set(&stored(id, "A"), &"hunter22".into()).unwrap();
        symlink(&real, &at).unwrap();
        let secrets = FileSecrets::new(&at);
        assert!(secrets.get(&stored(id, "A")).unwrap_err().message().contains("is a link"));
        secrets.set(&stored(id, "A"), &"x".into()).unwrap_err();

        fs::remove_file(&at).unwrap();
        let secrets = FileSecrets::new(&real);
        let other = Uuid::new_v4();
        symlink(secrets.path(id), secrets.path(other)).unwrap();
        assert!(secrets.get(&stored(other, "A")).unwrap_err().message().contains("is a link"));
        assert!(secrets.get(&stored(id, "A")).unwrap().is_some());
    }
}
