//! What servers have beside tools, one method each.

use mcpwire_core::{
    CallError, Complete, CompleteParams, CompleteResult, Discover, DiscoverParams, Era, GetPrompt, GetPromptParams,
    GetPromptResult, ListParams, ListPrompts, ListResourceTemplates, ListResources, Listed, LoggingLevel, Method,
    PagedList, Pages, PagesTime, Params, Ping, PingParams, Prompt, ProtocolVersion, ReadResource, ReadResourceParams,
    ReadResourceResult, RequestOptions, Resource, ResourceTemplate, Subscribe, SubscribeParams, Unsubscribe,
    UnsubscribeParams,
};
use mcpwire_process::Error;
use serde::Serialize;

use crate::client::McpClient;

impl McpClient {
    /// Lists what can be read, all pages. Entries that are no resources are left out and told.
    pub fn list_resources(&mut self) -> Result<Listed<Resource>, Error> {
        self.list_all::<ListResources>()
    }

    /// Lists the patterns of addresses that can be read, all pages.
    pub fn list_resource_templates(&mut self) -> Result<Listed<ResourceTemplate>, Error> {
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
    pub fn list_prompts(&mut self) -> Result<Listed<Prompt>, Error> {
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
            Some(Era::Modern) => self.request::<Discover>(&DiscoverParams {}, &options).map(drop),
            _ => self.request::<Ping>(&PingParams {}, &options).map(drop),
        }
    }

    /// Asks for a list of any kind, all pages.
    pub fn list_all<M>(&mut self) -> Result<Listed<<M::Result as PagedList>::Item>, Error>
    where
        M: Method<Result: PagedList>,
        for<'a> ListParams<'a>: Params<M>,
    {
        self.list_all_with::<M>(&RequestOptions::new())
    }

    /// As [`McpClient::list_all`], with options for each page: [`RequestOptions::fresh`] asks for all of them anew.
    /// [`RequestOptions::total_timeout`] is for all pages together.
    ///
    /// Where a page that was kept leads to one that the server does not have any more, the walk begins again, with fresh
    /// pages (2026-07-28, server/utilities/caching, "Interaction with Pagination").
    pub fn list_all_with<M>(
        &mut self,
        options: &RequestOptions,
    ) -> Result<Listed<<M::Result as PagedList>::Item>, Error>
    where
        M: Method<Result: PagedList>,
        for<'a> ListParams<'a>: Params<M>,
    {
        self.list_pages::<M>(options, |_| {})
    }

    /// As [`McpClient::list_all_with`]. `begun` is called when the first page is there.
    pub(crate) fn list_pages<M>(
        &mut self,
        options: &RequestOptions,
        begun: fn(&mut Self),
    ) -> Result<Listed<<M::Result as PagedList>::Item>, Error>
    where
        M: Method<Result: PagedList>,
        for<'a> ListParams<'a>: Params<M>,
    {
        let kept = self.engine().session().stats().cached;
        let mut options = options.clone();
        let time = PagesTime::begin(&options, self.engine().session().config(), self.connection.now());
        loop {
            match self.walk::<M>(&options, time, begun) {
                Err(Error::Call { error: CallError::Server { .. }, .. })
                    if !options.fresh && self.engine().session().stats().cached > kept =>
                {
                    options.fresh = true;
                }
                walked => return walked,
            }
        }
    }

    fn walk<M>(
        &mut self,
        options: &RequestOptions,
        time: PagesTime,
        begun: fn(&mut Self),
    ) -> Result<Listed<<M::Result as PagedList>::Item>, Error>
    where
        M: Method<Result: PagedList>,
        for<'a> ListParams<'a>: Params<M>,
    {
        let mut pages = Pages::default();
        let mut page = self.request::<M>(&ListParams { cursor: None }, options)?;
        begun(self);
        while let Some(cursor) = pages.add(page) {
            let rest = time.options(options, self.connection.now());
            let next = self.request::<M>(&ListParams { cursor: Some(cursor) }, &rest);
            page = next.map_err(|error| error.explained(|error| time.explain(error)))?;
        }
        Ok(pages.into_list())
    }
}
