// The feature gate of topology hints, enabled and disabled.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { dialects } from "#dialect";
import { until, withController } from "../cluster.fixture.ts";
import { endpointSliceController } from "./endpoint-slices.ts";

const namespace = "default";
const { labels: labelNames, annotations: annotationNames } = dialects.orch.names;

for (const isOn of [true, false])
  test(`endpoints ${isOn ? "have" : "do not have"} hints, with TopologyAwareHints=${isOn}`, () =>
    withController(
      endpointSliceController,
      async ({ client }) => {
        for (const zone of ["a", "b"]) {
          await client
            .of(kinds.nodes)
            .create({ metadata: { name: `n-${zone}`, labels: { [labelNames.zone]: zone } }, spec: {} });
          const status = {
            allocatable: { cpu: "4" },
            capacity: { cpu: "4" },
            conditions: [{ type: "Ready", status: "True" }],
          };
          await client.of(kinds.nodes).patch(`n-${zone}`, "merge", { status }, { subresource: "status" });
        }
        const count = 6;
        for (let index = 0; index < count; index++) {
          const [name, podIP] = [`p${index}`, `10.1.0.${index + 1}`];
          await client.of(kinds.pods).create({
            metadata: { name, namespace, labels: { app: "web" } },
            spec: { nodeName: index % 2 ? "n-a" : "n-b", containers: [{ name: "c", image: "i" }] },
          } as never);
          const status = {
            phase: "Running",
            podIP,
            podIPs: [{ ip: podIP }],
            conditions: [{ type: "Ready", status: "True" }],
          };
          await client
            .of(kinds.pods)
            .patch(name, "strategic", { status }, { namespace, subresource: "status" });
        }
        await client.of(kinds.services).create({
          metadata: { name: "web", namespace, annotations: { [annotationNames.topologyMode]: "Auto" } },
          spec: { ports: [{ port: 80, targetPort: 8080 }], selector: { app: "web" } },
        });
        const endpoints = await until(async () => {
          const { items } = await client.of(kinds.endpointSlices).list({ namespace });
          const found = items.flatMap((slice) => slice.endpoints ?? []);
          const hasHints = found.every(({ hints }) => hints);
          return found.length === count && (!isOn || hasHints) && found;
        });
        assert.equal(endpoints.filter(({ hints }) => hints).length, isOn ? count : 0);
      },
      undefined,
      { TopologyAwareHints: isOn },
    ));
