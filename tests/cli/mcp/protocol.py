"""Both eras of the protocol: methods, errors and their codes."""
from client import LEGACY, META, MODERN, Client, show


def code(answer):
    return answer.get("code", "ok")


c = Client()
discover = c.ask("server/discover")
c.fits(discover, "DiscoverResult")
show("discover", [discover["supportedVersions"], discover["capabilities"], discover["resultType"],
                  discover["cacheScope"], discover["_meta"]["io.modelcontextprotocol/serverInfo"]["name"]])
tools = c.ask("tools/list")
c.fits(tools, "ListToolsResult")
names = [t["name"] for t in tools["tools"]]
show("tools", names)
assert names == sorted(names) and c.ask("tools/list") == tools
for tool in tools["tools"]:
    assert tool["inputSchema"]["additionalProperties"] is False and tool["title"] and tool["outputSchema"], tool
    assert set(tool["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}, tool
c.fits(c.ask("resources/list"), "ListResourcesResult")
c.fits(c.ask("resources/templates/list"), "ListResourceTemplatesResult")
show("templates", [t["uriTemplate"] for t in c.ask("resources/templates/list")["resourceTemplates"]])
for method in ("ping", "logging/setLevel", "resources/subscribe", "initialize", "prompts/list", "nonsense",
               "subscriptions/listen"):
    show("modern " + method, code(c.ask(method)))
for what, meta in (("no _meta", None), ("empty _meta", {}), ("a token only", {"progressToken": 1}),
                   ("no capabilities", {k: v for k, v in META.items() if "Version" in k}),
                   ("no version", {k: v for k, v in META.items() if "Version" not in k}),
                   ("a number as version", {**META, "io.modelcontextprotocol/protocolVersion": 1})):
    c.send({"jsonrpc": "2.0", "id": what, "method": "tools/list", "params": {} if meta is None else {"_meta": meta}})
    show(what, code(c.wait(what)["error"]))
c.send({"jsonrpc": "2.0", "id": "w", "method": "tools/list",
        "params": {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}}})
wrong = c.wait("w")
c.fits(wrong, "UnsupportedProtocolVersionError")
show("wrong version", wrong["error"])
assert wrong["error"]["data"]["supported"] == discover["supportedVersions"]
show("no tool", c.ask("tools/call", {"name": "approve"}))
show("no name", code(c.ask("tools/call", {})))
show("no resource", c.ask("resources/read", {"uri": "dtx://run/x"}))
show("no uri", code(c.ask("resources/read", {})))
show("cursor", code(c.ask("tools/list", {"cursor": "x"})))
for arguments in ({}, {"path": 1}, {"path": "a", "other": 1}):
    show("arguments", c.call("describe", **arguments))
show("limit", c.call("list", limit=0))
show("enum", c.call("list", status="bad"))
show("end", c.end())

c = Client(modern=False)
for asked, method, params in (("unknown version", "initialize", {"protocolVersion": "1999-01-01"}),
                              ("before", "initialize", {"protocolVersion": "2025-06-18"})):
    answer = c.ask(method, {**params, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
    c.fits(answer, "InitializeResult")
    show(asked, [answer["protocolVersion"], answer["serverInfo"]["name"], answer["capabilities"]])
assert LEGACY != MODERN
assert c.ask("tools/list") == {"tools": tools["tools"]}
show("ping", c.ask("ping"))
show("setLevel", [code(c.ask("logging/setLevel", {"level": "info"})), code(c.ask("logging/setLevel", {"level": "x"}))])
show("subscribe", code(c.ask("resources/subscribe", {"uri": "dtx://schema/plan"})))
show("discover", code(c.ask("server/discover")))
show("no resource", c.ask("resources/read", {"uri": "dtx://run/x"}))
schema = c.ask("resources/read", {"uri": "dtx://schema/plan"})
c.fits(schema, "ReadResourceResult")
show("schema", [schema["contents"][0]["mimeType"], '"steps"' in schema["contents"][0]["text"]])
c.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}})
c.send({"jsonrpc": "2.0", "method": "notifications/unknown"})
c.send({"jsonrpc": "2.0", "id": 1000, "result": {}})
show("after notifications", c.ask("ping"))
show("end", c.end())

# both eras in one process: a session that speaks the legacy one may send a modern request
c = Client(modern=False)
c.schema = None
c.modern = True
show("modern in a session", c.ask("tools/list")["resultType"])
show("end", c.end())
