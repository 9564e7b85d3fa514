// The whole DNS server over real sockets on the loopback interface, queried by an independent resolver.
import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { after, before, suite, test } from "node:test";
import { startServer, type RunningServer } from "#apiserver";
import { createMetrics, silentLog, systemClock } from "#base";
import { kinds } from "#client";
import { clusterView } from "#controllerkit";
import { type RunningDnsServer, startDns } from "./index.ts";

suite("the name server", () => {
  let server: RunningServer;
  let dns: RunningDnsServer;
  /** An external name server: the same program over an empty cluster with another domain. */
  let outside: RunningDnsServer;
  /** Starts another name server of the cluster, with an external name server at this port. */
  let startWithUpstream: (port: number) => Promise<RunningDnsServer>;
  const stopping = new AbortController();
  const resolver = new Resolver({ tries: 1, timeout: 60_000 });
  const metrics = createMetrics();

  before(async () => {
    server = await startServer({ store: "memory", flags: ["--disable-admission-plugins=ServiceAccount"] });
    const { client } = server;
    const options = { client, clock: systemClock, signal: stopping.signal, log: silentLog };
    const view = clusterView(options);
    const common = { ...options, view, dialect: client.dialect };
    const settings = {
      addresses: ["127.0.0.1"],
      port: 0,
      ttlSeconds: 5,
      allowed: ["127.0.0.0/8"],
      resolverFile: "/nowhere/resolv.conf",
      timeoutMilliseconds: 60_000,
      cacheBytes: 100_000,
    };
    startWithUpstream = (port) =>
      startDns({
        ...common,
        metrics: createMetrics(),
        settings: { ...settings, domain: "cluster.local", upstreams: [{ address: "127.0.0.1", port }] },
      });
    outside = await startDns({
      ...common,
      metrics: createMetrics(),
      settings: { ...settings, domain: "example.test", upstreams: [] },
    });
    dns = await startDns({
      ...common,
      metrics,
      settings: {
        ...settings,
        domain: "cluster.local",
        upstreams: [{ address: "127.0.0.1", port: outside.port }],
      },
    });
    resolver.setServers([`127.0.0.1:${dns.port}`]);
    await client.of(kinds.namespaces).create({ metadata: { name: "shop" } });
    const port = { name: "http", port: 80, protocol: "TCP" };
    const services = client.of(kinds.services);
    const make = (name: string, spec: object): Promise<unknown> =>
      services.create({ metadata: { name, namespace: "shop" }, spec });
    await make("web", { clusterIP: "10.0.0.77", ports: [port] });
    await make("db", { clusterIP: "None", ports: [port] });
    await make("big", { clusterIP: "None", ports: [port] });
    await make("away", { type: "ExternalName", externalName: "there.shop.svc.example.test" });
    await make("there", { clusterIP: "10.0.0.78", ports: [port] });
    const slices = client.of(kinds.endpointSlices);
    const slice = (service: string, endpoints: object[]): Promise<unknown> =>
      slices.create({
        metadata: {
          name: service,
          namespace: "shop",
          labels: { [client.dialect.names.labels.serviceName]: service },
        },
        addressType: "IPv4",
        endpoints,
        ports: [port],
      } as never);
    await slice("db", [
      { addresses: ["10.1.0.1"], hostname: "db-0" },
      { addresses: ["10.1.0.2"], conditions: { ready: false } },
    ]);
    await slice(
      "big",
      Array.from({ length: 100 }, (_, at) => ({ addresses: [`10.2.0.${at + 1}`] })),
    );
    // Created last, so that seeing it implies having seen the others.
    for (;;) {
      const found = await resolver.resolve4("big.shop.svc.cluster.local").catch(() => []);
      const there = await resolver.resolve4("there.shop.svc.cluster.local").catch(() => []);
      const first = await resolver.resolve4("db-0.db.shop.svc.cluster.local").catch(() => []);
      if (found.length === 100 && there.length === 1 && first.length === 1) break;
    }
  });
  after(async () => {
    stopping.abort();
    await dns.close();
    await outside.close();
    await server[Symbol.asyncDispose]();
  });

  const code = async (pending: Promise<unknown>): Promise<string> =>
    pending.then(
      () => "found",
      (error: NodeJS.ErrnoException) => error.code ?? "",
    );

  test("services, ports, endpoints and addresses have names", async () => {
    assert.deepEqual(await resolver.resolve4("WEB.shop.svc.cluster.local"), ["10.0.0.77"]);
    assert.deepEqual(await resolver.resolve4("db.shop.svc.cluster.local"), ["10.1.0.1"]);
    assert.deepEqual(await resolver.resolve4("db-0.db.shop.svc.cluster.local"), ["10.1.0.1"]);
    const [record] = await resolver.resolveSrv("_http._tcp.web.shop.svc.cluster.local");
    assert.equal(`${record?.name}:${record?.port}`, "web.shop.svc.cluster.local:80");
    assert.deepEqual(await resolver.reverse("10.0.0.77"), ["web.shop.svc.cluster.local"]);
    assert.deepEqual(await resolver.reverse("10.1.0.1"), ["db-0.db.shop.svc.cluster.local"]);
  });

  test("missing names are distinguished from missing types", async () => {
    assert.equal(await code(resolver.resolve4("gone.shop.svc.cluster.local")), "ENOTFOUND");
    assert.equal(await code(resolver.resolve6("web.shop.svc.cluster.local")), "ENODATA");
  });

  test("an ExternalName service is an alias that is resolved upstream", async () => {
    assert.deepEqual(await resolver.resolveCname("away.shop.svc.cluster.local"), [
      "there.shop.svc.example.test",
    ]);
    assert.deepEqual(await resolver.resolve4("away.shop.svc.cluster.local"), ["10.0.0.78"]);
  });

  test("other names are forwarded, and fail if no upstream server is reachable", async () => {
    assert.deepEqual(await resolver.resolve4("web.shop.svc.example.test"), ["10.0.0.77"]);
    assert.equal(await code(resolver.resolve4("gone.shop.svc.example.test")), "ENOTFOUND");
    assert.equal(await code(resolver.resolve4("nobody.knows.test")), "ESERVFAIL");
  });

  test("names of the cluster are answered while an upstream server answers no query of the client", async (t) => {
    const silent = createSocket("udp4").bind(0, "127.0.0.1");
    const client = createSocket("udp4").bind(0, "127.0.0.1");
    t.after(() => [silent, client].map((socket) => socket.close()));
    await Promise.all([once(silent, "listening"), once(client, "listening")]);
    const waiting = await startWithUpstream(silent.address().port);
    t.after(() => waiting.close());
    const query = (id: number, name: string): Buffer => {
      const question = [...name.split("."), ""].flatMap((label) => [label.length, ...Buffer.from(label)]);
      return Buffer.from([0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...question, 0, 1, 0, 1]);
    };
    const replies: Buffer[] = [];
    client.on("message", (reply) => replies.push(reply));
    for (let at = 0; replies.length === 0; at++) {
      client.send(query(1, `n${at}.example.org`), waiting.port, "127.0.0.1");
      await turn();
    }
    assert.equal(replies[0]![3]! & 15, 2);
    client.send(query(2, "web.shop.svc.cluster.local"), waiting.port, "127.0.0.1");
    let answer: Buffer | undefined;
    while (!answer) {
      await turn();
      answer = replies.find(([, id]) => id === 2);
    }
    assert.deepEqual([...answer.subarray(-4)], [10, 0, 0, 77]);
  });

  test("an answer too long for a datagram is sent over TCP", async () => {
    assert.equal((await resolver.resolve4("big.shop.svc.cluster.local")).length, 100);
    const question = ["big", "shop", "svc", "cluster", "local", ""].flatMap((label) => [
      label.length,
      ...Buffer.from(label),
    ]);
    const message = Buffer.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...question, 0, 1, 0, 1]);
    const socket = createSocket("udp4");
    socket.send(message, dns.port, "127.0.0.1");
    const [reply] = (await once(socket, "message")) as [Buffer];
    socket.close();
    assert.ok(reply.length <= 512);
    assert.equal(reply[2]! & 2, 2);
    const stream = connect(dns.port, "127.0.0.1");
    // Two messages in one segment are both answered.
    const framed = Buffer.concat([Buffer.from([0, message.length]), message]);
    stream.write(Buffer.concat([framed, framed]));
    let received = Buffer.alloc(0);
    for await (const chunk of stream) {
      received = Buffer.concat([received, chunk as Buffer]);
      if (received.length > 2 && received.length === 2 * (2 + received.readUInt16BE(0))) break;
    }
    assert.equal(received.readUInt16BE(2 + 6), 100);
  });

  test("replies are counted", () => {
    assert.match(metrics.expose(), /dns_responses_total\{rcode="NXDOMAIN",type="A"\} [1-9]/);
  });
});
