//! Finding tools by words, for hosts that do not put every tool before a model.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{Catalogue, Offered};
use mcpwire_core::Tool;

/// So many words of a query count: more are a text, and not a search.
const MOST_WORDS: usize = 16;

/// So much of a tool's description is read, in bytes. What matters stands at its beginning, and a server decides how long
/// it is.
const MOST_READ: usize = 4_096;

/// A tool that was found.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Found<'a> {
    /// Which one.
    pub offered: Offered<'a>,
    /// How well it fits; only good for comparing it with others that the same query found.
    pub score: u32,
}

/// How well a word of a query fits a word of a tool, where they stand.
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

/// The tools that fit a query best, the best first; at most `limit` of them, and none that no word of the query fits.
///
/// Words are looked for in names, titles, descriptions and the slugs of servers, in any case and order. A word that few
/// tools have counts for more than one that many have, and a tool with more of the words stands before one with fewer. The
/// same query on the same catalogue always gives the same answer.
pub fn search_tools<'a>(catalogue: &'a Catalogue, query: &str, limit: usize) -> Vec<Found<'a>> {
    let mut wanted: Vec<String> = Vec::new();
    words(query, &mut |word| {
        if wanted.len() < MOST_WORDS && !wanted.iter().any(|known| known == word) {
            wanted.push(word.into());
        }
    });
    let mut having = [0_u32; MOST_WORDS];
    let mut fits: Vec<(Offered<'a>, [u8; MOST_WORDS])> = Vec::new();
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
    let score = |fit: [u8; MOST_WORDS]| {
        let sum: u32 = fit.iter().zip(rarity).map(|(fit, rarity)| u32::from(*fit) * rarity).sum();
        let words = u32::try_from(fit.iter().filter(|fit| **fit > 0).count()).unwrap_or(0);
        sum * words
    };
    let mut found: Vec<Found<'a>> =
        fits.into_iter().map(|(offered, fit)| Found { offered, score: score(fit) }).collect();
    // Stable: tools that fit equally well stay in the order of the catalogue.
    found.sort_by_key(|found| Reverse(found.score));
    found.truncate(limit);
    found
}

/// How well each word fits, at the best of its places.
fn fit(offered: &Offered<'_>, wanted: &[String]) -> [u8; MOST_WORDS] {
    let Tool { name, title, description, annotations, .. } = offered.tool;
    let title = title.as_deref().or_else(|| annotations.as_ref()?.title.as_deref());
    let places = [
        (name.as_str(), NAME),
        (title.unwrap_or(""), TITLE),
        (offered.slug, SERVER),
        (start_of(description.as_deref().unwrap_or("")), DESCRIPTION),
    ];
    let mut fits = [0; MOST_WORDS];
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
        // Also "files" for "file".
        weights.start
    } else if wanted.len() > 2 && word.contains(wanted) {
        weights.within
    } else {
        0
    }
}

fn start_of(text: &str) -> &str {
    let mut end = text.len().min(MOST_READ);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The words of a text, in lower case: what stands between characters that are neither letters nor digits, and the parts of
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
