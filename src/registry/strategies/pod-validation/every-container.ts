// Iterates over all containers of a pod with their paths: init, regular, then ephemeral containers.
import type { Container, PodSpec } from "#api";

export function* everyContainer(
  { initContainers, containers, ephemeralContainers }: PodSpec,
  path: string,
): Generator<{ readonly container: Container; readonly at: string }> {
  for (const [key, list] of Object.entries({ initContainers, containers, ephemeralContainers })) {
    for (const [position, container] of (list ?? []).entries())
      yield { container, at: `${path}.${key}[${position}]` };
  }
}
