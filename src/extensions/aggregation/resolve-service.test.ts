import assert from "node:assert/strict";
import { test } from "node:test";
import type { APIService, Endpoints, Service } from "#api";
import { backendOf } from "./backend.ts";
import { UnresolvedService, serviceResolver } from "./resolve-service.ts";

const service = (spec: Partial<Service["spec"]>): Service => ({ spec }) as Service;
const ports = [{ name: "api", port: 443 }] as Service["spec"]["ports"];
const endpoints = {
  subsets: [{ addresses: [{ ip: "10.1.0.7" }], ports: [{ name: "api", port: 8443 }] }],
} as unknown as Endpoints;

const resolver = (found: Service | undefined, toEndpoints = false) =>
  serviceResolver({ service: async () => found, endpoints: async () => endpoints, toEndpoints });

const cases: [name: string, found: Service, toEndpoints: boolean, host: string, port: number][] = [
  ["to its cluster IP", service({ clusterIP: "10.0.0.1", ports: ports! }), false, "10.0.0.1", 443],
  [
    "to an endpoint where endpoint routing is enabled",
    service({ clusterIP: "10.0.0.1", ports: ports! }),
    true,
    "10.1.0.7",
    8443,
  ],
  [
    "to its external name",
    service({ type: "ExternalName", externalName: "x.example" }),
    true,
    "x.example",
    443,
  ],
];
for (const [name, found, toEndpoints, host, port] of cases) {
  test(`connections of a service go ${name}`, async () => {
    assert.deepEqual(await resolver(found, toEndpoints)("ns", "a", 443), { host, port });
  });
}

const wrong: [name: string, found: Service | undefined, reason: string][] = [
  ["a missing service", undefined, "ServiceNotFound"],
  [
    "a port that the service does not have",
    service({ clusterIP: "10.0.0.1", ports: [] }),
    "ServicePortError",
  ],
  ["a service without an address", service({ clusterIP: "None", ports: ports! }), "ServiceAccessError"],
];
for (const [name, found, reason] of wrong) {
  test(`${name} cannot be resolved`, async () => {
    await assert.rejects(
      resolver(found)("ns", "a", 443),
      (error) => error instanceof UnresolvedService && error.reason === reason,
    );
  });
}

const behind: [name: string, found: object | undefined, reason: string][] = [
  ["no endpoints at all", undefined, "EndpointsNotFound"],
  ["endpoints that are not ready", { subsets: [{ ports: [{ name: "api", port: 1 }] }] }, "MissingEndpoints"],
  [
    "endpoints of another port",
    { subsets: [{ addresses: [{ ip: "10.1.0.7" }], ports: [{ name: "b", port: 1 }] }] },
    "MissingEndpoints",
  ],
];
for (const [name, found, reason] of behind)
  test(`where endpoints are required, a service is not resolved with ${name}`, async () => {
    const at = (needsEndpoints: boolean) =>
      serviceResolver({
        service: async () => service({ type: "ClusterIP", clusterIP: "10.0.0.1", ports: ports! }),
        endpoints: async () => found as Endpoints | undefined,
        toEndpoints: false,
        needsEndpoints,
      })("ns", "a", 443);
    await assert.rejects(at(true), (error) => error instanceof UnresolvedService && error.reason === reason);
    assert.deepEqual(await at(false), { host: "10.0.0.1", port: 443 });
  });

test("connections to other servers present the proxy's certificate and verify the name of their service", async () => {
  const spec = {
    service: { namespace: "ns", name: "a" },
    caBundle: Buffer.from("authority").toString("base64"),
  };
  const resolve = resolver(service({ clusterIP: "10.0.0.1", ports: ports! }));
  const { tls } = await backendOf({ spec } as APIService, resolve, () => ({ cert: "c", key: "k" }));
  const trusted = { ca: "authority", allowPartialTrustChain: true };
  assert.deepEqual(tls, { servername: "a.ns.svc", ...trusted, cert: "c", key: "k" });
});
