// Settings for pod sources, pod limits and the container runtime.

import type { Dialect } from "#dialect";
import {
  above,
  atLeast,
  between,
  cidr,
  duration,
  fileOption,
  headers,
  int,
  int32,
  maybe,
  oneOf,
  option,
  section,
  text,
  url,
} from "#options";
import { inFile } from "./later.ts";
import { absoluteCgroup } from "./types.ts";

export const podsSection = (dialect: Dialect) => {
  const moved = <const C extends string>(config: C) => ({ config, deprecated: inFile(config, dialect) });
  return section("Pod sources and synchronization", [
    option({
      flag: "pod-manifest-path",
      ...moved("staticPodPath"),
      type: text,
      default: "",
      doc: "Directory of static pods, or one file. Files whose name begins with a dot are ignored.",
    }),
    option({
      flag: "manifest-url",
      ...moved("staticPodURL"),
      type: url("http", "https"),
      default: "",
      doc: "URL of additional static pods.",
    }),
    option({
      flag: "manifest-url-header",
      ...moved("staticPodURLHeader"),
      type: headers,
      default: {},
      doc: "Headers for that URL, as <name>:<value>,…; headers with the same name are sent in order. May be repeated.",
    }),
    option({
      flag: "file-check-frequency",
      ...moved("fileCheckFrequency"),
      zeroIsUnset: true,
      type: duration,
      default: 20_000,
      check: above(0),
      doc: "How often static pod files are checked.",
    }),
    option({
      flag: "http-check-frequency",
      ...moved("httpCheckFrequency"),
      zeroIsUnset: true,
      type: duration,
      default: 20_000,
      check: above(0),
      doc: "How often the URL is fetched.",
    }),
    option({
      flag: "sync-frequency",
      ...moved("syncFrequency"),
      zeroIsUnset: true,
      type: duration,
      default: 60_000,
      check: above(0),
      doc: "Maximum time between two syncs of a pod with its spec.",
    }),
    option({
      flag: "max-pods",
      ...moved("maxPods"),
      zeroIsUnset: true,
      type: int32,
      default: 110,
      check: atLeast(0),
      doc: "Maximum number of pods on this node.",
    }),
    option({
      flag: "pods-per-core",
      ...moved("podsPerCore"),
      type: int32,
      default: 0,
      check: atLeast(0),
      doc: "Maximum number of pods per core, within --max-pods in total; 0 means unlimited.",
    }),
    option({
      flag: "pod-max-pids",
      ...moved("podPidsLimit"),
      type: int,
      default: -1,
      check: (value) => (value === 0 ? "must be -1 or above 0" : undefined),
      doc: "Maximum number of processes per pod; -1 means the node's allocatable number.",
    }),
    option({
      flag: "pod-cidr",
      ...moved("podCIDR"),
      type: cidr,
      default: "",
      doc: "Address range of pods, in standalone mode only; otherwise the cluster assigns it. At most 65536 addresses of an IPv6 range are used.",
    }),
    option({
      flag: "container-runtime-endpoint",
      config: "containerRuntimeEndpoint",
      type: text,
      default: "",
      check: endpointProblem,
      doc: "Address of the container runtime, such as unix:///run/containerd/containerd.sock. Required.",
    }),
    option({
      flag: "image-service-endpoint",
      config: "imageServiceEndpoint",
      type: text,
      default: "",
      defaultText: "--container-runtime-endpoint",
      check: endpointProblem,
      derive: (look) =>
        look.isSet("containerRuntimeEndpoint")
          ? { value: look.value("containerRuntimeEndpoint") as string, from: "--container-runtime-endpoint" }
          : undefined,
      doc: "Experimental. Address of the image service, if it differs from the container runtime's.",
    }),
    option({
      flag: "runtime-cgroups",
      type: text,
      default: "",
      check: absoluteCgroup,
      doc: "Absolute name of the cgroup of the container runtime; its usage is reported in the node's stats.",
    }),
    option({
      flag: "runtime-request-timeout",
      ...moved("runtimeRequestTimeout"),
      zeroIsUnset: true,
      type: duration,
      default: 120_000,
      check: above(0),
      doc: "Timeout of calls to the runtime, except pull, logs, exec and attach. A call that takes longer is cancelled and retried.",
    }),
    fileOption({
      config: "crashLoopBackOff.maxContainerRestartPeriod",
      type: maybe(duration),
      default: undefined,
      check: (value) =>
        value === undefined ? undefined : between(1000, 300_000)(value) && "must be from 1s to 5m",
      doc: "Maximum backoff of a container that keeps failing, from 1s to 5m; 5m if not set. From a later release.",
    }),
    fileOption({
      config: "configMapAndSecretChangeDetectionStrategy",
      zeroIsUnset: true,
      type: oneOf("Get", "Cache", "Watch"),
      default: "Watch",
      doc: "How changes of config maps and secrets are detected: Get requests them each time, Cache caches them for a while, Watch watches them.",
    }),
  ]);
};

/** Validates an endpoint of the runtime client; empty means unset. */
function endpointProblem(value: string): string | undefined {
  return value === "" || /^unix:\/\/\/.+$/.test(value) || value.startsWith("/")
    ? undefined
    : "must be a unix socket such as unix:///run/containerd/containerd.sock";
}
