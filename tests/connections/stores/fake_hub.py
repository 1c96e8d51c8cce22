"""The Hugging Face hub as a local server, and the server beside it that has the large files.

It answers what `huggingface_hub` 2.4 asks for, as its source and the hub's documentation say; the tests hold
it to that by using that library on it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

TOKEN = "hf_canaryHub7Qm2"
LARGE = 20_000
PAGE = 3


def oid_of(content: bytes) -> str:
    """The id that git gives a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclass
class Repository:
    """A data set: the files of each commit, and branches and tags by name."""

    private: bool = True
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, branch: str, files: dict[str, bytes]) -> str:
        """A new commit of these files."""
        parent = self.branches.get(branch, "")
        sha = hashlib.sha1(f"{parent}{len(self.commits)}".encode()).hexdigest()
        self.commits[sha] = files
        self.branches[branch] = sha
        return sha

    def sha(self, revision: str) -> str | None:
        """The commit of a branch, tag or commit."""
        found = self.branches.get(revision) or self.tags.get(revision)
        return found or (revision if revision in self.commits else None)


class FakeHub:
    """The two servers, and what they hold. `parts`: large files go up in so many bytes at once."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.stored: dict[str, bytes] = {}
        self.pieces: dict[str, dict[int, bytes]] = {}
        self.parts = 0
        self.url = self.cdn = ""
        self.calls: list[tuple[str, str, str]] = []
        self.fails: list[str] = []

    def files(self, name: str, revision: str = "main") -> dict[str, bytes]:
        """The files of a data set."""
        repository = self.repositories[name]
        return repository.commits[repository.sha(revision) or ""]

    def make(self, name: str, files: dict[str, bytes]) -> Repository:
        """A data set with a commit of these files."""
        made = self.repositories[name] = Repository()
        made.commit("main", {".gitattributes": b"*.parquet filter=lfs\n", **files})
        return made


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # head and body go out at once: the second would wait 40 ms for the first to be acknowledged
    disable_nagle_algorithm = True
    hub: FakeHub
    is_cdn = False

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if "chunked" in self.headers.get("transfer-encoding", ""):
            body = b"".join(self._chunks())
        parts = urlsplit(self.path)
        self.hub.calls.append((self.command, parts.path, self.headers.get("authorization", "")))
        query = parse_qs(parts.query)
        if self.is_cdn:
            return self._cdn(unquote(parts.path), query, body)
        if any(f"{self.command} {parts.path}".startswith(start) for start in self.hub.fails):
            return self._say(503, b"{}")
        if self.headers.get("authorization") != f"Bearer {TOKEN}":
            return self._say(401, b'{"error": "Invalid credentials"}')
        steps = [unquote(step) for step in parts.path.strip("/").split("/")]
        if parts.path == "/api/repos/create":
            return self._create(json.loads(body))
        if parts.path == "/api/validate-yaml":
            return self._json({"errors": [], "warnings": []})
        if steps[0] == "datasets" and steps[2].endswith(".git"):
            return self._batch(json.loads(body))
        if steps[0] == "datasets" and steps[3] == "resolve":
            return self._resolve(f"{steps[1]}/{steps[2]}", steps[4], "/".join(steps[5:]))
        if steps[:2] == ["api", "complete"]:
            return self._complete(steps[2], json.loads(body))
        name = f"{steps[2]}/{steps[3]}"
        repository = self.hub.repositories.get(name)
        if repository is None:
            return self._say(404, b'{"error": "Repository not found"}', X_Error_Code="RepoNotFound")
        verb, argument = (steps[4], steps[5]) if len(steps) > 5 else ("revision", "main")
        return getattr(self, f"_{verb}")(repository, argument, body, query)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _handle

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _json(self, value: Any, **headers: str) -> None:
        self._say(200, json.dumps(value).encode(), **headers)

    def _create(self, asked: dict[str, Any]) -> None:
        name = f"{asked['organization']}/{asked['name']}"
        if name in self.hub.repositories:
            return self._say(409, b'{"error": "You already created this dataset repo"}')
        self.hub.make(name, {}).private = asked.get("visibility") == "private" or bool(asked.get("private"))
        return self._json({"url": f"{self.hub.url}/datasets/{name}", "name": name, "id": "1"})

    def _revision(self, repository: Repository, revision: str, body: bytes, query: Any) -> None:
        sha = repository.sha(revision)
        if sha is None:
            return self._say(404, b"{}", X_Error_Code="RevisionNotFound")
        return self._json(
            {"id": "o/n", "sha": sha, "private": repository.private, "siblings": [], "tags": []}
        )

    def _tree(self, repository: Repository, revision: str, body: bytes, query: Any) -> None:
        entries = [
            {"type": "file", "path": path, "size": len(content), "oid": oid_of(content)}
            | ({"lfs": {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}}
               if self._is_large(path, content) else {})
            for path, content in sorted(repository.commits[repository.sha(revision) or ""].items())
        ]  # fmt: skip
        start = int(query.get("cursor", ["0"])[0])
        more = {}
        if start + PAGE < len(entries):
            where = f"{self.hub.url}{urlsplit(self.path).path}?recursive=true&cursor={start + PAGE}"
            more = {"Link": f'<{where}>; rel="next"'}
        return self._json(entries[start : start + PAGE], **more)

    @staticmethod
    def _is_large(path: str, content: bytes) -> bool:
        return bool(content) and (path.endswith(".parquet") or len(content) > LARGE)

    def _resolve(self, name: str, revision: str, path: str) -> None:
        repository = self.hub.repositories.get(name)
        sha = repository.sha(revision) if repository else None
        if sha and sha != revision:
            # as the hub does, which keeps what a commit has near
            return self._say(307, b"", Location=f"/datasets/{name}/resolve/{sha}/{quote(path)}")
        content = repository.commits[sha].get(path) if repository and sha else None
        if content is None:
            return self._say(404, b"", X_Error_Code="EntryNotFound" if sha else "RevisionNotFound")
        about = {"X_Repo_Commit": str(sha), "ETag": f'"{oid_of(content)}"'}
        if not self._is_large(path, content):
            return self._say(200, content, Accept_Ranges="bytes", **about)
        digest = hashlib.sha256(content).hexdigest()
        self.hub.stored[digest] = content
        about |= {"X_Linked_Size": str(len(content)), "X_Linked_ETag": f'"{digest}"'}
        return self._say(302, b"", Location=f"{self.hub.cdn}/file/{digest}?Signature=a%2Fb~c", **about)

    def _preupload(self, repository: Repository, branch: str, body: bytes, query: Any) -> None:
        def mode(file: dict[str, Any]) -> str:
            large = file["path"].endswith(".parquet") or file["size"] > LARGE
            return "lfs" if large else "regular"

        files = [
            {"path": file["path"], "uploadMode": mode(file), "shouldIgnore": False}
            for file in json.loads(body)["files"]
        ]
        return self._json({"files": files})

    def _batch(self, asked: dict[str, Any]) -> None:
        objects = []
        for one in asked["objects"]:
            entry = {"oid": one["oid"], "size": one["size"]}
            if one["oid"] not in self.hub.stored:
                upload: dict[str, Any] = {"href": f"{self.hub.cdn}/put/{one['oid']}?X-Amz-Signature=1%2F2"}
                if self.hub.parts:
                    numbers = range(1, -(-one["size"] // self.hub.parts) + 1)
                    header = {f"{n:05}": f"{self.hub.cdn}/put/{one['oid']}?part={n}" for n in numbers}
                    header["chunk_size"] = str(self.hub.parts)
                    upload = {"href": f"{self.hub.url}/api/complete/{one['oid']}", "header": header}
                entry["actions"] = {"upload": upload}
            objects.append(entry)
        return self._json({"transfer": "basic", "objects": objects})

    def _complete(self, oid: str, asked: dict[str, Any]) -> None:
        pieces = self.hub.pieces[oid]
        assert [part["partNumber"] for part in asked["parts"]] == sorted(pieces)
        content = b"".join(pieces[number] for number in sorted(pieces))
        assert hashlib.sha256(content).hexdigest() == oid == asked["oid"]
        self.hub.stored[oid] = content
        return self._json({})

    def _commit(self, repository: Repository, branch: str, body: bytes, query: Any) -> None:
        lines = [json.loads(line) for line in body.splitlines()]
        parent = lines[0]["value"].get("parentCommit")
        if parent not in (None, repository.branches[branch]):
            return self._say(412, b'{"error": "A commit has happened since"}')
        files = dict(repository.commits[repository.branches[branch]])
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.hub.stored[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        sha = repository.commit(branch, files)
        place = urlsplit(self.path).path.removeprefix("/api/").partition("/commit/")[0]
        return self._json(
            {"success": True, "commitOid": sha, "commitUrl": f"{self.hub.url}/{place}/commit/{sha}"}
        )

    def _tag(self, repository: Repository, argument: str, body: bytes, query: Any) -> None:
        if self.command == "DELETE":
            return self._say(200 if repository.tags.pop(argument, None) else 404, b"")
        name, sha = json.loads(body)["tag"], repository.sha(argument)
        if name in repository.tags or sha is None:
            return self._say(409 if sha else 404, b'{"error": "Tag reference exists already"}')
        repository.tags[name] = sha
        return self._json({})

    def _branch(self, repository: Repository, argument: str, body: bytes, query: Any) -> None:
        if self.command == "DELETE":
            return self._say(200 if repository.branches.pop(argument, None) else 404, b"")
        repository.branches[argument] = json.loads(body)["startingPoint"]
        return self._json({})

    def _cdn(self, path: str, query: dict[str, list[str]], body: bytes) -> None:
        assert "authorization" not in self.headers
        kind, oid = path.strip("/").split("/")
        if kind == "put":
            if "part" in query:
                self.hub.pieces.setdefault(oid, {})[int(query["part"][0])] = body
            else:
                assert hashlib.sha256(body).hexdigest() == oid and query["X-Amz-Signature"] == ["1/2"]
                self.hub.stored[oid] = body
            return self._say(200, b"", ETag=f'"{hashlib.md5(body).hexdigest()}"')
        content = self.hub.stored[oid]
        assert query["Signature"] == ["a/b~c"]
        if ranged := self.headers.get("range"):
            first, _, last = ranged.removeprefix("bytes=").partition("-")
            part = content[int(first) : int(last or len(content)) + 1]
            where = f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}"
            return self._say(206, part, Content_Range=where)
        return self._say(200, content)

    def log_message(self, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True


@contextmanager
def fake_hub() -> Iterator[FakeHub]:
    """A hub that runs as long as the block."""
    hub, servers = FakeHub(), []
    for cdn in (False, True):
        handler = type("Handler", (_Handler,), {"hub": hub, "is_cdn": cdn})
        server = _Server(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        servers.append(server)
    hub.url, hub.cdn = (f"http://127.0.0.1:{server.server_address[1]}" for server in servers)
    try:
        yield hub
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
