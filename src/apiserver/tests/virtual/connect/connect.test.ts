import assert from "node:assert/strict";
import { after, test } from "node:test";
import { fakeAgent } from "./agent.fixture.ts";
import { cluster, upgraded } from "./cluster.fixture.ts";

const pods = "/api/v1/namespaces/default/pods";

const logs: [
  name: string,
  path: string,
  answer: [status: number, text: string],
  expected: [status: number, requested: string | undefined, body: RegExp],
][] = [
  [
    "a log is fetched from the pod's node agent",
    "web/log",
    [200, "hello\n"],
    [200, "GET /containerLogs/default/web/c", /^hello\n$/],
  ],
  [
    "options are forwarded with the names that the agent uses",
    "two/log?container=b&tailLines=3&follow=false&timestamps=true&sinceTime=2024-01-02T03:04:05Z&limitBytes=9&previous=1",
    [200, ""],
    [
      200,
      "GET /containerLogs/default/two/b?limitBytes=9&previous=true&sinceTime=2024-01-02T03%3A04%3A05Z&tailLines=3&timestamps=true",
      /^$/,
    ],
  ],
  [
    "the container must be named if there are several",
    "two/log",
    [200, ""],
    [400, undefined, /choose one of: \[a b\]/],
  ],
  [
    "the container must be part of the pod",
    "web/log?container=x",
    [200, ""],
    [400, undefined, /container x is not valid/],
  ],
  [
    "options must be valid",
    "web/log?tailLines=-1&limitBytes=0",
    [200, ""],
    [422, undefined, /PodLogOptions/],
  ],
  [
    "numbers must be numbers",
    "web/log?tailLines=many",
    [200, ""],
    [400, undefined, /parsing \\"many\\": invalid syntax/],
  ],
  ["times must be times", "web/log?sinceTime=yesterday", [200, ""], [400, undefined, /sinceTime/]],
  ["a pod on no node has no log yet", "waits/log", [200, ""], [204, undefined, /^$/]],
  ["a missing node is reported", "lost/log", [200, ""], [404, undefined, /pods \\"gone\\" not found/]],
  [
    "sinceTime and sinceSeconds are mutually exclusive",
    "web/log?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z",
    [200, ""],
    [422, undefined, /"field":"\[\]"/],
  ],
  ["a missing pod is reported", "none/log", [200, ""], [404, undefined, /pods \\"none\\" not found/]],
  [
    "errors of the agent are passed on",
    "web/log",
    [400, "container is waiting"],
    [400, "GET /containerLogs/default/web/c", /container is waiting/],
  ],
  [
    "a 404 of the agent is passed on",
    "web/log",
    [404, "no such log"],
    [404, "GET /containerLogs/default/web/c", /no such log/],
  ],
  ["redirects are refused", "web/log", [302, ""], [500, "GET /containerLogs/default/web/c", /redirect/]],
  ["a path below a log is not found", "web/log/more", [200, ""], [404, undefined, /could not find/]],
];
// Read-only requests share a server and an agent, whose reply the test sets.
let reply: [status: number, text: string] = [200, ""];
const agent = await fakeAgent({
  answer: (_request, response) =>
    void response.writeHead(reply[0], { location: "https://elsewhere.invalid/" }).end(reply[1]),
});
const server = await cluster(agent);
after(async () => {
  await server.stop();
  await agent[Symbol.asyncDispose]();
});
/** Sends a request and returns the requests that the agent received meanwhile. */
async function asking(method: string, path: string) {
  const before = agent.requests.length;
  const got = await server.inject({ method, path });
  return { status: got.status, text: await got.text(), requested: agent.requests.slice(before) };
}

for (const [name, path, answer, [expected, requested, body]] of logs) {
  test(name, async () => {
    reply = answer;
    const got = await asking("GET", `${pods}/${path}`);
    assert.match(got.text, body);
    assert.deepEqual([got.status, got.requested[0]], [expected, requested]);
  });
}

test("a pod's log is refused at once when the agent cannot be reached", async () => {
  const agent = await fakeAgent({});
  await using server = await cluster(agent);
  await agent[Symbol.asyncDispose]();
  const got = await server.inject({ path: `${pods}/web/log` });
  assert.equal(got.status, 500);
  const { message } = (await got.json()) as { message: string };
  assert.match(message, /^Get "https:\/\/127\.0\.0\.1:\d+\/containerLogs\/.*": .*connection refused$/);
});

const plain: [name: string, path: string, status: number, text: RegExp][] = [
  ["commands need an upgrade", "web/exec?command=ls&stdout=true", 400, /Upgrade request required/],
  ["attaching needs an upgrade", "web/attach?stdout=1", 400, /Upgrade request required/],
  ["a pod on no node accepts no commands", "waits/exec?command=ls", 400, /does not have a host assigned/],
  ["ports must be valid", "web/portforward?ports=80,http", 400, /not a port/],
  ["commands reject dryRun", "web/exec?command=ls&dryRun=All", 400, /dryRun is not supported/],
];
for (const [name, path, status, text] of plain) {
  test(name, async () => {
    const got = await asking("POST", `${pods}/${path}`);
    assert.match(got.text, text);
    assert.deepEqual([got.status, got.requested], [status, []]);
  });
}

test("after an upgrade, bytes are relayed both ways, and each direction ends separately", async () => {
  await using agent = await fakeAgent({
    upgrade: (_request, socket) => {
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4\r\n\r\nwelcome;",
      );
      let reply = "";
      socket.on("data", (chunk: Buffer) => (reply += chunk.toString()));
      // The client has half-closed the connection, and still receives the response.
      socket.on("end", () => socket.end(`heard ${reply}`));
    },
  });
  await using server = await cluster(agent, 0);
  const path = `${pods}/web/exec?command=sh&command=-c&command=echo%20hi&stdin=true&stdout=true&tty=false`;
  const text = await upgraded(
    server,
    path,
    ["X-Stream-Protocol-Version: v4", "X-Stream-Protocol-Version: v3"],
    "some input",
  );
  assert.equal(
    text,
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4\r\n\r\nwelcome;heard some input",
  );
  assert.deepEqual(agent.requests, [
    "POST /exec/default/web/c?command=sh&command=-c&command=echo+hi&input=1&output=1",
  ]);
  const [seen] = agent.headers;
  assert.equal(seen!.authorization, undefined);
  assert.deepEqual(
    [seen!.host, seen!["x-stream-protocol-version"], seen!["x-forwarded-for"]],
    ["api", "v4, v3", "127.0.0.1"],
  );
});

test("the response of an agent that refuses an upgrade is passed on", async () => {
  await using agent = await fakeAgent({
    upgrade: (_request, socket) =>
      socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\nX-Why: protocol\r\n\r\nnope"),
  });
  await using server = await cluster(agent, 0);
  const text = await upgraded(server, `${pods}/two/attach?container=a&stdout=true`, [], "");
  assert.match(text, /^HTTP\/1\.1 403 Forbidden\r\n/);
  assert.match(text, /x-why: protocol/i);
  assert.ok(text.endsWith("\r\n\r\nnope"));
  assert.deepEqual(agent.requests, ["POST /attach/default/two/a?output=1"]);
});

test("a plain success response to an upgrade is an error", async () => {
  await using agent = await fakeAgent({
    upgrade: (_request, socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
  });
  await using server = await cluster(agent, 0);
  assert.match(
    await upgraded(server, `${pods}/web/portforward`, [], ""),
    /500 Internal Server Error[^]*invalid upgrade response: status code 200/,
  );
  assert.deepEqual(agent.requests, ["POST /portForward/default/web"]);
});

const places: [name: string, path: string, status: number, text: RegExp][] = [
  [
    "the proxy does not connect to a node on this host",
    "/api/v1/nodes/n1/proxy/metrics",
    400,
    /address not allowed/,
  ],
  ["the proxy rejects a pod without an address", `${pods}/web/proxy/`, 400, /address not allowed/],
  ["proxy names have at most three parts", `${pods}/a:b:c:d/proxy/`, 400, /invalid pod request/],
  ["the proxy supports only two schemes", `${pods}/ftp:web:21/proxy/`, 400, /invalid pod request/],
  ["the proxy of a missing node is not found", "/api/v1/nodes/none/proxy/", 404, /not found/],
  [
    "the proxy of a missing service is not found",
    "/api/v1/namespaces/default/services/none/proxy/",
    404,
    /not found/,
  ],
];
for (const [name, path, status, text] of places) {
  test(name, async () => {
    const got = await asking("GET", path);
    assert.match(got.text, text);
    assert.deepEqual([got.status, got.requested], [status, []]);
  });
}
