//! `mcpwire hub run`: runs the configured servers, and answers requests of other commands over a socket. Only the user who runs the
//! hub can use the socket.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use mcpwire_hub::layout::Layout;
use mcpwire_hub::service::HubEvent;
use mcpwire_hub::{Hub, HubError, McpService as _};
use mcpwire_tokio::protocol::Json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, BufReader, Interest, Take};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tokio::time::{sleep, timeout};

use super::advice::changed_tool;
use super::hub_options;
use super::platform::{ReadHalf, Socket, Stream, Visitor};
use super::protocol::{Request, Response, json, write_line};
use super::questions::Questions;
use super::service::{HubService, find};
use crate::args::Options;
use crate::console::{Console, Interrupt};
use crate::failure::hub_message;
use crate::process_end::settle;
use crate::{text, time};

/// Maximum length of a request from a command, in bytes. 64 MiB is more than servers accept as arguments of a tool call.
const LONGEST: u64 = 64 << 20;

/// Maximum time for a command to read one response of the hub. A slower command loses its connection to the hub.
const SLOWEST_READ: Duration = Duration::from_secs(30);

/// Maximum number of notifications that wait for a command. Further ones replace the oldest.
const MOST_NOTICES: usize = 256;

/// Interval at which the hub checks whether a client has disconnected, if the client has already sent its next request.
const CLOSE_CHECK: Duration = Duration::from_secs(1);

/// Pauses after `accept` has failed, for example because of too many open files. The first value is the first pause. Each
/// further pause is twice as long, up to the second value.
const ACCEPT_PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// Runs all enabled servers, and answers requests of commands until an interrupt such as Ctrl-C. Then ends all servers.
pub(crate) async fn serve(layout: &Layout, options: &Options, console: &Console) -> Result<(), HubError> {
    let socket = Socket::bind(layout)?;
    let interrupt = Interrupt::install();
    let questions = Questions::default();
    let hub = Hub::open(hub_options(layout, options, Some(questions.handlers()))).await?;
    for child in &hub.reaped().ended {
        tell(console, &format!("ended a process that an earlier hub had left: {}", child.pid));
    }
    tell(console, &format!("listening at {}", socket.place()));
    let starting = hub.clone();
    let starting = tokio::spawn(async move { starting.boot().await });
    let reporting = tokio::spawn(report(hub.clone(), console.clone()));
    let service = HubService::new(hub.clone());
    let serve = |visitor: Visitor| {
        let (service, questions) = (service.clone(), questions.clone());
        tokio::spawn(async move {
            if let Some(stream) = visitor.admitted().await {
                // An error means that the client has disconnected.
                let _ = converse(&service, &questions, stream).await;
            }
        });
    };
    tokio::select! {
        () = accept_all(|| socket.accept(), serve, |error| tell(console, &format!("cannot accept a connection: {error}"))) => {}
        () = interrupt.pressed() => {}
        () = service.end.notified() => {}
    }
    starting.abort();
    tell(console, "ending all servers");
    let settling = console.clone();
    let settled = tokio::task::spawn_blocking(move || settle(&settling));
    let ended = hub.shutdown_all().await;
    let _ = settled.await;
    reporting.abort();
    // This process warns of logins that may be lost when it ends, so the error is not reported again.
    ended.or_else(|error| if error.field() == "login" { Ok(()) } else { Err(error) })
}

/// Writes an event to standard error, unless `--quiet` is given. In a file, the line begins with the time.
fn tell(console: &Console, line: &str) {
    if io::stderr().is_terminal() { console.warn(line) } else { console.warn(&format!("{} {line}", time::now())) }
}

/// Accepts connections forever, and passes each to `serve`. Pauses after an error. Of several consecutive errors, only the
/// first is passed to `report`.
async fn accept_all<S>(
    mut accept: impl AsyncFnMut() -> io::Result<S>,
    mut serve: impl FnMut(S),
    mut report: impl FnMut(&io::Error),
) {
    let mut pause = ACCEPT_PAUSES.0;
    loop {
        match accept().await {
            Ok(stream) => {
                pause = ACCEPT_PAUSES.0;
                serve(stream);
            }
            Err(error) => {
                if pause == ACCEPT_PAUSES.0 {
                    report(&error);
                }
                sleep(pause).await;
                pause = (pause * 2).min(ACCEPT_PAUSES.1);
            }
        }
    }
}

/// Writes the events of all servers to standard error: new states of servers, and tools whose definition has changed.
async fn report(hub: Hub, console: Console) {
    let mut events = hub.events();
    while let Some(event) = events.next().await {
        match event {
            HubEvent::Status { name, state, error, .. } => {
                let why = error.map(|error| format!(": {}", hub_message(&error))).unwrap_or_default();
                tell(&console, &format!("{}: {state}{}", text::name(&name), why));
            }
            HubEvent::ToolChanged { name, changes, more, .. } => {
                for change in &changes {
                    tell(&console, &changed_tool(&name, change));
                }
                if more > 0 {
                    tell(&console, &format!("{}: and {more} more", text::name(&name)));
                }
            }
            _ => {}
        }
    }
}

/// Answers the requests that one client sends over `stream`, in order. Returns when the client closes the connection.
async fn converse(service: &HubService, questions: &Questions, stream: Stream) -> io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader.take(LONGEST));
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        reader.get_mut().set_limit(LONGEST);
        let request: Request = match serde_json::from_str(&line) {
            Ok(request) => request,
            Err(error) => {
                let error = HubError::validation("ask", format!("the request is unknown: {error}"));
                write(&mut writer, Err(error)).await?;
                continue;
            }
        };
        if let Request::Answer { id, answer } = request {
            questions.answered(id, answer);
            write(&mut writer, json(&())).await?;
            continue;
        }
        let (messages, mut for_command) = mpsc::unbounded_channel();
        let caller = match &request {
            Request::Call { tool, server, .. } => Some((tool.clone(), server.clone())),
            Request::Task { server, .. } => Some((String::new(), Some(server.clone()))),
            _ => None,
        };
        let _in_flight =
            caller.map(|(tool, server)| questions.begin(is_at(&service.hub, tool, server), messages.clone()));
        let is_listening = matches!(request, Request::Listen { .. });
        let (sender, mut notices) = broadcast::channel(MOST_NOTICES);
        let answer = async move {
            let tell = move |notice| drop(sender.send(notice));
            Ok(service.answer(request, &tell).await)
        };
        // While a slow client reads, the request goes on. Neither the server nor other clients wait for this client.
        let pass_on = async {
            loop {
                let response = tokio::select! {
                    biased;
                    Some(message) = for_command.recv() => message,
                    notice = notices.recv() => match notice {
                        Ok(notice) => Response::Notice(notice),
                        Err(RecvError::Lagged(missed)) if is_listening => {
                            Response::Note(format!("{missed} notifications were not read in time, and are left out"))
                        }
                        Err(RecvError::Lagged(_)) => continue,
                        Err(RecvError::Closed) => return io::Result::Ok(()),
                    },
                };
                respond(&mut writer, &response).await?;
            }
        };
        let (answer, ()) = tokio::select! {
            biased;
            done = async { tokio::try_join!(answer, pass_on) } => done?,
            // If the client disconnects, dropping `answer` cancels its call.
            () = has_gone(&mut reader) => return Ok(()),
        };
        write(&mut writer, answer).await?;
    }
}

/// Returns a function that returns whether a call of `tool`, at `server` if it is given, is at the server with a name.
fn is_at(hub: &Hub, tool: String, server: Option<String>) -> impl Fn(&str) -> bool + Send + 'static {
    let hub = hub.clone();
    move |name| {
        let called = match &server {
            Some(server) => find(&hub, server).ok(),
            None => hub.find_tool_server(&tool).and_then(|id| hub.get(id)),
        };
        called.is_some_and(|config| config.name.trim() == name)
    }
}

/// Waits until the client closes its connection, or only its sending half.
async fn has_gone(reader: &mut BufReader<Take<ReadHalf>>) {
    if !matches!(reader.fill_buf().await, Ok([_, ..])) {
        return;
    }
    // The client has already sent its next request. While this request is unread, a read cannot detect the end of the stream, so
    // the state of the socket is checked instead.
    while let Ok(state) = reader.get_ref().get_ref().ready(Interest::READABLE).await {
        if state.is_read_closed() {
            return;
        }
        // The unread bytes make `ready` return at once.
        sleep(CLOSE_CHECK).await;
    }
}

async fn write(writer: &mut (impl AsyncWrite + Unpin), answer: Result<Json, HubError>) -> io::Result<()> {
    respond(writer, &answer.map_or_else(|error| Response::Error(error.into()), Response::Done)).await
}

async fn respond(writer: &mut (impl AsyncWrite + Unpin), response: &Response) -> io::Result<()> {
    timeout(SLOWEST_READ, write_line(writer, response)).await?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn errors_of_accept_are_waited_out() {
        let (mut tries, mut served, mut reported) = (0_u32, 0_u32, 0_u32);
        let accept = async || {
            tries += 1;
            match tries {
                1 | 102 => Ok(()),
                _ => Err(io::Error::from_raw_os_error(24)),
            }
        };
        let all = accept_all(accept, |()| served += 1, |_| reported += 1);
        assert!(timeout(Duration::from_secs(600), all).await.is_err(), "it never ends");
        assert_eq!(
            (served, reported),
            (2, 2),
            "it goes on when there is a descriptor again, and says each trouble once"
        );
        assert!((500..800).contains(&tries), "about one try a second: {tries}");
    }
}
