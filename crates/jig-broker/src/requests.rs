//! The first job of the broker: what a tool asks for is judged, asked about, done and written down.
//!
//! [`kinds`] names what can be asked for. [`judge`] takes a request through the policy, [`inquiry`] puts what no rule
//! covers to a person, [`approvals`] remembers the answer, and [`work`] does what is permitted. Files are in [`fs`],
//! servers in [`http`], programs in [`process`]; [`guest`] is what a component asks for in other ways.
//!
//! `process` starts programs by [`programs`](crate::programs). Nothing here knows [`llm`](crate::llm).

pub(crate) mod approvals;
pub(crate) mod fs;
mod guest;
mod http;
pub(crate) mod inquiry;
pub(crate) mod judge;
pub(crate) mod kinds;
pub(crate) mod process;
pub(crate) mod work;

pub use approvals::Approvals;
pub use fs::{ListedName, OpenFile, OpenRequest, PathStat};
pub use inquiry::{ApprovalRequest, ApprovalScope, Inquiry, Person, Unapproved};
pub use process::ProcessSettings;
pub use work::{JudgedRequest, Work};
