// Pure functions for CSI volumes: the volume capability sent to drivers, ownership by fsGroup, and lifecycle
// modes.
import type { CSIDriver as CsiDriverObject, CSIPersistentVolumeSource, Pod } from "#api";
import type { VolumeSpec } from "../interfaces.ts";
import { nameOf, namespaceOf, uidOf } from "../pod.ts";
import type { VolumeCapability } from "./messages.ts";
import { ephemeralHandle } from "./volume-data.ts";

/** A CSI volume, persistent or inline. */
export interface CsiVolume {
  readonly driver: string;
  readonly handle: string;
  /** Name of its directory. */
  readonly name: string;
  readonly mode: "Persistent" | "Ephemeral";
  readonly fsType: string;
  readonly readOnly: boolean;
  readonly attributes: Readonly<Record<string, string>>;
  readonly accessModes: readonly string[];
  readonly mountOptions: readonly string[];
  /** Undefined for an inline ephemeral volume. */
  readonly source?: CSIPersistentVolumeSource;
}

export function csiVolumeOf(pod: Pod, { volume, persistent, readOnly }: VolumeSpec): CsiVolume {
  const source = persistent?.spec.csi;
  if (persistent && source)
    return {
      driver: source.driver,
      handle: source.volumeHandle,
      name: persistent.metadata.name!,
      mode: "Persistent",
      fsType: source.fsType ?? "",
      // The field of the source is for the controller of the driver.
      readOnly,
      attributes: source.volumeAttributes ?? {},
      accessModes: persistent.spec.accessModes ?? [],
      mountOptions: persistent.spec.mountOptions ?? [],
      source,
    };
  const inline = volume.csi!;
  return {
    driver: inline.driver,
    handle: ephemeralHandle(uidOf(pod), volume.name),
    name: volume.name,
    mode: "Ephemeral",
    fsType: inline.fsType ?? "",
    readOnly: inline.readOnly === true,
    attributes: inline.volumeAttributes ?? {},
    accessModes: ["ReadWriteOnce"],
    mountOptions: [],
  };
}

const singleNodeModes = { plain: 1, oneWriter: 6, manyWriters: 7 };
const multiNodeModes: Readonly<Record<string, number>> = { ReadOnlyMany: 3, ReadWriteMany: 5 };

export function capabilityOf(
  { accessModes, fsType, mountOptions }: CsiVolume,
  {
    asDevice,
    group,
    supportsMultiWriter,
  }: {
    readonly asDevice: boolean;
    readonly group?: number | undefined;
    readonly supportsMultiWriter: boolean;
  },
): VolumeCapability {
  const [wanted = "ReadWriteOnce"] = accessModes;
  const singleNodeMode = !supportsMultiWriter
    ? singleNodeModes.plain
    : wanted === "ReadWriteOncePod"
      ? singleNodeModes.oneWriter
      : singleNodeModes.manyWriters;
  const access = { accessMode: { mode: multiNodeModes[wanted] ?? singleNodeMode } };
  if (asDevice) return { block: {}, ...access };
  return {
    mount: {
      fsType,
      mountFlags: [...mountOptions],
      ...(group !== undefined && { volumeMountGroup: String(group) }),
    },
    ...access,
  };
}

/** Reports whether the agent applies the pod's fsGroup to the volume's files. */
export function appliesFsGroup(
  { accessModes, fsType }: CsiVolume,
  driver: CsiDriverObject | undefined,
): boolean {
  switch (driver?.spec.fsGroupPolicy ?? "ReadWriteOnceWithFSType") {
    case "None":
      return false;
    case "File":
      return true;
    default:
      return fsType !== "" && accessModes.includes("ReadWriteOnce");
  }
}

/** Returns the volume context entries about the pod for drivers with podInfoOnMount. */
export const podInfo = (prefix: string, pod: Pod, mode: CsiVolume["mode"]): Record<string, string> => ({
  [`${prefix}pod.name`]: nameOf(pod),
  [`${prefix}pod.namespace`]: namespaceOf(pod),
  [`${prefix}pod.uid`]: uidOf(pod),
  [`${prefix}serviceAccount.name`]: pod.spec.serviceAccountName ?? "",
  [`${prefix}ephemeral`]: String(mode === "Ephemeral"),
});

/** Throws if the driver does not support the volume's lifecycle mode. */
export function checkLifecycle({ driver, mode }: CsiVolume, object: CsiDriverObject | undefined): void {
  const modes = object?.spec.volumeLifecycleModes ?? [];
  const allowed = modes.length > 0 ? modes : ["Persistent"];
  if (!allowed.includes(mode))
    throw new Error(
      `volume mode ${JSON.stringify(mode)} not supported by driver ${driver} (supports ${JSON.stringify(allowed)})`,
    );
}
