import assert from "node:assert/strict";
import { test } from "node:test";
import type { WebhookExchange } from "#admission";
import { createLog } from "#base";
import { outgoingLog } from "./outgoing-log.ts";

const exchange: WebhookExchange = {
  host: "hook.example:443",
  url: "https://hook.example:443/review?timeout=10s",
  requestHeaders: () => [
    ["content-type", "application/json"],
    ["authorization", "Bearer s3cr3t-token"],
  ],
  requestBody: "q".repeat(2000),
  status: 200,
  responseHeaders: new Map([
    ["content-length", "7"],
    ["set-cookie", "s3cr3t-cookie"],
  ]),
  responseBody: "answer!",
  confidential: false,
  seconds: 0.0123,
  sentBytes: 2000,
  receivedBytes: 7,
};

/** Returns the lines logged at a level, without time and source location. */
function linesAt(verbosity: number, logged: WebhookExchange = exchange): string[] {
  const lines: string[] = [];
  const sink = { write: (line: string) => void lines.push(line), flush: () => undefined };
  outgoingLog(createLog({ verbosity, sink }))(logged);
  return lines.map((line) => JSON.parse(line.slice(line.indexOf("] ") + 2)) as string);
}

const status = "200 OK in 12 milliseconds";
const headers = [
  `POST ${exchange.url}`,
  "Request Headers:",
  "    Content-Type: application/json",
  "    Authorization: Bearer <masked>",
  `Response Status: ${status}`,
];
const levels: [level: number, lines: readonly string[]][] = [
  [5, []],
  [6, [`POST ${exchange.url} ${status}`]],
  [7, headers],
  [
    8,
    [
      ...headers,
      "Response Headers:",
      "    Content-Length: 7",
      "    Set-Cookie: <masked>",
      `Request Body: ${"q".repeat(1024)} [truncated 976 chars]`,
      "Response Body: answer!",
    ],
  ],
];
for (const [level, lines] of levels)
  test(`an outgoing request is logged at -v=${level}`, () => assert.deepEqual(linesAt(level), lines));

test("bodies are longer at -v=9 and complete at -v=10", () => {
  const long = { ...exchange, requestBody: "q".repeat(20_000) };
  const lengthAt = (level: number): number =>
    linesAt(level, long).find((line) => line.startsWith("Request Body"))!.length;
  assert.deepEqual([lengthAt(9) > 10_240, lengthAt(9) < 20_000, lengthAt(10) > 20_000], [true, true, true]);
});

test("no level logs credentials or bodies that contain some", () => {
  const secret = { ...exchange, confidential: true, requestBody: "s3cr3t", responseBody: "s3cr3t" };
  for (let level = 0; level <= 12; level++)
    assert.ok(!linesAt(level, secret).some((line) => line.includes("s3cr3t")), `-v=${level}`);
});
