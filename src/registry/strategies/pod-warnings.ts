// Warnings about pods that are valid but inadvisable.
import type { NodeSelectorTerm, ObjectMeta, PersistentVolumeClaimSpec, PodSpec } from "#api";
import { isWholeQuantity, parseQuantity } from "#base";
import { type Dialect, labelName } from "#dialect";
import { everyContainer } from "./pod-validation/every-container.ts";

type Amounts = Readonly<Record<string, string>> | undefined;

const oldVolumes: readonly (readonly [
  key: "photonPersistentDisk" | "gitRepo" | "scaleIO" | "flocker" | "storageos" | "quobyte" | "glusterfs",
  field: string,
  text: string,
])[] = [
  ["photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "gitRepo", "deprecated in v1.11"],
  ["scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
];

/** Returns warnings of a pod spec; `path` is that of the template, empty for a pod itself. */
export function podWarnings(
  { annotations = {} }: ObjectMeta,
  spec: PodSpec,
  dialect: Dialect,
  path = "",
): string[] {
  const at = path && `${path}.`;
  const found = [...placeWarnings(spec, dialect, `${at}spec`)];
  for (const [key, text] of oldAnnotations(dialect))
    if (annotations[key] !== undefined) found.push(`${at}metadata.annotations[${key}]: ${text}`);
  for (const [position, volume] of (spec.volumes ?? []).entries()) {
    for (const [key, field, text] of oldVolumes)
      if (volume[key]) found.push(`${at}spec.volumes[${position}].${field}: ${text}`);
    const made = volume.ephemeral?.volumeClaimTemplate?.spec;
    if (made)
      found.push(...claimWarnings(made, `${at}spec.volumes[${position}].ephemeral.volumeClaimTemplate.spec`));
  }
  found.push(
    ...repeats(
      (spec.hostAliases ?? []).map(({ ip = "" }) => ip),
      (position, ip) => `${at}spec.hostAliases[${position}].ip: duplicate ip "${ip}"`,
    ),
  );
  const secrets = (spec.imagePullSecrets ?? []).map(({ name = "" }) => name);
  found.push(
    ...repeats(
      secrets,
      (position, name) => `${at}spec.imagePullSecrets[${position}].name: duplicate name "${name}"`,
    ),
  );
  secrets.forEach(
    (name, position) =>
      !name && found.push(`${at}spec.imagePullSecrets[${position}].name: invalid empty name ""`),
  );
  found.push(
    ...repeats(
      (spec.volumes ?? []).map(({ name }) => name),
      (position, name) => `${at}spec.volumes[${position}].name: duplicate name "${name}"`,
    ),
  );
  found.push(...fractions(spec.overhead, `${at}spec.overhead`));
  const { seccompPod, seccompContainerPrefix } = dialect.names.annotations;
  const seccomp = (key: string): string =>
    `${at}metadata.annotations[${key}]: non-functional in v1.27+; use the "seccompProfile" field instead`;
  if (!spec.securityContext?.seccompProfile && annotations[seccompPod] !== undefined)
    found.push(seccomp(seccompPod));
  for (const { container, at: place } of everyContainer(spec, `${at}spec`)) {
    const key = seccompContainerPrefix + container.name;
    if (!container.securityContext?.seccompProfile && annotations[key] !== undefined)
      found.push(seccomp(key));
    found.push(
      ...fractions(container.resources.limits, `${place}.resources.limits`),
      ...fractions(container.resources.requests, `${place}.resources.requests`),
    );
    found.push(
      ...repeats(
        (container.env ?? []).map(({ name }) => name),
        (position, name) => `${place}.env[${position}].name: duplicate name "${name}"`,
      ),
    );
  }
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0)
    found.push(
      `${at}spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  return found;
}

const oldAnnotations = (dialect: Dialect): readonly (readonly [string, string])[] => [
  [
    labelName(dialect, "scheduler.alpha", "critical-pod"),
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  [
    labelName(dialect, "security.alpha", "sysctls"),
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
  [
    labelName(dialect, "security.alpha", "unsafe-sysctls"),
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
];

/** Returns the replacement text for a deprecated node label. */
export function oldNodeLabel(key: string, { names: { labels } }: Dialect): string | undefined {
  const newer: Readonly<Record<string, readonly [since: string, use: string]>> = {
    [labels.betaArch]: ["v1.14", labels.arch],
    [labels.betaOs]: ["v1.14", labels.os],
    [labels.betaRegion]: ["v1.17", labels.region],
    [labels.betaZone]: ["v1.17", labels.zone],
    [labels.betaInstanceType]: ["v1.17", labels.instanceType],
  };
  const found = newer[key];
  return found && `deprecated since ${found[0]}; use "${found[1]}" instead`;
}

function* placeWarnings(
  { nodeSelector, affinity, topologySpreadConstraints }: PodSpec,
  dialect: Dialect,
  path: string,
): Generator<string> {
  for (const key of Object.keys(nodeSelector ?? {})) {
    const text = oldNodeLabel(key, dialect);
    if (text) yield `${path}.nodeSelector[${key}]: ${text}`;
  }
  const {
    requiredDuringSchedulingIgnoredDuringExecution: needs,
    preferredDuringSchedulingIgnoredDuringExecution: wishes,
  } = affinity?.nodeAffinity ?? {};
  const at = `${path}.affinity.nodeAffinity`;
  const terms: [term: NodeSelectorTerm, place: string][] = [
    ...(needs?.nodeSelectorTerms ?? []).map((term, position): [NodeSelectorTerm, string] => [
      term,
      `${at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${position}]`,
    ]),
    ...(wishes ?? []).map(({ preference }, position): [NodeSelectorTerm, string] => [
      preference,
      `${at}.preferredDuringSchedulingIgnoredDuringExecution[${position}].preference`,
    ]),
  ];
  for (const [term, place] of terms) yield* termWarnings(term, dialect, place);
  for (const [position, { topologyKey }] of (topologySpreadConstraints ?? []).entries()) {
    const text = oldNodeLabel(topologyKey, dialect);
    if (text) yield `${path}.topologySpreadConstraints[${position}].topologyKey: ${topologyKey} is ${text}`;
  }
}

export function termWarnings(
  { matchExpressions }: Pick<NodeSelectorTerm, "matchExpressions">,
  dialect: Dialect,
  path: string,
): string[] {
  return (matchExpressions ?? []).flatMap(({ key }, position) => {
    const text = oldNodeLabel(key, dialect);
    return text ? [`${path}.matchExpressions[${position}].key: ${key} is ${text}`] : [];
  });
}

/** Warns about claims that request fractions of a byte. */
export const claimWarnings = ({ resources }: PersistentVolumeClaimSpec, path: string): string[] =>
  (["requests", "limits"] as const).flatMap((key) => {
    const size = resources[key]?.["storage"];
    return isFraction(size) ? [`${path}.resources.${key}[storage]: ${fractionText(size!)}`] : [];
  });

const isFraction = (text: string | undefined): boolean =>
  text !== undefined && !isWholeQuantity(parseQuantity(text));
const fractionText = (text: string): string =>
  `fractional byte value "${text}" is invalid, must be an integer`;
const fractions = (amounts: Amounts, path: string): string[] =>
  ["memory", "ephemeral-storage"]
    .filter((name) => isFraction(amounts?.[name]))
    .map((name) => `${path}[${name}]: ${fractionText(amounts![name]!)}`);

function repeats(values: readonly string[], say: (position: number, value: string) => string): string[] {
  const seen = new Set<string>();
  return values.flatMap((value, position) => {
    if (seen.has(value)) return [say(position, value)];
    seen.add(value);
    return [];
  });
}
