// Validation of container ports.
import type { Container, ContainerPort } from "#api";
import { type FieldError, duplicate, invalidValue, required } from "#base";
import { portNameProblems } from "#schema";
import { formatErrors, portErrors } from "../rules/format.ts";
import { oneOf } from "../rules/one-of.ts";

const protocols = ["SCTP", "TCP", "UDP"];

export function containerPortErrors(ports: readonly ContainerPort[] | undefined, path: string): FieldError[] {
  const names = new Set<string>();
  return (ports ?? []).flatMap(({ name, containerPort, hostPort, protocol }, position) => {
    const at = `${path}[${position}]`;
    const errors: FieldError[] = [];
    if (name) {
      const wrong = formatErrors(name, `${at}.name`, portNameProblems);
      errors.push(...wrong);
      if (wrong.length === 0 && names.has(name)) errors.push(duplicate(`${at}.name`, name));
      if (wrong.length === 0) names.add(name);
    }
    errors.push(
      ...(containerPort === 0
        ? [required(`${at}.containerPort`)]
        : portErrors(containerPort, `${at}.containerPort`)),
    );
    if (hostPort) errors.push(...portErrors(hostPort, `${at}.hostPort`));
    return [...errors, ...oneOf(protocol, `${at}.protocol`, protocols)];
  });
}

/** Validates that containers running at the same time have different host ports. */
export function hostPortConflicts(containers: readonly Container[], path: string): FieldError[] {
  const taken = new Set<string>();
  return containers.flatMap(({ ports }, index) =>
    (ports ?? []).flatMap(({ hostPort, protocol, hostIP }, position) => {
      if (!hostPort) return [];
      const id = `${protocol ?? ""}/${hostIP ?? ""}/${hostPort}`;
      if (taken.has(id)) return [duplicate(`${path}[${index}].ports[${position}].hostPort`, id)];
      taken.add(id);
      return [];
    }),
  );
}

/** In the host network, host port and container port must be equal. */
export const hostNetworkErrors = (containers: readonly Container[], path: string): FieldError[] =>
  containers.flatMap(({ ports }, index) =>
    (ports ?? []).flatMap(({ hostPort, containerPort }, position) =>
      (hostPort ?? 0) === containerPort
        ? []
        : [
            invalidValue(
              `${path}[${index}].ports[${position}].containerPort`,
              containerPort,
              "must match `hostPort` when `hostNetwork` is true",
            ),
          ],
    ),
  );
