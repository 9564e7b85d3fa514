import assert from "node:assert/strict";
import { test } from "node:test";
import type { Service } from "#api";
import { createMetrics, invalidValue } from "#base";
import type { ServiceAllocator } from "#registry";
import { measuredAllocator } from "./allocator-metrics.ts";

const service = (spec: Partial<Service["spec"]>): Service => ({ metadata: {}, spec }) as Service;

function allocator(errors: ReturnType<ServiceAllocator["allocate"]> = []) {
  const metrics = createMetrics();
  const given = {
    allocate: ({ spec }: Service) => {
      spec.clusterIPs ??= ["10.0.0.7"];
      return errors;
    },
  } as unknown as ServiceAllocator;
  const ports = { from: 30000, to: 30009 };
  return { metrics, allocator: measuredAllocator(given, { metrics, ranges: ["10.0.0.0/24"], ports }) };
}

const cases: [name: string, spec: Partial<Service["spec"]>, failed: boolean, line: RegExp][] = [
  [
    "an address chosen by the server",
    {},
    false,
    /clusterip_allocator_allocation_total\{cidr="10.0.0.0\/24",scope="dynamic"\} 1/,
  ],
  [
    "a requested address",
    { clusterIPs: ["10.0.0.9"] },
    false,
    /allocation_total\{cidr="10.0.0.0\/24",scope="static"\} 1/,
  ],
  [
    "a refused address",
    { clusterIPs: ["10.0.0.9"] },
    true,
    /allocation_errors_total\{cidr="10.0.0.0\/24",scope="static"\} 1/,
  ],
  [
    "a requested node port",
    { clusterIPs: ["10.0.0.9"], ports: [{ port: 1, nodePort: 30001 }] as never },
    false,
    /nodeport_allocator_allocation_total\{scope="static"\} 1/,
  ],
];
for (const [name, spec, failed, line] of cases)
  test(`allocations are counted: ${name}`, () => {
    const { metrics, allocator: measured } = allocator(failed ? [invalidValue("spec", "", "taken")] : []);
    measured.allocate(service(spec), undefined, {} as never, false);
    assert.match(metrics.expose(), line);
  });

test("allocated and free addresses and ports are exported", () => {
  const { metrics, allocator: measured } = allocator();
  measured.showUse(() => [
    service({ clusterIPs: ["10.0.0.1"] }),
    service({ clusterIPs: ["10.0.0.2"], ports: [{ port: 1, nodePort: 30001 }] as never }),
  ]);
  const text = metrics.expose();
  assert.match(text, /allocated_ips\{cidr="10.0.0.0\/24"\} 2/);
  assert.match(text, /available_ips\{cidr="10.0.0.0\/24"\} 252/);
  assert.match(text, /allocated_ports 1\n/);
  assert.match(text, /available_ports 9\n/);
});
