//! [`Notice`]: what a server tells while a request of a command is pending. [`listen`] and [`task`] are the requests that a hub and
//! a direct connection perform alike.

use std::future::pending;
use std::time::Duration;

use mcpwire_hub::McpClient;
use mcpwire_tokio::protocol::{
    CallError, Json, Notification, RpcError, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter, TaskHandle,
};
use mcpwire_tokio::{Error, Notifications, Subscription};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::args::TaskAction;
use crate::console::Console;

/// A notification of a server, as the running hub sends it to a command. Notifications that MCP has for it have its methods and
/// parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Notice {
    pub(crate) method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) params: Option<Json>,
}

/// The methods of notifications that belong to a subscription.
const CHANGES: [&str; 5] = [
    "notifications/subscriptions/acknowledged",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    Notice::UPDATED,
];

/// A callback for notices.
pub(crate) type OnNotice<'a> = &'a (dyn Fn(Notice) + Send + Sync);

impl Notice {
    pub(crate) const PROGRESS: &'static str = "notifications/progress";
    pub(crate) const TASK: &'static str = "notifications/tasks/status";
    pub(crate) const UPDATED: &'static str = "notifications/resources/updated";
    /// The server reports changes from now on. The parameters are a `SubscriptionFilter`: those that it has agreed to report.
    pub(crate) const LISTENING: &'static str = "mcpwire/listening";

    pub(super) fn new(method: &str, params: &impl Serialize) -> Self {
        Self { method: method.to_owned(), params: Json::from_value(params).ok() }
    }

    fn of(notification: &Notification) -> Self {
        let json = Json::from_value(notification).ok();
        let params = json.and_then(|json| json.decode::<Self>().ok()?.params);
        Self { method: notification.method().to_owned(), params }
    }

    fn of_change(change: SubscriptionEvent) -> Self {
        match change {
            SubscriptionEvent::Acknowledged(agreed) => Self::new(Self::LISTENING, &agreed),
            SubscriptionEvent::ToolsChanged => Self::of(&Notification::ToolsChanged),
            SubscriptionEvent::PromptsChanged => Self::of(&Notification::PromptsChanged),
            SubscriptionEvent::ResourcesChanged => Self::of(&Notification::ResourcesChanged),
            SubscriptionEvent::ResourceUpdated { uri } => Self::new(Self::UPDATED, &serde_json::json!({ "uri": uri })),
            // Too many resources have changed to name them.
            _ => Self { method: Self::UPDATED.to_owned(), params: None },
        }
    }

    /// Decodes the parameters as a `T`. Returns `None` if there are none, or others.
    pub(crate) fn params<T: DeserializeOwned>(&self) -> Option<T> {
        self.params.as_ref()?.decode().ok()
    }

    /// Shows the progress of a call, or the status of a task, on the console.
    pub(crate) fn show(&self, console: &Console) {
        match &*self.method {
            Self::PROGRESS => self.params().iter().for_each(|progress| console.progress(progress)),
            Self::TASK => self.params().iter().for_each(|task| console.task(task)),
            _ => {}
        }
    }
}

/// Subscribes to the changes of all lists and of `resources`, and tells of them and of all other notifications of the server, until
/// the server ends the subscription.
///
/// # Errors
/// If the subscription fails, or if the connection ends.
pub(crate) async fn listen<R>(
    client: &McpClient<R>,
    mut notifications: Notifications,
    resources: &[String],
    tell: OnNotice<'_>,
) -> Result<(), Error> {
    let wanted = SubscriptionFilter::new().tools().prompts().resources();
    let wanted = resources.iter().fold(wanted, SubscriptionFilter::resource);
    let mut changes = match client.subscribe(&wanted).await {
        // The server reports no changes, but it may log.
        Err(error) if is_unknown_method(&error) => None,
        subscribed => Some(subscribed?),
    };
    let agreed = changes.as_ref().map_or_else(SubscriptionFilter::new, |changes| changes.acknowledged().clone());
    tell(Notice::of_change(SubscriptionEvent::Acknowledged(agreed)));
    let is_subscribed = changes.is_some();
    loop {
        tokio::select! {
            biased;
            change = next_change(&mut changes) => match change {
                Some(change) => tell(Notice::of_change(change)),
                None => break,
            },
            notification = notifications.next() => match notification {
                // A notification of a change may be for another subscription over this connection. `changes` yields those for
                // this one.
                Some(notification) if is_subscribed && CHANGES.contains(&notification.method()) => {}
                Some(notification) => tell(Notice::of(&notification)),
                None => break,
            },
        }
    }
    match changes.as_ref().and_then(Subscription::end) {
        Some(SubscriptionEnd::ByServer) => Ok(()),
        Some(SubscriptionEnd::Failed(error)) => Err(Error::new(client.server_name(), (**error).clone())),
        // The connection has ended, so a ping fails, with the reason.
        _ => client.ping().await,
    }
}

async fn next_change(changes: &mut Option<Subscription>) -> Option<SubscriptionEvent> {
    match changes {
        Some(changes) => changes.next().await,
        None => pending().await,
    }
}

fn is_unknown_method(error: &Error) -> bool {
    matches!(error.call_error(), Some(CallError::Server { error, .. }) if error.code == RpcError::METHOD_NOT_FOUND)
}

/// Asks a server about a task: returns its status, waits for its result, or cancels the task. Tells of each new status.
pub(crate) async fn task<R>(
    client: &McpClient<R>,
    action: TaskAction,
    handle: TaskHandle,
    limit: Option<Duration>,
    tell: OnNotice<'_>,
) -> Result<Json, Error> {
    let mut task = client.task(handle);
    if let Some(limit) = limit {
        task = task.timeout(limit).total_timeout(limit);
    }
    let answer = match action {
        TaskAction::Get => Json::from_value(&task.status().await?),
        TaskAction::Result => {
            let result = task.wait_with(|task| tell(Notice::new(Notice::TASK, task))).await;
            Json::from_value(&result?)
        }
        TaskAction::Cancel => Json::from_value(&task.cancel().await?),
    };
    // These types always serialize.
    Ok(answer.unwrap_or_default())
}
