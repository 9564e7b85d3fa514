import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inject } from "#http";
import { ApiCall } from "#endpoints";
import { logFiles } from "./log-files.ts";

test("the log directory is served as files and listings", async () => {
  const folder = mkdtempSync(join(tmpdir(), "log-files-"));
  try {
    mkdirSync(join(folder, "sub"));
    writeFileSync(join(folder, "a.log"), "one\ntwo\n");
    writeFileSync(join(folder, "bytes"), Buffer.from([0, 1, 2]));
    writeFileSync(join(folder, "sub", "b&c"), "x");
    utimesSync(join(folder, "a.log"), 1_900_000_000, 1_900_000_000);
    const serve = logFiles("/logs", folder);
    const ask = async (
      path: string,
      headers: Record<string, string> = {},
      method = "GET",
    ): Promise<string> => {
      const answer = await inject(
        async (call) => (await serve(new ApiCall(call, "id"))) ?? { status: 999, headers: {} },
        { method, path, headers },
      ).catch((error: Error) => error);
      if (answer instanceof Error) return answer.message;
      const shown = ["location", "content-range", "content-type"].flatMap((name) =>
        answer.headers[name] ? [String(answer.headers[name])] : [],
      );
      return [answer.status, ...shown, Buffer.from(await answer.bytes()).toString()].join("|");
    };
    const cases: [path: string, headers: Record<string, string>, expected: string][] = [
      ["/logs", {}, "301|logs/|"],
      ["/logs", { accept: "application/json, */*" }, "301|logs/|"],
      ["/logs", { accept: "application/json" }, "406: Not Acceptable\n\nAvailable representations: "],
      [
        "/logs/",
        {},
        '200|text/html; charset=utf-8|<pre>\n<a href="a.log">a.log</a>\n<a href="bytes">bytes</a>\n<a href="sub/">sub/</a>\n</pre>\n',
      ],
      ["/logs/sub", {}, "301|sub/|"],
      ["/logs/sub/", {}, '200|text/html; charset=utf-8|<pre>\n<a href="b%26c">b&amp;c</a>\n</pre>\n'],
      ["/logs/sub/b%26c", {}, "200|text/plain; charset=utf-8|x"],
      ["/logs/a.log", {}, "200|text/x-log; charset=utf-8|one\ntwo\n"],
      ["/logs/bytes", {}, "200|application/octet-stream|\0\x01\x02"],
      ["/logs/a.log", { range: "bytes=4-6" }, "206|bytes 4-6/8|text/x-log; charset=utf-8|two"],
      [
        "/logs/a.log",
        { range: "bytes=8-" },
        "416|bytes */8|text/plain; charset=utf-8|invalid range: failed to overlap\n",
      ],
      ["/logs/a.log", { "if-modified-since": new Date(1_900_000_000_000).toUTCString() }, "304|"],
      [
        "/logs/a.log",
        { "if-modified-since": new Date(1_899_999_999_000).toUTCString() },
        "200|text/x-log; charset=utf-8|one\ntwo\n",
      ],
      ["/logs/none", {}, "404|text/plain; charset=utf-8|404 page not found\n"],
      ["/logs/%2e%2e/x", {}, "400|text/plain; charset=utf-8|invalid URL path\n"],
      ["/logs/a%00b", {}, "400|text/plain; charset=utf-8|invalid URL path\n"],
      ["/logs/index.html", {}, "301|./|"],
      ["/logs/a.log/", {}, "301|../a.log|"],
      ["/logsx", {}, "999|"],
    ];
    for (const [path, headers, expected] of cases) assert.equal(await ask(path, headers), expected, path);
    assert.match(await ask("/logs/a.log", {}, "POST"), /not allow/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
