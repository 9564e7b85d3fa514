// The plugin name of a volume type in events and metrics: "…/empty-dir" for an emptyDir.
import type { Volume } from "#api";
import type { Dialect } from "#dialect";

export function pluginNameOf(volume: Volume, { names }: Dialect): string {
  const source =
    Object.keys(volume).find(
      (field) => field !== "name" && volume[field as keyof typeof volume] !== undefined,
    ) ?? "";
  return `${names.volumes.pluginPrefix}${source.replaceAll(/(?<=[a-z])[A-Z]+/g, (letters) => `-${letters.toLowerCase()}`).replace("config-map", "configmap")}`;
}
