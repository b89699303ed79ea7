//! What servers have beside tools, one method each.

use mcpwire_core::{
    CallError, Complete, CompleteParams, CompleteResult, GetPrompt, GetPromptParams, GetPromptResult, ListParams,
    ListPrompts, ListResourceTemplates, ListResources, Listed, LoggingLevel, Method, PagedList, Pages, Params, Ping,
    PingParams, Prompt, ReadResource, ReadResourceParams, ReadResourceResult, RequestOptions, Resource,
    ResourceTemplate, SetLevel, SetLevelParams, Subscribe, SubscribeParams, Unsubscribe, UnsubscribeParams,
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

    /// Asks a legacy server to tell when a resource changes. It does so with a notification, `notifications/resources/updated`.
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

    /// Asks how an argument of a prompt, or a part of an address, may go on.
    pub fn complete(&mut self, params: &CompleteParams<'_>) -> Result<CompleteResult, Error> {
        self.request::<Complete>(params, &RequestOptions::new())
    }

    /// Says to a legacy server from which level on log messages are wanted. For a modern one it is part of the
    /// configuration: [`Config::log_level`](mcpwire_core::Config::log_level).
    pub fn set_log_level(&mut self, level: &LoggingLevel) -> Result<(), Error> {
        self.request::<SetLevel>(&SetLevelParams { level }, &RequestOptions::new()).map(drop)
    }

    /// Asks a legacy server whether it is there.
    pub fn ping(&mut self) -> Result<(), Error> {
        self.request::<Ping>(&PingParams {}, &RequestOptions::new()).map(drop)
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
        let kept = self.engine().stats().cached;
        let mut options = options.clone();
        loop {
            match self.walk::<M>(&options, begun) {
                Err(Error::Call { error: CallError::Server { .. }, .. })
                    if !options.fresh && self.engine().stats().cached > kept =>
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
            page = self.request::<M>(&ListParams { cursor: Some(cursor) }, options)?;
        }
        Ok(pages.into_list())
    }
}
