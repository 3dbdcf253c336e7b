//! The policy from outside, beside others that decide the same.

mod agrees_with_reference;
mod git_obeys;
mod guards_page;
