//! [`Answers`]: the answers file (`--answers FILE`), which answers requests of servers instead of a person.
//!
//! `mcpwire --answers-template` prints an example.
//!
//! An entry answers requests whose message contains the `message` of the entry. An entry without `message` answers any request.
//! The first matching entry is used. An entry can be used once, or any number of times if it has `repeat`. A request without a
//! matching entry is dismissed.
//!
//! This module also parses the folders of `--root`.

use std::fs;
use std::path::Path;

use mcpwire_tokio::protocol::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitResult, Json, Root, RpcError,
};
use serde::Deserialize;
use url::Url;

use crate::failure::Failure;
use crate::input;
use crate::text;

/// The entries of the answers file (`--answers FILE`) for requests of servers. An entry is removed after its first use, unless it
/// has `repeat`.
pub(super) struct Answers {
    elicitation: Vec<Elicitation>,
    sampling: Vec<Sampling>,
    pub(super) roots: Vec<Root>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    elicitation: Vec<Elicitation>,
    #[serde(default)]
    sampling: Vec<Sampling>,
    #[serde(default)]
    roots: Vec<Json>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Elicitation {
    message: Option<String>,
    #[serde(default)]
    repeat: bool,
    action: Action,
    content: Option<Json>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

/// An entry of the answers file for sampling requests. The answer is a text, a complete result, or a rejection.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sampling {
    message: Option<String>,
    #[serde(default)]
    repeat: bool,
    text: Option<String>,
    model: Option<String>,
    result: Option<CreateMessageResult>,
    #[serde(default)]
    reject: bool,
}

impl Answers {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = input::read_file("answers", "the file of --answers,", path)?;
        let wrong =
            |what: String| format!("{} is not a file of answers: {what}", text::line(&path.display().to_string()));
        Self::parse(&text).map_err(|what| Failure::usage("answers", wrong(what)))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let json = Json::parse(text).map_err(|error| error.to_string())?;
        if !json.is_object() {
            return Err("it must be an object".to_owned());
        }
        let File { elicitation, sampling, roots } = json.decode().map_err(|error| error.to_string())?;
        for entry in &sampling {
            let ways = [entry.text.is_some(), entry.result.is_some(), entry.reject];
            if ways.iter().filter(|way| **way).count() != 1 {
                return Err("an entry of `sampling` must have one of `text`, `result` and `reject`".to_owned());
            }
        }
        let roots = roots.iter().map(root).collect::<Result<_, _>>()?;
        Ok(Self { elicitation, sampling, roots })
    }

    pub(super) fn has_sampling(&self) -> bool {
        !self.sampling.is_empty()
    }

    /// Returns the answer to an elicitation request from the first entry that matches its `message`, or `None` if no entry
    /// matches. Removes the entry, unless it has `repeat`.
    pub(super) fn elicitation(&mut self, message: &str) -> Option<ElicitResult> {
        let entry = take(&mut self.elicitation, message, |entry| (entry.message.as_deref(), entry.repeat))?;
        let mut result = ElicitResult::of(match entry.action {
            Action::Accept => ElicitAction::Accept,
            Action::Decline => ElicitAction::Decline,
            Action::Cancel => ElicitAction::Cancel,
        });
        result.content = entry.content;
        Some(result)
    }

    /// Returns the answer to a sampling request from the first entry that matches, or `None` if no entry matches. Entries are
    /// compared with the text of the last message in `params`.
    pub(super) fn sampling(&mut self, params: &CreateMessageParams) -> Option<Result<CreateMessageResult, RpcError>> {
        let last = params.messages.items.last().map(|message| message.content.text()).unwrap_or_default();
        let entry = take(&mut self.sampling, &last, |entry| (entry.message.as_deref(), entry.repeat))?;
        Some(match (entry.result, entry.text) {
            (Some(result), _) => Ok(result),
            (None, Some(text)) => {
                Ok(CreateMessageResult::text(entry.model.as_deref().unwrap_or("mcpwire-answers"), &text))
            }
            (None, None) => Err(RpcError::new(RpcError::USER_REJECTED, "the user rejected the request")),
        })
    }
}

/// Returns the first entry that matches `message`, or `None` if no entry matches. Removes the entry from `entries`, unless it has
/// `repeat`. `of` returns the `message` and the `repeat` of an entry.
fn take<E: Clone>(entries: &mut Vec<E>, message: &str, of: impl Fn(&E) -> (Option<&str>, bool)) -> Option<E> {
    let at = entries.iter().position(|entry| of(entry).0.is_none_or(|part| message.contains(part)))?;
    Some(if of(&entries[at]).1 { entries[at].clone() } else { entries.remove(at) })
}

/// Parses an entry of `roots` in the answers file: a path, a URI, or a `Root` object.
fn root(json: &Json) -> Result<Root, String> {
    if json.is_object() {
        return json.decode().map_err(|error| error.to_string());
    }
    let text: String = json.decode().map_err(|_| "a root must be a path, an address or an object".to_owned())?;
    root_of_text(&text)
}

/// Parses the value of `--root`: the path of an existing folder, or a URI that starts with `file://`.
pub(super) fn root_of_argument(argument: &str) -> Result<Root, Failure> {
    root_of_text(argument).map_err(|message| Failure::usage("root", message))
}

/// Parses a folder or a `file:` URI as [`root_of_argument`] does, but returns an error as text.
fn root_of_text(text: &str) -> Result<Root, String> {
    if text.starts_with("file://") {
        return Ok(Root::new(text));
    }
    let path = fs::canonicalize(text).map_err(|error| format!("the root {text} cannot be found: {error}"))?;
    let uri = Url::from_file_path(&path).map_err(|()| format!("the root {text} has no `file:` URI"))?;
    let mut root = Root::new(uri);
    root.name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Answers {
        Answers::parse(text).unwrap_or_else(|what| panic!("{text}: {what}"))
    }

    fn said(answers: &mut Answers, message: &str) -> String {
        answers.elicitation(message).map_or("none".to_owned(), |result| {
            result.action.to_string() + &result.content.map(|content| content.get().to_owned()).unwrap_or_default()
        })
    }

    #[test]
    fn the_template_is_a_file_of_answers() {
        let answers = parse(crate::args::ANSWERS_TEMPLATE);
        assert_eq!((answers.elicitation.len(), answers.sampling.len(), answers.roots.len()), (2, 2, 1));
    }

    #[test]
    fn entries_are_used_in_order_and_once_and_those_with_a_message_wait_for_theirs() {
        let in_order = r#"{"elicitation":[{"action":"accept","content":{"a":1}},{"action":"decline"}]}"#;
        let waiting = r#"{"elicitation":[{"message":"name","action":"accept"},{"message":"age","action":"cancel","repeat":true},{"action":"decline"}]}"#;
        for (file, messages, expected) in [
            (in_order, &["x", "x", "x"][..], &[r#"accept{"a":1}"#, "decline", "none"][..]),
            (
                waiting,
                &["age?", "age?", "color?", "your name?", "your name?"],
                &["cancel", "cancel", "decline", "accept", "none"],
            ),
        ] {
            let mut answers = parse(file);
            let all: Vec<String> = messages.iter().map(|message| said(&mut answers, message)).collect();
            assert_eq!(all, expected, "{file}");
        }
    }

    #[test]
    fn a_model_says_what_the_file_says() {
        let mut answers = parse(
            r#"{"sampling":[{"message":"capital","text":"Paris."},{"result":{"role":"assistant","content":[],"model":"m"}},{"reject":true}]}"#,
        );
        let params = |text: &str| -> CreateMessageParams {
            let text = format!(
                r#"{{"messages":[{{"role":"user","content":{{"type":"text","text":"{text}"}}}}],"maxTokens":9}}"#
            );
            Json::parse(text).expect("it is JSON").decode().expect("it is a request")
        };
        assert!(matches!(answers.sampling(&params("other")), Some(Ok(result)) if result.model == "m"));
        assert!(
            matches!(answers.sampling(&params("the capital?")), Some(Ok(result)) if result.content.text() == "Paris.")
        );
        assert!(matches!(answers.sampling(&params("x")), Some(Err(error)) if error.code == RpcError::USER_REJECTED));
        assert!(answers.sampling(&params("x")).is_none());
    }

    #[test]
    fn roots_are_addresses_or_objects() {
        let answers = parse(r#"{"roots":["file:///a",{"uri":"file:///b","name":"B"}]}"#);
        let names: Vec<_> = answers.roots.iter().map(|root| (root.uri.as_str(), root.name.as_deref())).collect();
        assert_eq!(names, [("file:///a", None), ("file:///b", Some("B"))]);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        for (text, what) in [
            ("[]", "object"),
            ("{", "ends"),
            (r#"{"elicitations":[]}"#, "elicitations"),
            (r#"{"elicitation":[{"action":"shrug"}]}"#, "shrug"),
            (r#"{"elicitation":[{}]}"#, "action"),
            (r#"{"sampling":[{}]}"#, "must have one of"),
            (r#"{"sampling":[{"text":"a","reject":true}]}"#, "must have one of"),
            (r#"{"roots":[7]}"#, "a root must be"),
            (r#"{"roots":[{"name":"x"}]}"#, "uri"),
        ] {
            let error = Answers::parse(text).err().unwrap_or_default();
            assert!(error.contains(what), "{text}: {error}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_root_is_a_folder_or_an_address() {
        let root = root_of_text("/usr/../usr").expect("it is there");
        assert_eq!((root.uri.as_str(), root.name.as_deref()), ("file:///usr", Some("usr")));
        let directory = tempfile::tempdir().expect("a directory");
        let escaped = directory.path().join("my project/ä#1%");
        fs::create_dir_all(&escaped).expect("it is created");
        let root = root_of_text(escaped.to_str().expect("a path of text")).expect("it is there");
        assert!(root.uri.ends_with("/my%20project/%C3%A4%231%25"), "{root:?}");
        assert_eq!(root_of_text("file:///not/there").expect("it is an address").uri, "file:///not/there");
        assert!(root_of_text("/not/there").is_err());
    }
}
