//! Just enough JSON to read what a client sends: a value is found by its path and stays the text that it was.

/// The text of one JSON value. Where the client sends no JSON, lookups find nothing; nothing here fails.
#[derive(Clone, Copy)]
pub(crate) struct Raw<'a>(pub(crate) &'a str);

impl<'a> Raw<'a> {
    /// The value at the end of a path of member names.
    pub(crate) fn at(self, path: &[&str]) -> Option<Raw<'a>> {
        path.iter().try_fold(self, |value, key| value.member(key))
    }

    /// What is between the quotes of a string, escapes as they stand; any other value as it stands.
    pub(crate) fn text(self) -> &'a str {
        self.0.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(self.0)
    }

    pub(crate) fn number(self) -> Option<usize> {
        self.0.parse().ok()
    }

    fn member(self, key: &str) -> Option<Raw<'a>> {
        let mut rest = self.0.trim_start().strip_prefix('{')?;
        loop {
            rest = rest.trim_start();
            let (name, after) = split_value(rest)?;
            rest = after.trim_start().strip_prefix(':')?.trim_start();
            let (value, after) = split_value(rest)?;
            if Raw(name).text() == key {
                return Some(Raw(value));
            }
            rest = after.trim_start().strip_prefix(',')?;
        }
    }
}

/// The value that a text begins with, and what follows it.
fn split_value(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        match *bytes.get(at)? {
            b'"' => {
                at = end_of_string(bytes, at)?;
                if depth == 0 {
                    return text.split_at_checked(at);
                }
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth == 1 => return text.split_at_checked(at + 1),
            b'}' | b']' if depth > 1 => {
                depth -= 1;
                at += 1;
            }
            _ if depth == 0 => {
                let end = text.find([',', '}', ']', ' ', '\t', '\r', '\n']).unwrap_or(text.len());
                return (end > 0).then(|| text.split_at(end));
            }
            _ => at += 1,
        }
    }
}

/// The place after the closing quote of the string that opens at `at`.
fn end_of_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
