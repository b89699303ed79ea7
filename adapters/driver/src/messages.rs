//! [`McpClient::over_messages`]: connects over a transport of whole messages, such as a WebSocket, instead of a byte stream.

use std::error::Error;
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_sink::Sink;
use mcpwire_client::{ConnectOptions, LinesToMessages, MessagesToLines, ReadStream, WriteStream};

use crate::client::McpClient;
use crate::runtime::{CurrentRuntime, Runtime};

impl<R: CurrentRuntime> McpClient<R> {
    /// Creates a client over a transport of whole messages, such as a WebSocket.
    ///
    /// `receiver` yields the server's messages, each of them JSON-RPC text. When `receiver` ends, the connection ends. `sender`
    /// takes messages of a type that converts from `String`, such as the `Message` of `tungstenite`. While `sender` is not ready,
    /// the client sends nothing. The client closes `sender` when it shuts down.
    ///
    /// An error of `receiver` or `sender` ends the connection. Pending calls fail with the text of the error.
    ///
    /// The size limit of messages is [`ConnectOptions::max_message_bytes`]. `receiver` should have a limit too, because each
    /// message is in memory before the client can check its size.
    ///
    /// # Panics
    /// If this is called outside of a runtime, and `R` needs one, as tokio does.
    ///
    /// ```
    /// # use std::convert::Infallible;
    /// # use futures_core::Stream;
    /// # use futures_sink::Sink;
    /// # use mcpwire_driver::{ConnectOptions, CurrentRuntime, McpClient};
    /// /// Connects over a pair of channels, such as those of `futures::channel::mpsc`.
    /// fn connect<R: CurrentRuntime>(
    ///     from_server: impl Stream<Item = Result<String, Infallible>> + Send + 'static,
    ///     to_server: impl Sink<String, Error = std::io::Error> + Send + 'static,
    /// ) -> McpClient<R> {
    ///     McpClient::over_messages(from_server, to_server, ConnectOptions::default().name("plugins"))
    /// }
    /// ```
    pub fn over_messages<T, E, M>(
        receiver: impl Stream<Item = Result<T, E>> + Send + 'static,
        sender: impl Sink<M, Error: Into<BoxError>> + Send + 'static,
        options: ConnectOptions,
    ) -> Self
    where
        T: AsRef<[u8]> + Send + Unpin + 'static,
        E: Into<BoxError>,
        M: From<String> + 'static,
    {
        Self::over_messages_on(R::current(), receiver, sender, options)
    }
}

impl<R> McpClient<R> {
    /// Does the same as [`McpClient::over_messages`], on the given runtime. Can be called outside of the runtime.
    pub fn over_messages_on<T, E, M>(
        runtime: Arc<dyn Runtime>,
        receiver: impl Stream<Item = Result<T, E>> + Send + 'static,
        sender: impl Sink<M, Error: Into<BoxError>> + Send + 'static,
        options: ConnectOptions,
    ) -> Self
    where
        T: AsRef<[u8]> + Send + Unpin + 'static,
        E: Into<BoxError>,
        M: From<String> + 'static,
    {
        let reader = MessageReader { messages: Box::pin(receiver), lines: MessagesToLines::default() };
        let writer =
            MessageWriter { messages: Box::pin(sender), lines: LinesToMessages::default(), message: PhantomData };
        Self::over_on(runtime, reader, writer, options)
    }
}

/// An error of the program's message stream or sink.
type BoxError = Box<dyn Error + Send + Sync>;

/// Presents a stream of messages to the driver as a byte stream with one message per line.
struct MessageReader<S, T> {
    messages: Pin<Box<S>>,
    lines: MessagesToLines<T>,
}

impl<S, T, E> ReadStream for MessageReader<S, T>
where
    S: Stream<Item = Result<T, E>>,
    T: AsRef<[u8]> + Unpin,
    E: Into<BoxError>,
{
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.lines.needs_message() {
            match ready!(self.messages.as_mut().poll_next(cx)) {
                Some(Ok(message)) => self.lines.set_message(message),
                Some(Err(error)) => return Poll::Ready(Err(io::Error::other(error))),
                None => return Poll::Ready(Ok(0)),
            }
        }
        Poll::Ready(Ok(self.lines.read(buf)))
    }
}

/// Presents a sink of messages to the driver as a byte stream with one message per line.
///
/// A sink that has failed must not be used again. [`Output`](crate::output::Output) drops the writer after an error.
struct MessageWriter<S, M> {
    messages: Pin<Box<S>>,
    lines: LinesToMessages,
    message: PhantomData<fn() -> M>,
}

impl<S: Sink<M, Error: Into<BoxError>>, M: From<String>> WriteStream for MessageWriter<S, M> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.messages.as_mut().poll_ready(cx)).map_err(io::Error::other)?;
        let (taken, message) = self.lines.write(buf);
        if let Some(message) = message {
            self.messages.as_mut().start_send(message.into()).map_err(io::Error::other)?;
        }
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.messages.as_mut().poll_flush(cx).map_err(io::Error::other)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.messages.as_mut().poll_close(cx).map_err(io::Error::other)
    }
}
