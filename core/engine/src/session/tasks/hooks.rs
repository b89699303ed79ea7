//! The way from the rest of a session to tasks.

use alloc::vec::Vec;

use super::calls::Tasked;
use crate::session::closed::Closed;
use crate::session::config::RequestOptions;
use crate::session::engine::Session;
use crate::session::error::{CallError, InputError};
use crate::session::inflight::Waiting;
use crate::session::ticket::RequestKey;
use crate::time::Timestamp;

/// [`Session::task_news`].
pub(in crate::session) type News = fn(&mut Session, &[u8]) -> Option<()>;

/// What the rest of a session calls of tasks. It is called through here, so that it is part of no program that has nothing to
/// do with tasks.
#[derive(Debug)]
pub(crate) struct Hooks {
    /// [`Session::prepare_task`].
    pub(in crate::session) sent: Sent,
    /// [`Session::task_reply`].
    pub(in crate::session) replied: Replied,
    /// [`Session::task_unanswered`].
    pub(in crate::session) unanswered: fn(&mut Session, RequestKey, CallError, Timestamp, &mut Vec<u8>),
    /// [`Session::task_notice`].
    pub(in crate::session) told: fn(&mut Session, &[u8], Timestamp, &mut Vec<u8>) -> Option<()>,
    /// [`Session::cancel_task`].
    pub(in crate::session) cancelled: fn(&mut Session, RequestKey, Timestamp, &mut Vec<u8>) -> bool,
    /// [`Session::drive_tasks`].
    pub(in crate::session) due: fn(&mut Session, Timestamp, &mut Vec<u8>),
    /// [`Session::task_input_answered`].
    pub(in crate::session) input: fn(&mut Session, RequestKey, &[u8], Timestamp, &mut Vec<u8>),
    /// [`Session::task_input_refused`].
    pub(in crate::session) input_refused: fn(&mut Session, RequestKey, InputError, Timestamp, &mut Vec<u8>),
    /// [`Session::close_tasks`].
    pub(in crate::session) ended: fn(&mut Session, &Closed),
}

type Sent = fn(&mut Session, &str, &RequestOptions) -> (Tasked, Option<Vec<u8>>);
type Replied = fn(&mut Session, Waiting, u64, Vec<u8>, Timestamp, &mut Vec<u8>) -> Option<(Waiting, Vec<u8>)>;

pub(crate) static HOOKS: Hooks = Hooks {
    sent: Session::prepare_task,
    replied: Session::task_reply,
    unanswered: Session::task_unanswered,
    told: Session::task_notice,
    cancelled: Session::cancel_task,
    due: Session::drive_tasks,
    input: Session::task_input_answered,
    input_refused: Session::task_input_refused,
    ended: Session::close_tasks,
};
