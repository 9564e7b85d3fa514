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
      doc: "URL of further pods.",
    }),
    option({
      flag: "manifest-url-header",
      ...moved("staticPodURLHeader"),
      type: headers,
      default: {},
      doc: "Headers for that URL, as <name>:<value>,…; headers of one name are sent in their order. May be repeated.",
    }),
    option({
      flag: "file-check-frequency",
      ...moved("fileCheckFrequency"),
      zeroIsUnset: true,
      type: duration,
      default: 20_000,
      check: above(0),
      doc: "How often static pod files are looked at.",
    }),
    option({
      flag: "http-check-frequency",
      ...moved("httpCheckFrequency"),
      zeroIsUnset: true,
      type: duration,
      default: 20_000,
      check: above(0),
      doc: "How often the URL is asked.",
    }),
    option({
      flag: "sync-frequency",
      ...moved("syncFrequency"),
      zeroIsUnset: true,
      type: duration,
      default: 60_000,
      check: above(0),
      doc: "Longest time between two comparisons of what runs with what should.",
    }),
    option({
      flag: "max-pods",
      ...moved("maxPods"),
      zeroIsUnset: true,
      type: int32,
      default: 110,
      check: atLeast(0),
      doc: "Pods that may run on this node.",
    }),
    option({
      flag: "pods-per-core",
      ...moved("podsPerCore"),
      type: int32,
      default: 0,
      check: atLeast(0),
      doc: "Pods per core, never more than --max-pods in all; 0 is no limit.",
    }),
    option({
      flag: "pod-max-pids",
      ...moved("podPidsLimit"),
      type: int,
      default: -1,
      check: (value) => (value === 0 ? "must be -1 or above 0" : undefined),
      doc: "Processes per pod; -1 is what the node has to give.",
    }),
    option({
      flag: "pod-cidr",
      ...moved("podCIDR"),
      type: cidr,
      default: "",
      doc: "Address range of pods, standalone only; otherwise the cluster gives it. Of an IPv6 range at most 65536 addresses are used.",
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
      doc: "Experimental. Address of the image service, when it is not the container runtime's.",
    }),
    option({
      flag: "runtime-cgroups",
      type: text,
      default: "",
      check: absoluteCgroup,
      doc: "Absolute name of the cgroup that the container runtime runs in; what it uses is told in the node's statistics.",
    }),
    option({
      flag: "runtime-request-timeout",
      ...moved("runtimeRequestTimeout"),
      zeroIsUnset: true,
      type: duration,
      default: 120_000,
      check: above(0),
      doc: "Timeout of calls to the runtime, except pull, logs, exec and attach. A call that takes longer is cancelled and tried again.",
    }),
    fileOption({
      config: "crashLoopBackOff.maxContainerRestartPeriod",
      type: maybe(duration),
      default: undefined,
      check: (value) =>
        value === undefined ? undefined : between(1000, 300_000)(value) && "must be from 1s to 5m",
      doc: "Longest pause before a container that keeps failing is started again, from 1s to 5m; 5m when not set. From a later release.",
    }),
    fileOption({
      config: "configMapAndSecretChangeDetectionStrategy",
      zeroIsUnset: true,
      type: oneOf("Get", "Cache", "Watch"),
      default: "Watch",
      doc: "How the agent learns of changed config maps and secrets: Get asks each time, Cache keeps answers for a while, Watch watches.",
    }),
  ]);
};

/** Validates an endpoint of the runtime client; empty means unset. */
function endpointProblem(value: string): string | undefined {
  return value === "" || /^unix:\/\/\/.+$/.test(value) || value.startsWith("/")
    ? undefined
    : "must be a unix socket such as unix:///run/containerd/containerd.sock";
}
