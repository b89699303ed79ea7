//! `mcpwire complete`: gets completions for a prompt or resource-template argument.

use mcpwire_blocking::protocol::{CompleteParams, CompletionReference};

use crate::args::{Completed, Pair};
use crate::console::output;
use crate::failure::Failure;
use crate::session::Direct;
use crate::show;

/// The arguments of `mcpwire complete`: the prompt or resource template, its argument to complete, and the beginning of the
/// value.
pub(super) struct Question<'a> {
    pub(super) kind: Completed,
    pub(super) name: &'a str,
    pub(super) argument: &'a str,
    pub(super) prefix: &'a str,
    pub(super) context: &'a [Pair],
}

pub(super) fn run(session: &mut Direct<'_>, question: &Question<'_>) -> Result<u8, Failure> {
    let reference = match question.kind {
        Completed::Prompt => CompletionReference::Prompt { name: question.name },
        Completed::Resource => CompletionReference::ResourceTemplate { uri: question.name },
    };
    let context: Vec<(&str, &str)> = question.context.iter().map(|pair| (&*pair.name, &*pair.value)).collect();
    let mut params = CompleteParams::new(reference, question.argument, question.prefix);
    params.context = &context;
    let result = session.request(|client| client.complete(&params))?;
    if session.options.json {
        output::json(&result)?;
    } else {
        output::page(|out| show::completion(out, &result.completion))?;
    }
    Ok(0)
}
