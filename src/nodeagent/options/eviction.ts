// Settings for eviction, and for garbage collection of containers and images.

import type { Dialect } from "#dialect";
import { between, bool, duration, fileOption, int32, maybe, notNegative, option, section } from "#options";
import { inFile } from "./later.ts";
import { gracePeriods, reclaims, thresholds } from "./types.ts";

const hard = {
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%",
  "imagefs.available": "15%",
};

export const evictionSection = (dialect: Dialect) => {
  const moved = <const C extends string>(config: C) => ({ config, deprecated: inFile(config, dialect) });
  return section("Eviction and collection", [
    option({
      flag: "eviction-hard",
      ...moved("evictionHard"),
      type: thresholds,
      default: hard,
      doc: "Thresholds below which pods are evicted at once, as <signal><<threshold>,…; 0% and 100% disable a signal.",
    }),
    option({
      flag: "eviction-soft",
      ...moved("evictionSoft"),
      type: thresholds,
      default: {},
      doc: "Thresholds below which pods are evicted once their grace period has passed.",
    }),
    option({
      flag: "eviction-soft-grace-period",
      ...moved("evictionSoftGracePeriod"),
      type: gracePeriods,
      default: {},
      doc: "Grace period of each soft threshold, as <signal>=<duration>,…",
    }),
    option({
      flag: "eviction-max-pod-grace-period",
      ...moved("evictionMaxPodGracePeriod"),
      type: int32,
      default: 0,
      doc: "Maximum grace period in seconds of a soft eviction; a negative value means the pod's own.",
    }),
    option({
      flag: "eviction-minimum-reclaim",
      ...moved("evictionMinimumReclaim"),
      type: reclaims,
      default: {},
      doc: "Minimum amount to reclaim, as <signal>=<quantity>,…",
    }),
    option({
      flag: "eviction-pressure-transition-period",
      ...moved("evictionPressureTransitionPeriod"),
      zeroIsUnset: true,
      type: duration,
      default: 300_000,
      check: notNegative,
      doc: "How long to wait before a pressure condition is cleared.",
    }),
    option({
      flag: "kernel-memcg-notification",
      ...moved("kernelMemcgNotification"),
      type: bool,
      default: false,
      doc: "Detect a crossed memory threshold within a second, instead of at the next pass.",
    }),
    option({
      flag: "experimental-allocatable-ignore-eviction",
      type: bool,
      default: false,
      deprecated: "it will be removed in 1.24 or later",
      doc: "Ignore hard thresholds when computing the node's allocatable resources.",
    }),
    option({
      flag: "maximum-dead-containers",
      type: int32,
      default: -1,
      deprecated: "use --eviction-hard or --eviction-soft instead",
      doc: "Dead containers kept on the node, in addition to those needed for the status of existing pods; a negative value means unlimited.",
    }),
    option({
      flag: "maximum-dead-containers-per-container",
      type: int32,
      default: 1,
      deprecated: "use --eviction-hard or --eviction-soft instead",
      doc: "Dead instances kept of one container, always including the newest; a negative value means unlimited.",
    }),
    option({
      flag: "minimum-container-ttl-duration",
      type: duration,
      default: 0,
      check: notNegative,
      deprecated: "use --eviction-hard or --eviction-soft instead",
      doc: "Minimum age of a dead container before it is collected.",
    }),
    option({
      flag: "image-gc-high-threshold",
      ...moved("imageGCHighThresholdPercent"),
      type: int32,
      default: 85,
      check: between(0, 100),
      doc: "Disk usage in percent above which images are collected; 100 means never.",
    }),
    option({
      flag: "image-gc-low-threshold",
      ...moved("imageGCLowThresholdPercent"),
      type: int32,
      default: 80,
      check: between(0, 100),
      doc: "Disk usage in percent down to which images are collected; less than the high threshold.",
    }),
    option({
      flag: "minimum-image-ttl-duration",
      ...moved("imageMinimumGCAge"),
      zeroIsUnset: true,
      type: duration,
      default: 120_000,
      doc: "Minimum age of an unused image before it is collected.",
    }),
    fileOption({
      config: "imageMaximumGCAge",
      type: maybe(duration),
      default: undefined,
      check: (value) => (value === undefined ? undefined : notNegative(value)),
      doc: "Age at which an unused image is removed regardless of disk usage; none if not set. From a later release.",
    }),
  ]);
};
