//! `mcpwire hub run`: servers that many commands share, behind a Unix socket that only this user can open.
//!
//! Both sides write one JSON document a line: a `Request`, and a `Response` to each, in order. Before that of a call, there may
//! be some that tell how far it is.

use mcpwire_hub::layout::Layout;

use super::args::Place;
use crate::args::Options;
use crate::failure::Failure;

#[cfg(not(unix))]
pub(super) use self::other::{Client, run};
#[cfg(unix)]
pub(super) use self::unix::Client;

#[cfg(unix)]
pub(super) fn run(place: &Place, options: &Options) -> Result<u8, Failure> {
    let layout = super::layout(place)?;
    let runtime = super::link::runtime().map_err(super::of)?;
    runtime.block_on(unix::serve(&layout, super::hub_options(&layout, options), options)).map_err(super::of)
}

/// Without Unix sockets no hub is shared, so each command has its own.
#[cfg(not(unix))]
mod other {
    use std::convert::Infallible;

    use mcpwire_blocking::protocol::Json;
    use mcpwire_hub::HubError;

    use super::super::requests::{OnProgress, Request};
    use super::{Failure, Layout, Options, Place};

    pub(in super::super) fn run(_: &Place, _: &Options) -> Result<u8, Failure> {
        Err(Failure::usage("hub", "on this system, servers cannot be shared between commands"))
    }

    /// A connection to a running hub: there is none.
    pub(in super::super) struct Client(Infallible);

    impl Client {
        #[expect(clippy::unnecessary_wraps, reason = "the signature is the one on Unix")]
        pub(in super::super) fn connect(_: &Layout) -> Result<Option<Client>, HubError> {
            Ok(None)
        }

        pub(in super::super) fn ask(&mut self, _: &Request, _: OnProgress<'_>) -> Result<Json, HubError> {
            match self.0 {}
        }
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, DirBuilder, Permissions};
    use std::io::{self, BufRead as _, BufReader as Lines, Write as _};
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    use std::path::PathBuf;
    use std::pin::pin;
    use std::sync::Arc;

    use mcpwire_blocking::protocol::{Json, Progress};
    use mcpwire_hub::service::HubEvent;
    use mcpwire_hub::{Hub, HubError, HubOptions, McpService};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use tokio::net::{UnixListener, UnixStream};
    use tokio::sync::{Notify, watch as latest};

    use super::super::requests::{OnProgress, Request, Response, answer, json, rows};
    use super::Layout;
    use crate::args::Options;
    use crate::hub::call::{changed, note};

    /// A longer request is none of ours. 64 MiB: more than any server takes as arguments.
    const LONGEST: u64 = 64 << 20;

    fn path(layout: &Layout) -> PathBuf {
        layout.state().join("hub.sock")
    }

    fn failed(what: &str, error: &io::Error) -> HubError {
        HubError::unavailable(format!("{what}: {error}"))
    }

    /// A command's end of the socket.
    pub(in super::super) struct Client {
        stream: Lines<std::os::unix::net::UnixStream>,
    }

    impl Client {
        /// `None` if no hub runs.
        pub(in super::super) fn connect(layout: &Layout) -> Result<Option<Client>, HubError> {
            match std::os::unix::net::UnixStream::connect(path(layout)) {
                Ok(stream) => Ok(Some(Client { stream: Lines::new(stream) })),
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
                    Ok(None)
                }
                Err(error) => Err(failed("the running hub cannot be reached", &error)),
            }
        }

        /// Whoever goes away before the answer gives up what they asked for: a call is cancelled then.
        pub(in super::super) fn ask(
            &mut self,
            request: &Request,
            on_progress: OnProgress<'_>,
        ) -> Result<Json, HubError> {
            self.send(request)?;
            loop {
                match self.next()? {
                    Response::Progress(progress) => on_progress(&progress),
                    Response::Done(json) => return Ok(json),
                    Response::Error(error) => return Err(error),
                }
            }
        }

        fn send(&mut self, request: &Request) -> Result<(), HubError> {
            let line = format!("{}\n", json(request)?.get());
            let sent = self.stream.get_mut().write_all(line.as_bytes());
            sent.map_err(|error| failed("the running hub does not listen any more", &error))
        }

        fn next(&mut self) -> Result<Response, HubError> {
            let mut line = String::new();
            let read =
                self.stream.read_line(&mut line).map_err(|error| failed("the running hub does not answer", &error))?;
            if read == 0 {
                return Err(HubError::unavailable("the running hub has ended"));
            }
            serde_json::from_str(&line)
                .map_err(|error| HubError::unavailable(format!("the hub's answer cannot be read: {error}")))
        }
    }

    pub(super) async fn serve(layout: &Layout, options: HubOptions, how: &Options) -> Result<u8, HubError> {
        if Client::connect(layout)?.is_some() {
            return Err(HubError::conflict("hub", "a hub runs here already"));
        }
        let listener = listen(layout).map_err(|error| failed("the socket cannot be made", &error))?;
        let _socket = Socket(path(layout));
        let pressed = Arc::new(Notify::new());
        let press = Arc::clone(&pressed);
        // A second Ctrl-C is the same as the first: the end has a deadline.
        let _ = ctrlc::set_handler(move || press.notify_one());
        let hub = Hub::open(options).await?;
        for child in &hub.reaped().ended {
            note(how, &format!("ended a process that an earlier hub had left: {}", child.pid));
        }
        note(how, &format!("listening at {}", path(layout).display()));
        let starting = hub.clone();
        let starting = tokio::spawn(async move { starting.boot().await });
        let telling = tokio::spawn(tell(hub.clone(), how.quiet));
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    if let Ok((stream, _)) = accepted
                        && is_ours(&stream)
                    {
                        let hub = hub.clone();
                        tokio::spawn(async move {
                            // Whoever has gone needs no answer.
                            let _ = converse(hub, stream).await;
                        });
                    }
                }
                () = pressed.notified() => break,
            }
        }
        starting.abort();
        note(how, "ending all servers");
        let ended = hub.shutdown_all().await;
        telling.abort();
        ended.map(|()| 0)
    }

    /// Only this user can get to it: by the directory from the beginning, by its own permissions a moment later.
    fn listen(layout: &Layout) -> io::Result<UnixListener> {
        let path = path(layout);
        DirBuilder::new().recursive(true).mode(0o700).create(layout.state())?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    fn is_ours(stream: &UnixStream) -> bool {
        stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
    }

    /// Removes the socket at the end.
    struct Socket(PathBuf);

    impl Drop for Socket {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    /// Says on standard error what happens.
    async fn tell(hub: Hub, quiet: bool) {
        let mut events = hub.events();
        while let Some(event) = events.next().await {
            let lines = match event {
                HubEvent::Status { name, state, error, .. } => {
                    let why = error.map(|error| format!(": {error}")).unwrap_or_default();
                    vec![format!("{}: {state}{}", crate::text::line(&name), crate::text::line(&why))]
                }
                HubEvent::ToolChanged { name, changes, more, .. } => {
                    let rest = (more > 0).then(|| format!("{}: and {more} more", crate::text::line(&name)));
                    changes.iter().map(|change| changed(&name, change)).chain(rest).collect()
                }
                _ => continue,
            };
            if !quiet {
                let _ = anstream::stderr().write_all(format!("{}\n", lines.join("\n")).as_bytes());
            }
        }
    }

    async fn converse(hub: Hub, stream: UnixStream) -> io::Result<()> {
        let (reader, mut writer) = stream.into_split();
        let mut reader = BufReader::new(tokio::io::AsyncReadExt::take(reader, LONGEST));
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
                    let error = HubError::validation("ask", format!("this is nothing that can be asked: {error}"));
                    write(&mut writer, Err(error)).await?;
                    continue;
                }
            };
            if matches!(request, Request::Watch) {
                return watch(&hub, &mut writer).await;
            }
            // Only the last report counts: one that nobody has read yet is replaced.
            let (told, mut progress) = latest::channel(Progress::default());
            let mut on_progress = |progress: &Progress| drop(told.send_replace(progress.clone()));
            let mut answer = pin!(answer(&hub, request, &mut on_progress));
            let mut more = String::new();
            loop {
                tokio::select! {
                    biased;
                    answer = &mut answer => {
                        write(&mut writer, answer).await?;
                        break;
                    }
                    // Whoever goes away in the middle gives up what they asked for; nobody speaks out of turn.
                    _ = reader.read_line(&mut more) => return Ok(()),
                    Ok(()) = progress.changed() => {
                        let report = progress.borrow_and_update().clone();
                        respond(&mut writer, &Response::Progress(report)).await?;
                    }
                }
            }
        }
    }

    async fn watch(hub: &Hub, writer: &mut (impl tokio::io::AsyncWrite + Unpin)) -> io::Result<()> {
        let mut events = hub.events();
        loop {
            write(writer, json(&rows(hub))).await?;
            if events.next().await.is_none() {
                return Ok(());
            }
            while events.try_next().is_some() {}
        }
    }

    async fn write(
        writer: &mut (impl tokio::io::AsyncWrite + Unpin),
        answer: Result<Json, HubError>,
    ) -> io::Result<()> {
        respond(writer, &answer.map_or_else(Response::Error, Response::Done)).await
    }

    async fn respond(writer: &mut (impl tokio::io::AsyncWrite + Unpin), response: &Response) -> io::Result<()> {
        let mut line = serde_json::to_vec(response)?;
        line.push(b'\n');
        writer.write_all(&line).await
    }
}
