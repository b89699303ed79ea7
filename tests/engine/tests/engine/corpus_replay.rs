//! The fuzz targets' kept inputs, played once more: what was a crash once stays none.

use std::fs;
use std::path::Path;

use mcpwire_engine_tests::fuzz::TARGETS;

fn replay(name: &str) {
    let (_, run) = TARGETS.into_iter().find(|(target, _)| *target == name).expect("a target of that name");
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut played = 0;
    for kind in ["seeds", "corpus"] {
        let Ok(inputs) = fs::read_dir(fuzz.join(kind).join(name)) else { continue };
        for input in inputs {
            let path = input.expect("it can be listed").path();
            println!("{}", path.display());
            run(&fs::read(&path).expect("it can be read"));
            played += 1;
        }
    }
    assert!(played >= 10, "only {played} inputs of {name}");
}

#[test]
fn chunks() {
    replay("chunks");
}

#[test]
fn content() {
    replay("content");
}

#[test]
fn envelope() {
    replay("envelope");
}

#[test]
fn exchange() {
    replay("exchange");
}

#[test]
fn http() {
    replay("http");
}

#[test]
fn oauth() {
    replay("oauth");
}

#[test]
fn sse() {
    replay("sse");
}

#[test]
fn supervisor() {
    replay("supervisor");
}

#[test]
fn tools() {
    replay("tools");
}

#[test]
fn operations() {
    replay("operations");
}

#[test]
fn every_target_has_its_file() {
    for (name, _) in TARGETS {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fuzz/fuzz_targets/{name}.rs"));
        assert!(file.is_file(), "{}", file.display());
    }
}
