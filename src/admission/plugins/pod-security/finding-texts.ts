// Formatting of findings about containers and volumes.
import type { Container, PodSpec } from "#api";

/** A violation of a standard: the reason and the violating fields. */
export interface Finding {
  readonly reason: string;
  readonly detail: string;
}

export const quoted = (items: readonly string[]): string => items.map((item) => `"${item}"`).join(", ");
export const plural = (word: string, count: number): string => (count === 1 ? word : `${word}s`);
export const named = (word: string, items: readonly string[]): string =>
  `${plural(word, items.length)} ${quoted(items)}`;
export const distinct = (items: readonly string[]): string[] => [...new Set(items)].toSorted();

export const containersOf = ({ initContainers, containers, ephemeralContainers }: PodSpec): Container[] => [
  ...(initContainers ?? []),
  ...(containers ?? []),
  ...(ephemeralContainers ?? []),
];
export const namesOf = (containers: readonly Container[]): string[] => containers.map(({ name }) => name);

/** Returns what sets a field: the pod, some containers, or both. */
export const setters = (pod: boolean, containers: readonly Container[]): string[] => [
  ...(pod ? ["pod"] : []),
  ...(containers.length > 0 ? [named("container", namesOf(containers))] : []),
];
