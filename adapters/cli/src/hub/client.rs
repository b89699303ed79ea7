//! [`Client`]: a command's connection to the running hub. On systems without Unix sockets, there is no such connection: each
//! command uses a hub in its own process.

#[cfg(not(unix))]
pub(crate) use self::elsewhere::Client;
#[cfg(unix)]
pub(crate) use self::unix::Client;

#[cfg(unix)]
mod unix {
    use std::io;

    use mcpwire_hub::HubError;
    use mcpwire_hub::layout::Layout;
    use mcpwire_tokio::protocol::Json;
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    use tokio::net::UnixStream;

    use super::super::protocol::{OnProgress, Request, Response, write_line};
    use super::super::socket::{connect, failed};

    /// A connection of a command to the running hub (`mcpwire hub run`).
    pub(crate) struct Client {
        stream: BufReader<UnixStream>,
    }

    impl Client {
        /// Returns whether a hub (`mcpwire hub run`) is running for the directories in `layout`.
        pub(crate) fn is_hub_running(layout: &Layout) -> bool {
            matches!(connect(layout), Ok(Some(_)))
        }

        /// Connects to the running hub (`mcpwire hub run`). Returns `None` if no hub is running. Must be called within a tokio
        /// runtime.
        pub(crate) fn connect(layout: &Layout) -> Result<Option<Client>, HubError> {
            let Some(stream) = connect(layout)? else { return Ok(None) };
            let stream = stream.set_nonblocking(true).and_then(|()| UnixStream::from_std(stream));
            let stream = stream.map_err(|error| failed("the running hub cannot be reached", &error))?;
            Ok(Some(Client { stream: BufReader::new(stream) }))
        }

        /// Sends a request to the running hub and waits for the response. Calls `on_progress` for each progress report of a tool
        /// call.
        ///
        /// If this process ends before the response arrives, the hub cancels the tool call.
        pub(crate) async fn ask(&mut self, request: &Request, on_progress: OnProgress<'_>) -> Result<Json, HubError> {
            write_line(&mut self.stream, request).await.map_err(|error| lost(&error))?;
            loop {
                let mut line = String::new();
                let read = self.stream.read_line(&mut line).await.map_err(|error| lost(&error))?;
                if read == 0 {
                    return Err(HubError::unavailable("the running hub has ended"));
                }
                let response = serde_json::from_str(&line)
                    .map_err(|error| HubError::unavailable(format!("the hub's answer cannot be read: {error}")))?;
                match response {
                    Response::Progress(progress) => on_progress(&progress),
                    Response::Done(json) => return Ok(json),
                    Response::Error(error) => return Err(error.into()),
                }
            }
        }
    }

    fn lost(error: &io::Error) -> HubError {
        failed("the connection to the running hub broke", error)
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::convert::Infallible;

    use mcpwire_hub::HubError;
    use mcpwire_hub::layout::Layout;
    use mcpwire_tokio::protocol::Json;

    use super::super::protocol::{OnProgress, Request};

    /// Placeholder for a connection to the running hub on systems without Unix sockets. No value of this type exists.
    pub(crate) struct Client(Infallible);

    impl Client {
        pub(crate) fn is_hub_running(_: &Layout) -> bool {
            false
        }

        #[expect(clippy::unnecessary_wraps, reason = "the signature is the one on Unix")]
        pub(crate) fn connect(_: &Layout) -> Result<Option<Client>, HubError> {
            Ok(None)
        }

        #[expect(clippy::unused_async, reason = "the signature is the one on Unix")]
        pub(crate) async fn ask(&mut self, _: &Request, _: OnProgress<'_>) -> Result<Json, HubError> {
            match self.0 {}
        }
    }
}
