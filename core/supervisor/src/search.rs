//! Keyword search of tools, for hosts that do not present every tool to the model.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{Catalogue, OfferedTool};
use mcpwire_core::Tool;

/// Maximum number of query words; further words are ignored.
const MAX_WORDS: usize = 16;

/// Number of bytes of a tool description to search. The limit bounds the cost, because servers choose the length.
const MAX_DESCRIPTION: usize = 4_096;

/// A search result.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolMatch<'a> {
    /// The tool.
    pub offered: OfferedTool<'a>,
    /// The relevance. Comparable only within the results of one query.
    pub score: u32,
}

/// Scores of a query word that equals, starts or is contained in a word of the tool.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Weights {
    same: u32,
    start: u32,
    within: u32,
}

const NAME: Weights = Weights { same: 24, start: 16, within: 8 };
const TITLE: Weights = Weights { same: 18, start: 12, within: 6 };
const SERVER: Weights = Weights { same: 10, start: 6, within: 2 };
const DESCRIPTION: Weights = Weights { same: 6, start: 4, within: 1 };

/// Returns up to `limit` tools that match a query, best match first.
///
/// The search covers names, titles, descriptions and server slugs, ignoring case and word order. Rare words count more,
/// and tools with more of the words rank first. The result is deterministic.
pub fn search_tools<'a>(catalogue: &'a Catalogue, query: &str, limit: usize) -> Vec<ToolMatch<'a>> {
    let mut wanted: Vec<String> = Vec::new();
    words(query, &mut |word| {
        if wanted.len() < MAX_WORDS && !wanted.iter().any(|known| known == word) {
            wanted.push(word.into());
        }
    });
    let mut having = [0_u32; MAX_WORDS];
    let mut fits: Vec<(OfferedTool<'a>, [u8; MAX_WORDS])> = Vec::new();
    for offered in catalogue.tools() {
        let fit = fit(&offered, &wanted);
        for (having, fit) in having.iter_mut().zip(fit) {
            *having += u32::from(fit > 0);
        }
        if fit.iter().any(|fit| *fit > 0) {
            fits.push((offered, fit));
        }
    }
    let all = u32::try_from(catalogue.len()).unwrap_or(u32::MAX);
    let rarity = having.map(|having| 1 + (all / having.max(1)).max(1).ilog2());
    let score = |fit: [u8; MAX_WORDS]| {
        let sum: u32 = fit.iter().zip(rarity).map(|(fit, rarity)| u32::from(*fit) * rarity).sum();
        let words = u32::try_from(fit.iter().filter(|fit| **fit > 0).count()).unwrap_or(0);
        sum * words
    };
    let mut found: Vec<ToolMatch<'a>> =
        fits.into_iter().map(|(offered, fit)| ToolMatch { offered, score: score(fit) }).collect();
    // A stable sort keeps equal matches in catalogue order.
    found.sort_by_key(|found| Reverse(found.score));
    found.truncate(limit);
    found
}

/// Returns the best score of each query word over all fields of a tool.
fn fit(offered: &OfferedTool<'_>, wanted: &[String]) -> [u8; MAX_WORDS] {
    let Tool { name, title, description, annotations, .. } = offered.tool;
    let title = title.as_deref().or_else(|| annotations.as_ref()?.title.as_deref());
    let places = [
        (name.as_str(), NAME),
        (title.unwrap_or(""), TITLE),
        (offered.slug, SERVER),
        (start_of(description.as_deref().unwrap_or("")), DESCRIPTION),
    ];
    let mut fits = [0; MAX_WORDS];
    for (text, weights) in places {
        words(text, &mut |word| {
            for (fit, wanted) in fits.iter_mut().zip(wanted) {
                let weight = weight(word, wanted, weights);
                *fit = u8::try_from(weight).unwrap_or(u8::MAX).max(*fit);
            }
        });
    }
    fits
}

fn weight(word: &str, wanted: &str, weights: Weights) -> u32 {
    if word == wanted {
        weights.same
    } else if word.starts_with(wanted) || (wanted.starts_with(word) && word.len() > 2 && wanted.len() - word.len() <= 2)
    {
        // Also matches "files" with "file".
        weights.start
    } else if wanted.len() > 2 && word.contains(wanted) {
        weights.within
    } else {
        0
    }
}

fn start_of(text: &str) -> &str {
    let mut end = text.len().min(MAX_DESCRIPTION);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Calls `f` with each word of a text in lower case. Splits at characters that are not alphanumeric, and within
/// `camelCase`.
fn words(text: &str, f: &mut impl FnMut(&str)) {
    let mut word = String::new();
    let mut was_lower = false;
    for c in text.chars() {
        let ends = !c.is_alphanumeric() || (was_lower && c.is_uppercase());
        if ends && !word.is_empty() {
            f(&word);
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_numeric();
    }
    if !word.is_empty() {
        f(&word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let mut found = Vec::new();
        words("createPull_request2 HTTPServer über-alles", &mut |word| found.push(String::from(word)));
        assert_eq!(found, ["create", "pull", "request2", "httpserver", "über", "alles"]);
    }

    #[test]
    fn a_word_fits_its_plural_and_the_other_way_round() {
        assert_eq!(weight("file", "files", NAME), NAME.start);
        assert_eq!(weight("files", "file", NAME), NAME.start);
        assert_eq!(weight("profile", "file", NAME), NAME.within);
        assert_eq!(weight("a", "ab", NAME), 0);
    }
}
