//! Tests of the file store: what it writes, what a crash leaves, what it refuses.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Mutex, mpsc};
use std::thread;

use mcpwire_files::faults::{Fault, FaultyFs};
use serde_json::json;
use tempfile::TempDir;

use super::*;

const NAME: &str = "token-1";

fn login(refresh_token: &str) -> Vec<u8> {
    json!({"token": {"access_token": "access", "refresh_token": refresh_token}, "client": null})
        .to_string()
        .into_bytes()
}

fn value(document: &[u8]) -> Value {
    serde_json::from_slice(document).unwrap()
}

/// A store that does not exist yet.
fn new_store() -> (TempDir, FileStore) {
    let directory = TempDir::new().unwrap();
    let store = FileStore::open(directory.path().join("state").join("logins")).unwrap();
    (directory, store)
}

#[test]
fn a_document_that_could_not_be_read_again_is_not_written() {
    const LIMIT: usize = 1 << 20;
    for has_keychain in [false, true] {
        let (_directory, store) = new_store();
        let store = if has_keychain { store.keep_secrets_in(Keychain::default()) } else { store };
        let largest = login(&"x".repeat(LIMIT - login("").len()));
        assert_eq!(largest.len(), LIMIT);
        store.save(NAME, &largest).unwrap();
        let too_large = login(&"y".repeat(LIMIT + 1 - login("").len()));
        let error = store.save(NAME, &too_large).unwrap_err().to_string();
        for part in ["1048577 bytes", "at most 1048576", "fewer scopes", &store.locate(NAME)] {
            assert!(error.contains(part), "{error}");
        }
        assert!(!error.contains("yyy"), "{error}");
        assert_eq!(value(&store.load(NAME).unwrap().unwrap()), value(&largest), "the earlier login remains");
        assert!(store.save("token-2", &too_large).is_err());
        assert_eq!(store.load("token-2"), Ok(None));
    }
}

#[test]
fn documents_are_private_files_that_another_process_can_load() {
    let (_directory, store) = new_store();
    assert_eq!(store.load(NAME), Ok(None));
    store.save(NAME, b"one").unwrap();
    store.save(NAME, b"two").unwrap();
    store.save("key-1", b"\x30key").unwrap();
    let other = FileStore::open(&store.directory).unwrap();
    assert_eq!(other.load(NAME), Ok(Some(b"two".to_vec())));
    assert_eq!(other.load("key-1"), Ok(Some(b"\x30key".to_vec())));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let _lock = store.lock(NAME).unwrap();
        assert_eq!((mode(&store.directory), mode(store.directory.parent().unwrap())), (0o700, 0o700));
        assert_eq!((mode(&store.directory.join(NAME)), mode(&store.directory.join("token-1.lock"))), (0o600, 0o600));
    }
    other.remove(NAME).unwrap();
    other.remove(NAME).unwrap();
    assert_eq!(store.load(NAME), Ok(None));
    assert_eq!(store.describe(), format!("the files in {}", store.directory.display()));
}

#[test]
fn a_crash_at_any_step_of_a_write_leaves_the_old_document_or_the_new_one() {
    let (mut olds, mut news) = (0, 0);
    for step in 0.. {
        let (_directory, store) = new_store();
        store.save(NAME, &login("old")).unwrap();
        let faulty = FaultyFs::new(step, Fault::Crash);
        let crashed = FileStore::with_fs(store.directory.clone(), Arc::new(faulty.clone()));
        let result = crashed.save(NAME, &login("a new and longer token"));
        faulty.lose_power();
        let found = store.load(NAME).unwrap().unwrap();
        if found == login("old") {
            olds += 1;
        } else {
            assert_eq!(found, login("a new and longer token"), "step {step}");
            news += 1;
        }
        store.save(NAME, &login("next")).unwrap();
        assert_eq!(store.load(NAME), Ok(Some(login("next"))));
        if faulty.steps() <= step {
            result.unwrap();
            break;
        }
    }
    assert!(olds >= 3 && news >= 1, "{olds} {news}");
}

#[test]
fn o1_a_write_that_fails_leaves_the_old_document_and_says_what_to_do() {
    for step in 0..3 {
        let (_directory, store) = new_store();
        store.save(NAME, &login("old")).unwrap();
        let faulty = FaultyFs::new(step, Fault::Fails(io::ErrorKind::StorageFull));
        let full = FileStore::with_fs(store.directory.clone(), Arc::new(faulty));
        let error = full.save(NAME, &login("new")).unwrap_err();
        assert!(
            error.0.contains("token-1 cannot be written") && error.0.ends_with("Free space on the disk and try again")
        );
        assert_eq!(store.load(NAME), Ok(Some(login("old"))));
        assert_eq!(fs::read_dir(&store.directory).unwrap().count(), 1, "no temporary file is left");
    }
}

#[test]
fn o1_a_check_before_a_write_finds_a_full_disk_and_changes_nothing() {
    for step in 0..3 {
        let (_directory, store) = new_store();
        store.save(NAME, &login("old")).unwrap();
        store.check_save(NAME).unwrap();
        let faulty = FaultyFs::new(step, Fault::Fails(io::ErrorKind::StorageFull));
        let full = FileStore::with_fs(store.directory.clone(), Arc::new(faulty));
        assert!(full.check_save(NAME).unwrap_err().0.ends_with("Free space on the disk and try again"));
        assert_eq!(store.load(NAME), Ok(Some(login("old"))));
        assert_eq!(fs::read_dir(&store.directory).unwrap().count(), 1);
    }
}

#[test]
fn o1_one_process_has_the_lock_of_a_document_at_a_time() {
    let (_directory, store) = new_store();
    let mut second = FileStore::open(&store.directory).unwrap();
    second.lock_timeout = Duration::from_millis(20);
    let held = store.lock(NAME).unwrap();
    let error = second.lock(NAME).err().unwrap();
    assert!(error.0.contains("token-1.lock cannot be locked") && error.0.contains("try again"), "{error}");
    let _other_document = second.lock("token-2").unwrap();

    second.lock_timeout = LOCK_TIMEOUT;
    let (sender, taken) = mpsc::channel();
    let waiting = thread::spawn(move || {
        let _held = second.lock(NAME).unwrap();
        sender.send(()).unwrap();
    });
    assert_eq!(taken.try_recv(), Err(mpsc::TryRecvError::Empty));
    drop(held);
    taken.recv().unwrap();
    waiting.join().unwrap();
}

#[test]
fn names_that_lead_out_of_the_directory_are_refused() {
    let (_directory, store) = new_store();
    for name in ["", ".", "..", "../token", "a/b", "a\\b", "C:x", "token.lock", "Token"] {
        let results = [
            store.load(name).map(|_| ()),
            store.save(name, b"x"),
            store.remove(name),
            store.check_save(name),
            store.lock(name).map(|_| ()),
        ];
        assert!(results.iter().all(|result| result.as_ref().is_err_and(|error| error.0.contains("is not the name"))));
    }
    assert_eq!(fs::read_dir(&store.directory).unwrap().count(), 0);
}

#[cfg(unix)]
mod other_users {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn t6_a_document_that_others_can_read_is_refused_with_the_command_that_closes_it() {
        let (_directory, store) = new_store();
        store.save(NAME, &login("secret-token")).unwrap();
        let path = store.directory.join(NAME);
        for mode in [0o640, 0o604, 0o620, 0o666] {
            set_mode(&path, mode);
            for error in [store.load(NAME).unwrap_err(), store.save(NAME, b"new").unwrap_err()] {
                assert!(
                    error.0.contains("is open to other users (mode") && error.0.contains("`chmod 600 /"),
                    "{error}"
                );
                assert!(!error.0.contains("secret-token"));
            }
        }
        set_mode(&path, 0o600);
        assert_eq!(store.load(NAME), Ok(Some(login("secret-token"))));
    }

    #[test]
    fn t6_a_directory_that_others_can_enter_is_refused() {
        let (directory, store) = new_store();
        store.save(NAME, b"document").unwrap();
        set_mode(&store.directory, 0o750);
        let open = || FileStore::open(&store.directory).err();
        for error in [store.load(NAME).err(), store.save(NAME, b"x").err(), store.lock(NAME).err(), open()] {
            assert!(error.unwrap().0.contains("`chmod 700 /"));
        }
        set_mode(&store.directory, 0o700);
        // Whoever can write to the directory above could put another one in its place.
        set_mode(directory.path(), 0o777);
        for error in [store.load(NAME).err(), store.save(NAME, b"x").err(), store.lock(NAME).err(), open()] {
            let error = error.unwrap().0;
            assert!(error.contains("can be changed by every user (mode 0777). Run `chmod o-w /"), "{error}");
        }
        set_mode(directory.path(), 0o700);
        let link = directory.path().join("link");
        symlink(&store.directory, &link).unwrap();
        let error = FileStore::open(link).unwrap_err();
        assert!(error.0.contains("link is a link, so the logins there are not used. Make it private"), "{error}");
    }

    #[test]
    fn t6_a_document_that_is_a_link_or_a_directory_is_refused() {
        let (directory, store) = new_store();
        let elsewhere = directory.path().join("elsewhere");
        fs::write(&elsewhere, b"theirs").unwrap();
        symlink(&elsewhere, store.directory.join(NAME)).unwrap();
        assert!(store.load(NAME).unwrap_err().0.contains("is a link"));
        assert!(store.save(NAME, b"mine").unwrap_err().0.contains("is a link"));
        assert_eq!(fs::read(elsewhere).unwrap(), b"theirs");
        fs::create_dir(store.directory.join("token-2")).unwrap();
        assert!(store.load("token-2").unwrap_err().0.contains("is not a file"));
    }

    #[test]
    fn t6_a_document_of_another_user_is_refused() {
        let (_directory, store) = new_store();
        store.save(NAME, b"document").unwrap();
        // Only the superuser can give a file away.
        if std::os::unix::fs::chown(store.directory.join(NAME), Some(65534), None).is_ok() {
            let error = store.load(NAME).unwrap_err();
            assert!(error.0.contains("belongs to another user"), "{error}");
        }
    }
}

/// A keychain in memory.
#[derive(Clone, Default)]
struct Keychain {
    secrets: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    is_locked: Arc<Mutex<bool>>,
}

impl Keychain {
    fn names(&self) -> Vec<String> {
        self.secrets.lock().unwrap().keys().cloned().collect()
    }

    fn check(&self) -> Result<(), StoreFailed> {
        if *self.is_locked.lock().unwrap() { Err(StoreFailed("the keychain is locked".into())) } else { Ok(()) }
    }
}

impl SecretKeeper for Keychain {
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreFailed> {
        self.check()?;
        Ok(self.secrets.lock().unwrap().get(name).cloned())
    }

    fn set(&self, name: &str, secret: &[u8]) -> Result<(), StoreFailed> {
        self.check()?;
        self.secrets.lock().unwrap().insert(name.into(), secret.to_vec());
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), StoreFailed> {
        self.check()?;
        self.secrets.lock().unwrap().remove(name);
        Ok(())
    }
}

fn with_keychain() -> (TempDir, FileStore, Keychain) {
    let (directory, store) = new_store();
    let keychain = Keychain::default();
    (directory, store.keep_secrets_in(keychain.clone()), keychain)
}

fn file(store: &FileStore, name: &str) -> String {
    fs::read_to_string(store.directory.join(name)).unwrap()
}

#[test]
fn o19_refresh_tokens_and_keys_go_to_the_keychain_and_the_rest_to_the_file() {
    let (_directory, store, keychain) = with_keychain();
    store.save(NAME, &login("refresh-1")).unwrap();
    store.save("key-1", b"\x30private").unwrap();
    store.save("client-1", br#"{"clients":[]}"#).unwrap();
    assert!(!file(&store, NAME).contains("refresh-1") && file(&store, NAME).contains("access"));
    assert!(!file(&store, "key-1").contains("private"));
    assert_eq!(keychain.names(), ["key-1", NAME]);
    assert_eq!(keychain.get(NAME), Ok(Some(b"refresh-1".to_vec())), "small: some keychains take 2,560 bytes");
    assert_eq!(value(&store.load(NAME).unwrap().unwrap()), value(&login("refresh-1")));
    assert_eq!(store.load("key-1"), Ok(Some(b"\x30private".to_vec())));
    assert_eq!(store.load("client-1"), Ok(Some(br#"{"clients":[]}"#.to_vec())));
    assert!(store.describe().starts_with("the keychain and the files in "));
    store.remove(NAME).unwrap();
    assert_eq!((store.load(NAME), keychain.names()), (Ok(None), vec!["key-1".into()]));
}

#[test]
fn a_login_stays_where_it_was_first_stored() {
    let (_directory, in_files) = new_store();
    let keychain = Keychain::default();
    let with_keychain = in_files.clone().keep_secrets_in(keychain.clone());
    in_files.save(NAME, &login("refresh-1")).unwrap();
    with_keychain.save(NAME, &login("refresh-2")).unwrap();
    assert_eq!((in_files.load(NAME), keychain.names().len()), (Ok(Some(login("refresh-2"))), 0));

    with_keychain.save("token-2", &login("refresh-3")).unwrap();
    let error = in_files.load("token-2").unwrap_err();
    assert!(error.0.contains("in the keychain, which this program does not use. Log in again"), "{error}");
    // That login goes to the file, and stays there.
    in_files.save("token-2", &login("refresh-4")).unwrap();
    assert_eq!(with_keychain.load("token-2"), Ok(Some(login("refresh-4"))));

    // A login without a refresh token has no secret, and the next one goes to the keychain.
    let without = br#"{"token":{"access_token":"a"}}"#;
    with_keychain.save("token-3", &login("refresh-5")).unwrap();
    with_keychain.save("token-3", without).unwrap();
    assert_eq!((in_files.load("token-3"), keychain.names()), (Ok(Some(without.to_vec())), vec!["token-2".to_owned()]));
    with_keychain.save("token-3", &login("refresh-6")).unwrap();
    assert_eq!(keychain.names(), ["token-2", "token-3"]);
}

#[test]
fn a_secret_that_is_lost_or_locked_is_an_error_and_deletes_nothing() {
    let (_directory, store, keychain) = with_keychain();
    store.save(NAME, &login("refresh-1")).unwrap();
    *keychain.is_locked.lock().unwrap() = true;
    let locked = Err(StoreFailed("the keychain is locked".into()));
    assert_eq!((store.load(NAME), store.check_save(NAME)), (locked.clone(), locked.clone().map(|_| ())));
    assert_eq!(store.save(NAME, &login("refresh-2")), locked.map(|_: Option<Vec<u8>>| ()));
    *keychain.is_locked.lock().unwrap() = false;
    assert_eq!(value(&store.load(NAME).unwrap().unwrap()), value(&login("refresh-1")));
    keychain.secrets.lock().unwrap().clear();
    let error = store.load(NAME).unwrap_err();
    assert!(error.0.contains("has lost its secret in the keychain. Log in again"), "{error}");
    store.save(NAME, &login("refresh-3")).unwrap();
    assert_eq!(value(&store.load(NAME).unwrap().unwrap()), value(&login("refresh-3")));
}

#[test]
fn o1_a_process_that_ends_between_keychain_and_file_leaves_the_newest_refresh_token() {
    let (_directory, store, keychain) = with_keychain();
    store.save(NAME, &login("refresh-1")).unwrap();
    let faulty = FaultyFs::new(0, Fault::Crash);
    let crashed = FileStore::with_fs(store.directory.clone(), Arc::new(faulty)).keep_secrets_in(keychain);
    crashed.save(NAME, &login("refresh-2")).unwrap_err();
    let found = value(&store.load(NAME).unwrap().unwrap());
    assert_eq!(found["token"]["refresh_token"], "refresh-2");
}
