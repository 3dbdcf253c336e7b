//! A workspace, its rules and a broker on them.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use camino::Utf8Path;
use jig_broker::{
    Approvals, AuditEntry, AuditSink, Broker, BrokerParts, ConfineSettings, HostEnv, JudgedRequest,
    RequestLimits, Resolver, Secrets, Unapproved,
};
use jig_files::{DiskFiles, FilesLookup, MemoryFiles, ProjectFiles};
use jig_policy::{
    Capability, DeclaredAccess, DeclaredCommandRule, DeclaredEnvRule, DeclaredFsRule,
    DeclaredNetRule, DefaultAccess, FileCapabilities, Guards, Policy, RuleOrigin, Workspace,
};
use jig_proto::ProjectPath;
use jig_proto::vfs::{
    ErrorKind, ErrorReply, FsDelete, FsPath, FsRead, FsWrite, VfsReply, VfsRequest,
};

pub(crate) struct World {
    pub(crate) files: Arc<dyn ProjectFiles>,
    folder: tempfile::TempDir,
    pub(crate) access: DeclaredAccess,
    pub(crate) default: DefaultAccess,
    pub(crate) env: HostEnv,
    pub(crate) limits: RequestLimits,
    pub(crate) names: Names,
    pub(crate) log: Arc<Log>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) secrets: Secrets,
    pub(crate) confine: Option<ConfineSettings>,
    pub(crate) hidden: Vec<std::path::PathBuf>,
    pub(crate) guards: Guards,
    memory: Option<Arc<MemoryFiles>>,
}

impl World {
    pub(crate) fn on_disk() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    /// On disk in this folder.
    pub(crate) fn at(folder: tempfile::TempDir) -> Self {
        let root = folder.path().join("ws");
        std::fs::create_dir(&root).unwrap();
        let files = DiskFiles::open(Utf8Path::from_path(&root).unwrap()).unwrap();
        Self::over(folder, Arc::new(files), None)
    }

    pub(crate) fn in_memory() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = Arc::new(MemoryFiles::new());
        Self::over(
            folder,
            Arc::clone(&files) as Arc<dyn ProjectFiles>,
            Some(files),
        )
    }

    fn over(
        folder: tempfile::TempDir,
        files: Arc<dyn ProjectFiles>,
        memory: Option<Arc<MemoryFiles>>,
    ) -> Self {
        Self {
            files,
            folder,
            access: DeclaredAccess::default(),
            default: DefaultAccess::READ_ONLY,
            env: HostEnv::default(),
            limits: RequestLimits::default(),
            names: Names::default(),
            log: Arc::default(),
            approvals: Arc::new(Approvals::new()),
            secrets: Secrets::new(),
            confine: None,
            hidden: Vec::new(),
            guards: Guards::of_workspace(),
            memory,
        }
    }

    /// Confines what is run. The home and the state of jig are beside the workspace.
    pub(crate) fn confined(mut self) -> Self {
        let folder = self.outside().canonicalize().unwrap();
        std::fs::create_dir_all(folder.join("home")).unwrap();
        self.confine = Some(ConfineSettings {
            home: Some(folder.join("home")),
            state: Some(folder.join("state")),
            host_path: std::env::var_os("PATH").unwrap(),
            ..ConfineSettings::default()
        });
        self
    }

    /// The same without the supervisor of programs: what comes into being where nothing may is only swept.
    pub(crate) fn unsupervised(mut self) -> Self {
        let settings = self.confine.as_mut().expect("programs are confined");
        settings.layers.supervisor = false;
        self
    }

    /// The same with the workspace opened anew, where its directory was replaced.
    pub(crate) fn reopened(mut self) -> Self {
        let root = self.outside().join("ws");
        self.files = Arc::new(DiskFiles::open(Utf8Path::from_path(&root).unwrap()).unwrap());
        self
    }

    /// The folder that holds the workspace.
    pub(crate) fn outside(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(crate) fn with(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.put(path, content);
        self
    }

    pub(crate) fn put(&mut self, path: &str, content: impl AsRef<[u8]>) {
        let place = self.files.locate(&project(path)).unwrap();
        let options = jig_files::WriteOptions::default();
        self.files
            .write(&place, content.as_ref(), &options)
            .unwrap();
    }

    pub(crate) fn with_link(self, path: &str, target: &str) -> Self {
        match &self.memory {
            Some(memory) => memory.put_link(&project(path), target).unwrap(),
            None => {
                let link = self.outside().join("ws").join(path);
                std::fs::create_dir_all(link.parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(target, link).unwrap();
            }
        }
        self
    }

    /// Adds a rule on files; the letters are those of read, create, update, delete, execute.
    pub(crate) fn allow(mut self, path: &str, letters: &str) -> Self {
        let capabilities: FileCapabilities = letters
            .chars()
            .map(|letter| match letter {
                'r' => Capability::Read,
                'c' => Capability::Create,
                'u' => Capability::Update,
                'd' => Capability::Delete,
                _ => Capability::Execute,
            })
            .collect();
        let line = self.access.fs.len() as u32 + 1;
        self.access.fs.push(DeclaredFsRule {
            path: path.to_owned(),
            capabilities,
            origin: RuleOrigin::line("jig.toml", line),
        });
        self
    }

    pub(crate) fn net(mut self, host: &str, port: u16, allow: bool) -> Self {
        self.access.net.push(DeclaredNetRule {
            host: host.to_owned(),
            scheme: None,
            port: Some(port),
            path_prefix: None,
            methods: None,
            allow,
            origin: RuleOrigin::line("jig.toml", 70),
        });
        self
    }

    pub(crate) fn header_variable(mut self, name: &str) -> Self {
        self.access.env.push(DeclaredEnvRule {
            name: name.to_owned(),
            read: false,
            header: true,
            origin: RuleOrigin::line("jig.toml", 80),
        });
        self
    }

    pub(crate) fn command(
        mut self,
        program: &str,
        args: Option<&[&[&str]]>,
        envs: &[&str],
    ) -> Self {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        self.access
            .commands
            .get_or_insert_default()
            .push(DeclaredCommandRule {
                program: program.to_owned(),
                args: args.map(|lists| lists.iter().map(|list| own(list)).collect()),
                envs: own(envs),
                origin: RuleOrigin::line("jig.toml", 90),
            });
        self
    }

    pub(crate) fn env(mut self, variables: &[(&str, &str)]) -> Self {
        self.env = variables.iter().copied().collect();
        self
    }

    pub(crate) fn parts(&self) -> BrokerParts {
        let lookup = FilesLookup(Arc::clone(&self.files));
        let workspace = Workspace::new(self.files.display_root(), lookup);
        let policy = Policy::compile(&self.access, self.default, &self.guards, &workspace).unwrap();
        let files = Arc::clone(&self.files);
        let mut parts = BrokerParts::new("editor", "c1", files, Arc::new(policy));
        parts.env = self.env.clone();
        parts.limits = self.limits;
        parts.http.resolver = Arc::new(self.names.clone());
        parts.process.env = jig_sandbox::minimal_environment(self.outside());
        parts.process.confine = self.confine.clone();
        parts.process.hidden = self.hidden.clone();
        parts.audit = Arc::clone(&self.log) as Arc<dyn AuditSink>;
        parts.approvals = Arc::clone(&self.approvals);
        parts.secrets = self.secrets.clone();
        parts
    }

    pub(crate) fn broker(&self) -> Broker {
        Broker::new(self.parts())
    }

    pub(crate) fn ask(&self, request: &VfsRequest<'_>) -> Result<VfsReply<'static>, ErrorReply> {
        ask(&self.broker(), request)
    }

    /// The content of a file, whatever the rules say.
    pub(crate) fn content(&self, path: &str) -> Option<String> {
        let place = self.files.locate(&project(path)).unwrap();
        let content = self.files.read(&place, u64::MAX).ok()?;
        Some(String::from_utf8(content.to_vec()).unwrap())
    }
}

/// Runs a test on both backends.
pub(crate) fn both(test: impl Fn(World)) {
    test(World::in_memory());
    test(World::on_disk());
}

/// Judges and performs; nobody can be asked.
pub(crate) fn ask(
    broker: &Broker,
    request: &VfsRequest<'_>,
) -> Result<VfsReply<'static>, ErrorReply> {
    match broker.judge(request) {
        JudgedRequest::Ready(work) => work.perform(),
        JudgedRequest::Uncovered(inquiry) => Err(inquiry.deny(Unapproved::Unavailable)),
        JudgedRequest::Refused(error) => Err(error),
    }
}

pub(crate) fn kind(
    result: Result<VfsReply<'static>, ErrorReply>,
) -> Result<VfsReply<'static>, ErrorKind> {
    result.map_err(|error| error.kind())
}

pub(crate) fn read(path: &str) -> VfsRequest<'_> {
    VfsRequest::FsRead(FsRead::new(path))
}

pub(crate) fn write<'a>(path: &'a str, content: &'a str) -> VfsRequest<'a> {
    VfsRequest::FsWrite(FsWrite::new(path, content))
}

pub(crate) fn exists(path: &str) -> VfsRequest<'_> {
    VfsRequest::FsExists(FsPath::new(path))
}

pub(crate) fn delete(path: &str, recursive: bool) -> VfsRequest<'_> {
    VfsRequest::FsDelete(FsDelete {
        recursive,
        ..FsDelete::new(path)
    })
}

pub(crate) fn project(path: &str) -> ProjectPath {
    ProjectPath::normalize(path).unwrap()
}

/// A resolver that knows what it is told. Each look-up takes the next answer; the last stays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(Arc<Mutex<HashMap<String, Vec<Vec<IpAddr>>>>>);

impl Names {
    pub(crate) fn put(&self, name: &str, answers: &[&[&str]]) {
        let answers = answers.iter().map(|answer| {
            let addresses = answer.iter().map(|text| text.parse().unwrap());
            addresses.collect()
        });
        self.0
            .lock()
            .unwrap()
            .insert(name.to_owned(), answers.collect());
    }
}

impl Resolver for Names {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut names = self.0.lock().unwrap();
        let answers = names.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        if answers.len() > 1 {
            return Ok(answers.remove(0));
        }
        Ok(answers[0].clone())
    }
}

/// Keeps the audit entries; can be made to fail.
#[derive(Debug, Default)]
pub(crate) struct Log {
    entries: Mutex<Vec<AuditEntry>>,
    pub(crate) fails: std::sync::atomic::AtomicBool,
}

impl Log {
    pub(crate) fn entries(&self) -> Vec<AuditEntry> {
        self.entries.lock().unwrap().clone()
    }
}

impl AuditSink for Log {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        if self.fails.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.entries.lock().unwrap().push(entry.clone());
        Ok(())
    }
}
