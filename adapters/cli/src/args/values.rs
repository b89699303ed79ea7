//! Parsers of option values, such as durations and sizes.

use std::time::Duration;

use mcpwire_blocking::protocol::{Negotiate, ProtocolVersion};

/// A name and a value, which are parsed from `NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// An environment variable for the server process, from `--env NAME=VALUE` or `--env NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    Set(String, String),
    Inherit(String),
}

pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a duration; try 30s, 500ms or 2m");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds_in_unit = match unit.trim_start() {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    match Duration::try_from_secs_f64(number * seconds_in_unit) {
        Ok(Duration::ZERO) => Err("no time at all is too short".to_owned()),
        Ok(duration) => Ok(duration),
        Err(_) => Err(wrong()),
    }
}

pub(super) fn parse_protocol(text: &str) -> Result<Negotiate, String> {
    match text {
        "auto" => Ok(Negotiate::Auto),
        "modern" => Ok(Negotiate::Modern),
        "legacy" => Ok(Negotiate::Legacy),
        revision => revision.parse::<ProtocolVersion>().map(Negotiate::Version).map_err(|error| error.to_string()),
    }
}

pub(super) fn parse_variable(text: &str) -> Result<Variable, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    match value {
        _ if name.is_empty() => Err("a variable must have a name".to_owned()),
        Some(value) => Ok(Variable::Set(name.to_owned(), value.to_owned())),
        None if std::env::var_os(name).is_none() => Err(format!("{name} is not set here, so it cannot be passed on")),
        None => Ok(Variable::Inherit(name.to_owned())),
    }
}

pub(super) fn parse_pair(text: &str) -> Result<Pair, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok(Pair { name: name.to_owned(), value: value.to_owned() }),
        _ => Err(format!("{text:?} is not NAME=VALUE")),
    }
}

pub(super) fn parse_bytes(text: &str) -> Result<usize, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim_start() {
        "" | "B" => Some(1),
        "K" | "KiB" => Some(1 << 10),
        "M" | "MiB" => Some(1 << 20),
        "G" | "GiB" => Some(1 << 30),
        _ => None,
    };
    let number: Option<usize> = number.parse().ok().filter(|number| *number > 0);
    let bytes = number.zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    bytes.ok_or_else(|| format!("{text:?} is not a size; try 1000000 or 16MiB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, millis) in [
            ("30s", 30_000),
            ("500ms", 500),
            ("2m", 120_000),
            ("2min", 120_000),
            ("1h", 3_600_000),
            ("7", 7_000),
            ("1.5", 1_500),
            ("0.5 s", 500),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "-1", "0", "0ms", "1d", "1e9", "1s2", "..", "inf", "NaN", "99999999999999999999999"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_bytes("1000"), Ok(1_000));
        assert_eq!(parse_bytes("16MiB"), Ok(16 << 20));
        for text in ["", "0", "-1", "MiB", "1.5MiB", "1TB", "99999999999GiB"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn variables() {
        assert_eq!(parse_variable("A=b=c"), Ok(Variable::Set("A".into(), "b=c".into())));
        assert_eq!(parse_variable("A="), Ok(Variable::Set("A".into(), String::new())));
        assert_eq!(parse_variable("PATH"), Ok(Variable::Inherit("PATH".into())));
        assert!(parse_variable("=x").is_err());
        assert!(parse_variable("MCPWIRE_SURELY_NOT_SET").is_err());
    }
}
