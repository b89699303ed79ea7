//! Waits for a login, until an interrupt such as Ctrl-C.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::console::Interrupt;
use crate::failure::{Failure, INTERRUPTED};
use crate::hub::runtime;
use crate::lost_logins::end_at_once;

/// Waits for a future and returns its output. Drops the future after an interrupt such as Ctrl-C, or when the time is over.
pub(super) fn wait<T>(limit: Option<Duration>, future: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = runtime().map_err(Failure::from_hub)?;
    let pressed = Arc::new(Notify::new());
    let (interrupt, press) = (Interrupt::install(), Arc::clone(&pressed));
    interrupt.on_press(move |again| {
        if again {
            end_at_once(INTERRUPTED);
        }
        press.notify_one();
    });
    let elapsed = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let done = runtime.block_on(async {
        tokio::select! {
            biased;
            () = pressed.notified() => Err(Failure::interrupted()),
            done = future => Ok(done),
            () = elapsed => Err(Failure::login_timed_out(limit.unwrap_or_default())),
        }
    });
    interrupt.forget();
    done
}
