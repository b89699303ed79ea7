//! Listing, reading and subscribing to resources.

use mcpwire_client::Error;
use mcpwire_core::internal::{Subscribe, SubscribeParams, Unsubscribe, UnsubscribeParams};
use mcpwire_core::{
    ItemList, ListResourceTemplates, ListResources, ReadResource, ReadResourceParams, ReadResourceResult,
    RequestOptions, Resource, ResourceTemplate,
};

use crate::client::McpClient;

impl McpClient {
    /// Requests all pages of the server's resource list.
    #[doc(alias = "resources/list")]
    pub fn list_resources(&mut self) -> Result<ItemList<Resource>, Error> {
        self.list_all::<ListResources>()
    }

    /// Requests all pages of the server's list of resource templates.
    #[doc(alias = "resources/templates/list")]
    pub fn list_resource_templates(&mut self) -> Result<ItemList<ResourceTemplate>, Error> {
        self.list_all::<ListResourceTemplates>()
    }

    /// Reads a resource.
    #[doc(alias = "resources/read")]
    pub fn read_resource(&mut self, uri: &str) -> Result<ReadResourceResult, Error> {
        self.read_resource_with(uri, &RequestOptions::new())
    }

    /// Reads a resource, with options such as a timeout.
    #[doc(alias = "resources/read")]
    pub fn read_resource_with(&mut self, uri: &str, options: &RequestOptions) -> Result<ReadResourceResult, Error> {
        self.request::<ReadResource>(&ReadResourceParams { uri }, options)
    }

    /// Subscribes to updates of a resource on a legacy server (up to revision 2025-11-25).
    ///
    /// [`McpClient::notifications`] returns the updates. [`McpClient::subscribe`] works with all servers.
    #[doc(alias = "resources/subscribe")]
    pub fn subscribe_resource(&mut self, uri: &str) -> Result<(), Error> {
        self.request::<Subscribe>(&SubscribeParams { uri }, &RequestOptions::new()).map(drop)
    }

    /// Unsubscribes from updates of a resource on a legacy server (up to revision 2025-11-25).
    #[doc(alias = "resources/unsubscribe")]
    pub fn unsubscribe_resource(&mut self, uri: &str) -> Result<(), Error> {
        self.request::<Unsubscribe>(&UnsubscribeParams { uri }, &RequestOptions::new()).map(drop)
    }
}
