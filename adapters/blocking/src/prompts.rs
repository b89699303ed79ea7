//! Prompts and argument completion.

use mcpwire_client::Error;
use mcpwire_core::internal::SingleRequest;
use mcpwire_core::{
    Complete, CompleteParams, CompleteResult, GetPrompt, GetPromptParams, GetPromptResult, ItemList, ListPrompts,
    Prompt, RequestOptions,
};
use serde::Serialize;

use crate::client::McpClient;

impl McpClient {
    /// Requests all pages of the server's prompt list.
    #[doc(alias = "prompts/list")]
    pub fn list_prompts(&mut self) -> Result<ItemList<Prompt>, Error> {
        self.list_all::<ListPrompts>()
    }

    /// Requests a prompt with arguments, an object of strings.
    #[doc(alias = "prompts/get")]
    pub fn get_prompt(&mut self, name: &str, arguments: impl Serialize) -> Result<GetPromptResult, Error> {
        self.get_prompt_with(name, arguments, &RequestOptions::new())
    }

    /// Requests a prompt, with options such as a timeout.
    #[doc(alias = "prompts/get")]
    pub fn get_prompt_with(
        &mut self,
        name: &str,
        arguments: impl Serialize,
        options: &RequestOptions,
    ) -> Result<GetPromptResult, Error> {
        self.request::<GetPrompt>(&GetPromptParams { name, arguments: &arguments }, options)
    }

    /// Requests completions of an argument of a prompt or a resource template.
    ///
    /// Before revision 2025-06-18, the request omits the context: the protocol does not define it.
    #[doc(alias = "completion/complete")]
    pub fn complete(&mut self, params: &CompleteParams<'_>) -> Result<CompleteResult, Error> {
        self.complete_with(params, &RequestOptions::new())
    }

    /// Requests completions of an argument, with options such as a timeout.
    #[doc(alias = "completion/complete")]
    pub fn complete_with(
        &mut self,
        params: &CompleteParams<'_>,
        options: &RequestOptions,
    ) -> Result<CompleteResult, Error> {
        let options = self.connection.context.with_caller_context(options).into_owned();
        self.run(&mut SingleRequest::<Complete, _>::new(*params, &options), &mut |_| {})
    }
}
