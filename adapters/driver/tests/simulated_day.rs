//! A day of traffic in simulated time, through the driver: what a client holds after an hour, it holds after a day.

use std::future::{IntoFuture, poll_fn};
use std::pin::pin;
use std::time::Duration;

use mcpwire_driver::protocol::{CallTool, CallToolParams, Config, Era, LoggingLevel, Negotiate, RequestOptions};
use mcpwire_driver::{ErrorKind, Notifications};
use mcpwire_engine_tests::{Allocated, Counting, allocated, watched};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, Testkit};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type McpClient = mcpwire_driver::McpClient<mcpwire_testkit::VirtualTime>;

const HOUR: Duration = secs(3600);

/// What more may be held, or needed for a moment, at the end of the day: ids have more digits by then. A byte that is lost
/// with one call of a hundred is more.
const MARGIN: usize = 100;

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn a_modern_day_leaves_memory_flat() {
    watched(|| day(Era::Modern));
}

#[test]
fn a_legacy_day_leaves_memory_flat() {
    watched(|| day(Era::Legacy));
}

fn day(era: Era) {
    let mut config = Config::default();
    config.negotiate = if era == Era::Modern { Negotiate::Modern } else { Negotiate::Legacy };
    config.log_level = Some(LoggingLevel::Info);
    let kit = Testkit::new(server()).config(config);
    let client = kit.connect();
    kit.time().run(client.initialize()).expect("it opens");
    let mut talk = Talk { kit: &kit, client: &client, notifications: client.notifications(), calls: 0 };

    talk.hour();
    let hours: Vec<Allocated> = (1..24).map(|_| allocated(|| talk.hour()).1).collect();

    assert!(kit.time().elapsed() >= 24 * HOUR);
    assert!(talk.calls > 12_000, "{} calls", talk.calls);
    let held: isize = hours.iter().map(|hour| hour.held).sum();
    assert!(
        held.unsigned_abs() <= MARGIN,
        "what is held after a day and was not after an hour: {held} bytes of {hours:?}"
    );
    let peak = |hours: &[Allocated]| hours.iter().map(|hour| hour.peak).max().unwrap_or_default();
    let (morning, evening) = (peak(&hours[..12]), peak(&hours[12..]));
    assert!(evening <= morning + MARGIN, "what is needed at a time was {morning} bytes, and is {evening}: {hours:?}");
    let stats = client.stats();
    assert!(stats.late > 1_000 && stats.invalid > 500, "{stats:?}");
    assert_eq!(client.in_flight(), 0);
}

/// Answers at once, late, too late and never, and says much unasked.
fn server() -> ScriptedServer {
    let server = ScriptedServer::new()
        .ignore_cancellations()
        .latency(Duration::from_millis(20))
        .tool("echo", |args| args.member::<String>("message").unwrap_or_default())
        .tool("wait", |args| {
            ScriptedResponse::new().wait(secs(args.member("seconds").unwrap_or_default())).text("done")
        })
        .tool("steps", |_| {
            (1..=5).fold(ScriptedResponse::new(), |answer, n| answer.wait(secs(8)).progress(n, 5)).text("done")
        })
        .tool("never", |_| ScriptedResponse::new().line("not JSON"));
    (0..20).fold(server, |server, n| server.tool(format!("tool_{n}"), |_| "done"))
}

struct Talk<'t> {
    kit: &'t Testkit,
    client: &'t McpClient,
    notifications: Notifications,
    calls: usize,
}

impl Talk<'_> {
    /// An hour: 50 minutes of traffic, and then nothing.
    fn hour(&mut self) {
        let (kit, begin) = (self.kit, self.kit.time().elapsed());
        kit.time().run(async {
            let mut round = 0;
            while kit.time().elapsed() < begin + secs(3000) {
                self.round(round).await;
                round += 1;
                kit.time().sleep(secs(7)).await;
                // The server remembers everything, and is not what is measured.
                drop(kit.server().take_recorded());
            }
            self.flood().await;
        });
        // Others come and go.
        kit.run(async |client| client.shutdown().await).expect("it ends");
        drop(kit.server().take_recorded());
        kit.time().advance((begin + HOUR).saturating_sub(kit.time().elapsed()));
    }

    async fn round(&mut self, round: usize) {
        self.echo(&"x".repeat(round % 500)).await;
        match round % 8 {
            0 => self.out_of_order().await,
            1 => self.times_out().await,
            2 => self.is_dropped().await,
            3 => self.reports_progress().await,
            4 => self.changes_its_tools().await,
            5 => {
                self.kit.server().request("ping", ());
                while self.notifications.try_next().is_some() {}
            }
            6 => self.echo("\u{1f3dd}\n").await,
            _ => {}
        }
    }

    async fn echo(&mut self, message: &str) {
        self.calls += 1;
        let result = self.client.call_tool("echo", json!({"message": message})).await.expect("it is answered");
        assert_eq!(result.text().as_str(), message);
    }

    /// A dozen at once; the last is answered first.
    async fn out_of_order(&mut self) {
        let begin = |seconds| {
            let params = CallToolParams { name: "wait", arguments: &json!({"seconds": seconds}) };
            self.client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent")
        };
        let pending: Vec<_> = (0..12).rev().map(begin).collect();
        self.calls += pending.len();
        for pending in pending {
            pending.await.expect("it is answered");
        }
    }

    async fn times_out(&mut self) {
        self.calls += 2;
        let error = self.client.call_tool("never", json!({})).timeout(secs(2)).await.expect_err("it has no answer");
        assert_eq!(error.kind(), ErrorKind::Timeout);
        let late = self.client.call_tool("wait", json!({"seconds": 5})).timeout(secs(2));
        assert_eq!(late.await.expect_err("it is late").kind(), ErrorKind::Timeout);
    }

    async fn is_dropped(&mut self) {
        self.calls += 1;
        let mut call = pin!(self.client.call_tool("wait", json!({"seconds": 3})).into_future());
        let mut sleep = pin!(self.kit.time().sleep(secs(1)));
        poll_fn(|cx| {
            assert!(call.as_mut().poll(cx).is_pending());
            sleep.as_mut().poll(cx)
        })
        .await;
    }

    async fn reports_progress(&mut self) {
        self.calls += 1;
        let mut heard = 0;
        let call = self.client.call_tool("steps", json!({})).timeout(secs(10)).on_progress(|_| heard += 1);
        call.await.expect("progress puts its timeout off");
        assert_eq!(heard, 5);
    }

    async fn changes_its_tools(&mut self) {
        self.kit.server().remove_tool("tool_7");
        self.kit.server().clone().tool("tool_7", |_| "done").notify("notifications/tools/list_changed", ());
        let tools = self.client.list_tools().await.expect("it lists them");
        assert_eq!(tools.len(), 24);
    }

    /// More than anybody takes.
    async fn flood(&mut self) {
        for line in 0..1_100 {
            self.kit.server().notify("notifications/message", json!({"level": "info", "data": format!("line {line}")}));
        }
        self.echo(&"x".repeat(100_000)).await;
        assert!(self.notifications.dropped() > 0);
        while self.notifications.try_next().is_some() {}
    }
}
