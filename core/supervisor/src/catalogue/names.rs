//! The names under which tools are exposed to a language model.
//!
//! APIs of language models accept up to 64 letters, digits, `_` and `-`. An exposed name is `<slug>__<tool>`. A slug
//! contains no `__` and does not end in `_`. So the first `__` of a name ends the slug, and tools of different servers
//! never share a name.

use alloc::collections::btree_map::Entry;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ServerId;
use mcpwire_core::internal::mix64;

/// Separator between the slug and the tool name.
pub(super) const SEPARATOR: &str = "__";

/// Minimum length limit: it leaves room for a slug, a tool name and a hash.
const MIN_LIMIT: usize = 40;

/// Number of hexadecimal digits that distinguish tools of one server: 40 bits.
const TOOL_DIGITS: usize = 10;

/// Number of hexadecimal digits that distinguish servers with similar names.
const SLUG_DIGITS: usize = 6;

/// Length limit of exposed names, in bytes. Names are ASCII.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameLimit(usize);

impl NameLimit {
    pub(super) fn new(bytes: usize) -> Self {
        NameLimit(bytes.max(MIN_LIMIT))
    }

    fn slug(self) -> usize {
        self.0 / 2 - SEPARATOR.len()
    }
}

/// Returns the slug of each server. Slugs depend only on the set of servers, not on their order or on which of them
/// run.
pub(super) fn slugs<'a>(
    names: impl Iterator<Item = (ServerId, &'a str)>,
    limit: NameLimit,
) -> BTreeMap<ServerId, String> {
    let mut wanted: BTreeMap<String, Vec<ServerId>> = BTreeMap::new();
    for (id, name) in names {
        wanted.entry(slug(name)).or_default().push(id);
    }
    let mut taken: BTreeMap<String, ServerId> = BTreeMap::new();
    // A short slug wanted by only one server is used unchanged.
    wanted.retain(|slug, ids| {
        let [id] = ids[..] else { return true };
        if slug.len() > limit.slug() {
            return true;
        }
        taken.insert(slug.clone(), id);
        false
    });
    for (slug, mut ids) in wanted {
        ids.sort_unstable();
        let kept = slug[..slug.len().min(limit.slug() - SLUG_DIGITS - 1)].trim_end_matches('_');
        for id in ids {
            for salt in 0.. {
                let digits = hash(id, "", salt) >> (64 - 4 * SLUG_DIGITS);
                if let Entry::Vacant(free) = taken.entry(format!("{kept}_{digits:0SLUG_DIGITS$x}")) {
                    free.insert(id);
                    break;
                }
            }
        }
    }
    taken.into_iter().map(|(slug, id)| (id, slug)).collect()
}

/// Returns the preferred slug for a server name.
fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for c in name.chars() {
        let c = if is_allowed(c) { c.to_ascii_lowercase() } else { '_' };
        if c != '_' || !slug.ends_with('_') {
            slug.push(c);
        }
    }
    let trimmed = slug.trim_matches(['_', '-']);
    match trimmed.bytes().next() {
        None => "mcp".into(),
        // Some APIs require a letter or `_` first.
        Some(b'0'..=b'9') => format!("_{trimmed}"),
        Some(_) => trimmed.into(),
    }
}

/// Returns the exposed names of a server's tools, in the order of `tools`.
///
/// Names depend only on the server and its set of tools, not on their order or on other servers.
pub(super) fn exposed_names<'a>(id: ServerId, slug: &str, tools: &[&'a str], limit: NameLimit) -> Vec<String> {
    let room = limit.0.saturating_sub(slug.len() + SEPARATOR.len());
    let fits = |tool: &str| tool.len() <= room && tool.chars().all(is_allowed);
    let mut names: Vec<String> = tools.iter().map(|_| String::new()).collect();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    // Valid names are used unchanged.
    for (name, tool) in names.iter_mut().zip(tools) {
        if fits(tool) {
            *name = format!("{slug}{SEPARATOR}{tool}");
        }
    }
    let mut changed: Vec<(&'a str, String, usize)> = Vec::new();
    for (place, tool) in tools.iter().enumerate().filter(|(place, _)| names[*place].is_empty()) {
        changed.push((tool, tool.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect(), place));
    }
    if changed.is_empty() {
        return names;
    }
    for name in names.iter().filter(|name| !name.is_empty()) {
        taken.insert(name.clone());
    }
    let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, usual, _) in &changed {
        *alike.entry(usual).or_default() += 1;
    }
    let alone = |usual: &str| usual.len() <= room && alike.get(usual) == Some(&1);
    let mut order: Vec<&(&str, String, usize)> = changed.iter().collect();
    // Names without a hash are assigned first, then the others in alphabetical order.
    order.sort_unstable_by_key(|(tool, usual, _)| (!alone(usual), *tool));
    for (tool, usual, place) in order {
        let plain = format!("{slug}{SEPARATOR}{usual}");
        if alone(usual) && taken.insert(plain.clone()) {
            names[*place] = plain;
            continue;
        }
        let kept = &usual[..usual.len().min(room.saturating_sub(TOOL_DIGITS + 1))];
        for salt in 0.. {
            let digits = hash(id, tool, salt) >> (64 - 4 * TOOL_DIGITS);
            let name = format!("{slug}{SEPARATOR}{kept}_{digits:0TOOL_DIGITS$x}");
            if taken.insert(name.clone()) {
                names[*place] = name;
                break;
            }
        }
    }
    names
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Hashes with FNV-1a and a final mix, because the callers use the high bits.
fn hash(id: ServerId, name: &str, salt: u64) -> u64 {
    let bytes = id.as_u128().to_be_bytes().into_iter().chain(name.bytes()).chain(salt.to_be_bytes());
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    mix64(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ServerId = ServerId::from_u128(0xa);
    const B: ServerId = ServerId::from_u128(0xb);

    #[test]
    fn slugs_are_made_of_names() {
        for (name, expected) in [
            ("GitHub", "github"),
            ("my server", "my_server"),
            ("a__b", "a_b"),
            ("  -x- ", "x"),
            ("1password", "_1password"),
            ("日本", "mcp"),
            ("Zürich API", "z_rich_api"),
        ] {
            assert_eq!(slug(name), expected);
        }
    }

    #[test]
    fn names_that_look_alike_are_told_apart_in_any_order() {
        let limit = NameLimit::new(64);
        let one = slugs([(A, "my server"), (B, "my.server")].into_iter(), limit);
        let other = slugs([(B, "my.server"), (A, "my server")].into_iter(), limit);
        assert_eq!(one, other);
        assert_ne!(one[&A], one[&B]);
        assert!(one[&A].starts_with("my_server_") && one[&A].len() == "my_server_".len() + SLUG_DIGITS);
    }

    #[test]
    fn a_slug_that_is_another_ones_with_its_hash_is_left_to_it() {
        let limit = NameLimit::new(64);
        let first = slugs([(A, "x"), (B, "X!")].into_iter(), limit);
        let c = ServerId::from_u128(0xc);
        let taken = first[&A].clone();
        let three = slugs([(A, "x"), (B, "X!"), (c, taken.as_str())].into_iter(), limit);
        assert_eq!(three[&c], taken);
        assert_ne!(three[&A], taken);
        assert_eq!(three.len(), 3);
    }
}
