// The mounts of a container: its volumes, the pod's hosts file, and the termination message file.
import { posix } from "node:path";
import type { Container, Pod } from "#api";
import { type Device, type Mount, mountPropagation } from "#cri";
import { expand } from "../plan/expand.ts";
import { isHostNetwork, uidOf } from "../pod.ts";
import type { MountedVolume } from "../interfaces.ts";
import type { SyncContext } from "./context.ts";
import { ConfigError } from "./environment.ts";

export interface MountFacts {
  readonly volumes: ReadonlyMap<string, MountedVolume>;
  readonly environment: ReadonlyMap<string, string>;
  readonly podIps: readonly string[];
  readonly hostsText: string;
}

const propagations: Readonly<Record<string, number>> = {
  HostToContainer: mountPropagation.hostToContainer,
  Bidirectional: mountPropagation.bidirectional,
};

export async function containerMounts(
  context: SyncContext,
  pod: Pod,
  container: Container,
  facts: MountFacts,
  signal: AbortSignal,
): Promise<Mount[]> {
  const mounts: Mount[] = [];
  for (const [index, wanted] of (container.volumeMounts ?? []).entries()) {
    const volume = facts.volumes.get(wanted.name);
    if (!volume)
      throw new ConfigError(
        `cannot find volume ${JSON.stringify(wanted.name)} to mount into container ${JSON.stringify(container.name)}`,
      );
    const readOnly = wanted.readOnly === true || volume.readOnly === true;
    const path = wanted.subPathExpr
      ? expanded(wanted.subPathExpr, facts.environment)
      : (wanted.subPath ?? "");
    if (path !== "") refuseUnsafe(path);
    const hostPath =
      path === ""
        ? volume.hostPath
        : await context.volumes.subPath(
            pod,
            volume,
            { container: container.name, index, volumeName: wanted.name, path },
            signal,
          );
    mounts.push({
      containerPath: posix.isAbsolute(wanted.mountPath)
        ? wanted.mountPath
        : posix.join("/", wanted.mountPath),
      hostPath,
      ...(readOnly && { readonly: true }),
      ...(volume.selinuxRelabel && context.settings.selinux && { selinuxRelabel: true }),
      propagation: propagations[wanted.mountPropagation ?? ""] ?? mountPropagation.private,
    });
  }
  const isTaken = (place: string): boolean =>
    mounts.some(({ containerPath }) => posix.normalize(containerPath ?? "").replace(/\/$/, "") === place);
  if (!isTaken("/etc/hosts") && (facts.podIps.length > 0 || isHostNetwork(pod))) {
    mounts.push({
      containerPath: "/etc/hosts",
      hostPath: await context.files.writeHosts(uidOf(pod), facts.hostsText),
      propagation: mountPropagation.private,
    });
  }
  const last = container.terminationMessagePath;
  if (last)
    mounts.push({
      containerPath: posix.resolve("/", last),
      hostPath: await context.files.messageFile(uidOf(pod), container.name),
      propagation: mountPropagation.private,
    });
  return mounts;
}

/** Returns the block devices of a container. */
export function containerDevices(
  container: Container,
  volumes: ReadonlyMap<string, MountedVolume>,
): Device[] {
  return (container.volumeDevices ?? []).map(({ name, devicePath }) => {
    if (!posix.isAbsolute(devicePath))
      throw new ConfigError(`error DevicePath \`${devicePath}\` must be an absolute path`);
    const volume = volumes.get(name);
    if (!volume?.isDevice)
      throw new ConfigError(
        `cannot find volume ${JSON.stringify(name)} to pass into container ${JSON.stringify(container.name)}`,
      );
    return {
      containerPath: devicePath,
      hostPath: volume.hostPath,
      permissions: volume.readOnly ? "r" : "mrw",
    };
  });
}

function expanded(text: string, environment: ReadonlyMap<string, string>): string {
  // An empty value would silently mount another path.
  const missing = new Set<string>();
  const result = expand(text, (name) => {
    const value = environment.get(name) ?? "";
    if (value === "") missing.add(name);
    return value;
  });
  if (missing.size > 0) throw new ConfigError(`missing value for ${[...missing].toSorted().join(", ")}`);
  return result;
}

function refuseUnsafe(path: string): void {
  if (posix.isAbsolute(path)) throw new ConfigError(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split("/").includes(".."))
    throw new ConfigError(`unable to provision SubPath \`${path}\`: must not contain '..'`);
}
