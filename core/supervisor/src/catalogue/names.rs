//! The exposed names, under which language models see and call the tools.
//!
//! The APIs of language models accept up to 64 letters, digits, `_` and `-`. An exposed name is `<slug>__<tool>`. A
//! slug contains no `__` and does not end in `_`. The first `__` of a name therefore ends the slug, and tools of
//! different servers never share a name.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ServerId;
use mcpwire_core::random::mix64;

/// Separator between the slug of the server and the tool name in an exposed name.
const SEPARATOR: &str = "__";

/// Smallest configurable length limit of exposed tool names, in bytes. A name of 40 bytes has room for a slug, the
/// start of the tool name and a hash.
const MIN_LIMIT: usize = 40;

/// Length of the hash that makes an exposed tool name unique within its server, in hexadecimal digits.
const TOOL_DIGITS: usize = 10;

/// Length of the hash that makes the slug of a server unique, in hexadecimal digits.
const SLUG_DIGITS: usize = 6;

/// Length limit of exposed tool names, in bytes. Exposed names are ASCII, so a byte is a character.
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

/// Returns the slug of an exposed tool name: the part before the separator. `None` if the name has no separator.
pub(super) fn slug_of(exposed: &str) -> Option<&str> {
    // For a separator of two bytes, this is faster than a string search.
    let end = exposed.as_bytes().windows(SEPARATOR.len()).position(|pair| pair == SEPARATOR.as_bytes())?;
    exposed.get(..end)
}

/// Derives a unique slug for each server from its name.
///
/// The order of `names` does not affect the slugs.
pub(super) fn slugs<'a>(
    names: impl Iterator<Item = (ServerId, &'a str)>,
    limit: NameLimit,
) -> BTreeMap<ServerId, String> {
    let mut by_slug: BTreeMap<String, Vec<ServerId>> = BTreeMap::new();
    for (id, name) in names {
        by_slug.entry(slug(name)).or_default().push(id);
    }
    let mut taken: BTreeMap<String, ServerId> = BTreeMap::new();
    // A slug is used unchanged if it is short enough and only one server prefers it.
    by_slug.retain(|slug, ids| {
        let [id] = ids[..] else { return true };
        if slug.len() > limit.slug() {
            return true;
        }
        taken.insert(slug.clone(), id);
        false
    });
    for (slug, mut ids) in by_slug {
        ids.sort_unstable();
        let stem = slug[..slug.len().min(limit.slug() - SLUG_DIGITS - 1)].trim_end_matches('_');
        for id in ids {
            let slug = with_hash(stem, id, "", SLUG_DIGITS, |slug| !taken.contains_key(slug));
            taken.insert(slug, id);
        }
    }
    taken.into_iter().map(|(slug, id)| (id, slug)).collect()
}

/// Returns the preferred slug for a server name: the name in lower case, with one `_` for each sequence of characters
/// other than ASCII letters, digits and `-`.
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

/// Returns the exposed name of each tool of a server, in the order of `tools`.
///
/// The order of `tools` and the tools of other servers do not affect the exposed name of a tool.
pub(super) fn exposed_names<'a>(id: ServerId, slug: &str, tools: &[&'a str], limit: NameLimit) -> Vec<String> {
    let max_tool_len = limit.0.saturating_sub(slug.len() + SEPARATOR.len());
    let fits = |tool: &str| tool.len() <= max_tool_len && tool.chars().all(is_allowed);
    let mut names: Vec<String> = Vec::new();
    let mut changed: Vec<(&'a str, String, usize)> = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        // Valid names are used unchanged.
        if fits(tool) {
            names.push(format!("{slug}{SEPARATOR}{tool}"));
        } else {
            names.push(String::new());
            changed.push((tool, tool.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect(), index));
        }
    }
    if changed.is_empty() {
        return names;
    }
    let mut taken: BTreeSet<String> = names.iter().filter(|name| !name.is_empty()).cloned().collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, sanitized, _) in &changed {
        *counts.entry(sanitized).or_default() += 1;
    }
    let needs_no_hash = |sanitized: &str| sanitized.len() <= max_tool_len && counts.get(sanitized) == Some(&1);
    let mut ordered: Vec<&(&str, String, usize)> = changed.iter().collect();
    // Names that need no hash are assigned first, then the others in alphabetical order.
    ordered.sort_unstable_by_key(|(tool, sanitized, _)| (!needs_no_hash(sanitized), *tool));
    for (tool, sanitized, index) in ordered {
        let mut exposed = format!("{slug}{SEPARATOR}{sanitized}");
        if !needs_no_hash(sanitized) || taken.contains(&exposed) {
            let stem = &sanitized[..sanitized.len().min(max_tool_len.saturating_sub(TOOL_DIGITS + 1))];
            let stem = format!("{slug}{SEPARATOR}{stem}");
            exposed = with_hash(&stem, id, tool, TOOL_DIGITS, |name| !taken.contains(name));
        }
        taken.insert(exposed.clone());
        names[*index] = exposed;
    }
    names
}

/// Returns the first free name of the form `<stem>_<hash>`. The hash has `digits` hexadecimal digits.
fn with_hash(stem: &str, id: ServerId, tool: &str, digits: usize, is_free: impl Fn(&str) -> bool) -> String {
    let mut salt = 0;
    loop {
        let name = format!("{stem}_{:0digits$x}", hash(id, tool, salt) >> (64 - 4 * digits));
        if is_free(&name) {
            return name;
        }
        salt += 1;
    }
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Returns the FNV-1a hash of the arguments. If a name with this hash is already taken, the caller tries the next
/// `salt`.
fn hash(id: ServerId, name: &str, salt: u64) -> u64 {
    let bytes = id.as_u128().to_be_bytes().into_iter().chain(name.bytes()).chain(salt.to_be_bytes());
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    // The callers use only the high bits, which FNV-1a mixes poorly.
    mix64(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ServerId = ServerId::from_u128(0xa);
    const B: ServerId = ServerId::from_u128(0xb);

    #[test]
    fn slugs_are_derived_from_names() {
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
    fn similar_names_get_distinct_slugs_in_any_order() {
        let limit = NameLimit::new(64);
        let one = slugs([(A, "my server"), (B, "my.server")].into_iter(), limit);
        let other = slugs([(B, "my.server"), (A, "my server")].into_iter(), limit);
        assert_eq!(one, other);
        assert_ne!(one[&A], one[&B]);
        assert!(one[&A].starts_with("my_server_") && one[&A].len() == "my_server_".len() + SLUG_DIGITS);
    }

    #[test]
    fn a_hashed_slug_differs_from_the_slug_of_every_other_server() {
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
