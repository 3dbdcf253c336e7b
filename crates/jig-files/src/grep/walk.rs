//! The walk through a tree on several threads.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use jig_proto::ProjectPath;

use super::collect::{Collector, GrepHits};
use super::rules::{IgnoreFilePresence, IgnoreRules, IgnoreVerdict};
use super::{GrepQuery, Matches};
use crate::{FilesError, Filter};

/// A tree that can be searched. Nothing here follows a link, except [`start`](Self::start).
pub(crate) trait SearchTree: Sync {
    /// An open directory.
    type Dir: Send + Sync;

    /// Where a search begins, with links on the way to it resolved.
    fn start(&self, path: &ProjectPath) -> Result<SearchStart, FilesError>;
    /// The root of the tree.
    fn root(&self) -> Result<Self::Dir, FilesError>;
    /// A directory in a directory.
    fn child(&self, above: &Self::Dir, name: &str) -> Option<Self::Dir>;
    /// The names in a directory.
    fn names(&self, directory: &Self::Dir) -> Option<Vec<(String, NameKind)>>;
    /// The content of a file if it is not larger than `limit`, by a path of one or more names.
    fn read_small(&self, directory: &Self::Dir, path: &str, limit: u64) -> Option<Vec<u8>>;
    /// Searches a file; `None` if it cannot be read.
    fn search(
        &self,
        directory: &Self::Dir,
        name: &str,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        hits: &mut GrepHits,
    ) -> Option<()>;
}

/// What stands where a search begins.
pub(crate) enum SearchStart {
    Directory(ProjectPath),
    File(ProjectPath),
    /// Something that cannot be searched, such as a pipe.
    Nothing,
}

/// What a name in a directory stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    File,
    Directory,
    /// A link, pipe, socket or device.
    Other,
}

/// Searches a tree.
pub(crate) fn search<T: SearchTree>(
    tree: &T,
    query: &GrepQuery,
    may: &Filter<'_>,
) -> Result<Matches, FilesError> {
    let run = GrepRun {
        tree,
        query,
        may,
        matcher: query.matcher()?,
        queue: Mutex::new(WalkQueue {
            jobs: Vec::new(),
            working: 0,
        }),
        changed: Condvar::new(),
        collector: Mutex::new(Collector::new(query)),
        full: AtomicBool::new(false),
    };
    run.begin()?;
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        let mut searcher = run.searcher();
        // Most searches of a few files are over before a thread would have started.
        for _ in 0..ALONE {
            let Some(job) = run.next(false) else {
                break;
            };
            let _working = run.working();
            run.perform(job, &mut searcher);
        }
        if !lock(&run.queue).jobs.is_empty() {
            for _ in 1..threads.min(MAX_THREADS) {
                scope.spawn(|| run.work(run.searcher()));
            }
        }
        run.work(searcher);
    });
    Ok(into_inner(run.collector).finish())
}

struct GrepRun<'a, T: SearchTree> {
    tree: &'a T,
    query: &'a GrepQuery,
    may: &'a Filter<'a>,
    matcher: RegexMatcher,
    queue: Mutex<WalkQueue<T::Dir>>,
    changed: Condvar,
    collector: Mutex<Collector>,
    /// Whether the limits are exceeded, so that the collector need not be asked before.
    full: AtomicBool,
}

struct WalkQueue<D> {
    /// The newest is taken first: that keeps the number of open directories small.
    jobs: Vec<WalkJob<D>>,
    working: usize,
}

enum WalkJob<D> {
    Directory {
        above: Option<Arc<D>>,
        path: ProjectPath,
        rules: Arc<IgnoreRules>,
    },
    Files {
        directory: Arc<D>,
        paths: Vec<ProjectPath>,
    },
}

impl<T: SearchTree> GrepRun<'_, T> {
    /// Puts the first jobs into the queue.
    fn begin(&self) -> Result<(), FilesError> {
        let whole = [ProjectPath::root()];
        let paths = match self.query.paths.is_empty() {
            true => &whole[..],
            false => &self.query.paths[..],
        };
        let mut directories = Vec::new();
        let mut files = Vec::new();
        for path in paths {
            match self.tree.start(path)? {
                SearchStart::Directory(path) => directories.push(path),
                SearchStart::File(path) => files.push(path),
                SearchStart::Nothing => {}
            }
        }
        // One that lies in another is searched with it. A file in a directory may be hidden or
        // ignored there, so it has its own job; the collector holds each path once.
        directories.sort_unstable();
        directories.dedup_by(|later, kept| later.starts_with(kept));
        files.sort_unstable();
        files.dedup();
        for path in directories {
            self.begin_at(&path, true)?;
        }
        for path in files {
            self.begin_at(&path, false)?;
        }
        Ok(())
    }

    /// Opens the way down from the root and gathers the ignore files on it.
    fn begin_at(&self, path: &ProjectPath, is_directory: bool) -> Result<(), FilesError> {
        if !(self.may)(path, is_directory) {
            lock(&self.collector).skipped += 1;
            return Ok(());
        }
        let rules = IgnoreRules::top();
        let Some(parent) = path.parent() else {
            return self.enqueue([WalkJob::Directory {
                above: None,
                path: path.clone(),
                rules,
            }]);
        };
        let mut rules = rules;
        let mut here = self.tree.root()?;
        let mut at = ProjectPath::root();
        for name in parent.components() {
            if is_directory {
                rules = self.add_rules(&rules, &here, &at, None);
            }
            let gone = || FilesError::Changed { path: path.clone() };
            here = self.tree.child(&here, name).ok_or_else(gone)?;
            at = at.join(&ProjectPath::normalize(name).map_err(|_| gone())?);
        }
        let path = path.clone();
        if is_directory {
            rules = self.add_rules(&rules, &here, &at, None);
            return self.enqueue([WalkJob::Directory {
                above: Some(Arc::new(here)),
                path,
                rules,
            }]);
        }
        self.enqueue([WalkJob::Files {
            directory: Arc::new(here),
            paths: vec![path],
        }])
    }

    /// The rules inside a directory.
    fn add_rules(
        &self,
        rules: &Arc<IgnoreRules>,
        directory: &T::Dir,
        path: &ProjectPath,
        names: Option<&[(String, NameKind)]>,
    ) -> Arc<IgnoreRules> {
        if !self.query.ignore_files {
            return Arc::clone(rules);
        }
        let mut present = IgnoreFilePresence::default();
        match names {
            Some(names) => names.iter().for_each(|(name, _)| present.note(name)),
            None => {
                let names = self.tree.names(directory).unwrap_or_default();
                names.iter().for_each(|(name, _)| present.note(name));
            }
        }
        rules.below(path.as_str(), present, |name| {
            let own = ProjectPath::normalize(name).ok()?;
            // Ignore files are files too: one that may not be read is as if it were not there.
            if !(self.may)(&path.join(&own), false) {
                return None;
            }
            self.tree.read_small(directory, name, MAX_IGNORE_FILE)
        })
    }

    fn enqueue(&self, jobs: impl IntoIterator<Item = WalkJob<T::Dir>>) -> Result<(), FilesError> {
        lock(&self.queue).jobs.extend(jobs);
        Ok(())
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .before_context(self.query.context)
            .after_context(self.query.context)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_BUFFER))
            .build()
    }

    fn work(&self, mut searcher: Searcher) {
        while let Some(job) = self.next(true) {
            let _working = self.working();
            self.perform(job, &mut searcher);
        }
    }

    /// The next job, which counts as being worked on until the guard that
    /// [`working`](Self::working) gives is dropped. `None` when there is none, or, if this may wait,
    /// when none will come.
    fn next(&self, wait: bool) -> Option<WalkJob<T::Dir>> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(job) = queue.jobs.pop() {
                queue.working += 1;
                return Some(job);
            }
            if !wait || queue.working == 0 {
                return None;
            }
            queue = match self.changed.wait(queue) {
                Ok(queue) => queue,
                Err(poisoned) => poisoned.into_inner(),
            };
        }
    }

    fn working(&self) -> WalkJobGuard<'_, T::Dir> {
        WalkJobGuard {
            queue: &self.queue,
            changed: &self.changed,
        }
    }

    fn perform(&self, job: WalkJob<T::Dir>, searcher: &mut Searcher) {
        match job {
            WalkJob::Directory { above, path, rules } => self.enter(above, path, rules),
            WalkJob::Files { directory, paths } => {
                for path in paths {
                    self.search_file(&directory, path, searcher);
                }
            }
        }
    }

    fn enter(&self, above: Option<Arc<T::Dir>>, path: ProjectPath, rules: Arc<IgnoreRules>) {
        if self.is_too_late(&path) {
            return;
        }
        let directory = match (above, path.file_name()) {
            (Some(above), Some(name)) => self.tree.child(&above, name),
            _ => self.tree.root().ok(),
        };
        let opened = directory.and_then(|directory| {
            let names = self.tree.names(&directory)?;
            Some((Arc::new(directory), names))
        });
        let Some((directory, names)) = opened else {
            lock(&self.collector).unreadable += 1;
            return;
        };
        let rules = self.add_rules(&rules, &directory, &path, Some(&names));
        let mut jobs = Vec::new();
        let mut files = Vec::new();
        let (mut skipped, mut ignored) = (0, 0);
        for (name, kind) in names {
            let is_directory = match kind {
                NameKind::Directory => true,
                NameKind::File if self.query.wants_extension(&name) => false,
                _ => continue,
            };
            let Ok(own) = ProjectPath::normalize(&name) else {
                continue;
            };
            let child = path.join(&own);
            let said = rules.say(child.as_str(), is_directory);
            let hidden = name.starts_with('.') && !self.query.hidden;
            let may = (self.may)(&child, is_directory);
            // How a name that nobody may know is counted must not depend on patterns, which a tool may have written.
            if hidden && (said != IgnoreVerdict::Keep || !may) {
                ignored += 1;
                continue;
            }
            if !may {
                skipped += 1;
                continue;
            }
            if said == IgnoreVerdict::LeaveOut {
                ignored += 1;
                continue;
            }
            if is_directory {
                jobs.push(WalkJob::Directory {
                    above: Some(Arc::clone(&directory)),
                    path: child,
                    rules: Arc::clone(&rules),
                });
                continue;
            }
            files.push(child);
            if files.len() == BATCH {
                jobs.push(WalkJob::Files {
                    directory: Arc::clone(&directory),
                    paths: std::mem::take(&mut files),
                });
            }
        }
        if !files.is_empty() {
            jobs.push(WalkJob::Files {
                directory,
                paths: files,
            });
        }
        if skipped + ignored > 0 {
            let mut collector = lock(&self.collector);
            collector.skipped += skipped;
            collector.ignored += ignored;
        }
        let more = jobs.len() > 1;
        lock(&self.queue).jobs.extend(jobs);
        if more {
            self.changed.notify_all();
        }
    }

    fn search_file(&self, directory: &T::Dir, path: ProjectPath, searcher: &mut Searcher) {
        let Some(name) = path.file_name() else {
            return;
        };
        if self.is_too_late(&path) {
            return;
        }
        let mut hits = GrepHits::new(self.query);
        let done = self
            .tree
            .search(directory, name, searcher, &self.matcher, &mut hits);
        if done.is_none() {
            lock(&self.collector).unreadable += 1;
        } else if !hits.is_empty() && lock(&self.collector).add(path, hits) {
            self.full.store(true, Ordering::Relaxed);
        }
    }

    fn is_too_late(&self, path: &ProjectPath) -> bool {
        self.full.load(Ordering::Relaxed) && lock(&self.collector).is_too_late(path)
    }
}

/// Held while a job is done: its end, also by a panic, wakes those who wait for more.
struct WalkJobGuard<'a, D> {
    queue: &'a Mutex<WalkQueue<D>>,
    changed: &'a Condvar,
}

impl<D> Drop for WalkJobGuard<'_, D> {
    fn drop(&mut self) {
        let mut queue = lock(self.queue);
        queue.working -= 1;
        if queue.working == 0 && queue.jobs.is_empty() {
            self.changed.notify_all();
        }
    }
}

/// What the locks here protect is whole at every moment, also after a panic of the caller's filter.
fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}

fn into_inner<V>(mutex: Mutex<V>) -> V {
    match mutex.into_inner() {
        Ok(value) => value,
        Err(poisoned) => poisoned.into_inner(),
    }
}

/// How many jobs are done before other threads are started.
const ALONE: usize = 4;

/// More threads than this only wait for one another, as ripgrep found.
const MAX_THREADS: usize = 12;

/// How many files of one directory make one job.
const BATCH: usize = 32;

/// A tool can write ignore files; their patterns become automata, which are far larger.
const MAX_IGNORE_FILE: u64 = 256 * 1024;

/// How much of a file is held when a line does not end: a file of one line could fill the memory.
const MAX_BUFFER: usize = 16 * 1024 * 1024;
