//! Which arrows are allowed: the text of `layers.txt`.

use std::collections::BTreeSet;

use crate::tree::Arrow;

/// The rules of one crate.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// The name of the package.
    pub(crate) package: String,
    /// Its folder, from the root of the repository.
    pub(crate) folder: String,
    /// Packages of the workspace that it may depend on, and their modules that it may name.
    dependencies: Vec<(String, Vec<String>)>,
    /// The lowest first. Each is a list of files, and of folders that end in `/`.
    layers: Vec<Vec<String>>,
    nevers: Vec<Never>,
    /// Arrows that are still there and must not be, each with the reason.
    pub(crate) known: Vec<(Arrow, String)>,
}

/// Arrows that no layer allows: `never FROM -> TO but EXCEPT`.
#[derive(Debug)]
struct Never {
    from: Vec<String>,
    to: Vec<String>,
    except: Vec<String>,
}

/// Reads the rules of all crates.
pub(crate) fn read(text: &str) -> Result<Vec<Rules>, String> {
    let mut crates: Vec<Rules> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let (rule, reason) = line.split_once('#').unwrap_or((line, ""));
        let words: Vec<&str> = rule.split_whitespace().collect();
        let Some((keyword, words)) = words.split_first() else { continue };
        let fail = |what: &str| format!("line {}: {what}: {line}", number + 1);
        if *keyword == "crate" {
            let [package, folder] = words else { return Err(fail("expected `crate PACKAGE FOLDER`")) };
            crates.push(Rules { package: (*package).into(), folder: (*folder).into(), ..Rules::default() });
            continue;
        }
        let rules = crates.last_mut().ok_or_else(|| fail("expected `crate` first"))?;
        let owned = |words: &[&str]| words.iter().map(|word| String::from(*word)).collect::<Vec<_>>();
        let arrow = || words.iter().position(|word| *word == "->").ok_or_else(|| fail("expected `->`"));
        match *keyword {
            "may" => {
                let (name, modules) = words.split_first().ok_or_else(|| fail("expected `may PACKAGE MODULE...`"))?;
                rules.dependencies.push(((*name).into(), owned(modules)));
            }
            "layer" => rules.layers.push(owned(words)),
            "never" => {
                let middle = arrow()?;
                let but = words.iter().position(|word| *word == "but").unwrap_or(words.len());
                let to = words.get(middle + 1..but).ok_or_else(|| fail("expected `never FROM -> TO but EXCEPT`"))?;
                let except = owned(words.get(but + 1..).unwrap_or_default());
                rules.nevers.push(Never { from: owned(&words[..middle]), to: owned(to), except });
            }
            "known" => {
                let middle = arrow()?;
                if reason.trim().is_empty() {
                    return Err(fail("expected a reason after `#`"));
                }
                for from in &words[..middle] {
                    for to in &words[middle + 1..] {
                        let arrow = Arrow { from: (*from).into(), to: (*to).into() };
                        rules.known.push((arrow, reason.trim().into()));
                    }
                }
            }
            _ => return Err(fail("expected crate, may, layer, never or known")),
        }
    }
    Ok(crates)
}

impl Rules {
    /// Returns why an arrow is not allowed, whatever is known.
    pub(crate) fn forbids(&self, arrow: &Arrow) -> Option<String> {
        if let Some((package, module)) = arrow.to.split_once("::") {
            let allowed = self
                .dependencies
                .iter()
                .any(|(name, modules)| name == package && modules.iter().any(|name| name == module));
            return (!allowed).then(|| format!("only what is at the public root of {package} may be named"));
        }
        if let (Some(from), Some(to)) = (self.layer(&arrow.from), self.layer(&arrow.to))
            && from < to
        {
            return Some(format!("{} is above", self.layers[to].join(" ")));
        }
        let never = self.nevers.iter().find(|never| {
            matches(&never.from, &arrow.from) && matches(&never.to, &arrow.to) && !matches(&never.except, &arrow.from)
        })?;
        let except = if never.except.is_empty() { String::new() } else { format!(" but {}", never.except.join(" ")) };
        Some(format!("never {} -> {}{except}", never.from.join(" "), never.to.join(" ")))
    }

    /// Returns whether the crate may depend on a package.
    pub(crate) fn allows_package(&self, package: &str) -> bool {
        self.dependencies.iter().any(|(name, _)| name == package)
    }

    /// Returns the files that are in no layer, if there are layers.
    pub(crate) fn without_layer<'a>(&self, files: &'a BTreeSet<String>) -> Vec<&'a str> {
        let missing = |file: &&String| !self.layers.is_empty() && self.layer(file).is_none();
        files.iter().filter(missing).map(String::as_str).collect()
    }

    /// The layer of a file. A file that is named counts before the folder that it is in.
    fn layer(&self, file: &str) -> Option<usize> {
        let named = self.layers.iter().position(|layer| layer.iter().any(|name| name == file));
        named.or_else(|| self.layers.iter().position(|layer| matches(layer, file)))
    }
}

/// Returns whether a file is one of these, or in a folder of them.
fn matches(names: &[String], file: &str) -> bool {
    names.iter().any(|name| name == file || (name.ends_with('/') && file.starts_with(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        let text = "crate c folder # a comment
            layer text.rs
            layer parts/
            layer parts/mod.rs web/
            layer lib.rs
            never parts/ -> parts/mod.rs but parts/face.rs
            never web/ -> parts/inner.rs
            known text.rs -> lib.rs parts/a.rs # because";
        read(text).unwrap().remove(0)
    }

    fn forbidden(from: &str, to: &str) -> bool {
        rules().forbids(&Arrow { from: from.into(), to: to.into() }).is_some()
    }

    #[test]
    fn arrows_go_to_the_same_layer_or_a_lower_one() {
        assert!(!forbidden("web/x.rs", "parts/a.rs") && !forbidden("parts/a.rs", "parts/b.rs"));
        assert!(forbidden("text.rs", "parts/a.rs") && forbidden("parts/a.rs", "lib.rs"));
    }

    #[test]
    fn a_file_counts_before_its_folder() {
        assert!(!forbidden("parts/mod.rs", "web/x.rs") && forbidden("parts/a.rs", "parts/mod.rs"));
    }

    #[test]
    fn never_rules_hold_within_and_between_layers() {
        assert!(forbidden("web/x.rs", "parts/inner.rs") && !forbidden("web/x.rs", "parts/mod.rs"));
    }

    #[test]
    fn another_package_is_named_at_its_root_or_in_its_listed_modules() {
        let rules = read("crate c f\nmay other open").unwrap().remove(0);
        let forbidden = |to: &str| rules.forbids(&Arrow { from: "a.rs".into(), to: to.into() }).is_some();
        assert!(!forbidden("other") && !forbidden("other::open") && forbidden("other::shut") && forbidden("other::*"));
        assert!(rules.allows_package("other") && !rules.allows_package("third"));
    }

    #[test]
    fn files_need_a_layer() {
        let files = BTreeSet::from(["text.rs".into(), "stray.rs".into()]);
        assert_eq!(rules().without_layer(&files), ["stray.rs"]);
        assert!(Rules::default().without_layer(&files).is_empty());
    }

    #[test]
    fn each_known_arrow_has_a_reason() {
        assert_eq!(rules().known.len(), 2);
        assert!(read("crate c f\nknown a -> b").unwrap_err().contains("reason"));
    }

    #[test]
    fn unknown_rules_are_errors() {
        assert!(read("layer a.rs").is_err() && read("crate c f\nlayers a.rs").is_err());
    }
}
