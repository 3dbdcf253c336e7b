//! Questions: whose answer counts, who is asked, and what the log says about it.
//!
//! An [`Asker`](asker::Asker) is whoever can answer for a caller. [`inquiry`] decides who answers a question of a tool:
//! an answer that is known, the person, or the [`assistant`]. No question of the policy goes to the assistant.

pub(crate) mod answer_schema;
pub(crate) mod asker;
pub(crate) mod assistant;
pub(crate) mod audit;
pub(crate) mod inquiry;
pub(crate) mod shown_arguments;
