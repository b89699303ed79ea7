//! Finds and replaces the variables `{name}` in texts.

/// Returns the names in braces in `text`, in order: `a` and `b` for `x{a}y{b}`. Braces without a valid name are skipped.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Name(name) => Some(name),
        Piece::Text(_) => None,
    })
}

/// Replaces each `{name}` in `text` by the result of calling `value` with the name. If the result is `None`, `{name}` stays.
/// Inserted text is not searched for further names.
pub(crate) fn fill(text: &str, mut value: impl FnMut(&str) -> Option<String>) -> String {
    let filled = pieces(text).map(|piece| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Name(name) => value(name).unwrap_or_else(|| format!("{{{name}}}")),
    });
    filled.collect()
}

enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(after) = rest.strip_prefix('{')
            && let Some(end) = after.find(['}', '{'])
            && after[end..].starts_with('}')
            && is_variable_name(&after[..end])
        {
            let name = &after[..end];
            rest = &after[end + 1..];
            return Some(Piece::Name(name));
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find('{').map_or(rest.len(), |at| first + at);
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Text(text))
    })
}

/// Returns whether `text` is a valid name of a variable: letters, digits and `_-.`.
pub(crate) fn is_variable_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_replaced_once_and_all_else_stays() {
        for (text, expected) in [
            ("x{a}y{a}", "x{a}!y{a}!"),
            ("{b}", "{b}"),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            ("{{a}}", "{{a}!}"),
            ("{a", "{a"),
            ("{}", "{}"),
            ("ä{a}ö", "ä{a}!ö"),
            ("", ""),
        ] {
            assert_eq!(fill(text, |name| (name == "a").then(|| "{a}!".to_owned())), expected, "{text}");
        }
        assert_eq!(names_in("{a}{ b }{c.d-e}").collect::<Vec<_>>(), ["a", "c.d-e"]);
    }
}
