// Validates static pods, which no API server has validated: reports anything that would keep the pod from
// running or make it run differently than specified. Each problem names its field path.
import type { Container, Pod, Probe } from "#api";
import { compareQuantity, parseQuantity } from "#base";

export function staticProblems({ spec }: Pod): string[] {
  const volumes = spec.volumes ?? [];
  const known = new Set(volumes.map(({ name }) => name));
  return [
    ...oneOf("spec.restartPolicy", spec.restartPolicy, ["Always", "OnFailure", "Never"]),
    ...oneOf("spec.dnsPolicy", spec.dnsPolicy, [
      "ClusterFirstWithHostNet",
      "ClusterFirst",
      "Default",
      "None",
    ]),
    ...atLeast("spec.terminationGracePeriodSeconds", spec.terminationGracePeriodSeconds, 0),
    ...atLeast("spec.activeDeadlineSeconds", spec.activeDeadlineSeconds, 1),
    ...((spec.ephemeralContainers ?? []).length > 0
      ? ["spec.ephemeralContainers: Forbidden: cannot be set on create"]
      : []),
    ...volumes.flatMap((volume, at) =>
      exactlyOne({ ...volume, name: undefined }, `spec.volumes[${at}]`, "volume type"),
    ),
    ...twice(volumes.map(({ name }, at) => [`spec.volumes[${at}].name`, name])).map(
      ([where, name]) => `${where}: Duplicate value: ${JSON.stringify(name)}`,
    ),
    ...(spec.containers ?? []).flatMap((container, at) =>
      containerProblems(container, `spec.containers[${at}]`, known),
    ),
    ...(spec.initContainers ?? []).flatMap((container, at) =>
      containerProblems(container, `spec.initContainers[${at}]`, known),
    ),
  ];
}

function containerProblems(container: Container, at: string, volumes: ReadonlySet<string>): string[] {
  const { ports = [], volumeMounts = [], lifecycle, resources } = container;
  const probes = [
    ["livenessProbe", container.livenessProbe],
    ["readinessProbe", container.readinessProbe],
    ["startupProbe", container.startupProbe],
  ] as const;
  const hooks = [
    ["lifecycle.postStart", lifecycle?.postStart],
    ["lifecycle.preStop", lifecycle?.preStop],
  ] as const;
  return [
    ...oneOf(`${at}.imagePullPolicy`, container.imagePullPolicy, ["Always", "IfNotPresent", "Never"]),
    ...ports.flatMap(({ containerPort, hostPort }, i) => [
      ...portRange(`${at}.ports[${i}].containerPort`, containerPort),
      ...(hostPort ? portRange(`${at}.ports[${i}].hostPort`, hostPort) : []),
    ]),
    ...volumeMounts.flatMap(({ name }, i) =>
      volumes.has(name) ? [] : [`${at}.volumeMounts[${i}].name: Not found: ${JSON.stringify(name)}`],
    ),
    ...twice(volumeMounts.map(({ mountPath }, i) => [`${at}.volumeMounts[${i}].mountPath`, mountPath])).map(
      ([where, path]) => `${where}: Invalid value: ${JSON.stringify(path)}: must be unique`,
    ),
    ...probes.flatMap(([name, probe]) =>
      probe ? exactlyOne(handlersOf(probe), `${at}.${name}`, "handler type") : [],
    ),
    ...hooks.flatMap(([name, hook]) =>
      hook
        ? exactlyOne(
            { exec: hook.exec, httpGet: hook.httpGet, tcpSocket: hook.tcpSocket },
            `${at}.${name}`,
            "handler type",
          )
        : [],
    ),
    ...Object.entries(resources?.requests ?? {}).flatMap(([name, amount]) => {
      const limit = resources?.limits?.[name];
      return limit !== undefined && compareQuantity(parseQuantity(amount), parseQuantity(limit)) > 0
        ? [
            `${at}.resources.requests: Invalid value: ${JSON.stringify(amount)}: must be less than or equal to ${name} limit of ${limit}`,
          ]
        : [];
    }),
  ];
}

const handlersOf = ({ exec, httpGet, tcpSocket, grpc }: Probe): object => ({
  exec,
  httpGet,
  tcpSocket,
  grpc,
});

function exactlyOne(choices: object, at: string, what: string): string[] {
  const [first, ...more] = Object.entries(choices)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name]) => name);
  if (first === undefined) return [`${at}: Required value: must specify a ${what}`];
  return more.map((name) => `${at}.${name}: Forbidden: may not specify more than 1 ${what}`);
}

/** Returns the entries whose value occurred before. */
const twice = (
  entries: readonly (readonly [where: string, word: string])[],
): (readonly [where: string, word: string])[] =>
  entries.filter(([, word], at) => entries.findIndex((other) => other[1] === word) < at);

const oneOf = (at: string, value: string | undefined, allowed: readonly string[]): string[] =>
  value === undefined || allowed.includes(value)
    ? []
    : [
        `${at}: Unsupported value: ${JSON.stringify(value)}: supported values: ${allowed.map((word) => JSON.stringify(word)).join(", ")}`,
      ];

const atLeast = (at: string, value: bigint | number | undefined, least: number): string[] =>
  value === undefined || Number(value) >= least
    ? []
    : [`${at}: Invalid value: ${value}: must be greater than or equal to ${least}`];

const portRange = (at: string, port: number | undefined): string[] =>
  port !== undefined && port >= 1 && port <= 65_535
    ? []
    : [`${at}: Invalid value: ${port ?? 0}: must be between 1 and 65535, inclusive`];
