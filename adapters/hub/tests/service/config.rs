//! Changes of the configuration and their effects on running servers.

use std::fs;
use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

use futures_channel::oneshot;
use mcpwire_hub::config::{EnvVarConfig, Origin};
use mcpwire_hub::secrets::{Secret, SecretRef, SecretStore};
use mcpwire_hub::store::Store;
use mcpwire_hub::{Hub, HubError, HubOptions, McpService, Uuid};
use mcpwire_supervisor::ErrorCode;

use crate::support::{Place, good, server, soon};

#[tokio::test]
async fn ids_and_names_are_taken_once() {
    let place = Place::new();
    let config = good("Files");
    let hub = place.hub_with([config.clone()]).await;
    let before = fs::read(place.layout().servers()).unwrap();
    let mut same_id = good("other");
    same_id.id = config.id;
    for (twin, field) in [(same_id, "id"), (good(" fILES "), "name")] {
        let error = soon(hub.create(twin)).await.unwrap_err();
        assert_eq!((error.code(), error.field()), (ErrorCode::Conflict, field));
    }
    assert_eq!(fs::read(place.layout().servers()).unwrap(), before);
    assert_eq!(hub.list(), [config]);
    let unknown = good("unknown");
    assert_eq!(soon(hub.update(unknown.clone())).await.unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(soon(hub.delete(unknown.id)).await.unwrap_err().code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn servers_are_added_at_once_and_those_that_cannot_be_are_named() {
    let in_memory = HubOptions::in_memory();
    let place = Place::new();
    for hub in [place.hub_with([]).await, Hub::open(in_memory).await.unwrap()] {
        let configs = vec![good("a"), good("b"), good(" A"), good(""), good("c")];
        let results = soon(hub.create_all(configs.clone())).await.unwrap();
        let fields: Vec<_> = results.iter().map(|result| result.as_ref().err().map(HubError::field)).collect();
        assert_eq!(fields, [None, None, Some("name"), Some("name"), None]);
        let expected = [&configs[0], &configs[1], &configs[4]];
        assert!(hub.list().iter().eq(expected), "{:?}", hub.list());
    }
    assert_eq!(place.hub().await.list().len(), 3, "they are in the file");
    fs::write(place.layout().servers(), "garbage").unwrap();
    let hub = Hub::open(HubOptions::in_memory()).await.unwrap();
    assert!(soon(hub.create_all(Vec::new())).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_cannot_be_saved_does_not_hold() {
    let place = Place::new();
    // A file stands where the directory should be.
    fs::write(place.path().join("mcp"), "").unwrap();
    let hub = Hub::open(HubOptions::new(place.layout())).await;
    let Ok(hub) = hub else { return };
    assert_eq!(soon(hub.create(good("a"))).await.unwrap_err().code(), ErrorCode::ServiceUnavailable);
    assert!(hub.list().is_empty());
}

#[tokio::test]
async fn the_configuration_outlives_the_hub() {
    let place = Place::new();
    let configs = [good("b"), good("a")];
    drop(place.hub_with(configs.clone()).await);
    let hub = place.hub().await;
    assert_eq!(hub.list(), configs, "in the order of the file");
    assert!(hub.broken().is_empty());
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_not_taken_for_an_empty_one() {
    let place = Place::new();
    drop(place.hub_with([good("a")]).await);
    let file = place.layout().servers();
    fs::write(&file, "{\"version\": 1, \"servers\": [").unwrap();
    let options = HubOptions::new(place.layout());
    assert_eq!(Hub::open(options).await.unwrap_err().code(), ErrorCode::ValidationError);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"version\": 1, \"servers\": [");
}

#[tokio::test]
async fn an_edit_by_somebody_else_is_not_overwritten() {
    let place = Place::new();
    let config = good("a");
    let hub = place.hub_with([config.clone()]).await;
    let file = place.layout().servers();
    let edited = fs::read_to_string(&file).unwrap().replace("\"a\"", "\"edited\"");
    fs::write(&file, &edited).unwrap();
    let mut ours = config.clone();
    ours.lazy = true;
    let error = soon(hub.update(ours)).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::Conflict, "revision"));
    assert_eq!(fs::read_to_string(&file).unwrap(), edited);
    soon(hub.reload()).await.unwrap();
    assert_eq!(hub.get(config.id).unwrap().name, "edited");
}

/// To the hub, nothing would change. In the file, something would.
#[tokio::test]
async fn a_change_is_compared_with_the_file_and_not_with_what_the_hub_read() {
    let place = Place::new();
    let config = good("a");
    let hub = place.hub_with([config.clone()]).await;
    let mut other = config.clone();
    other.enabled = !config.enabled;
    Store::new(place.layout().servers()).update(&other).unwrap();
    let error = soon(hub.update(config.clone())).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::Conflict, "revision"));
    soon(hub.reload()).await.unwrap();
    soon(hub.update(config.clone())).await.unwrap();
    let saved = Store::new(place.layout().servers()).load().unwrap();
    assert_eq!(saved.get(config.id).unwrap().enabled, config.enabled);
}

#[tokio::test]
async fn what_somebody_else_wrote_is_started_with_consent_only() {
    let place = Place::new();
    let mut config = server("a", "good");
    config.origin = Origin::Imported { from: "claude-desktop".into() };
    let hub = place.hub_with([config.clone()]).await;
    let error = soon(hub.start(config.id)).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::Conflict, "consent"));
    let preview = hub.preview_command(config.id).unwrap();
    assert!(preview.command.iter().any(|word| word == "server::serve"));
    assert_eq!(soon(hub.consent(config.id, "another")).await.unwrap_err().field(), "consent");
    soon(hub.consent(config.id, &preview.hash)).await.unwrap();
    soon(hub.start(config.id)).await.unwrap();
}

/// A store of secrets in which a test can halt one read.
#[derive(Clone, Default)]
struct Halting(Arc<Mutex<Option<Halt>>>);

struct Halt {
    /// Told when the read has begun.
    reading: oneshot::Sender<()>,
    /// The read waits for this.
    may_end: Receiver<()>,
}

impl SecretStore for Halting {
    fn get(&self, _: &SecretRef) -> Result<Option<Secret>, HubError> {
        let halt = self.0.lock().unwrap().take();
        if let Some(Halt { reading, may_end }) = halt {
            reading.send(()).unwrap();
            may_end.recv().unwrap();
        }
        Ok(Some(Secret::new("value")))
    }

    fn set(&self, _: &SecretRef, _: &Secret) -> Result<(), HubError> {
        Ok(())
    }

    fn remove(&self, _: &SecretRef) -> Result<bool, HubError> {
        Ok(false)
    }

    fn names(&self, _: Uuid) -> Result<Vec<String>, HubError> {
        Ok(Vec::new())
    }

    fn remove_all(&self, _: Uuid) -> Result<Vec<String>, HubError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_change_during_an_approval_and_the_approval_are_both_kept() {
    let place = Place::new();
    let secrets = Halting::default();
    let options = HubOptions::new(place.layout()).secrets(secrets.clone());
    let hub = Hub::open(options).await.expect("the hub opens");
    let mut config = server("a", "good").env(EnvVarConfig::secret("TOKEN", "env:TOKEN"));
    config.origin = Origin::Imported { from: "claude-desktop".into() };
    hub.create(config.clone()).await.unwrap();
    let hash = hub.preview_command(config.id).unwrap().hash;

    let ((reading, is_reading), (end, may_end)) = (oneshot::channel(), channel());
    *secrets.0.lock().unwrap() = Some(Halt { reading, may_end });
    let approving = {
        let (hub, id) = (hub.clone(), config.id);
        tokio::spawn(async move { hub.consent(id, &hash).await })
    };
    soon(is_reading).await.expect("the approval reads the values that it approves");
    config.timeouts.call = Some(Duration::from_secs(77));
    let mut changing = pin!(hub.upsert(config.clone()));
    assert!(changing.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    end.send(()).unwrap();
    let (approved, changed) = soon(async { tokio::join!(approving, changing) }).await;
    approved.unwrap().expect("it is approved");
    changed.expect("it is changed");

    assert_eq!(hub.get(config.id).unwrap().timeouts.call, config.timeouts.call);
    soon(hub.start(config.id)).await.expect("it is approved");
}
