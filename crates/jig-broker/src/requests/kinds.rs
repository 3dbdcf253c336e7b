//! [`BrokerRequest`]: what can be asked of a broker.

use std::fmt;

use jig_proto::vfs::{ErrorReply, Method, VfsRequest};

use super::{fs, http, process};
use crate::requests::judge::Judge;
use crate::requests::work::PermittedJob;

/// What is asked for: a request of the protocol, or something that only the host's own doors ask for.
pub(crate) trait BrokerRequest: fmt::Debug + Send + Sync {
    /// The method that it is, or that it stands for.
    fn method(&self) -> Method;

    /// What doing it takes; `None` if somebody has to be asked first.
    fn judge(&self, judge: &mut Judge<'_>) -> Result<Option<PermittedJob>, ErrorReply>;

    /// The same, to be judged again later.
    fn keep(&self) -> Box<dyn BrokerRequest>;
}

impl BrokerRequest for VfsRequest<'_> {
    fn method(&self) -> Method {
        VfsRequest::method(self)
    }

    fn judge(&self, judge: &mut Judge<'_>) -> Result<Option<PermittedJob>, ErrorReply> {
        let inner = judge.inner;
        match self {
            VfsRequest::HttpGet(get) => {
                http::judge_get(judge, get).map(|job| job.map(PermittedJob::Http))
            }
            VfsRequest::HttpPost(post) => {
                http::judge_post(judge, post).map(|job| job.map(PermittedJob::Http))
            }
            VfsRequest::ProcessRun(run) => {
                process::judge_run(judge, run).map(|job| job.map(PermittedJob::Process))
            }
            VfsRequest::ProcessStart(start) => {
                process::judge_start(judge, start).map(|job| job.map(PermittedJob::Stay))
            }
            VfsRequest::ProcessRead(read) => {
                process::judge_read(inner, read).map(|job| Some(PermittedJob::Stay(job)))
            }
            VfsRequest::ProcessWrite(write) => {
                process::judge_write(inner, write).map(|job| Some(PermittedJob::Stay(job)))
            }
            VfsRequest::ProcessStop(stop) => {
                process::judge_stop(inner, *stop).map(|job| Some(PermittedJob::Stay(job)))
            }
            request => fs::judge(judge, request).map(|job| job.map(PermittedJob::Fs)),
        }
    }

    fn keep(&self) -> Box<dyn BrokerRequest> {
        Box::new(self.clone().into_owned())
    }
}
