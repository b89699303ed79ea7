//! The table of habits and the tests belong together.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn every_habit_has_a_test() {
    let output = Command::new(env!("CARGO_BIN_EXE_bad-habits")).arg("--list").output().expect("the program starts");
    let list = String::from_utf8(output.stdout).expect("the list is text");
    let tests = all_tests();
    let words: Vec<&str> = list.lines().filter_map(|line| line.split('\t').next()).collect();
    assert!(words.len() > 30, "{list}");
    for word in words {
        let uses = [format!("\"{word}\""), format!("\"{word} ")];
        assert!(uses.iter().any(|quoted| tests.contains(quoted)), "no test has a server with the habit {word:?}");
    }
}

fn all_tests() -> String {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")];
    let mut tests = String::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the tests are there") {
            let path = entry.expect("the folder is readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                tests += &fs::read_to_string(path).expect("a test is text");
            }
        }
    }
    tests
}
