//! `McpClient` methods for resources.

use mcpwire_client::Error;
use mcpwire_core::internal::{Subscribe, SubscribeParams, Unsubscribe, UnsubscribeParams};
use mcpwire_core::{
    ItemList, ListResourceTemplates, ListResources, ReadResource, ReadResourceParams, ReadResourceResult,
    RequestOptions, Resource, ResourceTemplate,
};

use crate::client::McpClient;

impl<R> McpClient<R> {
    /// Requests all pages of the server's resource list.
    #[doc(alias = "resources/list")]
    pub async fn list_resources(&self) -> Result<ItemList<Resource>, Error> {
        self.list_all::<ListResources>().await
    }

    /// Requests all pages of the server's list of resource templates.
    #[doc(alias = "resources/templates/list")]
    pub async fn list_resource_templates(&self) -> Result<ItemList<ResourceTemplate>, Error> {
        self.list_all::<ListResourceTemplates>().await
    }

    /// Reads a resource.
    #[doc(alias = "resources/read")]
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, Error> {
        self.read_resource_with(uri, &RequestOptions::new()).await
    }

    /// Reads a resource, with options such as a timeout.
    #[doc(alias = "resources/read")]
    pub async fn read_resource_with(&self, uri: &str, options: &RequestOptions) -> Result<ReadResourceResult, Error> {
        self.request::<ReadResource>(&ReadResourceParams { uri }, options).await
    }

    /// Subscribes to updates of a resource on a legacy server (up to revision 2025-11-25).
    ///
    /// The changes arrive as [`McpClient::notifications`]. [`McpClient::subscribe`] works with all servers.
    #[doc(alias = "resources/subscribe")]
    pub async fn subscribe_resource(&self, uri: &str) -> Result<(), Error> {
        self.request::<Subscribe>(&SubscribeParams { uri }, &RequestOptions::new()).await.map(drop)
    }

    /// Unsubscribes from updates of a resource on a legacy server (up to revision 2025-11-25).
    #[doc(alias = "resources/unsubscribe")]
    pub async fn unsubscribe_resource(&self, uri: &str) -> Result<(), Error> {
        self.request::<Unsubscribe>(&UnsubscribeParams { uri }, &RequestOptions::new()).await.map(drop)
    }
}
