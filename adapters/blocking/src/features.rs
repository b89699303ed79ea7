//! What servers have beside tools, one method each.

use mcpwire_client::Error;
use mcpwire_core::internal::{Discover, PageWalk, Step, Subscribe, SubscribeParams, Unsubscribe, UnsubscribeParams};
use mcpwire_core::{
    Complete, CompleteParams, CompleteResult, Era, GetPrompt, GetPromptParams, GetPromptResult, ItemList, ListParams,
    ListPrompts, ListResourceTemplates, ListResources, LoggingLevel, Method, PagedList, Params, Ping, Prompt,
    ProtocolVersion, ReadResource, ReadResourceParams, ReadResourceResult, RequestOptions, Resource, ResourceTemplate,
};
use serde::Serialize;

use crate::client::McpClient;

impl McpClient {
    /// Lists what can be read, all pages. Entries that are no resources are left out and told.
    pub fn list_resources(&mut self) -> Result<ItemList<Resource>, Error> {
        self.list_all::<ListResources>()
    }

    /// Lists the patterns of addresses that can be read, all pages.
    pub fn list_resource_templates(&mut self) -> Result<ItemList<ResourceTemplate>, Error> {
        self.list_all::<ListResourceTemplates>()
    }

    /// Reads a resource.
    pub fn read_resource(&mut self, uri: &str) -> Result<ReadResourceResult, Error> {
        self.request::<ReadResource>(&ReadResourceParams { uri }, &RequestOptions::new())
    }

    /// Asks a legacy server to tell when a resource changes, if it declares `resources.subscribe`. It does so with a notification, `notifications/resources/updated`.
    pub fn subscribe_resource(&mut self, uri: &str) -> Result<(), Error> {
        self.request::<Subscribe>(&SubscribeParams { uri }, &RequestOptions::new()).map(drop)
    }

    /// Asks a legacy server to tell so no more.
    pub fn unsubscribe_resource(&mut self, uri: &str) -> Result<(), Error> {
        self.request::<Unsubscribe>(&UnsubscribeParams { uri }, &RequestOptions::new()).map(drop)
    }

    /// Lists the server's prompts, all pages.
    pub fn list_prompts(&mut self) -> Result<ItemList<Prompt>, Error> {
        self.list_all::<ListPrompts>()
    }

    /// Asks for a prompt, filled in with arguments: an object of strings.
    pub fn get_prompt(&mut self, name: &str, arguments: impl Serialize) -> Result<GetPromptResult, Error> {
        let params = GetPromptParams { name, arguments: &arguments };
        self.request::<GetPrompt>(&params, &RequestOptions::new())
    }

    /// Asks how an argument of a prompt, or a part of an address, may go on. The context is left out where the protocol
    /// version does not have it.
    pub fn complete(&mut self, params: &CompleteParams<'_>) -> Result<CompleteResult, Error> {
        let version = self.protocol_version().unwrap_or(ProtocolVersion::LATEST);
        self.request::<Complete>(&params.for_version(version), &RequestOptions::new())
    }

    /// Says from which level on log messages are wanted. A legacy server is told so; a modern one is told with each request
    /// from now on.
    pub fn set_log_level(&mut self, level: &LoggingLevel) -> Result<(), Error> {
        let now = self.connection.now();
        let ticket = self.connection.engine.calls().set_log_level(level, &RequestOptions::new(), now);
        match ticket.map_err(|error| self.send_error(error))? {
            Some(ticket) => self.wait(ticket).map(drop),
            None => Ok(()),
        }
    }

    /// Asks the server whether it is there: with `ping`, or with `server/discover` where the server is modern, which has no
    /// `ping` (2026-07-28, changelog).
    pub fn ping(&mut self) -> Result<(), Error> {
        let options = RequestOptions::new();
        match self.server_info().map(|server| server.era) {
            Some(Era::Modern) => self.request::<Discover>(&(), &options).map(drop),
            _ => self.request::<Ping>(&(), &options).map(drop),
        }
    }

    /// Asks for a list of any kind, all pages.
    pub fn list_all<M>(&mut self) -> Result<ItemList<<M::Result as PagedList>::Item>, Error>
    where
        M: Method<Result: PagedList>,
        for<'a> ListParams<'a>: Params<M>,
    {
        self.list_all_with::<M>(&RequestOptions::new())
    }

    /// As [`McpClient::list_all`], with options for each page: [`RequestOptions::fresh`] asks for all of them anew.
    /// [`RequestOptions::total_timeout`] is for all pages together.
    pub fn list_all_with<M>(
        &mut self,
        options: &RequestOptions,
    ) -> Result<ItemList<<M::Result as PagedList>::Item>, Error>
    where
        M: Method<Result: PagedList>,
        for<'a> ListParams<'a>: Params<M>,
    {
        self.unsubscribe_unwanted();
        let options = self.connection.context.traced(options).into_owned();
        let mut walk = PageWalk::<M>::new(options, self.engine().session().config(), self.connection.now());
        loop {
            let now = self.connection.now();
            match walk.poll(&mut self.connection.engine.calls(), now) {
                Step::Wait(key) => {
                    let mut reply = self.reply(key, now, &mut |_| {})?;
                    walk.receive(&mut reply);
                    self.connection.engine.recycle(reply);
                }
                Step::Drain => self.connection.catch_up(),
                Step::Done(list) => return list.map_err(|error| self.request_error(error)),
            }
        }
    }
}
