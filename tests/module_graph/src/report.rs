//! Compares the arrows of a crate with its rules.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::graph::{circles, reached};
use crate::rules::Rules;
use crate::tree::Arrow;

/// The graph of one crate, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct Report {
    /// For people: each file with those it needs, and the known arrows.
    pub(crate) text: String,
    pub(crate) faults: Vec<String>,
}

/// Compares the arrows of a crate with its rules.
pub(crate) fn report(rules: &Rules, files: &BTreeSet<String>, arrows: &BTreeSet<Arrow>) -> Report {
    let known = |arrow: &&Arrow| rules.known.iter().any(|(known, _)| known == *arrow);
    let sound: BTreeSet<Arrow> = arrows.iter().filter(|arrow| !known(arrow)).cloned().collect();
    let mut faults = Vec::new();
    for file in rules.without_layer(files) {
        faults.push(format!("{file} is in no layer: name it in layers.txt"));
    }
    for arrow in &sound {
        if let Some(why) = rules.forbids(arrow) {
            faults.push(format!("{} -> {} is forbidden: {why}", arrow.from, arrow.to));
        }
    }
    for circle in circles(&sound) {
        let inside = |arrow: &&Arrow| circle.contains(&*arrow.from) && circle.contains(&*arrow.to);
        let arrows: Vec<_> =
            sound.iter().filter(inside).map(|arrow| format!("{} -> {}", arrow.from, arrow.to)).collect();
        faults.push(format!("a circle of {} files: {}", circle.len(), arrows.join(", ")));
    }
    for (arrow, _) in &rules.known {
        let forbidden = rules.forbids(arrow).is_some();
        if !arrows.contains(arrow) {
            faults.push(format!("{} -> {} is gone: take it out of layers.txt", arrow.from, arrow.to));
        } else if !forbidden && !reached(sound.iter(), &arrow.to).contains(&*arrow.from) {
            faults.push(format!("{} -> {} is allowed by now: take it out of layers.txt", arrow.from, arrow.to));
        }
    }
    Report { text: text(rules, files, arrows), faults }
}

fn text(rules: &Rules, files: &BTreeSet<String>, arrows: &BTreeSet<Arrow>) -> String {
    let mut text = String::new();
    for file in files {
        let targets: Vec<_> = arrows.iter().filter(|arrow| arrow.from == *file).map(|arrow| &*arrow.to).collect();
        _ = writeln!(text, "  {file} ({}) -> {}", targets.len(), targets.join(" "));
    }
    _ = writeln!(text, "  {} files, {} arrows, {} known exceptions", files.len(), arrows.len(), rules.known.len());
    for (arrow, reason) in &rules.known {
        _ = writeln!(text, "  known: {} -> {}: {reason}", arrow.from, arrow.to);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    const LAYERS: &str = "crate c f\nlayer low.rs\nlayer high.rs higher.rs\n";

    fn faults(known: &str, arrows: &[(&str, &str)]) -> Vec<String> {
        let rules = rules::read(&format!("{LAYERS}{known}")).unwrap().remove(0);
        let files = ["low.rs", "high.rs", "higher.rs"].map(String::from).into();
        let arrows = arrows.iter().map(|(from, to)| Arrow { from: (*from).into(), to: (*to).into() }).collect();
        report(&rules, &files, &arrows).faults
    }

    #[test]
    fn what_the_layers_allow_has_no_fault() {
        assert!(faults("", &[("high.rs", "low.rs"), ("higher.rs", "high.rs")]).is_empty());
    }

    #[test]
    fn arrows_upward_and_circles_are_faults() {
        assert!(faults("", &[("low.rs", "high.rs")])[0].contains("forbidden"));
        assert!(faults("", &[("high.rs", "higher.rs"), ("higher.rs", "high.rs")])[0].contains("circle of 2"));
    }

    #[test]
    fn known_arrows_are_no_faults() {
        assert!(faults("known low.rs -> high.rs # why", &[("low.rs", "high.rs")]).is_empty());
        let circle = [("high.rs", "higher.rs"), ("higher.rs", "high.rs")];
        assert!(faults("known high.rs -> higher.rs # why", &circle).is_empty());
    }

    #[test]
    fn exceptions_that_are_not_needed_are_faults() {
        assert!(faults("known low.rs -> high.rs # why", &[])[0].contains("gone"));
        assert!(faults("known high.rs -> higher.rs # why", &[("high.rs", "higher.rs")])[0].contains("allowed by now"));
    }
}
