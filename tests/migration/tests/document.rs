//! MIGRATING-FROM-RMCP.md shows the programs as they are.

use std::fs;
use std::path::Path;

#[test]
fn the_guide_shows_the_programs() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_to_string(here.join("../../MIGRATING-FROM-RMCP.md")).expect("the guide exists");
    let mut programs = 0;
    for entry in fs::read_dir(here.join("src/bin")).expect("the programs exist") {
        let path = entry.expect("it is listed").path();
        let program = fs::read_to_string(&path).expect("it is a text");
        assert!(guide.contains(program.trim()), "the guide shows another version of {}", path.display());
        programs += 1;
    }
    assert_eq!(programs, 12);
}
