// Evaluation time of expressions, including cost accounting, compared with the fastest other implementation for
// JavaScript (which has no cost accounting), if it is installed in the folder given by --other.
//
//   npm run bench -- cel [--other=DIR with node_modules/@marcbachmann/cel-js]
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Value, compile, environment, types } from "#cel";
import { given } from "./kit/given.ts";

const other = given("other");
const object = {
  metadata: { name: "web", namespace: "default", labels: { app: "web", tier: "front" } },
  spec: {
    replicas: 3,
    template: {
      spec: {
        containers: [
          { name: "a", image: "registry/a:1", ports: [{ containerPort: 80, hostPort: 0 }] },
          { name: "b", image: "registry/b:2" },
        ],
      },
    },
  },
};
const response = { code: 200, flags: 0, size: 1181 };
const xds = { cluster_name: "PassthroughCluster", route_name: "allow_any" };
const jwt = {
  iss: "auth:1",
  extra_claims: { group: ["admin@a", "analyst@a"], labels: ["metadata", "prod"] },
};
/** Our own examples, and those of the other implementation's benchmark. */
const expressions = [
  "object.spec.replicas <= 5",
  "object.metadata.name == 'web' && object.metadata.namespace != 'system'",
  "has(object.metadata.labels) && 'app' in object.metadata.labels",
  "object.spec.template.spec.containers.all(c, c.image.startsWith('registry/'))",
  "object.metadata.labels.tier in ['front', 'back'] || object.spec.replicas > 1",
  "object.metadata.labels.tier",
  "(10.0 + 20.0) * 5.0 - 100.0 / 4.0",
  "object.spec.template.spec.containers.all(c, !has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort == 0))",
  "has(jwt.extra_claims.group) && jwt.extra_claims.filter(c, c == 'group').all(c, jwt.extra_claims[c].all(g, g == 'analyst@a'))",
  "response.code >= 400 || (xds.cluster_name == 'BlackHoleCluster' || xds.cluster_name == 'PassthroughCluster')",
];

/** CPU time of this thread, which excludes other work on the machine. */
function cpuNanoseconds(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) * 1000;
}

/** Nanoseconds per run, the best of a few rounds. */
function measure(run: () => unknown): number {
  const rounds = 5;
  const times = 200_000;
  let best = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const start = cpuNanoseconds();
    for (let at = 0; at < times; at += 1) run();
    best = Math.min(best, (cpuNanoseconds() - start) / times);
  }
  return best;
}

type Evaluate = (context: Record<string, unknown>) => unknown;

async function otherEvaluator(): Promise<((source: string) => Evaluate) | undefined> {
  const folder = other && join(other, "node_modules", "@marcbachmann", "cel-js");
  if (!folder || !existsSync(folder)) return undefined;
  const { parse } = (await import(pathToFileURL(join(folder, "lib", "index.js")).href)) as {
    parse: (source: string) => Evaluate;
  };
  return parse;
}

const env = environment();
const { dyn } = types;
const variables = { object: dyn, response: dyn, xds: dyn, jwt: dyn };
const context = { object, response, xds, jwt };
const bindings = context as unknown as Record<string, Value>;
const parseOther = await otherEvaluator();
let ours = 0;
let theirs = 0;
for (const source of expressions) {
  const compiled = compile(env, source, { variables });
  if ("error" in compiled) throw new Error(compiled.error);
  const { program } = compiled;
  const nanos = measure(() => program.evaluate(bindings, 1_000_000));
  ours += nanos;
  let beside = "";
  if (parseOther) {
    const evaluate = parseOther(source);
    const theirNanos = measure(() => evaluate(context));
    theirs += theirNanos;
    beside = `  other ${theirNanos.toFixed(0).padStart(6)} ns  ratio ${(theirNanos / nanos).toFixed(1)}`;
  }
  console.log(`${nanos.toFixed(0).padStart(6)} ns${beside}  ${source}`);
}
if (parseOther) console.log(`all: ${(theirs / ours).toFixed(1)} times the cost elsewhere`);
