// The jobs of a whole replay: the recording's checkers, split into jobs that mostly wait and therefore run in
// parallel. A job counts towards the parts it names; each part has a floor.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../setup.mjs";

/** Limit of a scenario's waits in seconds; one setup waits for a task that runs once a minute. */
const untilMax = { visible: "20", setups: "75" };
const setupsInOneJob = 4;
const longWaitSeconds = 15;
/** The profile with the most scenarios; the others share a job. */
const mainProfile = "default";
/** Controller areas whose cases wait least. */
const controllerAreas =
  "accounts,aggregation,bootstrap,csr,disruption,endpoints,gc,quota,replicaset,scheduler,volumes";
const controllerClusters = 3;
const flagShares = [1, 2, 3].map((share) => `data/flags-${share}.json`);

/** Returns all jobs for a copy of the recording, slowest first. */
export function jobsOf({ recording, dialects, areas, store }) {
  dealFlags(recording);
  const jobs = dialects.flatMap((dialect) => [
    ...visibleJobs(dialect, recording, areas),
    ...setupJobs(dialect, recording),
    auditJob(dialect),
    ...flagJobs(dialect),
    metricsJob(dialect),
    ...(store ? [lifecycleJob(dialect, store)] : []),
    nodeConfigJob(dialect),
  ]);
  const once = [...controllerJobs(dialects[0]), tablesJob()];
  return [...jobs, ...once]
    .filter(({ needs }) => needs === undefined || existsSync(join(recording, needs)))
    .sort((a, b) => b.seconds - a.seconds);
}

/** Scenarios selected by options of the recording's replay program. */
export const scenarioJob = (dialect, options) => ({
  name: `visible ${dialect}`,
  parts: { [`visible ${dialect}`]: steps },
  command: ["bash", "check.sh", apiserver, dialect, ...options],
  env: ({ port }) => ({ SKIP_EXTRA: "1", PORT: port }),
  seconds: 0,
});

const steps = /^(\d+) of (\d+) steps match/gm;
const program = (name, dialect) => `${join(root, "bin", name)} --dialect=${dialect}`;
const apiserver = join(root, "bin", "orch-apiserver");
const script = (name) => join(root, "scripts", "replay", name);

/** Scenarios, with one server for each profile. */
function visibleJobs(dialect, recording, areas) {
  const profiles = Object.keys(JSON.parse(readFileSync(join(recording, "server/profiles.json"), "utf8")));
  const half = Math.ceil(areas.length / 2);
  const job = (name, wanted, only, seconds) => ({
    name: `visible ${dialect}, ${name}`,
    parts: { [`visible ${dialect}`]: steps },
    command: ["bash", "check.sh", apiserver, dialect, "--quiet", "--only", only.join(",")],
    env: ({ port }) => ({ SKIP_EXTRA: "1", PORT: port, PROFILES: wanted, UNTIL_MAX: untilMax.visible }),
    seconds,
  });
  return [
    job(`${mainProfile} 1`, mainProfile, areas.slice(0, half), 100),
    job(`${mainProfile} 2`, mainProfile, areas.slice(half), 100),
    job("other profiles", profiles.filter((profile) => profile !== mainProfile).join(" "), areas, 120),
  ];
}

/** Setups: servers with separate flags and files; those with long waits get a separate job. */
function setupJobs(dialect, recording) {
  const setups = readdirSync(join(recording, "setups"), { recursive: true })
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => ({
      name: file.slice(0, -".json".length),
      setup: JSON.parse(readFileSync(join(recording, "setups", file), "utf8")),
    }))
    .filter(({ setup }) => setup.profile === "setup")
    .map(({ name, setup }) => ({ name, seconds: 3 + waitSeconds(setup.steps) }));
  const long = setups.filter(({ seconds }) => seconds > longWaitSeconds);
  const short = setups.filter((setup) => !long.includes(setup));
  const groups = [...long.map((setup) => [setup]), ...inGroups(short, setupsInOneJob)];
  return groups.map((group) => {
    const names = group.map(({ name }) => name).join(",");
    return {
      name: `setups ${dialect}, ${names}`,
      parts: { [`setups ${dialect}`]: /^(\d+) of (\d+) setup steps match/gm },
      command: ({ port }) => [
        "node",
        "setups.mjs",
        "check",
        "--bin",
        program("orch-apiserver", dialect),
        "--dialect",
        dialect,
        "--port",
        port,
        "--quiet",
        "--only",
        names,
        "setups",
      ],
      env: () => ({ UNTIL_MAX: untilMax.setups }),
      seconds: group.reduce((sum, { seconds }) => sum + seconds, 0),
    };
  });
}

/** Returns the maximum total wait of a setup's steps. */
const waitSeconds = (steps) =>
  steps.reduce(
    (sum, { wait = 0, settle = 0, until, do: action }) =>
      sum + (wait + settle) / 1000 + (until?.timeout ?? 0) / 4 + (action === "try" ? 1 : 0),
    0,
  );

const inGroups = (list, size) =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));

/** Audit log cases: check.sh without profiles, setups and, in our copy, flag cases. */
const auditJob = (dialect) => ({
  name: `audit ${dialect}`,
  parts: { [`audit ${dialect}`]: /^(\d+) of (\d+) audit events match/gm },
  command: ["bash", "check.sh", apiserver, dialect],
  env: ({ port }) => ({ PORT: port, PROFILES: " ", SETUPS: "--only none", STORE: "" }),
  seconds: 40,
});

/** Flag cases: accepted command lines run until a timeout, so the cases are split. */
const flagJobs = (dialect) =>
  flagShares.map((file, at) => ({
    name: `flags ${dialect}, share ${at + 1}`,
    parts: { [`flags ${dialect}`]: /^(\d+) of (\d+) flag cases match/gm },
    command: ["node", "flags.mjs", "check", "--bin", program("orch-apiserver", dialect), "--file", file],
    env: () => ({}),
    seconds: 80,
  }));

/** Splits the recorded flag cases into files and removes the original, which check.sh would run. */
function dealFlags(recording) {
  const path = join(recording, "data/flags.json");
  const data = JSON.parse(readFileSync(path, "utf8"));
  const write = (file, cases) => writeFileSync(join(recording, file), JSON.stringify({ ...data, cases }));
  for (const [share, file] of flagShares.entries())
    write(
      file,
      data.cases.filter((_, at) => at % flagShares.length === share),
    );
  write("data/flags.json", []);
}

// A store belongs to one dialect, but this one is shared.
const prefix = { orch: "--store-prefix=/orch", kubernetes: "--etcd-prefix=/kubernetes" };

/** Shutdown cases. */
const lifecycleJob = (dialect, store) => ({
  name: `lifecycle ${dialect}`,
  parts: { [`lifecycle ${dialect}`]: /^(\d+) of (\d+) lifecycle cases match/gm },
  command: ({ port }) => [
    "node",
    "lifecycle.mjs",
    "check",
    "--bin",
    `${program("orch-apiserver", dialect)} ${prefix[dialect]}`,
    "--store",
    store,
    "--dialect",
    dialect,
    "--port",
    port,
  ],
  env: () => ({}),
  seconds: 60,
});

/** Metric families after a run of some scenarios. */
const metricsJob = (dialect) => ({
  name: `metrics ${dialect}`,
  parts: { [`metrics ${dialect}`]: /^(\d+) of (\d+) metric families match/gm },
  command: ({ port }) => ["node", script("metrics.mjs"), dialect, port],
  env: () => ({ UNTIL_MAX: untilMax.visible }),
  seconds: 60,
});

/**
 * Rejected and accepted configurations of the node agent. An agent that runs until the timeout counts as accepted,
 * so the timeout must be long enough for a rejection on a busy machine.
 */
const nodeConfigJob = (dialect) => ({
  name: `node config ${dialect}`,
  needs: "node/config-cases.json",
  parts: { [`node config ${dialect}`]: /^(\d+)\/(\d+) cases as expected/gm },
  command: [
    "node",
    "node/check-config-cases.mjs",
    "--bin",
    program("nodeagent", dialect),
    "--dialect",
    dialect,
    "--timeout",
    "20000",
    "--jobs",
    "3",
  ],
  env: () => ({}),
  seconds: 130,
});

/** Pure rules of the node agent. */
const tablesJob = () => ({
  name: "node tables",
  needs: "node/part2/tables",
  parts: { "node tables": /^(\d+) of (\d+) cases match/gm },
  command: ["node", script("node-tables.mjs")],
  env: () => ({}),
  seconds: 5,
});

/** Controllers and scheduler in clusters without nodes, each with a share of the cases. */
const controllerJobs = (dialect) =>
  Array.from({ length: controllerClusters }, (_, at) => ({
    name: `controllers ${dialect}, share ${at + 1}`,
    needs: "controllers/replay.mjs",
    parts: { [`controllers ${dialect}`]: /^(\d+) of (\d+) cases match/gm },
    command: ({ port }) => [
      "node",
      script("controllers.mjs"),
      dialect,
      port,
      `${at + 1}/${controllerClusters}`,
      controllerAreas,
    ],
    env: () => ({}),
    seconds: 200,
  }));
