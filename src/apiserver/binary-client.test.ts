// A client that sends protobuf behaves the same as one that sends JSON.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "#base";
import { apiClient, kinds } from "#client";
import { dialects } from "#dialect";
import { startServer } from "./library.ts";

const place = { namespace: "default" };
const named = (name: string) => ({ ...place, name });

for (const dialect of Object.values(dialects)) {
  test(`a protobuf client sends the same requests as a JSON client, in the dialect ${dialect.name}`, async () => {
    await using server = await startServer({ store: "memory", dialect: dialect.name });
    const types: string[] = [];
    const { transport } = server.client;
    const counted = {
      ...transport,
      send: (request: Parameters<typeof transport.send>[0]) => {
        types.push(`${request.method} ${request.headers?.["content-type"]}`);
        return transport.send(request);
      },
    };
    const [text, binary] = [server.client, apiClient(counted, dialect, "protobuf")];
    const { apiVersion, kind, ...secret } = await binary
      .of(kinds.secrets)
      .create({ metadata: named("s"), data: { key: "AAEC/w==" }, type: "Opaque" });
    assert.deepEqual(await text.of(kinds.secrets).get("s", place), { apiVersion, kind, ...secret });
    await binary.of(kinds.secrets).update({ ...secret, data: {} });
    assert.equal((await text.of(kinds.secrets).get("s", place)).data, undefined);
    await binary.of(kinds.secrets).patch("s", "merge", { metadata: { labels: { x: "y" } } }, place);
    await binary.of(kinds.secrets).delete("s", place);
    await assert.rejects(
      text.of(kinds.secrets).get("s", place),
      (error) => error instanceof ApiError && error.code === 404,
    );

    const containers = [
      { name: "c", image: "i", resources: { requests: { cpu: "100m", memory: "1Gi" } }, args: ["ä", ""] },
    ];
    await binary.of(kinds.serviceAccounts).create({ metadata: named("robot") });
    const pod = (name: string) => ({
      metadata: named(name),
      spec: { containers, serviceAccountName: "robot", automountServiceAccountToken: false },
    });
    const { spec, metadata } = await binary.of(kinds.pods).create(pod("p"));
    assert.deepEqual(spec, (await text.of(kinds.pods).create(pod("q"))).spec);
    const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "p", uid: metadata.uid! };
    const request = { metadata: place, spec: { audiences: [], expirationSeconds: 3600, boundObjectRef } };
    const { status } = await binary
      .of(kinds.tokenRequests)
      .create(request, { name: "robot", subresource: "token" });
    assert.match(status.token, /^ey/);
    const { status: review } = await binary
      .of(kinds.tokenReviews)
      .create({ metadata: {}, spec: { token: status.token } });
    assert.deepEqual(
      [review?.authenticated, review?.user?.username],
      [true, "system:serviceaccount:default:robot"],
    );
    const media = dialect.wire.protobufMediaType;
    assert.deepEqual([...new Set(types)].toSorted(), [
      "DELETE application/json",
      "PATCH application/merge-patch+json",
      `POST ${media}`,
      `PUT ${media}`,
    ]);
  });
}
