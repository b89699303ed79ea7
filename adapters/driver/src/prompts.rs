//! `McpClient` methods for prompts and completions.

use mcpwire_client::Error;
use mcpwire_core::internal::SingleRequest;
use mcpwire_core::{
    Complete, CompleteParams, CompleteResult, GetPrompt, GetPromptParams, GetPromptResult, ItemList, ListPrompts,
    Prompt, RequestOptions,
};
use serde::Serialize;

use crate::client::McpClient;
use crate::operation::run;

impl<R> McpClient<R> {
    /// Requests all pages of the server's prompt list.
    #[doc(alias = "prompts/list")]
    pub async fn list_prompts(&self) -> Result<ItemList<Prompt>, Error> {
        self.list_all::<ListPrompts>().await
    }

    /// Requests a prompt with arguments, an object of strings.
    #[doc(alias = "prompts/get")]
    pub async fn get_prompt(&self, name: &str, arguments: impl Serialize) -> Result<GetPromptResult, Error> {
        self.get_prompt_with(name, arguments, &RequestOptions::new()).await
    }

    /// Requests a prompt, with options such as a timeout.
    #[doc(alias = "prompts/get")]
    pub async fn get_prompt_with(
        &self,
        name: &str,
        arguments: impl Serialize,
        options: &RequestOptions,
    ) -> Result<GetPromptResult, Error> {
        self.request::<GetPrompt>(&GetPromptParams { name, arguments: &arguments }, options).await
    }

    /// Requests completions of an argument of a prompt or a resource template.
    ///
    /// The client omits the context if the protocol version does not support it.
    #[doc(alias = "completion/complete")]
    pub async fn complete(&self, params: &CompleteParams<'_>) -> Result<CompleteResult, Error> {
        self.complete_with(params, &RequestOptions::new()).await
    }

    /// Requests completions of an argument, with options such as a timeout.
    #[doc(alias = "completion/complete")]
    pub async fn complete_with(
        &self,
        params: &CompleteParams<'_>,
        options: &RequestOptions,
    ) -> Result<CompleteResult, Error> {
        let options = self.connection.shared().with_caller_context(options);
        run(&self.connection, SingleRequest::<Complete, _>::new(*params, &options)).await
    }
}
