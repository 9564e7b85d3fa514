// What later releases added to kinds of the core group and to reviews: on by default with --release.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, each, serve } from "../../server.fixture.ts";

const plain = await serve({ flags: ["--disable-admission-plugins=ServiceAccount"] });
const later = await serve({
  flags: ["--release=1.32", "--disable-admission-plugins=ServiceAccount"],
});
const { must, ask } = later;
const services = "/api/v1/namespaces/default/services";
const pods = "/api/v1/namespaces/default/pods";
const strict = "?fieldValidation=Strict";

const balancer = (name: string, spec: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { type: "LoadBalancer", ports: [{ port: 80 }], ...spec },
});

test("the fields are unknown to release 1.27, and their kinds are published without them", async () => {
  const { text } = await plain.must(400, "POST", services + strict, {
    body: balancer("one", { trafficDistribution: "PreferClose" }),
  });
  assert.match(text, /unknown field \\"spec.trafficDistribution\\"/);
  for (const [{ must: get }, has] of [
    [plain, false],
    [later, true],
  ] as const) {
    const schemas = (await get(200, "GET", "/openapi/v3/api/v1")).text;
    for (const name of ["ipMode", "hostIPs", "lastPhaseTransitionTime", "mismatchLabelKeys"])
      assert.equal(schemas.includes(`"${name}":`), has, name);
  }
});

test("the traffic distribution of a service is PreferClose or nothing", async () => {
  const made = await must(201, "POST", services + strict, {
    body: balancer("close", { trafficDistribution: "PreferClose" }),
  });
  assert.equal(made.at("spec.trafficDistribution"), "PreferClose");
  const answer = await must(422, "POST", services, {
    body: balancer("far", { trafficDistribution: "PreferFar" }),
  });
  assert.match(
    answer.text,
    /spec.trafficDistribution: Unsupported value: \\"PreferFar\\": supported values: \\"PreferClose\\"/,
  );
});

const ingresses: [name: string, ingress: Json, expected: string][] = [
  ["an address without a mode is a VIP", { ip: "192.0.2.1" }, "VIP"],
  ["the mode may be Proxy", { ip: "192.0.2.1", ipMode: "Proxy" }, "Proxy"],
  ["a host name has no mode", { hostname: "a.example" }, "undefined"],
  [
    "a mode needs an address",
    { hostname: "a.example", ipMode: "VIP" },
    "FieldValueForbidden status.loadBalancer.ingress[0].ipMode",
  ],
  [
    "other modes are rejected",
    { ip: "192.0.2.1", ipMode: "No" },
    "FieldValueNotSupported status.loadBalancer.ingress[0].ipMode",
  ],
];
for (const [index, [name, ingress, expected]] of ingresses.entries()) {
  test(`in the status of a load balancer ${name}`, async () => {
    const path = `${services}/balancer-${index}`;
    await must(201, "POST", services, { body: balancer(`balancer-${index}`) });
    const answer = await ask("PATCH", `${path}/status`, {
      body: { status: { loadBalancer: { ingress: [ingress] } } },
      type: "application/merge-patch+json",
    });
    const found =
      answer.status === 200
        ? String(answer.at("status.loadBalancer.ingress.0.ipMode"))
        : (each(answer.at("details.causes"), "reason")[0] as string) +
          ` ${each(answer.at("details.causes"), "field")[0] as string}`;
    assert.equal(found, expected);
  });
}

test("a persistent volume records when its phase changed", async () => {
  const body = {
    metadata: { name: "volume" },
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
  };
  const path = "/api/v1/persistentvolumes";
  const made = await must(201, "POST", path, { body });
  assert.equal(made.at("status.phase"), "Pending");
  assert.match(String(made.at("status.lastPhaseTransitionTime")), /^\d{4}-\d\d-\d\dT/);
  const patch = async (status: Json): Promise<unknown> => {
    const type = "application/merge-patch+json";
    const answer = await must(200, "PATCH", `${path}/volume/status`, { body: { status }, type });
    return answer.at("status.lastPhaseTransitionTime");
  };
  const old = "2020-01-01T00:00:00Z";
  assert.equal(await patch({ lastPhaseTransitionTime: old }), old);
  assert.equal(await patch({ message: "same phase", lastPhaseTransitionTime: null }), old);
  assert.notEqual(await patch({ phase: "Available" }), old);
  assert.equal(await patch({ phase: "Bound", lastPhaseTransitionTime: old }), old);
  const before = await plain.must(201, "POST", path, { body });
  assert.deepEqual(before.at("status"), { phase: "Pending" });
});

const pod = (name: string, spec: Json): Json => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: "a", version: "2" } },
  spec: { containers: [{ name: "main", image: "main" }], ...spec },
});
const withTerm = (name: string, term: Json): Json => {
  const podAffinityTerm = { topologyKey: "zone", ...term };
  const preferred = [{ weight: 1, podAffinityTerm }];
  return pod(name, {
    affinity: {
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [podAffinityTerm] },
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred },
    },
  });
};

test("label keys of affinity terms become requirements with the values of the pod", async () => {
  const term = {
    labelSelector: { matchLabels: { app: "a" } },
    matchLabelKeys: ["version", "absent"],
    mismatchLabelKeys: ["app"],
  };
  const made = await must(201, "POST", pods + strict, { body: withTerm("keys", term) });
  const expected = [
    { key: "version", operator: "In", values: ["2"] },
    { key: "app", operator: "NotIn", values: ["a"] },
  ];
  const { affinity } = made.at("spec") as { affinity: Record<string, Record<string, Json[]>> };
  const [required] = affinity["podAffinity"]!["requiredDuringSchedulingIgnoredDuringExecution"]!;
  const [preferred] = affinity["podAntiAffinity"]!["preferredDuringSchedulingIgnoredDuringExecution"]!;
  for (const found of [required, preferred!["podAffinityTerm"] as Json])
    assert.deepEqual((found!["labelSelector"] as Json)["matchExpressions"], expected);
});

const terms: [name: string, term: Json, message: RegExp][] = [
  [
    "keys need a selector",
    { matchLabelKeys: ["app"] },
    /matchLabelKeys: Forbidden: must not be specified when labelSelector is not set/,
  ],
  [
    "a key is a label name",
    { labelSelector: {}, mismatchLabelKeys: ["a b"] },
    /mismatchLabelKeys\[0\]: Invalid value: \\"a b\\"/,
  ],
  [
    "a key is not in the selector, too",
    { labelSelector: { matchLabels: { app: "a" } }, matchLabelKeys: ["app"] },
    /Execution\[0\]\[0\]: Invalid value: \\"app\\": exists in both matchLabelKeys and labelSelector/,
  ],
  [
    "a key is in one of the lists",
    { labelSelector: {}, matchLabelKeys: ["x"], mismatchLabelKeys: ["x"] },
    /matchLabelKeys\[0\]: Invalid value: \\"x\\": exists in both matchLabelKeys and mismatchLabelKeys/,
  ],
];
for (const [name, term, message] of terms) {
  test(`of an affinity term ${name}`, async () => {
    const { text } = await must(422, "POST", pods, { body: withTerm("wrong", term) });
    assert.match(text, message);
  });
}

test("addresses of the node are one of each family, and variables may refer to them", async () => {
  const variable = { name: "IPS", valueFrom: { fieldRef: { fieldPath: "status.hostIPs" } } };
  const body = pod("ips", { containers: [{ name: "main", image: "main", env: [variable] }] });
  await must(201, "POST", pods, { body });
  const { text } = await plain.must(422, "POST", pods, { body });
  assert.match(
    text,
    /Unsupported value: \\"status.hostIPs\\": supported values: .*\\"status.hostIP\\", \\"status.podIP\\"/,
  );
  const patch = async (status: number, hostIPs: Json[]): Promise<string> =>
    (
      await must(status, "PATCH", `${pods}/ips/status`, {
        body: { status: { hostIP: "192.0.2.1", hostIPs } },
        type: "application/merge-patch+json",
      })
    ).text;
  assert.match(await patch(200, [{ ip: "192.0.2.1" }, { ip: "2001:db8::1" }]), /2001:db8::1/);
  assert.match(await patch(422, [{ ip: "192.0.2.2" }]), /hostIPs\[0\].ip: .* must be equal to `hostIP`/);
  const two = [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }];
  assert.match(await patch(422, two), /may specify no more than one IP for each IP family/);
});

test("self subject reviews are stable from release 1.28 on", async () => {
  const path = "/apis/authentication.orch.io/v1/selfsubjectreviews";
  const answer = await must(201, "POST", path, { body: {} });
  assert.equal(answer.at("status.userInfo.username"), "system:admin");
  assert.equal((await plain.ask("POST", path, { body: {} })).status, 404);
  const { json } = await must(200, "GET", "/apis/authentication.orch.io/v1");
  assert.deepEqual(each(json["resources"], "name"), ["selfsubjectreviews", "tokenreviews"]);
});

test("version v2 of aggregated discovery is served from release 1.30 on", async () => {
  const accept = "application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList";
  const typeOf = async ({ must: get }: typeof plain): Promise<unknown> =>
    (await get(200, "GET", "/apis", { accept: `${accept},application/json` })).headers["content-type"];
  assert.equal(await typeOf(later), accept);
  assert.equal(await typeOf(plain), "application/json");
});
