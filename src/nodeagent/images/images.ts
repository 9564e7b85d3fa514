// Ensures that a container's image is present on the node, according to the container's pull policy.
import type { Container, Pod, Secret } from "#api";
import { type Clock, formatDuration } from "#base";
import type { ContainerRuntime, Image, ImageSpec, PodSandboxConfig } from "#cri";
import type { Dialect } from "#dialect";
import { grpcErrorText } from "../errors.ts";
import type { BackOff } from "../plan/backoff.ts";
import { referenceTo, uidOf } from "../pod.ts";
import type { EventRecorder } from "../interfaces.ts";
import { type RegistryAuths, credentialsFor } from "../credentials/keyring.ts";
import type { CredentialProviders } from "../credentials/credential-providers.ts";
import { secretAuths } from "./credentials.ts";
import { parseImageName, withDefaultTag } from "./image-name.ts";
import type { PullQueue } from "./pull-queue.ts";

export type ImageOutcome =
  | { readonly present: true; readonly image: Image }
  | {
      readonly present: false;
      readonly reason: ImageReason;
      readonly message: string;
      readonly againMilliseconds?: number;
    };
export type ImageReason =
  | "ErrImagePull"
  | "ImagePullBackOff"
  | "ErrImageNeverPull"
  | "InvalidImageName"
  | "ImageInspectError"
  | "RegistryUnavailable";

export interface ImagesOptions {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly queue: PullQueue;
  readonly backOff: BackOff;
  readonly dialect: Dialect;
  /** Credential provider programs. */
  readonly providers?: CredentialProviders | undefined;
  /** Returns the node's own credentials. */
  readonly nodeAuths?: () => Promise<RegistryAuths>;
}

export interface Images {
  ensure(
    pod: Pod,
    container: Container,
    secrets: readonly Secret[],
    sandbox: PodSandboxConfig,
    signal: AbortSignal,
  ): Promise<ImageOutcome>;
}

/** How long a failure stays in the status before it is replaced by the back-off. */
const failureStatusMilliseconds = 3000;

export function images({
  runtime,
  clock,
  events,
  queue,
  backOff,
  dialect,
  providers,
  nodeAuths,
}: ImagesOptions): Images {
  return {
    ensure: async (pod, container, secrets, sandbox, signal) => {
      const reference = container.image ?? "";
      const record = (type: "Normal" | "Warning", reason: string, message: string): string => {
        events.event(referenceTo(pod, container.name), type, reason, message);
        return message;
      };
      let name: string;
      try {
        name = withDefaultTag(reference);
      } catch (error) {
        const why = `couldn't parse image reference ${JSON.stringify(reference)}: ${(error as Error).message}`;
        return {
          present: false,
          reason: "InvalidImageName",
          message: record(
            "Warning",
            "InspectFailed",
            `Failed to apply default image tag ${JSON.stringify(reference)}: ${why}`,
          ),
        };
      }
      const spec: ImageSpec = { image: name, annotations: { ...pod.metadata.annotations } };
      let found: Image | undefined;
      try {
        found = (await runtime.imageStatus(spec, signal)).image;
      } catch (error) {
        signal.throwIfAborted();
        return {
          present: false,
          reason: "ImageInspectError",
          message: record(
            "Warning",
            "InspectFailed",
            `Failed to inspect image ${JSON.stringify(reference)}: ${grpcErrorText(error)}`,
          ),
        };
      }
      if (!shouldPull(container, found)) {
        if (found) {
          record(
            "Normal",
            "Pulled",
            `Container image ${JSON.stringify(reference)} already present on machine`,
          );
          return { present: true, image: found };
        }
        return {
          present: false,
          reason: "ErrImageNeverPull",
          message: record(
            "Warning",
            "ErrImageNeverPull",
            `Container image ${JSON.stringify(reference)} is not present with pull policy of Never`,
          ),
        };
      }
      const key = `${uidOf(pod)}_${reference}`;
      const wait = backOff.remainingSinceFailure(key);
      if (wait > 0) {
        return {
          present: false,
          reason: "ImagePullBackOff",
          message: record("Normal", "BackOff", `Back-off pulling image ${JSON.stringify(reference)}`),
          againMilliseconds: wait,
        };
      }
      record("Normal", "Pulling", `Pulling image ${JSON.stringify(reference)}`);
      const requestedAt = clock.monotonic();
      let startedAt = requestedAt;
      try {
        const imageRef = await queue.run(() => {
          startedAt = clock.monotonic();
          return pull(spec, secrets, sandbox, signal);
        }, signal);
        const image =
          (await runtime.imageStatus({ image: imageRef || name }, signal)).image ??
          (await runtime.imageStatus({ image: name }, signal)).image;
        if (!image)
          throw new Error(`image ${JSON.stringify(reference)} disappeared right after it was pulled`);
        const [took, waited] = [
          seconds(clock.monotonic() - startedAt),
          seconds(clock.monotonic() - requestedAt),
        ];
        record(
          "Normal",
          "Pulled",
          `Successfully pulled image ${JSON.stringify(reference)} in ${took} (${waited} including waiting)`,
        );
        return { present: true, image };
      } catch (error) {
        signal.throwIfAborted();
        const message = grpcErrorText(error);
        record("Warning", "Failed", `Failed to pull image ${JSON.stringify(reference)}: ${message}`);
        backOff.record(key, clock.now());
        return {
          present: false,
          reason: "ErrImagePull",
          message,
          againMilliseconds: Math.min(failureStatusMilliseconds, backOff.remainingSinceFailure(key)),
        };
      }
    },
  };

  /** Pulls the image with each matching credential in turn, or without credentials if none matches. */
  async function pull(
    spec: ImageSpec,
    secrets: readonly Secret[],
    sandbox: PodSandboxConfig,
    signal: AbortSignal,
  ): Promise<string> {
    const { registry, repository } = parseImageName(spec.image ?? "");
    const place = `${registry}/${repository}`;
    // The pod's secrets take precedence.
    const credentials = [
      ...credentialsFor(place, secretAuths(secrets, dialect)),
      ...credentialsFor(place, [
        (await nodeAuths?.()) ?? [],
        ...((await providers?.credentials(place, signal)) ?? []),
      ]),
    ];
    if (credentials.length === 0) return runtime.pullImage(spec, undefined, sandbox, signal);
    const problems = new Set<string>();
    for (const auth of credentials) {
      try {
        return await runtime.pullImage(spec, auth, sandbox, signal);
      } catch (error) {
        signal.throwIfAborted();
        problems.add(grpcErrorText(error));
      }
    }
    const text = [...problems].join(", ");
    throw new Error(problems.size === 1 ? text : `[${text}]`);
  }
}

function shouldPull({ imagePullPolicy }: Container, found: Image | undefined): boolean {
  if (imagePullPolicy === "Always") return true;
  return imagePullPolicy !== "Never" && !found;
}

const seconds = (milliseconds: number): string =>
  formatDuration(BigInt(Math.round(milliseconds)) * 1_000_000n);
