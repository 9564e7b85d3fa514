// Validation of containers, init containers and ephemeral containers.
import { type Container, type ContainerResizePolicy, type EphemeralContainer, isSidecar } from "#api";
import { type FieldError, duplicate, forbiddenField, invalidValue, notSupported, required } from "#base";
import { dns1123LabelProblems } from "#schema";
import { formatErrors } from "../rules/format.ts";
import { oneOf } from "../rules/one-of.ts";
import { envErrors, envFromErrors } from "./env.ts";
import { type KnownVolumes, volumeDeviceErrors, volumeMountErrors } from "./mounts.ts";
import { containerPortErrors, hostPortConflicts } from "./ports.ts";
import { lifecycleErrors, oneSuccess, probeErrors } from "./probes.ts";
import { resourceErrors } from "./resources.ts";
import type { PodRules } from "./rules.ts";
import { containerSecurityErrors } from "./security.ts";

/** The context of a container: what it may refer to. */
export interface ContainerContext {
  readonly volumes: KnownVolumes;
  readonly claimNames: ReadonlySet<string>;
  /** Termination grace period of the pod. */
  readonly graceSeconds: number;
  readonly rules: PodRules;
}

export function containersErrors(
  containers: readonly Container[] | null,
  context: ContainerContext,
  path: string,
): FieldError[] {
  if (!containers?.length) return [required(path)];
  const names = new Set<string>();
  const errors = containers.flatMap((container, position) => {
    const at = `${path}[${position}]`;
    const { name } = container;
    const own = commonErrors(container, context, at);
    if (names.has(name)) own.push(duplicate(`${at}.name`, name));
    names.add(name);
    own.push(...healthErrors(container, context, at));
    if (container.restartPolicy !== undefined)
      own.push(forbiddenField(`${at}.restartPolicy`, "may not be set for non-init containers"));
    return own;
  });
  return [...errors, ...hostPortConflicts(containers, path)];
}

/** Validates lifecycle hooks and probes. */
function healthErrors(
  { lifecycle, livenessProbe, readinessProbe, startupProbe }: Container,
  { graceSeconds, rules: { zeroSleeps } }: ContainerContext,
  at: string,
): FieldError[] {
  const grace = readinessProbe?.terminationGracePeriodSeconds;
  return [
    ...(lifecycle ? lifecycleErrors(lifecycle, { graceSeconds, zeroSleeps }, `${at}.lifecycle`) : []),
    ...probeErrors(livenessProbe, `${at}.livenessProbe`),
    ...oneSuccess(livenessProbe, `${at}.livenessProbe`),
    ...probeErrors(readinessProbe, `${at}.readinessProbe`),
    ...(grace === undefined
      ? []
      : [
          invalidValue(
            `${at}.readinessProbe.terminationGracePeriodSeconds`,
            grace,
            "must not be set for readinessProbes",
          ),
        ]),
    ...probeErrors(startupProbe, `${at}.startupProbe`),
    ...oneSuccess(startupProbe, `${at}.startupProbe`),
  ];
}

const notForInit = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const;

export function initContainersErrors(
  containers: readonly Container[] | undefined,
  others: readonly Container[] | null,
  context: ContainerContext,
  path: string,
): FieldError[] {
  const names = new Set((others ?? []).map(({ name }) => name));
  return (containers ?? []).flatMap((container, position) => {
    const at = `${path}[${position}]`;
    const { name, resizePolicy, restartPolicy } = container;
    const errors = commonErrors(container, context, at);
    if (restartPolicy !== undefined && restartPolicy !== "Always")
      errors.push(notSupported(`${at}.restartPolicy`, restartPolicy, ["Always"]));
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    else if (name) names.add(name);
    // Init containers run one after another, so host ports conflict only within a container.
    errors.push(...hostPortConflicts([container], path));
    if (isSidecar(container)) errors.push(...healthErrors(container, context, at));
    else
      errors.push(
        ...notForInit
          .filter((key) => container[key])
          .map((key) => forbiddenField(`${at}.${key}`, "may not be set for init containers")),
      );
    if (resizePolicy?.length)
      errors.push(invalidValue(`${at}.resizePolicy`, resizePolicy, "must not be set for init containers"));
    return errors;
  });
}

// In the order in which the reference reports them.
const notForEphemeral = [
  "ports",
  "resources",
  "resizePolicy",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
  "restartPolicy",
] as const;
const cannot = "cannot be set for an Ephemeral Container";

export function ephemeralContainersErrors(
  ephemeral: readonly EphemeralContainer[] | undefined,
  others: readonly Container[],
  context: ContainerContext,
  path: string,
): FieldError[] {
  const targets = new Set(others.map(({ name }) => name));
  const names = new Set(targets);
  return (ephemeral ?? []).flatMap((container, position) => {
    const at = `${path}[${position}]`;
    const { name, targetContainerName, volumeMounts } = container;
    const errors = [...commonErrors(container, context, at), ...trimmedImageErrors(container, at)];
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (targetContainerName && !targets.has(targetContainerName))
      errors.push({
        type: "FieldValueNotFound",
        field: `${at}.targetContainerName`,
        value: targetContainerName,
        detail: "",
      });
    errors.push(
      ...notForEphemeral
        .filter((key) => (key === "resources" ? isSet(container[key]) : container[key] !== undefined))
        .map((key) => forbiddenField(`${at}.${key}`, cannot)),
    );
    volumeMounts?.forEach(({ subPath, subPathExpr }, index) => {
      if (subPath) errors.push(forbiddenField(`${at}.volumeMounts[${index}].subPath`, cannot));
      if (subPathExpr) errors.push(forbiddenField(`${at}.volumeMounts[${index}].subPathExpr`, cannot));
    });
    return errors;
  });
}

// `resources` is set by defaulting, so an empty object counts as unset.
const isSet = (value: object): boolean => Object.keys(value).length > 0;

/**
 * Validates the image of a container in a pod; templates may leave it to the client that instantiates them.
 */
export const trimmedImageErrors = ({ image = "" }: Container, at: string): FieldError[] =>
  image === image.trim()
    ? []
    : [invalidValue(`${at}.image`, image, "must not have leading or trailing whitespace")];

function commonErrors(
  container: Container,
  { volumes, claimNames, rules }: ContainerContext,
  at: string,
): FieldError[] {
  const {
    name,
    image,
    terminationMessagePolicy,
    ports,
    env,
    envFrom,
    imagePullPolicy,
    resources,
    resizePolicy,
    securityContext,
  } = container;
  return [
    ...(name ? formatErrors(name, `${at}.name`, dns1123LabelProblems) : [required(`${at}.name`)]),
    ...(image ? [] : [required(`${at}.image`)]),
    ...oneOf(terminationMessagePolicy, `${at}.terminationMessagePolicy`, ["File", "FallbackToLogsOnError"]),
    ...containerPortErrors(ports, `${at}.ports`),
    ...envErrors(env, `${at}.env`, rules),
    ...envFromErrors(envFrom, `${at}.envFrom`, rules),
    ...volumeMountErrors(container, volumes, `${at}.volumeMounts`),
    ...volumeDeviceErrors(container, volumes, `${at}.volumeDevices`),
    ...oneOf(imagePullPolicy, `${at}.imagePullPolicy`, ["Always", "IfNotPresent", "Never"]),
    ...resourceErrors(resources, claimNames, rules, `${at}.resources`),
    ...resizePolicyErrors(resizePolicy, `${at}.resizePolicy`),
    ...containerSecurityErrors(securityContext, rules.allowPrivileged, `${at}.securityContext`),
  ];
}

function resizePolicyErrors(
  policies: readonly ContainerResizePolicy[] | undefined,
  path: string,
): FieldError[] {
  const seen = new Set<string>();
  const known = (value: string, allowed: readonly string[]): FieldError[] =>
    !value ? [required(path)] : allowed.includes(value) ? [] : [notSupported(path, value, allowed)];
  return (policies ?? []).flatMap(({ resourceName, restartPolicy }, position) => {
    const errors = seen.has(resourceName) ? [duplicate(`${path}[${position}]`, resourceName)] : [];
    seen.add(resourceName);
    return [
      ...errors,
      ...known(resourceName, ["cpu", "memory"]),
      ...known(restartPolicy, ["NotRequired", "RestartContainer"]),
    ];
  });
}
