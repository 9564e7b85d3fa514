// The service network at size: 1,000 services with 10,000 endpoints written to the packet filter, and one change
// to them, by nftables and by iptables. In a network namespace of its own; needs root.
import { spawnSync } from "node:child_process";
import { type ServicePort, iptablesFilter, nftablesFilter } from "#proxy";

const services = 1000;
const endpointsEach = 10;
const changes = 5;

const options = {
  table: "orch-bench",
  prefix: "ORCHB-",
  masqueradeBit: 14,
  masqueradeAll: false,
  clusterCidrs: ["10.128.0.0/9"],
  nodePortCidrs: [],
  localhostNodePorts: false,
};

const portOf = (at: number, endpoints: number): ServicePort => ({
  title: `bench/service-${at}`,
  hash: at.toString(16).padStart(16, "0"),
  family: 4,
  protocol: "tcp",
  port: 80,
  clusterAddress: `10.96.${at >> 8}.${at & 255}`,
  externalAddresses: [],
  balancerAddresses: [],
  sourceRanges: undefined,
  nodePort: 0,
  affinitySeconds: 0,
  internalLocal: false,
  externalLocal: false,
  backends: Array.from({ length: endpoints }, (_, each) => {
    const number = at * endpointsEach + each;
    return { address: `10.128.${number >> 8}.${number & 255}`, port: 8080, local: each === 0 };
  }),
  localBackends: [],
});

if (process.argv.includes("inside")) await measure();
else
  process.exitCode =
    spawnSync("unshare", ["--net", process.execPath, ...process.execArgv, import.meta.filename, "inside"], {
      stdio: "inherit",
    }).status ?? 1;

async function measure(): Promise<void> {
  for (const make of [nftablesFilter, iptablesFilter]) {
    const filter = await make(options);
    if (!filter) continue;
    const ports = Array.from({ length: services }, (_, at) => portOf(at, endpointsEach));
    const began = performance.now();
    const bytes = await filter.write(ports);
    const whole = performance.now() - began;
    const times: number[] = [];
    let changed = 0;
    for (let each = 0; each < changes; each++) {
      ports[each] = portOf(each, endpointsEach - 1);
      const start = performance.now();
      changed = await filter.write(ports);
      times.push(performance.now() - start);
    }
    await filter.remove();
    const middle = times.toSorted((a, b) => a - b)[changes >> 1]!;
    console.log(
      `${filter.name}: ${services} services with ${services * endpointsEach} endpoints in ${whole.toFixed(0)} ms (${bytes} bytes); one change in ${middle.toFixed(0)} ms (${changed} bytes)`,
    );
  }
}
