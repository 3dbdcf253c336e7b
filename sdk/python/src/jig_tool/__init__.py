"""Write tools for jig in Python.

A tool of the runtime ``vfs`` has no files, no network and no programs of its own: it asks its host
for them, which decides by the rules of ``jig.toml``. :mod:`jig_tool.vfs` is all that a tool needs::

    from jig_tool import vfs

    @vfs.tool
    def word_count(host: vfs.Host, path: str) -> str:
        return f"{len(host.read(path).split())} words"

    if __name__ == "__main__":
        word_count.main()

A program under ``jig proxy`` is something else: it opens files over an inherited socket, with
:mod:`jig_tool.proxy`, which is imported by itself.
"""

from jig_tool import vfs

__all__ = ["vfs"]
__version__ = "0.1.0"
