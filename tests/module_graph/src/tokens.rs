//! Splits Rust source into the tokens that paths are made of. Comments and literals are dropped.

use std::iter::Peekable;
use std::str::Chars;

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// An identifier or a keyword.
    Name(String),
    /// `::`
    PathSep,
    /// Any other character, one token each.
    Sign(char),
}

impl Token {
    /// Returns the identifier, if the token is one.
    pub(crate) fn name(&self) -> Option<&str> {
        if let Self::Name(name) = self { Some(name) } else { None }
    }

    /// Returns whether the token is this character.
    pub(crate) fn is(&self, sign: char) -> bool {
        *self == Self::Sign(sign)
    }
}

/// Returns the tokens of a source file.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = source.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|char| *char != '\n').is_some() {},
            '/' if chars.peek() == Some(&'*') => skip_block_comment(&mut chars),
            '"' => skip_string(&mut chars),
            '\'' => skip_char_or_lifetime(&mut chars),
            ':' if chars.next_if_eq(&':').is_some() => tokens.push(Token::PathSep),
            _ if char.is_ascii_digit() => while chars.next_if(|char| is_word(*char)).is_some() {},
            _ if is_word(char) => {
                let mut word = String::from(char);
                while let Some(next) = chars.next_if(|char| is_word(*char)) {
                    word.push(next);
                }
                match (word.as_str(), chars.peek()) {
                    ("r" | "br" | "cr", Some('"' | '#')) => {
                        if let Some(raw) = skip_raw_string(&mut chars) {
                            tokens.push(Token::Name(raw));
                        }
                    }
                    ("b" | "c", Some('"')) => {
                        chars.next();
                        skip_string(&mut chars);
                    }
                    ("b", Some('\'')) => {
                        chars.next();
                        skip_char_or_lifetime(&mut chars);
                    }
                    _ => tokens.push(Token::Name(word)),
                }
            }
            _ if char.is_whitespace() => {}
            _ => tokens.push(Token::Sign(char)),
        }
    }
    tokens
}

fn is_word(char: char) -> bool {
    char == '_' || char.is_alphanumeric()
}

/// Block comments nest.
fn skip_block_comment(chars: &mut Peekable<Chars<'_>>) {
    let mut depth = 1;
    chars.next();
    while depth > 0 {
        match chars.next() {
            Some('/') if chars.next_if_eq(&'*').is_some() => depth += 1,
            Some('*') if chars.next_if_eq(&'/').is_some() => depth -= 1,
            Some(_) => {}
            None => return,
        }
    }
}

fn skip_string(chars: &mut Peekable<Chars<'_>>) {
    while let Some(char) = chars.next() {
        match char {
            '"' => return,
            '\\' => _ = chars.next(),
            _ => {}
        }
    }
}

/// Skips a raw string after its `r`. `r#name` is no string: then the name is returned.
fn skip_raw_string(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut hashes = 0;
    while chars.next_if_eq(&'#').is_some() {
        hashes += 1;
    }
    if chars.next_if_eq(&'"').is_none() {
        let mut name = String::new();
        while let Some(char) = chars.next_if(|char| is_word(*char)) {
            name.push(char);
        }
        return Some(name);
    }
    while let Some(char) = chars.next() {
        if char == '"' && (0..hashes).all(|_| chars.next_if_eq(&'#').is_some()) {
            break;
        }
    }
    None
}

fn skip_char_or_lifetime(chars: &mut Peekable<Chars<'_>>) {
    let Some(first) = chars.next() else { return };
    if first == '\\' {
        chars.next();
        for char in chars.by_ref() {
            if char == '\'' {
                return;
            }
        }
    } else if chars.next_if_eq(&'\'').is_none() {
        while chars.next_if(|char| is_word(*char)).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Vec<String> {
        tokens(source).iter().filter_map(Token::name).map(String::from).collect()
    }

    #[test]
    fn comments_and_doc_comments_are_dropped() {
        assert_eq!(names("a // b\n/// [c](crate::c)\n//! d\ne /* f /* g */ h */ i"), ["a", "e", "i"]);
    }

    #[test]
    fn strings_of_all_kinds_are_dropped() {
        let source = r###"a "b \" crate::c" b"d" r"e" r##"f "# g"## c"h" br#"i"# j"###;
        assert_eq!(names(source), ["a", "j"]);
    }

    #[test]
    fn characters_are_dropped_and_lifetimes_end_before_the_next_token() {
        assert_eq!(names(r"x 'a' '\'' '\u{1f600}' b'\\' &'long y: 'a, z"), ["x", "y", "z"]);
    }

    #[test]
    fn raw_identifiers_are_names() {
        assert_eq!(names("r#type"), ["type"]);
    }

    #[test]
    fn paths_have_separators() {
        let path = [Token::Name("a".into()), Token::PathSep, Token::Name("b".into()), Token::Sign(';')];
        assert_eq!(tokens("a::b;"), path);
    }
}
