//! Circles in a set of arrows.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Arrow;

/// Returns all files that can be reached from `start` along the arrows; `start` itself only by a circle.
pub(crate) fn reached<'a>(arrows: impl Iterator<Item = &'a Arrow>, start: &str) -> BTreeSet<&'a str> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for arrow in arrows {
        next.entry(&arrow.from).or_default().push(&arrow.to);
    }
    let mut found = BTreeSet::new();
    let mut open = next.get(start).cloned().unwrap_or_default();
    while let Some(file) = open.pop() {
        if found.insert(file) {
            open.extend(next.get(file).into_iter().flatten());
        }
    }
    found
}

/// Returns the groups of files each of which reaches all others of its group.
pub(crate) fn circles(arrows: &BTreeSet<Arrow>) -> Vec<BTreeSet<&str>> {
    let files: BTreeSet<&str> = arrows.iter().map(|arrow| arrow.from.as_str()).collect();
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        files.iter().map(|file| (*file, reached(arrows.iter(), file))).collect();
    let mut done = BTreeSet::new();
    let mut circles = Vec::new();
    for (file, reached) in &reach {
        if reached.contains(file) && !done.contains(file) {
            let back = |other: &&&str| reach.get(**other).is_some_and(|reach| reach.contains(file));
            let circle: BTreeSet<&str> = reached.iter().filter(back).copied().collect();
            done.extend(circle.iter().copied());
            circles.push(circle);
        }
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(arrows: &[(&str, &str)]) -> BTreeSet<Arrow> {
        arrows.iter().map(|(from, to)| Arrow { from: (*from).into(), to: (*to).into() }).collect()
    }

    #[test]
    fn a_tree_has_no_circle() {
        assert!(circles(&arrows(&[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])).is_empty());
    }

    #[test]
    fn circles_are_found_apart_from_each_other() {
        let arrows = arrows(&[("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "c"), ("e", "f")]);
        assert_eq!(circles(&arrows), [BTreeSet::from(["a", "b"]), BTreeSet::from(["c", "d", "e"])]);
    }
}
