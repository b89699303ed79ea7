//! Runs a [`ClientScript`] against a server under test.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use futures_util::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use mcpwire_driver::memory::{PipeReader, PipeWriter, duplex};
use mcpwire_driver::protocol::Json;
use serde_json::{Value, json};

use super::client_script::{ClientScript, ClientStep, request_id};
use super::transcript::Transcript;
use crate::VirtualTime;
use crate::server::PIPE_CAPACITY;

/// Runs a script against a server, and returns the requests with their responses. Each time that the client waits for responses,
/// it waits at most for `patience`.
pub(super) async fn transcript<F: Future<Output = ()> + Send + 'static>(
    script: &ClientScript,
    time: &VirtualTime,
    patience: Duration,
    serve: &impl Fn(PipeReader, PipeWriter) -> F,
) -> Result<Transcript, String> {
    let (ours, theirs) = duplex(PIPE_CAPACITY);
    let (mut reader, writer) = (ours.reader, ours.writer);
    let transcript = RefCell::new(Transcript::default());
    let (mut server, mut is_served) = (Box::pin(serve(theirs.reader, theirs.writer)), false);
    let sender = Sender { script, time, patience, has_lost_patience: false, writer, sent: 0, transcript: &transcript };
    let (mut client, mut is_sent) = (Box::pin(sender.send_all()), false);
    let mut received = Vec::new();
    // The server, the sender and the reader are polled together, because each pipe has a limited capacity.
    poll_fn(|cx| {
        if !is_served {
            is_served = server.as_mut().poll(cx).is_ready();
        }
        if !is_sent {
            is_sent = client.as_mut().poll(cx).is_ready();
        }
        let mut chunk = [0; 4096];
        loop {
            match Pin::new(&mut reader).poll_read(cx, &mut chunk) {
                Poll::Ready(Ok(n)) if n > 0 => {
                    received.extend_from_slice(&chunk[..n]);
                    take_lines(&mut received, &mut transcript.borrow_mut());
                    // The sender may wait for these lines.
                    cx.waker().wake_by_ref();
                }
                // The server has closed its end, so it does not read the remaining messages.
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending if is_served && is_sent => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await;
    drop(client);
    received.push(b'\n');
    take_lines(&mut received, &mut transcript.borrow_mut());
    Ok(transcript.into_inner())
}

/// Moves the complete lines of the received bytes to the transcript.
fn take_lines(received: &mut Vec<u8>, transcript: &mut Transcript) {
    let Some(end) = memchr::memrchr(b'\n', received) else { return };
    let lines: Vec<u8> = received.drain(..=end).collect();
    let text = String::from_utf8_lossy(&lines);
    text.lines().filter(|line| !line.trim().is_empty()).for_each(|line| transcript.receive(line));
}

/// The half of the simulated client that sends the messages of the script.
struct Sender<'a> {
    script: &'a ClientScript,
    time: &'a VirtualTime,
    patience: Duration,
    /// Whether a response did not arrive in time. The script has then failed, so the client no longer waits for responses.
    has_lost_patience: bool,
    writer: PipeWriter,
    /// Number of chunks that were sent so far.
    sent: usize,
    transcript: &'a RefCell<Transcript>,
}

impl Sender<'_> {
    /// Opens the connection, sends the messages of all steps, and closes the client's end.
    async fn send_all(mut self) {
        // An error is ignored: it means that the server has closed its end, so the transcript is complete.
        let _ = self.try_send_all().await;
    }

    async fn try_send_all(&mut self) -> io::Result<()> {
        let script = self.script;
        let opening = self.request("initialize", &script.opening());
        self.write(opening).await?;
        self.responses().await;
        let mut write = notification("notifications/initialized", &json!({}).into());
        for (step, is_joined) in script.steps.iter().zip(script.is_joined()) {
            if !is_joined {
                self.write(std::mem::take(&mut write)).await?;
                if script.waits_for_responses {
                    self.responses().await;
                }
            }
            let line = match step {
                ClientStep::Request { method, params } => self.request(method, params),
                ClientStep::Notify { method, params } => notification(method, params),
                ClientStep::Cancel => self.cancellation(),
                ClientStep::Garbage(line) => format!("{line}\n"),
                ClientStep::Wait(duration) => {
                    self.time.sleep(*duration).await;
                    continue;
                }
            };
            write.push_str(&line);
        }
        self.write(write).await?;
        // Waits before closing, because a server may drop requests in flight when its input ends.
        self.responses().await;
        Ok(())
    }

    fn request(&self, method: &str, params: &Json) -> String {
        let mut transcript = self.transcript.borrow_mut();
        let id = request_id(transcript.exchanges.len());
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": value(params) });
        transcript.add(id, method.to_owned(), params.clone());
        format!("{line}\n")
    }

    /// Returns a notification that cancels the last request, or an empty text if the client has only sent `initialize`.
    fn cancellation(&self) -> String {
        let mut transcript = self.transcript.borrow_mut();
        // `initialize` must not be cancelled.
        let [_, .., last] = &mut *transcript.exchanges else { return String::new() };
        last.is_cancelled = true;
        let params = json!({ "requestId": value(&last.id) });
        notification("notifications/cancelled", &params.into())
    }

    /// Sends the messages of one write, in chunks.
    async fn write(&mut self, messages: String) -> io::Result<()> {
        let mut rest = messages.as_bytes();
        while !rest.is_empty() {
            let sizes = &self.script.chunk_sizes;
            let size = if sizes.is_empty() { rest.len() } else { sizes[self.sent % sizes.len()] };
            let (chunk, after) = rest.split_at(size.clamp(1, rest.len()));
            self.writer.write_all(chunk).await?;
            (rest, self.sent) = (after, self.sent + 1);
            // Lets the server read a chunk before the next one is sent.
            yield_now().await;
        }
        Ok(())
    }

    /// Waits until all requests are answered, for at most `patience`.
    async fn responses(&mut self) {
        if self.has_lost_patience {
            return;
        }
        let (transcript, mut timer) = (self.transcript, pin!(self.time.sleep(self.patience)));
        self.has_lost_patience = poll_fn(|cx| {
            if transcript.borrow().is_answered() {
                return Poll::Ready(false);
            }
            timer.as_mut().poll(cx).map(|()| true)
        })
        .await;
    }
}

fn notification(method: &str, params: &Json) -> String {
    format!("{}\n", json!({ "jsonrpc": "2.0", "method": method, "params": value(params) }))
}

fn value(json: &Json) -> Value {
    json.decode().unwrap_or_default()
}

/// Runs a simple server on one connection, for [`Simulation::check_server`](super::Simulation::check_server). `answer` gets each
/// line of the client, and returns the response, or `None` if the line needs none.
///
/// ```
/// # mod mcpwire { pub mod testkit { pub mod simulation { pub use mcpwire_testkit::simulation::{Simulation, client_script,
/// # serve_lines}; } } }
/// use mcpwire::testkit::simulation::{Simulation, client_script, serve_lines};
///
/// // A server that refuses everything.
/// fn answer(line: &str) -> Option<String> {
///     let message: serde_json::Value = serde_json::from_str(line).ok()?;
///     let id = message.get("id")?;
///     let error = serde_json::json!({"code": -32601, "message": "no such method"});
///     Some(serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
/// }
///
/// Simulation::new().cases(20).check_server(
///     client_script([]),
///     |reader, writer| serve_lines(reader, writer, answer),
///     |_| Ok::<(), String>(()),
/// );
/// ```
pub async fn serve_lines(reader: PipeReader, mut writer: PipeWriter, mut answer: impl FnMut(&str) -> Option<String>) {
    let (mut reader, mut line) = (BufReader::new(reader), Vec::new());
    while let Ok(1..) = reader.read_until(b'\n', &mut line).await {
        let response = answer(String::from_utf8_lossy(&line).trim_end());
        line.clear();
        if let Some(response) = response
            && writer.write_all(format!("{response}\n").as_bytes()).await.is_err()
        {
            return;
        }
    }
}

/// Yields to the executor once, so that other tasks can run.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
