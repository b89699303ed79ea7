//! `envFile`: a file of environment variables. VS Code and Cursor read it at each start; the import copies its current content.

use serde_json::Value;

use super::builder::Builder;
use super::members::text_at;
use crate::HubError;

/// Imports the environment variables of an `envFile`. `value` is its path, from the member `field`. Variables in the member `env`
/// have precedence, as they have in VS Code and Cursor.
pub(super) fn read(builder: &mut Builder<'_>, field: &str, value: &Value) -> Result<(), HubError> {
    let path = builder.literal_path(field, text_at(field, value)?)?;
    let Some(read) = builder.options.read_file else {
        builder.warn(field, "the variables of this file were not imported. Add those that the server needs");
        return Ok(());
    };
    let message = match read(&path) {
        Ok(content) => {
            for (name, value) in parse(&content) {
                if !builder.config.env_vars.contains_key(&name) {
                    builder.literal_env(&name, &value)?;
                }
            }
            "the variables of this file were imported as they are now. Later changes of the file have no effect"
                .to_owned()
        }
        Err(error) => format!("this file cannot be read, so its variables were not imported: {error}"),
    };
    builder.warn(field, message);
    Ok(())
}

/// Parses the content of an `envFile`, and returns the environment variables in it. If a name occurs several times, the last
/// one counts.
///
/// A line is `NAME=value` or `NAME: value`, and may start with `export`. A value may be quoted; within double quotes, `\n` and
/// `\r` are line breaks. `#` outside of quotes starts a comment.
fn parse(content: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in content.split(['\n', '\r']).map(str::trim) {
        if line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some(border) = find_unquoted(line, &['=', ':']) else { continue };
        let (name, value) = (line[..border].trim(), line[border + 1..].trim());
        let value = find_unquoted(value, &['#']).map_or(value, |comment| value[..comment].trim());
        if !name.is_empty() {
            found.retain(|(before, _)| before != name);
            found.push((name.to_owned(), unquoted(value)));
        }
    }
    found
}

fn unquoted(value: &str) -> String {
    for quote in ['"', '\'', '`'] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote)) {
            return if quote == '"' { inner.replace("\\n", "\n").replace("\\r", "\r") } else { inner.to_owned() };
        }
    }
    value.to_owned()
}

/// Returns the index of the first character of `text` that is in `wanted` and is not within quotes.
fn find_unquoted(text: &str, wanted: &[char]) -> Option<usize> {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open && before != '\\' => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'' | '`') => quote = Some(c),
            None if wanted.contains(&c) => return Some(at),
            None => {}
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_as_they_are_written() {
        let content = "# a comment = 1\r\nA=1\n export B = two words # and why\nC: 'it''s # not'\nD=\"a\\nb\"\n\
                       E=`x`\nnothing\n=none\nF=\nA=2\nG=a=b:c\nH='open\n";
        let expected = [
            ("B", "two words"),
            ("C", "it''s # not"),
            ("D", "a\nb"),
            ("E", "x"),
            ("F", ""),
            ("A", "2"),
            ("G", "a=b:c"),
            ("H", "'open"),
        ];
        assert_eq!(parse(content), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
