//! What servers have beside tools, one method each.

use mcpwire_client::Error;
use mcpwire_core::internal::{Discover, PageWalk, Subscribe, SubscribeParams, Unsubscribe, UnsubscribeParams};
use mcpwire_core::{
    Complete, CompleteParams, CompleteResult, Era, GetPrompt, GetPromptParams, GetPromptResult, ItemList, ListParams,
    ListPrompts, ListResourceTemplates, ListResources, LoggingLevel, Method, PagedList, Params, Ping, Prompt,
    ProtocolVersion, ReadResource, ReadResourceParams, ReadResourceResult, RequestOptions, Resource, ResourceTemplate,
};
use serde::Serialize;

use crate::client::McpClient;
use crate::pending::{Pending, Sent, Turn};

impl<R> McpClient<R> {
    /// Lists what can be read, all pages. Entries that are no resources are left out and told.
    pub async fn list_resources(&self) -> Result<ItemList<Resource>, Error> {
        self.list_all::<ListResources>().await
    }

    /// Lists the patterns of addresses that can be read, all pages.
    pub async fn list_resource_templates(&self) -> Result<ItemList<ResourceTemplate>, Error> {
        self.list_all::<ListResourceTemplates>().await
    }

    /// Reads a resource.
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, Error> {
        self.request::<ReadResource>(&ReadResourceParams { uri }, &RequestOptions::new()).await
    }

    /// Asks a legacy server to tell when a resource changes, if it declares `resources.subscribe`. It does so with a notification, `notifications/resources/updated`.
    pub async fn subscribe_resource(&self, uri: &str) -> Result<(), Error> {
        self.request::<Subscribe>(&SubscribeParams { uri }, &RequestOptions::new()).await.map(drop)
    }

    /// Asks a legacy server to tell so no more.
    pub async fn unsubscribe_resource(&self, uri: &str) -> Result<(), Error> {
        self.request::<Unsubscribe>(&UnsubscribeParams { uri }, &RequestOptions::new()).await.map(drop)
    }

    /// Lists the server's prompts, all pages.
    pub async fn list_prompts(&self) -> Result<ItemList<Prompt>, Error> {
        self.list_all::<ListPrompts>().await
    }

    /// Asks for a prompt, filled in with arguments: an object of strings.
    pub async fn get_prompt(&self, name: &str, arguments: impl Serialize) -> Result<GetPromptResult, Error> {
        let params = GetPromptParams { name, arguments: &arguments };
        self.request::<GetPrompt>(&params, &RequestOptions::new()).await
    }

    /// Asks how an argument of a prompt, or a part of an address, may go on. The context is left out where the protocol
    /// version does not have it.
    pub async fn complete(&self, params: &CompleteParams<'_>) -> Result<CompleteResult, Error> {
        let version = self.protocol_version().unwrap_or(ProtocolVersion::LATEST);
        self.request::<Complete>(&params.for_version(version), &RequestOptions::new()).await
    }

    /// Says from which level on log messages are wanted. A legacy server is told so; a modern one is told with each request
    /// from now on.
    pub async fn set_log_level(&self, level: &LoggingLevel) -> Result<(), Error> {
        let now = self.life.shared().clock.now();
        let ticket = self.life.shared().send(|state| {
            let ticket = state.engine.calls().set_log_level(level, &RequestOptions::new(), now)?;
            if let Some(ticket) = &ticket {
                state.expect(ticket.key(), false);
            }
            Ok(ticket)
        })?;
        match ticket {
            Some(ticket) => Pending::new(&self.life, ticket).await.map(drop),
            None => Ok(()),
        }
    }

    /// Asks the server whether it is there: with `ping`, or with `server/discover` where the server is modern, which has no
    /// `ping` (2026-07-28, changelog).
    pub async fn ping(&self) -> Result<(), Error> {
        let options = RequestOptions::new();
        match self.server_info().map(|server| server.era) {
            Some(Era::Modern) => self.request::<Discover>(&(), &options).await.map(drop),
            _ => self.request::<Ping>(&(), &options).await.map(drop),
        }
    }

    /// Asks for a list of any kind, all pages.
    pub async fn list_all<M>(&self) -> Result<ItemList<<M::Result as PagedList>::Item>, Error>
    where
        M: Method<Result: PagedList>,
        for<'a> ListParams<'a>: Params<M>,
    {
        self.list_all_with::<M>(&RequestOptions::new()).await
    }

    /// As [`McpClient::list_all`], with options for each page: [`RequestOptions::fresh`] asks for all of them anew.
    /// [`RequestOptions::total_timeout`] is for all pages together.
    pub async fn list_all_with<M>(
        &self,
        options: &RequestOptions,
    ) -> Result<ItemList<<M::Result as PagedList>::Item>, Error>
    where
        M: Method<Result: PagedList>,
        for<'a> ListParams<'a>: Params<M>,
    {
        let shared = self.life.shared();
        let options = shared.traced(options).into_owned();
        let mut walk = PageWalk::<M>::new(options, shared.lock().engine.session().config(), shared.clock.now());
        loop {
            match Sent::step(&self.life, false, |_, calls, now| walk.poll(calls, now)) {
                Turn::Wait(sent) => sent.receive(|reply| walk.receive(reply)).await?,
                Turn::Again => {}
                Turn::Done(list) => return list.map_err(|error| shared.request_error(error)),
            }
        }
    }
}
