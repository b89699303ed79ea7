//! Keyword search of tools, for hosts that let the model search for tools instead of listing every tool.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{Catalogue, OfferedTool};
use mcpwire_core::Tool;

/// Maximum number of different words in a query. Further words are ignored, which bounds the cost of a search.
const MAX_WORDS: usize = 16;

/// Number of bytes of a tool description that are searched. The rest is ignored, which bounds the cost of a search.
const MAX_DESCRIPTION: usize = 4_096;

/// A tool that matches a search query.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolMatch<'a> {
    /// The tool that matches the query.
    pub offered: OfferedTool<'a>,
    /// The relevance of the tool for the query: higher is better. Compare only scores from the same query.
    pub score: u32,
}

/// The scores for the three ways in which a query word can match a word in a field of a tool, such as the description.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Weights {
    /// Score if the word equals the query word.
    exact: u32,
    /// Score if the word starts with the query word, or equals the query word without its ending, such as the plural
    /// "s".
    prefix: u32,
    /// Score if the word contains the query word after its start. Query words shorter than three bytes do not match in
    /// this way.
    infix: u32,
}

const NAME: Weights = Weights { exact: 24, prefix: 16, infix: 8 };
const TITLE: Weights = Weights { exact: 18, prefix: 12, infix: 6 };
const SERVER: Weights = Weights { exact: 10, prefix: 6, infix: 2 };
const DESCRIPTION: Weights = Weights { exact: 6, prefix: 4, infix: 1 };

/// The score of each query word for one tool. 0 means that the query word does not match the tool.
type WordScores = [u8; MAX_WORDS];

/// Returns up to `limit` tools that match a query, best match first.
///
/// The search covers the names, titles and descriptions of tools and the slugs of servers. Case and word order do not
/// matter. Query words that match few tools score higher, and so do tools that match several query words.
pub fn search_tools<'a>(catalogue: &'a Catalogue, query: &str, limit: usize) -> Vec<ToolMatch<'a>> {
    let mut query_words: Vec<String> = Vec::new();
    for_each_word(query, &mut |word| {
        if query_words.len() < MAX_WORDS && !query_words.iter().any(|known| known == word) {
            query_words.push(word.into());
        }
    });
    let mut tools_per_word = [0_u32; MAX_WORDS];
    let mut matches: Vec<(OfferedTool<'a>, WordScores)> = Vec::new();
    for offered in catalogue.tools() {
        let scores = score_words(&offered, &query_words);
        for (tools, score) in tools_per_word.iter_mut().zip(scores) {
            *tools += u32::from(score > 0);
        }
        if scores.iter().any(|score| *score > 0) {
            matches.push((offered, scores));
        }
    }
    let all = u32::try_from(catalogue.len()).unwrap_or(u32::MAX);
    let rarity = tools_per_word.map(|tools| 1 + (all / tools.max(1)).max(1).ilog2());
    let total = |scores: WordScores| {
        let sum: u32 = scores.iter().zip(rarity).map(|(score, rarity)| u32::from(*score) * rarity).sum();
        let matching_words = u32::try_from(scores.iter().filter(|score| **score > 0).count()).unwrap_or(0);
        sum * matching_words
    };
    let mut found: Vec<ToolMatch<'a>> =
        matches.into_iter().map(|(offered, scores)| ToolMatch { offered, score: total(scores) }).collect();
    // The sort is stable, so tools with equal scores stay in catalogue order.
    found.sort_by_key(|found| Reverse(found.score));
    found.truncate(limit);
    found
}

/// Returns the score of each query word for one tool: the highest score in any field of the tool.
fn score_words(offered: &OfferedTool<'_>, query_words: &[String]) -> WordScores {
    let Tool { name, title, description, annotations, .. } = offered.tool;
    let title = title.as_deref().or_else(|| annotations.as_ref()?.title.as_deref());
    let fields = [
        (name.as_str(), NAME),
        (title.unwrap_or(""), TITLE),
        (offered.slug, SERVER),
        (truncate(description.as_deref().unwrap_or("")), DESCRIPTION),
    ];
    let mut scores = [0; MAX_WORDS];
    for (text, weights) in fields {
        for_each_word(text, &mut |word| {
            for (score, query_word) in scores.iter_mut().zip(query_words) {
                let weight = weight(word, query_word, weights);
                *score = u8::try_from(weight).unwrap_or(u8::MAX).max(*score);
            }
        });
    }
    scores
}

fn weight(word: &str, query_word: &str, weights: Weights) -> u32 {
    if word == query_word {
        return weights.exact;
    }
    // Query words may have an ending, such as the plural "s", that the tool's word lacks.
    let has_ending = query_word.starts_with(word) && word.len() > 2 && query_word.len() - word.len() <= 2;
    if word.starts_with(query_word) || has_ending {
        weights.prefix
    } else if query_word.len() > 2 && word.contains(query_word) {
        weights.infix
    } else {
        0
    }
}

fn truncate(description: &str) -> &str {
    let mut end = description.len().min(MAX_DESCRIPTION);
    while !description.is_char_boundary(end) {
        end -= 1;
    }
    &description[..end]
}

/// Calls `f` with each word of `text`, in lower case.
///
/// A word ends at a character that is not alphanumeric, and before a capital letter that follows a small letter or
/// digit: `camelCase` has two words.
fn for_each_word(text: &str, f: &mut impl FnMut(&str)) {
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
    fn names_are_split_into_words() {
        let mut found = Vec::new();
        for_each_word("createPull_request2 HTTPServer über-alles", &mut |word| found.push(String::from(word)));
        assert_eq!(found, ["create", "pull", "request2", "httpserver", "über", "alles"]);
    }

    #[test]
    fn a_word_matches_its_plural_and_vice_versa() {
        assert_eq!(weight("file", "files", NAME), NAME.prefix);
        assert_eq!(weight("files", "file", NAME), NAME.prefix);
        assert_eq!(weight("profile", "file", NAME), NAME.infix);
        assert_eq!(weight("a", "ab", NAME), 0);
    }
}
