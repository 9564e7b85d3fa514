import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "#base";
import { type Hop, type Location, locationOf, postRequest, requestText } from "./post-request.ts";
import type { WholeReply } from "./reply-reader.ts";

const first = "https://hook.test/ask?timeout=1s";

type Scripted = readonly [status: number, headers?: Readonly<Record<string, string>>];

/** Responds in the order of the script, repeating its last entry. */
async function requestFor(script: readonly Scripted[]) {
  const hops: Hop[] = [];
  const send = (hop: Hop) => {
    const [status, headers = {}] = script[Math.min(hops.length, script.length - 1)]!;
    hops.push(hop);
    const reply: WholeReply = { status, headers: new Map(Object.entries(headers)), body: Buffer.alloc(0) };
    return {
      exchange: { reply: Promise.resolve(reply), abort: () => undefined },
      address: { host: "hook.test", port: 443 },
    };
  };
  const outcome = await postRequest(first, { clock: systemClock, limitMilliseconds: 1000, send }).then(
    ({ status }) => status,
    ({ message }: Error) => message,
  );
  return { outcome, hops };
}

const to = (location: string): Readonly<Record<string, string>> => ({ location });

const redirects: [name: string, script: readonly Scripted[], last: Hop][] = [
  ...[301, 302, 303].map((status): [string, readonly Scripted[], Hop] => [
    `${status} asks by GET, without the body`,
    [[status, to("/b")], [200]],
    { method: "GET", hasBody: false, url: "https://hook.test/b", referer: first },
  ]),
  ...[307, 308].map((status): [string, readonly Scripted[], Hop] => [
    `${status} posts again, with the body`,
    [[status, to("b?c#d")], [200]],
    { method: "POST", hasBody: true, url: "https://hook.test/b?c#d", referer: first },
  ]),
  [
    "a request that became a GET stays one, also after a 307",
    [[302, to("/b")], [307, to("//HOOK.test:443/c")], [200]],
    { method: "GET", hasBody: true, url: "https://hook.test/c", referer: "https://hook.test/b" },
  ],
  [
    "a status that is not a redirect is returned",
    [[304, to("/b")]],
    { method: "POST", hasBody: true, url: first },
  ],
  ["a redirect without a location is returned", [[307]], { method: "POST", hasBody: true, url: first }],
];
for (const [name, script, last] of redirects)
  test(`a redirect: ${name}`, async () => {
    const { outcome, hops } = await requestFor(script);
    assert.deepEqual([outcome, hops.at(-1)], [script.at(-1)![0], last]);
  });

const failures: [location: string, message: string, hops: number][] = [
  ["/ask?timeout=1s", 'Post "/ask?timeout=1s": stopped after 10 redirects', 10],
  ...[
    "https://other.test/ask",
    "https://hook.test:8443/ask",
    "https://hook.test./ask",
    "https://hook.test@169.254.169.254/",
    "http://hook.test/ask",
    "http://hook.test:443/ask",
    "//169.254.169.254/latest",
    "\\\\169.254.169.254\\latest",
    "http:///x",
    "ftp://hook.test/x",
    "file:///etc/passwd",
    "data:,x",
  ].map((location): [string, string, number] => [
    location,
    `Post ${JSON.stringify(location)}: redirects to another server are not followed`,
    1,
  ]),
  [
    ":bad",
    `Post "${first}": failed to parse Location header ":bad": parse ":bad": missing protocol scheme`,
    1,
  ],
  [
    "http://[::1",
    `Post "${first}": failed to parse Location header "http://[::1": parse "http://[::1": invalid URL`,
    1,
  ],
];
for (const [location, message, count] of failures)
  test(`a redirect to ${location} fails`, async () => {
    const { outcome, hops } = await requestFor([[307, to(location)]]);
    assert.deepEqual([outcome, hops.length], [message, count]);
  });

const repeats: [status: number, header: string | undefined, requests: number][] = [
  [429, "0", 11],
  [503, "-1", 11],
  [503, undefined, 1],
  [429, "soon", 1],
  [404, "0", 1],
];
for (const [status, header, requests] of repeats)
  test(`${status} with Retry-After ${header} is requested ${requests} times`, async () => {
    const { outcome, hops } = await requestFor([
      [status, header === undefined ? {} : { "retry-after": header }],
    ]);
    assert.deepEqual([outcome, hops.length], [status, requests]);
  });

test("a hop is written with its referer, and with a length if it has a body", () => {
  const at: Location = locationOf("http://h:1/p?q");
  const hop: Hop = { method: "POST", hasBody: true, url: "http://h:1/p?q" };
  assert.equal(
    requestText(hop, at, [["a", "b"]], "é"),
    "POST /p?q HTTP/1.1\r\nhost: h:1\r\na: b\r\ncontent-length: 2\r\n\r\né",
  );
  assert.equal(
    requestText({ ...hop, method: "GET", hasBody: false, referer: "http://r/" }, at, [], "é"),
    "GET /p?q HTTP/1.1\r\nhost: h:1\r\nreferer: http://r/\r\n\r\n",
  );
});
