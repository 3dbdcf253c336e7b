//! [`Wanted`]: what can be asked of a broker.

use std::fmt;

use jig_proto::vfs::{ErrorReply, Method, Request};

use super::{fs, http, process};
use crate::requests::judge::Judge;
use crate::requests::work::Job;

/// What is asked for: a request of the protocol, or something that only the host's own doors ask for.
pub(crate) trait Wanted: fmt::Debug + Send + Sync {
    /// The method that it is, or that it stands for.
    fn method(&self) -> Method;

    /// What doing it takes; `None` if somebody has to be asked first.
    fn judge(&self, judge: &mut Judge<'_>) -> Result<Option<Job>, ErrorReply>;

    /// The same, to be judged again later.
    fn keep(&self) -> Box<dyn Wanted>;
}

impl Wanted for Request<'_> {
    fn method(&self) -> Method {
        Request::method(self)
    }

    fn judge(&self, judge: &mut Judge<'_>) -> Result<Option<Job>, ErrorReply> {
        let inner = judge.inner;
        match self {
            Request::HttpGet(get) => http::judge_get(judge, get).map(|job| job.map(Job::Http)),
            Request::HttpPost(post) => http::judge_post(judge, post).map(|job| job.map(Job::Http)),
            Request::ProcessRun(run) => {
                process::judge_run(judge, run).map(|job| job.map(Job::Process))
            }
            Request::ProcessStart(start) => {
                process::judge_start(judge, start).map(|job| job.map(Job::Stay))
            }
            Request::ProcessRead(read) => {
                process::judge_read(inner, read).map(|job| Some(Job::Stay(job)))
            }
            Request::ProcessWrite(write) => {
                process::judge_write(inner, write).map(|job| Some(Job::Stay(job)))
            }
            Request::ProcessStop(stop) => {
                process::judge_stop(inner, *stop).map(|job| Some(Job::Stay(job)))
            }
            request => fs::judge(judge, request).map(|job| job.map(Job::Fs)),
        }
    }

    fn keep(&self) -> Box<dyn Wanted> {
        Box::new(self.clone().into_owned())
    }
}
