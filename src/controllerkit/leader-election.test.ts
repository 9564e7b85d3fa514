import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "#apiserver";
import { silentLog, virtualClock } from "#base";
import { kinds } from "#client";
import { type ElectionOptions, runAsLeader } from "./leader-election.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("one candidate leads, another takes over when it stops, and a leader that cannot renew gives up", async () => {
  await using server = await startServer({ store: "memory" });
  const clock = virtualClock(Date.now());
  const leading: string[] = [];
  const campaign = (identity: string, client: ElectionOptions["client"], stopping: AbortController) =>
    runAsLeader(
      {
        client,
        clock,
        signal: stopping.signal,
        log: silentLog,
        namespace: "default",
        name: "l",
        identity,
        leaseMilliseconds: 15_000,
        renewMilliseconds: 10_000,
        retryMilliseconds: 2000,
      },
      async (signal) => {
        leading.push(identity);
        await new Promise<void>((resolve) =>
          signal.addEventListener("abort", () => resolve(), { once: true }),
        );
      },
    );
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) {
      await clock.advance(500);
      for (let turns = 0; turns < 20; turns++) await turn();
    }
  };
  const { client: faulty, faults } = server.kit.faultyClient();
  const [first, second] = [new AbortController(), new AbortController()];
  const a = campaign("a", server.client, first);
  await until(() => leading.length === 1);
  const b = campaign("b", faulty, second);
  await until(() => clock.now() % 60_000 < 500);
  assert.deepEqual(leading, ["a"]);
  first.abort();
  assert.equal(await a, "stopped");
  await until(() => leading.length === 2);
  const lease = await server.client.of(kinds.leases).get("l", { namespace: "default" });
  assert.deepEqual([leading, lease.spec.holderIdentity, lease.spec.leaseTransitions], [["a", "b"], "b", 1]);
  faults.plan({ answer: 500 }, { times: Infinity });
  let outcome = "";
  const ended = b.then((how) => (outcome = how));
  await until(() => outcome !== "");
  assert.equal(await ended, "lost");
});

test("a leader gives up in time if the server does not respond, and though its clock is set back", async () => {
  const clock = virtualClock(Date.now());
  await using server = await startServer({ store: "memory", clock });
  const { client, faults } = server.kit.faultyClient();
  let outcome = "";
  let isLeading = false;
  const ended = runAsLeader(
    {
      client,
      clock,
      signal: new AbortController().signal,
      log: silentLog,
      namespace: "default",
      name: "l",
      identity: "a",
      leaseMilliseconds: 15_000,
      renewMilliseconds: 10_000,
      retryMilliseconds: 2000,
    },
    async (signal) => {
      isLeading = true;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      isLeading = false;
    },
  ).then((how) => (outcome = how));
  while (!isLeading) await turn();
  faults.plan({ delayMilliseconds: 3_600_000 }, { times: Infinity });
  clock.set(clock.now() - 3_600_000);
  for (let step = 0; step < 15; step++) await clock.advance(1000);
  assert.equal(isLeading, false);
  while (outcome === "") await clock.advance(1000);
  await ended;
  assert.equal(outcome, "lost");
});
