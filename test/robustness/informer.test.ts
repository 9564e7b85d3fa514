import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from "@kubernetes/client-node";
import { apiClient, connectionOf, https, informer, kinds, singleContext } from "#client";
import { dialectNamed } from "#dialect";
import { startApiserver } from "#kit";
import { cuttingProxy } from "./cutting-proxy.ts";
import { type Seen, checkLives, seenOf, startWriters, survivors } from "./informer-model.ts";

const dialect = dialectNamed("kubernetes")!;
const namespace = "default";
const rounds = Number(process.env["ORCH_INFORMER_ROUNDS"] ?? 2);

test(
  "informers survive cut connections, compaction, restarts and kill -9 without missing or repeating anything",
  { timeout: 300_000 },
  async (t) => {
    await using server = await startApiserver({
      dialect: "kubernetes",
      flags: ["--store-compaction-interval=1s"],
    });
    await using proxy = await cuttingProxy(Number(new URL(server.url).port));
    const proxied = `https://127.0.0.1:${proxy.port}`;

    const [direct, shaky] = [server.url, proxied].map((url) =>
      https(connectionOf(singleContext({ name: "test", server: url, ca: server.ca, token: server.token }))),
    );
    const maps = apiClient(direct!, dialect).of(kinds.configMaps);
    const writers = startWriters(
      maps,
      (name, value) => ({ metadata: { name, namespace }, data: { value: String(value) } }),
      { count: 6, names: 40, namespace },
    );

    // Our informer.
    const stop = new AbortController();
    const ours: Seen[] = [];
    const problems: string[] = [];
    const own = informer({
      client: apiClient(shaky!, dialect).of(kinds.configMaps),
      scope: { namespace },
      signal: stop.signal,
      pageSize: 7,
      onEvent: ({ type, object }) => ours.push(seenOf(type, object)),
      onError: (error) => problems.push(error.message),
    });

    // The informer of the public client library, used as its documentation says: restarted after every error.
    const config = new KubeConfig();
    config.loadFromClusterAndUser(
      {
        name: "test",
        server: proxied,
        caData: Buffer.from(server.ca).toString("base64"),
        skipTLSVerify: false,
      },
      { name: "admin", token: server.token },
    );
    const theirs: Seen[] = [];
    const listed = config.makeApiClient(CoreV1Api);
    const public_ = makeInformer<V1ConfigMap>(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
      listed.listNamespacedConfigMap({ namespace }),
    );
    let following = true;
    let restarts = 0;
    const again = async (): Promise<void> => {
      restarts++;
      await sleep(100);
      if (following) await public_.start().catch(again);
    };
    public_.on("add", (object) => theirs.push(seenOf("added", object)));
    public_.on("update", (object) => theirs.push(seenOf("updated", object)));
    public_.on("delete", (object) => theirs.push(seenOf("deleted", object)));
    public_.on("error", () => void again());
    await public_.start().catch(again);
    await own.synced;

    let cuts = 0;
    const cutConnections = async (milliseconds: number): Promise<void> => {
      for (const end = Date.now() + milliseconds; Date.now() < end;) {
        await sleep(100 + Math.random() * 400);
        cuts += proxy.cut();
      }
    };
    await cutConnections(3000);
    for (let round = 0; round < rounds; round++) {
      await server.kill9();
      await server.restart();
      await cutConnections(2000);
      await server.restart();
      await cutConnections(1500);
    }
    while (writers.confirmed() <= 100 || cuts <= 5) await cutConnections(500);
    await writers.stop();

    const truth = (await maps.list({ namespace })).items
      .map(({ metadata }) => `${metadata.name} ${metadata.uid}@${metadata.resourceVersion}`)
      .sort();
    const same = (events: readonly Seen[]): boolean =>
      JSON.stringify(survivors(events)) === JSON.stringify(truth);
    // The library waits up to half a minute between attempts.
    for (const end = Date.now() + 120_000; Date.now() < end && !(same(ours) && same(theirs));)
      await sleep(50);
    following = false;
    stop.abort();
    await Promise.all([own.stopped, public_.stop()]);
    for (const transport of [direct!, shaky!]) transport.close();

    t.diagnostic(
      `${writers.confirmed()} writes, ${cuts} connections cut, ${problems.length} troubles and ${ours.length} events of our informer, ${restarts} restarts and ${theirs.length} events of the library's`,
    );
    assert.deepEqual(survivors(ours), truth, "our informer");
    assert.deepEqual(survivors(theirs), truth, "the library's informer");
    checkLives("our informer", ours);
    checkLives("the library's informer", theirs, true);
  },
);
