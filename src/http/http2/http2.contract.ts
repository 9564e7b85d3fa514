// The requirements of RFC 9113 and RFC 7541 for servers, section by section, over a raw socket. The cases
// follow the catalogue of the h2spec tool; every implementation in use passes them, or declares its gaps.
import assert from "node:assert/strict";
import { type TestContext, describe, test } from "node:test";
import type { Expected, Http2Case } from "./conformance-cases.fixture.ts";
import { frameCases } from "./frame-cases.fixture.ts";
import { errorCode, frame } from "./frames.ts";
import { messageCases } from "./message-cases.fixture.ts";
import { type Frame, type RawClient, rawClient } from "./raw-client.fixture.ts";

/**
 * Starts a server and resolves with its port. It answers GET with 200 and "well", reads the body of a POST
 * and then answers likewise, and never answers `/wait`.
 */
export type StartServer = (t: TestContext) => Promise<number>;

/** `gaps` maps names of cases that fail to the reason; one that passes nevertheless fails the suite. */
export function http2Contract(
  implementation: string,
  start: StartServer,
  gaps: Readonly<Record<string, string>> = {},
): void {
  const declare = ([section, name, sent, expected]: Http2Case): void => {
    const gap = gaps[name];
    test(`${implementation}: RFC ${section}: ${name}${gap ? ` (known gap: ${gap})` : ""}`, async (t) => {
      const client = await rawClient(t, await start(t));
      client.send(...sent);
      const met = Promise.race([
        meets(client, expected),
        new Promise<never>(
          (_, reject) =>
            void setTimeout(() => reject(new Error("nothing came back")), gap ? 300 : 60_000).unref(),
        ),
      ]);
      if (gap) await assert.rejects(met, () => true, "the gap is closed: remove it from the list");
      else await met;
    });
  };
  const cases = [...frameCases, ...messageCases];
  for (const each of cases) if (gaps[each[1]] === undefined) declare(each);
  if (Object.keys(gaps).length === 0) return;
  // A missing reaction is only detected by a timeout, so these cases run concurrently.
  describe(`${implementation}: known gaps`, { concurrency: true }, () => {
    for (const each of cases) if (gaps[each[1]] !== undefined) declare(each);
  });
}

async function meets(client: RawClient, expected: Expected): Promise<void> {
  if ("frame" in expected) return void (await client.next(expected.frame));
  if ("response" in expected) {
    const { stream } = await client.next(
      ({ type, stream: id }) => type === frame.headers && id === expected.response,
    );
    return assert.equal(stream, expected.response);
  }
  const isError = ({ type, payload }: Frame): boolean =>
    type === frame.goAway ? payload.readUInt32BE(4) !== errorCode.none : type === frame.rstStream;
  const found = await client.next(isError);
  const code = found.type === frame.goAway ? found.payload.readUInt32BE(4) : found.payload.readUInt32BE(0);
  if ("connectionError" in expected) {
    assert.equal(found.type, frame.goAway);
    assert.ok(expected.connectionError.includes(code), `error code ${code}`);
  } else assert.ok(expected.streamError.includes(code), `error code ${code}`);
}
