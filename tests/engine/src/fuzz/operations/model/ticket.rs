//! Tickets, whatever their methods.

use mcpwire_core::internal::GetTaskResult;
use mcpwire_core::{
    CallError, CallTool, CallToolAsTask, CallToolOutcome, CancelTask, GetTask, ListTasks, ListTasksResult, ListTools,
    ListToolsResult, Ping, Raw, ReadResource, ReadResourceResult, Reply, RequestKey, SetLevel, Ticket, UpdateTask,
};

use crate::fuzz::describe::{json, listed};

macro_rules! any_ticket {
    ($($Method:ident: $show:ident),* $(,)?) => {
        /// A ticket of any of the methods that are used here.
        #[derive(Clone, Copy)]
        pub(in crate::fuzz::operations) enum AnyTicket {
            $( $Method(Ticket<$Method>), )*
        }

        impl AnyTicket {
            pub(super) fn key(&self) -> RequestKey {
                match self {
                    $( AnyTicket::$Method(ticket) => ticket.key(), )*
                }
            }

            /// Reads a reply. What was read is given as text.
            pub(super) fn decode(self, reply: &mut Reply) -> Result<String, CallError> {
                match self {
                    $( AnyTicket::$Method(ticket) => ticket.decode_mut(reply).map(|result| $show(&result)), )*
                }
            }
        }

        $(
            impl From<Ticket<$Method>> for AnyTicket {
                fn from(ticket: Ticket<$Method>) -> Self {
                    AnyTicket::$Method(ticket)
                }
            }
        )*
    };
}

any_ticket! {
    CallTool: json,
    CallToolAsTask: outcome,
    CancelTask: json,
    GetTask: json,
    GetTaskResult: json,
    ListTasks: tasks,
    ListTools: tools,
    Ping: json,
    Raw: json,
    ReadResource: contents,
    SetLevel: json,
    UpdateTask: json,
}

fn tasks(result: &ListTasksResult) -> String {
    listed(result, &result.tasks)
}

fn tools(result: &ListToolsResult) -> String {
    listed(result, &result.tools)
}

fn contents(result: &ReadResourceResult) -> String {
    listed(result, &result.contents)
}

fn outcome(outcome: &CallToolOutcome) -> String {
    match outcome {
        CallToolOutcome::Done(result) => json(result),
        CallToolOutcome::Task(task) => json(&**task),
    }
}
