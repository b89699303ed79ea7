//! What the crate refuses, replaces, locks and cleans up, also after a process was killed.

#![cfg(feature = "replace")]

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use mcpwire_files::{
    FileError, Fs as _, SystemFs, check_private_directory, check_replace, read_private, remove_leftovers, replace,
};

#[test]
fn errors_name_the_file_and_say_what_to_do() {
    let text = |kind: io::ErrorKind| FileError::new("written", Path::new("/x/file"), &kind.into()).to_string();
    assert_eq!(
        text(io::ErrorKind::StorageFull),
        "/x/file cannot be written: no storage space. Free space on the disk and try again"
    );
    assert!(text(io::ErrorKind::PermissionDenied).ends_with(". Give this user permission to access it"));
    assert!(text(io::ErrorKind::WouldBlock).ends_with(". Another program has locked it; try again"));
    assert_eq!(text(io::ErrorKind::Interrupted), "/x/file cannot be written: operation interrupted");
}

#[test]
fn a_lock_waits_until_its_timeout_and_is_released_by_dropping_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lock");
    let held = SystemFs.lock(&path, Duration::ZERO).unwrap();
    let error = SystemFs.lock(&path, Duration::from_millis(10)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    drop(held);
    SystemFs.lock(&path, Duration::from_secs(60)).unwrap();
}

#[test]
fn files_larger_than_the_limit_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    replace(&SystemFs, &path, &[0; 5000], None).unwrap();
    assert_eq!(read_private(&path, 5000).unwrap().unwrap().len(), 5000);
    let error = read_private(&path, 4999).unwrap_err().to_string();
    assert!(
        error.contains("the file is larger than") && error.ends_with(". Remove what does not belong there"),
        "{error}"
    );
    assert_eq!(read_private(&directory.path().join("missing"), 1), Ok(None));
    assert_eq!(check_private_directory(&directory.path().join("missing")), Ok(false));
}

#[test]
fn a_check_before_a_replacement_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    check_replace(&SystemFs, &path, 10_000).unwrap();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    let error = check_replace(&SystemFs, &directory.path().join("missing/file"), 1).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn temporary_files_of_the_file_that_nobody_writes_are_removed_and_no_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    for name in [".file.1.tmp", ".other.1.tmp", "file"] {
        File::create(path(name)).unwrap();
    }
    let mut writer = SystemFs.create(&path(".file.2.tmp"), 0o600).unwrap();
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    remove_leftovers(&path("file"));
    assert_eq!(names(), [".file.2.tmp", ".other.1.tmp", "file"]);
    writer.write(b"x").unwrap();
    drop(writer);
    remove_leftovers(&path("file"));
    assert_eq!(names(), [".other.1.tmp", "file"]);
}

#[test]
fn writers_of_one_file_do_not_disturb_each_other_while_leftovers_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    remove_leftovers(&path);
                    replace(&SystemFs, &path, b"whole", None).expect("nobody removes the file of a writer");
                }
            });
        }
    });
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

const DIRECTORY: &str = "MCPWIRE_FILES_DIRECTORY";
const LENGTH: usize = 100_000;
const TIMEOUT: Duration = Duration::from_secs(60);

fn content(number: u64) -> Vec<u8> {
    format!("{number:08}").repeat(LENGTH / 8).into_bytes()
}

/// The process that is killed: replaces the file again and again, and prints the number of each content that is written.
#[test]
fn writer() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let path = Path::new(&directory).join("file");
    let _held = SystemFs.lock(&path.with_extension("lock"), TIMEOUT).unwrap();
    for number in 1.. {
        replace(&SystemFs, &path, &content(number), None).unwrap();
        let _ = writeln!(io::stderr(), "{number}");
    }
}

#[test]
fn a_killed_process_leaves_the_old_content_or_the_new_one_and_no_lock() {
    let kills = env::var("MCPWIRE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(15);
    for round in 0..kills {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "writer", "--nocapture"])
            .env(DIRECTORY, directory.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut written = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        // Killed at another moment each time: after some writes, and somewhere within the next one.
        assert!(written.by_ref().nth(round % 7).is_some(), "the writer does not write");
        (0..round * 997).for_each(|_| std::hint::spin_loop());
        child.kill().unwrap();
        child.wait().unwrap();
        let last: u64 = written.last().map_or(round as u64 % 7 + 1, |number| number.parse().unwrap());
        let found = read_private(&path, 1 << 20).unwrap().unwrap();
        assert!(found == content(last) || found == content(last + 1), "round {round}: neither {last} nor the next one");
        let _lock = SystemFs.lock(&path.with_extension("lock"), TIMEOUT).unwrap();
        remove_leftovers(&path);
        replace(&SystemFs, &path, b"next", None).unwrap();
        assert_eq!(read_private(&path, 1 << 20), Ok(Some(b"next".to_vec())));
    }
}

/// Files that other users could change, replace, or have put there.
#[cfg(unix)]
mod files_of_others {
    use std::fs::{self, File, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use mcpwire_files::{check_link, check_trusted, create_output};
    use tempfile::TempDir;

    /// Another user than the one of the tests.
    const OTHER: u32 = 65534;

    /// A group of the system, in which this user is not alone.
    const DAEMON: u32 = 1;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// Returns whether this test can give files to another user. Says so if it cannot.
    fn is_root() -> bool {
        let is_root = rustix::process::geteuid().is_root();
        if !is_root {
            eprintln!("SKIPPED: only the superuser can give files away, so this test has shown less");
        }
        is_root
    }

    /// Returns a new directory and the path of the file `outer/home/mcp/file` below, which only this user can change.
    fn private_file() -> (TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().canonicalize().unwrap().join("outer/home/mcp/file");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "content").unwrap();
        check_trusted(&file).unwrap();
        (directory, file)
    }

    /// Asserts that `file` is refused because of `part` of its path, whose mode allows `writers` to change it.
    #[track_caller]
    fn assert_refused(file: &Path, part: &Path, writers: &str, mode: u32, classes: &str) {
        let part = part.display();
        let message = format!("{part} can be changed by {writers} (mode {mode:04o}). Run `chmod {classes}-w {part}`");
        assert_eq!(check_trusted(file).unwrap_err().to_string(), message);
    }

    #[test]
    fn each_part_of_a_path_that_every_user_can_change_is_refused() {
        let (_directory, file) = private_file();
        // The whole path counts, because each part could be replaced.
        for part in file.ancestors().take(4) {
            set_mode(part, 0o777);
            assert_refused(&file, part, "every user", 0o777, "o");
            if part.is_dir() {
                // Nobody can replace the files of others in a sticky directory.
                set_mode(part, 0o1777);
                check_trusted(&file).unwrap();
            }
            set_mode(part, 0o755);
            check_trusted(&file).unwrap();
        }
    }

    #[test]
    fn a_path_that_a_group_of_others_can_change_is_refused() {
        if !is_root() {
            return;
        }
        let (_directory, file) = private_file();
        for part in file.ancestors().take(4) {
            chown(part, None, Some(DAEMON)).unwrap();
            for (mode, writers, classes) in [(0o775, "other users of its group", "g"), (0o777, "every user", "go")] {
                set_mode(part, mode);
                assert_refused(&file, part, writers, mode, classes);
            }
            set_mode(part, 0o755);
        }
    }

    #[test]
    fn the_links_on_a_path_are_followed_and_must_be_of_this_user() {
        let (directory, file) = private_file();
        let (link, elsewhere) = (file.parent().unwrap(), directory.path().canonicalize().unwrap().join("elsewhere"));
        fs::create_dir(&elsewhere).unwrap();
        fs::rename(link, elsewhere.join("mcp")).unwrap();
        symlink("../../elsewhere/mcp", link).unwrap();
        check_trusted(&file).unwrap();
        set_mode(&elsewhere, 0o777);
        assert_refused(&file, &elsewhere, "every user", 0o777, "o");
        // Another user could have put the link there.
        set_mode(&elsewhere, 0o755);
        if is_root() {
            lchown(link, Some(DAEMON), None).unwrap();
            assert!(check_trusted(&file).unwrap_err().to_string().contains("mcp belongs to another user"));
        }
    }

    #[test]
    fn an_output_replaces_only_a_file_of_this_user_under_its_own_name() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let create = |name: &str| create_output(&at(name)).map_err(|error| error.to_string());
        fs::write(at("own"), "an earlier one").unwrap();
        set_mode(&at("own"), 0o644);
        create("own").unwrap();
        let own = fs::metadata(at("own")).unwrap();
        assert_eq!((own.len(), own.mode() & 0o777), (0, 0o600));

        fs::write(at("victim"), "of somebody else").unwrap();
        set_mode(&at("victim"), 0o644);
        symlink(at("victim"), at("link")).unwrap();
        symlink(at("missing"), at("broken")).unwrap();
        let several = "it is a file with several names (hard links). Name another file";
        for (name, error) in [
            ("link", "it is a symbolic link, not a regular file"),
            ("broken", "it is a symbolic link, not a regular file"),
        ] {
            assert_eq!(create(name).unwrap_err(), error, "{name}");
        }
        fs::hard_link(at("victim"), at("hard")).unwrap();
        assert_eq!(create("hard").unwrap_err(), several);
        assert!(!at("missing").exists());
        create_output(Path::new("/dev/null")).unwrap();
        if is_root() {
            fs::remove_file(at("hard")).unwrap();
            assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
            // A reader, so that opening the pipe would not wait.
            let _reader = File::options().read(true).write(true).open(at("pipe")).unwrap();
            for name in ["victim", "pipe"] {
                chown(at(name), Some(OTHER), Some(OTHER)).unwrap();
                assert_eq!(create(name).unwrap_err(), "it belongs to another user. Name another file", "{name}");
            }
            check_link(&at("link")).expect("it is a link of this user");
            lchown(at("link"), Some(OTHER), Some(OTHER)).unwrap();
            assert_eq!(check_link(&at("link")).unwrap_err().to_string(), "it is a symbolic link of another user");
        }
        let victim = fs::metadata(at("victim")).unwrap();
        assert_eq!(fs::read_to_string(at("victim")).unwrap(), "of somebody else");
        assert_eq!((victim.mode() & 0o777, victim.nlink()), (0o644, if is_root() { 1 } else { 2 }));
    }
}
