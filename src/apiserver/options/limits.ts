// Options that limit requests and retained data.

import {
  atLeast,
  between,
  bool,
  duration,
  float,
  int,
  mapOf,
  notNegative,
  oneOf,
  option,
  section,
} from "#options";

const limitsProblem = (limits: Readonly<Record<string, number>>): string | undefined =>
  Object.values(limits).some((limit) => limit < 0) ? "must not be negative" : undefined;

export const limitsSection = () =>
  section("Limits", [
    option({
      flag: "max-requests-inflight",
      type: int,
      default: 400,
      check: atLeast(0),
      doc: "With priority and fairness this and --max-mutating-requests-inflight add up to the total concurrency, which must be positive. Otherwise the most requests that only read, at one time; 0 is no limit.",
    }),
    option({
      flag: "max-mutating-requests-inflight",
      type: int,
      default: 200,
      check: atLeast(0),
      doc: "With priority and fairness a part of the total concurrency. Otherwise the most requests that write, at one time; 0 is no limit.",
    }),
    option({
      flag: "enable-priority-and-fairness",
      type: bool,
      default: true,
      doc: "Queue requests by priority instead of refusing them past a limit; needs the feature gate APIPriorityAndFairness.",
    }),
    option({
      flag: "request-timeout",
      type: duration,
      default: 60_000,
      check: (value) => (value <= 0 ? "must be above 0" : undefined),
      doc: "How long a request may take unless it is of a kind with its own limit.",
    }),
    option({
      flag: "min-request-timeout",
      type: int,
      default: 1800,
      check: atLeast(0),
      doc: "Seconds below which a watch is not ended; each watch gets a random limit above it.",
    }),
    option({
      flag: "goaway-chance",
      type: float,
      default: 0,
      check: between(0, 0.02),
      doc: "Share of requests, from 0 to 0.02, after which an HTTP/2 client is told to connect anew, to spread clients over servers. Not for a single server, nor without a load balancer.",
    }),
    option({
      flag: "http2-max-streams-per-connection",
      type: int,
      default: 0,
      check: between(0, 2 ** 31 - 1),
      doc: "Streams that a client may have open on one HTTP/2 connection; 0 takes the runtime's default.",
    }),
    option({
      flag: "http2-implementation",
      type: oneOf("builtin", "node"),
      default: "builtin",
      doc: "What serves HTTP/2: `builtin`, the server's own code, or `node`, that of the runtime, which costs about three times as much processor time. A way out should the server's own code fail a client.",
    }),
    option({
      flag: "max-connection-bytes-per-sec",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "Bytes per second that a user's connection is held to, for long-running requests; 0 is no limit.",
    }),
    option({
      flag: "event-ttl",
      type: duration,
      default: 3_600_000,
      check: notNegative,
      doc: "How long events are kept.",
    }),
    option({
      flag: "event-max-count",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "How many events are kept at most; 0 is no limit. The oldest go first, and warnings only when nothing else is left. What goes early is counted.",
    }),
    option({
      flag: "event-max-bytes",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "How many bytes of events are kept at most; 0 is no limit.",
    }),
    option({
      flag: "event-max-count-per-namespace",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "How many events of one namespace are kept at most; 0 is no limit.",
    }),
    option({
      flag: "event-max-bytes-per-namespace",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "How many bytes of events of one namespace are kept at most; 0 is no limit.",
    }),
    option({
      flag: "event-max-count-per-type",
      type: mapOf(int, { keys: ["Normal", "Warning"] }),
      default: {},
      check: limitsProblem,
      doc: "How many events of a type are kept at most: Normal=10000,Warning=50000. 0 is no limit.",
    }),
    option({
      flag: "event-max-bytes-per-type",
      type: mapOf(int, { keys: ["Normal", "Warning"] }),
      default: {},
      check: limitsProblem,
      doc: "How many bytes of events of a type are kept at most; 0 is no limit.",
    }),
    option({
      flag: "event-fold-after",
      type: int,
      default: 0,
      check: (value) => (value === 0 || value >= 2 ? undefined : "must be 0 or at least 2"),
      doc: "Fold events of one object, reason, type and controller into a series once more than so many are stored. The first and the last stay, and the first says how many were folded. 0 never folds.",
    }),
    option({
      flag: "timeline-max-bytes",
      type: int,
      default: 16 * 1024 * 1024,
      check: atLeast(0),
      doc: "Memory for what the event timeline tells of changes of objects. They are kept as long as events are; those that do not fit go early and are counted.",
    }),
  ]);
