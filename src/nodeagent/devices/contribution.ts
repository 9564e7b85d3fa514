// Merges the plug-ins' allocation responses into one contribution to a container. The first of several
// entries for the same variable, path or annotation wins.
import type { ContainerContribution } from "../interfaces.ts";
import type { ContainerAllocateResponse } from "./messages.ts";

export function deviceContribution(responses: readonly ContainerAllocateResponse[]): ContainerContribution {
  const firstOf = <T extends { readonly containerPath?: string | undefined }>(
    all: readonly T[],
  ): readonly T[] =>
    all.filter((one, at) => all.findIndex((other) => other.containerPath === one.containerPath) === at);
  const firstWins = (maps: readonly Readonly<Record<string, string>>[]): Record<string, string> =>
    Object.assign({}, ...maps.toReversed()) as Record<string, string>;
  return {
    environment: firstWins(responses.map(({ envs }) => envs)),
    annotations: firstWins(responses.map(({ annotations }) => annotations)),
    mounts: firstOf(responses.flatMap(({ mounts }) => mounts)).map(
      ({ containerPath, hostPath, readOnly }) => ({
        containerPath: containerPath ?? "",
        hostPath: hostPath ?? "",
        ...(readOnly && { readonly: true }),
      }),
    ),
    devices: firstOf(responses.flatMap(({ devices }) => devices)).map(
      ({ containerPath, hostPath, permissions }) => ({
        containerPath: containerPath ?? "",
        hostPath: hostPath ?? "",
        permissions: permissions ?? "",
      }),
    ),
    cdiDevices: responses.flatMap(({ cdiDevices }) => cdiDevices.map(({ name }) => name ?? "")),
  };
}
